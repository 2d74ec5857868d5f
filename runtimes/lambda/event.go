package lambda

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/guidonhq/guidon/handler/codec"
)

// maxValues limits the members and elements of an event. The headers of a request are at
// most 10 KiB, and its body is one string.
const maxValues = 100_000

// event is the part of an event that is used. It is not decoded by encoding/json, which
// would take longer than the handler takes to respond.
type event struct {
	front *front // nil if the event is not an HTTP request

	method, path, query string
	stage, domain       string
	source              string // address of the caller, as reported by the front
	callerPath          string // path as the caller wrote it, of REST APIs only
	cookies             []string
	body                string
	base64              bool

	// The members with these names. They are read once it is known which of them apply.
	headers, multiValueHeaders                         member
	queryStringParameters, multiValueQueryStringParams member

	job       string // if an operator invoked the function
	scheduled bool

	reader *codec.Reader
}

// member is the position of a member's value.
type member struct {
	mark  int
	given bool // present and not null
}

func readEvent(payload []byte) (event, error) {
	e := event{reader: codec.NewReader(payload, maxValues)}
	p := parser{event: &e}
	err := p.top()
	if err == nil && !e.reader.AtEnd() {
		err = errUnknownEvent
	}
	if err != nil {
		return event{}, fmt.Errorf("cannot read the event: %w", err)
	}
	if !p.classify() {
		return event{}, errUnknownEvent
	}
	return e, nil
}

// parser parses an event. Its fields distinguish the kinds of events.
type parser struct {
	*event
	version, detailType string
	v2Method, v2Path    string // of requestContext.http
	balancer            bool
}

// classify determines the kind of event. It reports whether the kind is known.
func (p *parser) classify() bool {
	e := p.event
	switch {
	case p.balancer && e.multiValueHeaders.given:
		e.front = loadBalancerMulti
	case p.balancer:
		e.front = loadBalancer
	case p.version == "2.0" && p.v2Method != "":
		e.front = httpAPI
		if isFunctionURL(e.domain) {
			e.front = functionURL
		}
		e.method = p.v2Method
		e.path = cmp.Or(e.path, p.v2Path)
	case e.method != "":
		e.front = restAPI
	case p.detailType == "Scheduled Event":
		e.scheduled = true
	default:
		return e.job != ""
	}
	return true
}

func (p *parser) top() error {
	e := p.event
	return p.object(func(name string) error {
		switch name {
		case "version":
			return p.string(&p.version)
		case "rawPath", "path":
			return p.string(&e.path)
		case "rawQueryString":
			return p.string(&e.query)
		case "httpMethod":
			return p.string(&e.method)
		case "headers":
			return p.mark(&e.headers)
		case "multiValueHeaders":
			return p.mark(&e.multiValueHeaders)
		case "queryStringParameters":
			return p.mark(&e.queryStringParameters)
		case "multiValueQueryStringParameters":
			return p.mark(&e.multiValueQueryStringParams)
		case "cookies":
			return p.strings(&e.cookies)
		case "body":
			return p.string(&e.body)
		case "isBase64Encoded":
			return p.boolean(&e.base64)
		case "requestContext":
			return p.requestContext()
		case "detail-type":
			return p.string(&p.detailType)
		case "guidon":
			return p.string(&e.job)
		}
		return p.reader.Skip()
	})
}

func (p *parser) requestContext() error {
	return p.object(func(name string) error {
		switch name {
		case "stage":
			return p.string(&p.stage)
		case "path":
			return p.string(&p.callerPath)
		case "domainName":
			return p.string(&p.domain)
		case "http":
			return p.http()
		case "identity":
			return p.identity()
		case "elb":
			p.balancer = true
		}
		return p.reader.Skip()
	})
}

func (p *parser) http() error {
	return p.object(func(name string) error {
		switch name {
		case "method":
			return p.string(&p.v2Method)
		case "path":
			return p.string(&p.v2Path)
		case "sourceIp":
			return p.string(&p.source)
		}
		return p.reader.Skip()
	})
}

func (p *parser) identity() error {
	return p.object(func(name string) error {
		if name == "sourceIp" {
			return p.string(&p.source)
		}
		return p.reader.Skip()
	})
}

// The methods below treat null as a missing member.

func (p *parser) object(member func(name string) error) error {
	if null, err := p.reader.Null(); null {
		return err
	}
	return p.reader.Object(member)
}

func (p *parser) string(into *string) error {
	if null, err := p.reader.Null(); null {
		return err
	}
	text, err := p.reader.Text()
	*into = text
	return err
}

func (p *parser) strings(into *[]string) error {
	if null, err := p.reader.Null(); null {
		return err
	}
	return p.reader.Array(func() error {
		text, err := p.reader.Text()
		*into = append(*into, text)
		return err
	})
}

func (p *parser) boolean(into *bool) error {
	if null, err := p.reader.Null(); null {
		return err
	}
	value, err := p.reader.Bool()
	*into = value
	return err
}

func (p *parser) mark(into *member) error {
	into.mark = p.reader.Mark()
	if null, err := p.reader.Null(); null {
		return err
	}
	into.given = true
	return p.reader.Skip()
}

// front is the AWS service in front of the function. The fields are the differences
// between the events and responses of these services.
type front struct {
	name string

	decodedPath  bool // the path is already decoded
	stagedPath   bool // the path begins with the stage
	rawParameter bool // query parameters are still escaped
	forwarded    bool // the caller's address is only in X-Forwarded-For

	streams     bool // responses can be streamed
	cookies     bool // responses have a separate list of cookies
	lists       bool // each header of a response is a list
	description bool // responses also have the text of the status
}

var (
	httpAPI           = &front{name: "HTTP API", decodedPath: true, stagedPath: true, cookies: true}
	functionURL       = &front{name: "function URL", streams: true, cookies: true}
	restAPI           = &front{name: "REST API", streams: true, lists: true}
	loadBalancer      = &front{name: "load balancer", rawParameter: true, forwarded: true, description: true}
	loadBalancerMulti = &front{
		name: "load balancer with multi-value headers", rawParameter: true, forwarded: true, description: true, lists: true,
	}
)

// isFunctionURL reports whether the domain is that of a function URL. The events of HTTP
// APIs have the same form, but function URLs cannot have custom domain names.
func isFunctionURL(domain string) bool {
	_, rest, _ := strings.Cut(domain, ".")
	return strings.HasPrefix(rest, "lambda-url.")
}
