package exchange

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/handler/call"
)

// Form is the HTTP form of the operations of one subject.
type Form interface {
	// Serve decodes the request, runs the operation and responds.
	Serve(x *Exchange, o *call.Operation)
	ErrorForm
}

// ErrorForm is the HTTP form of errors.
type ErrorForm interface {
	// Error responds with the error, which is in the event already.
	Error(x *Exchange, err error)
}

// Row is an operation in the table of the API, with its form; nil means [Messages].
type Row struct {
	*call.Operation
	Form Form
	// Rest makes the last variable of the path match the rest of it, slashes included.
	Rest bool
}

// Plain is a route that is not an operation.
type Plain struct {
	Method, Pattern string
	AnyHost         bool // served under any host name
	Secret          bool // pages of other origins cannot read it, unless they have a token
	Serve           func(x *Exchange)
}

// Mount gives all paths under some prefixes to one function. A prefix "/" is that path
// alone, but then Error also responds to paths that nothing else owns. Requests that a page
// of another origin makes a browser send arrive only if they are safe (RFC 9110 9.2.1), with
// or without a session, unless the origin is trusted or CORS lets the page send a token.
type Mount struct {
	Prefixes []string
	Serve    func(x *Exchange)
	Error    func(x *Exchange, err error)
}

// mountErrors is the form of the errors of a mount.
type mountErrors struct{ Mount }

// Error implements [ErrorForm].
func (m mountErrors) Error(x *Exchange, err error) {
	if header := x.Header(); errors.Is(err, ErrNoMethod) && header.Get("Allow") == "" {
		header.Set("Allow", strings.Join(mountMethods, ", "))
	}
	m.Mount.Error(x, err)
}

// checkOverlaps panics if two routes are the same or a mount owns the path of a route.
func checkOverlaps(rows []Row, plain []Plain, mounts []Mount) {
	var routes []call.Route
	for _, row := range rows {
		routes = append(routes, row.Routes...)
	}
	for _, p := range plain {
		routes = append(routes, call.Route{Method: p.Method, Pattern: p.Pattern})
	}
	var owned []string
	for _, m := range mounts {
		owned = append(owned, m.Prefixes...)
	}
	seen := make(map[call.Route]bool)
	for _, r := range routes {
		if seen[r] {
			panic(fmt.Sprintf("two routes %s %s", r.Method, r.Pattern))
		}
		seen[r] = true
	}
	for i, prefix := range owned {
		if slices.ContainsFunc(owned[:i], func(other string) bool { return overlaps(prefix, other) }) ||
			slices.ContainsFunc(routes, func(r call.Route) bool { return overlaps(fixedPart(r.Pattern), prefix) }) {
			panic(fmt.Sprintf("the paths under %s have two owners", prefix))
		}
	}
}

// fixedPart returns the part of the pattern before its first variable.
func fixedPart(pattern string) string {
	fixed, _, _ := strings.Cut(pattern, "{")
	return strings.TrimSuffix(fixed, "/")
}

// overlaps reports whether one of the paths is under the other. The path "/" is only
// itself.
func overlaps(a, b string) bool {
	if a == "/" || b == "/" {
		return a == b
	}
	return under(a, b) || under(b, a)
}
