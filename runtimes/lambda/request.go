package lambda

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

var errBadRequest = errors.New("the request is malformed")

// request returns the HTTP request of the event, or errBadRequest.
func (e *event) request(ctx context.Context, basePath string) (*http.Request, error) {
	query, err := e.fullQuery()
	if err != nil || strings.Contains(query, "#") || e.method == "" {
		return nil, errBadRequest
	}
	if query != "" {
		query = "?" + query
	}
	header, err := e.header()
	if err != nil {
		return nil, errBadRequest
	}
	body := []byte(e.body)
	if e.base64 {
		if body, err = base64.StdEncoding.DecodeString(e.body); err != nil {
			return nil, errBadRequest
		}
	}
	path, removed := e.target(basePath)
	// The host keeps a path that begins with two slashes from becoming one.
	r, err := http.NewRequestWithContext(withRemoved(ctx, removed), e.method, "https://host"+path+query, bytes.NewReader(body))
	if err != nil {
		return nil, errBadRequest
	}
	r.RequestURI = r.URL.RequestURI()
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
	return r, nil
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

// cleanBasePath returns the base path with a leading and without a trailing slash, or ""
// if there is none.
func cleanBasePath(base string) string {
	base = strings.Trim(strings.TrimSpace(base), "/")
	if base == "" {
		return ""
	}
	return "/" + base
}

// target returns the escaped path without stage and base path, and these, which a browser
// needs in the addresses of pages. A path that is not validly escaped, although it should
// be, is treated as unescaped.
func (e *event) target(basePath string) (path, removed string) {
	whole := e.path
	if e.front.decodedPath || !isEscaped(whole) {
		whole = (&url.URL{Path: whole}).EscapedPath()
	}
	path = whole
	if e.front.stagedPath && e.stage != "" && e.stage != "$default" {
		path = cutPrefix(path, "/"+e.stage)
	}
	path = cutPrefix(path, basePath)
	removed = strings.TrimSuffix(whole, path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return path, e.unseen() + removed
}

// unseen returns the part of the caller's path that the front has removed itself: a REST API
// removes the stage, which addresses at its own host name begin with.
func (e *event) unseen() string {
	stage := "/" + e.stage
	if e.front == restAPI && e.callerPath == stage+e.path {
		return stage
	}
	return ""
}

// removedKey is the key of the removed prefix in the context of a request.
type removedKey struct{}

// RemovedPath returns the prefix that was removed from the path of the request: the stage
// of an API, the base path, or both; "" if there was none.
func RemovedPath(r *http.Request) string {
	removed, _ := r.Context().Value(removedKey{}).(string)
	return removed
}

// withRemoved returns a context for a request from whose path the prefix was removed.
func withRemoved(ctx context.Context, removed string) context.Context {
	if removed == "" {
		return ctx
	}
	return context.WithValue(ctx, removedKey{}, removed)
}

// cutPrefix returns the path without the prefix. The prefix must end at a segment:
// /production does not have the prefix /prod.
func cutPrefix(path, prefix string) string {
	if rest, ok := strings.CutPrefix(path, prefix); ok && (rest == "" || rest[0] == '/') {
		return rest
	}
	return path
}

// isEscaped reports whether the path is a validly escaped path of a URL.
func isEscaped(path string) bool {
	_, err := url.PathUnescape(path)
	return err == nil && !strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '?' || r == '#' })
}
