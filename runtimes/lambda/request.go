package lambda

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
)

var errBadRequest = errors.New("the request is malformed")

// placeholder is the host of the URL that the library builds.
const placeholder = "lambda"

// request returns the HTTP request of the event, or errBadRequest. It passes the parts to
// the library in a form that it handles correctly, the same for all fronts. Otherwise the
// library would change escaped paths and queries, and split headers at commas. It also
// logs requests that it cannot handle.
func (e *event) request(ctx context.Context, basePath string) (*http.Request, error) {
	query, err := e.fullQuery()
	if err != nil || !isQuery(query) || !isMethod(e.method) {
		return nil, errBadRequest
	}
	header, err := e.header()
	if err != nil {
		return nil, errBadRequest
	}
	path, removed := e.target(basePath)
	var library core.RequestAccessorV2
	r, err := library.EventToRequest(events.APIGatewayV2HTTPRequest{
		RawPath: path, RawQueryString: query, Body: e.body, IsBase64Encoded: e.base64,
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			DomainName: placeholder,
			HTTP:       events.APIGatewayV2HTTPRequestContextHTTPDescription{Method: e.method},
		},
	})
	if err != nil {
		return nil, errBadRequest
	}
	r.Method = e.method // in the original case
	r.URL.Scheme, r.URL.Host = "", ""
	r.Header = header
	if r.Host = header.Get("Host"); r.Host == "" {
		r.Host = e.domain
	}
	delete(header, "Host")
	r.RemoteAddr = e.remoteAddress(header)
	if header["X-Request-Id"] == nil {
		// The id in the platform's own log lines.
		if invocation, ok := lambdacontext.FromContext(ctx); ok {
			header["X-Request-Id"] = []string{invocation.AwsRequestID}
		}
	}
	return r.WithContext(withRemoved(ctx, removed)), nil
}

// header returns the headers. Repeated headers stay separate if the front keeps them
// separate.
func (e *event) header() (http.Header, error) {
	header := make(http.Header, 32)
	values := make([]string, 0, 32) // of all headers, to save an allocation for each
	add := func(name, value string) {
		name = http.CanonicalHeaderKey(name)
		if before := header[name]; before != nil {
			header[name] = append(before, value)
			return
		}
		values = append(values, value)
		header[name] = values[len(values)-1 : len(values) : len(values)]
	}
	err := e.lists(e.multiValueHeaders, e.headers, add)
	if len(e.cookies) > 0 {
		header["Cookie"] = []string{strings.Join(e.cookies, "; ")}
	}
	return header, err
}

// fullQuery returns the query. Some fronts only have a map of parameters.
func (e *event) fullQuery() (string, error) {
	if e.query != "" {
		return e.query, nil
	}
	var query strings.Builder
	err := e.lists(e.multiValueQueryStringParams, e.queryStringParameters, func(name, value string) {
		if !e.front.rawParameter {
			name, value = url.QueryEscape(name), url.QueryEscape(value)
		}
		if query.Len() > 0 {
			query.WriteByte('&')
		}
		query.WriteString(name)
		query.WriteByte('=')
		query.WriteString(value)
	})
	return query.String(), err
}

// lists calls add for each name and value of many, whose values are lists, if it is
// given. Otherwise it does so for single, whose values are strings.
func (e *event) lists(many, single member, add func(name, value string)) error {
	chosen := many
	if !many.given {
		chosen = single
	}
	if !chosen.given {
		return nil
	}
	r := e.reader
	r.Return(chosen.mark)
	return r.Object(func(name string) error {
		one := func() error {
			value, err := r.Text()
			add(name, value)
			return err
		}
		if null, err := r.Null(); null {
			return err
		}
		if many.given {
			return r.Array(one)
		}
		return one()
	})
}

// remoteAddress returns the address of the caller in the form of net/http with port 0, or
// "" if it is not known. Loopback addresses are rejected, because no caller of a function
// is on its machine.
func (e *event) remoteAddress(header http.Header) string {
	source := e.source
	if e.front.forwarded {
		forwarded := strings.Join(header["X-Forwarded-For"], ",")
		source = strings.TrimSpace(forwarded[strings.LastIndexByte(forwarded, ',')+1:]) // the address added by the front
	}
	address, err := netip.ParseAddr(source)
	if err != nil {
		with, portErr := netip.ParseAddrPort(source)
		address, err = with.Addr(), portErr
	}
	if err != nil || address.Unmap().IsLoopback() {
		return ""
	}
	return netip.AddrPortFrom(address, 0).String()
}
