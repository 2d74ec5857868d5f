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
	m := marks{event: &e}
	err := m.top()
	if err == nil && !e.reader.AtEnd() {
		err = errUnknownEvent
	}
	if err != nil {
		return event{}, fmt.Errorf("read the event: %w", err)
	}
	if !m.classify() {
		return event{}, errUnknownEvent
	}
	return e, nil
}

// marks are what tells one kind of event from another.
type marks struct {
	*event
	version, detailType string
	method2, path2      string // of requestContext.http
	balancer            bool
}

// classify finds out what kind of event it is, and tells whether there is one.
func (m *marks) classify() bool {
	e := m.event
	switch {
	case m.balancer && e.multiValueHeaders.given:
		e.front = loadBalancerMulti
	case m.balancer:
		e.front = loadBalancer
	case m.version == "2.0" && m.method2 != "":
		e.front = httpAPI
		if isFunctionURL(e.domain) {
			e.front = functionURL
		}
		e.method = m.method2
		if e.path == "" {
			e.path = m.path2
		}
	case e.method != "":
		e.front = restAPI
	case m.detailType == "Scheduled Event":
		e.scheduled = true
	default:
		return e.job != ""
	}
	return true
}

func (m *marks) top() error {
	e := m.event
	return m.object(func(name string) error {
		switch name {
		case "version":
			return m.text(&m.version)
		case "rawPath", "path":
			return m.text(&e.path)
		case "rawQueryString":
			return m.text(&e.query)
		case "httpMethod":
			return m.text(&e.method)
		case "headers":
			return m.mark(&e.headers)
		case "multiValueHeaders":
			return m.mark(&e.multiValueHeaders)
		case "queryStringParameters":
			return m.mark(&e.queryStringParameters)
		case "multiValueQueryStringParameters":
			return m.mark(&e.multiValueQueryStringParams)
		case "cookies":
			return m.texts(&e.cookies)
		case "body":
			return m.text(&e.body)
		case "isBase64Encoded":
			return m.boolean(&e.base64)
		case "requestContext":
			return m.requestContext()
		case "detail-type":
			return m.text(&m.detailType)
		case "guidon":
			return m.text(&e.job)
		}
		return m.reader.Skip()
	})
}

func (m *marks) requestContext() error {
	return m.object(func(name string) error {
		switch name {
		case "stage":
			return m.text(&m.stage)
		case "domainName":
			return m.text(&m.domain)
		case "http":
			return m.http()
		case "identity":
			return m.identity()
		case "elb":
			m.balancer = true
		}
		return m.reader.Skip()
	})
}

func (m *marks) http() error {
	return m.object(func(name string) error {
		switch name {
		case "method":
			return m.text(&m.method2)
		case "path":
			return m.text(&m.path2)
		case "sourceIp":
			return m.text(&m.source)
		}
		return m.reader.Skip()
	})
}

func (m *marks) identity() error {
	return m.object(func(name string) error {
		if name == "sourceIp" {
			return m.text(&m.source)
		}
		return m.reader.Skip()
	})
}

// The readers below take null for a member that is not there.

func (m *marks) object(member func(name string) error) error {
	if null, err := m.reader.Null(); null {
		return err
	}
	return m.reader.Object(member)
}

func (m *marks) text(into *string) error {
	if null, err := m.reader.Null(); null {
		return err
	}
	text, err := m.reader.Text()
	*into = text
	return err
}

func (m *marks) texts(into *[]string) error {
	if null, err := m.reader.Null(); null {
		return err
	}
	return m.reader.Array(func() error {
		text, err := m.reader.Text()
		*into = append(*into, text)
		return err
	})
}

func (m *marks) boolean(into *bool) error {
	if null, err := m.reader.Null(); null {
		return err
	}
	value, err := m.reader.Bool()
	*into = value
	return err
}

func (m *marks) mark(into *member) error {
	into.mark = m.reader.Mark()
	if null, err := m.reader.Null(); null {
		return err
	}
	into.given = true
	return m.reader.Skip()
}
