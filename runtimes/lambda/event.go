package lambda

import (
	"fmt"

	"github.com/guidonhq/guidon/handler/codec"
)

// maxValues bounds the members and elements of an event. The headers of a request
// are at most 10 KiB, its body is one text.
const maxValues = 100_000

// event is what is needed of one. Package encoding/json would take longer to read
// it than the handler to answer it.
type event struct {
	front *front // nil for one that is no HTTP request

	method, path, query string
	stage, domain       string
	source              string // address of the caller, by the front's own account
	cookies             []string
	body                string
	base64              bool

	// The members of these names, read when it is known which of them count.
	headers, multiValueHeaders                         member
	queryStringParameters, multiValueQueryStringParams member

	job       string // of an operator's command
	scheduled bool

	reader *codec.Reader
}

// member is where the value of a member begins.
type member struct {
	mark  int
	given bool // and not null
}

// readEvent returns the event.
func readEvent(payload []byte) (event, error) {
	e := event{reader: codec.NewReader(payload, maxValues)}
	p := parser{event: &e}
	err := p.top()
	if err == nil && !e.reader.AtEnd() {
		err = errUnknownEvent
	}
	if err != nil {
		return event{}, fmt.Errorf("read the event: %w", err)
	}
	if !p.classify() {
		return event{}, errUnknownEvent
	}
	return e, nil
}

// parser are what tells one kind of event from another.
type parser struct {
	*event
	version, detailType string
	v2Method, v2Path    string // of requestContext.http
	balancer            bool
}

// classify finds out what kind of event it is, and tells whether there is one.
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
		if e.path == "" {
			e.path = p.v2Path
		}
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

// The readers below take null for a member that is not there.

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
