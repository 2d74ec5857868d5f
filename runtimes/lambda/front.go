package lambda

import "strings"

// front is what stands between the caller and the function, and how its events
// and answers differ from those of the others.
type front struct {
	name string

	decodedPath  bool // the path comes decoded
	stagedPath   bool // the stage is a part of the path
	rawParameter bool // the parameters of the query are as the caller wrote them
	forwarded    bool // the caller's address is known by X-Forwarded-For only

	streams     bool // answers can be streamed
	cookies     bool // the cookies of an answer are apart from its headers
	lists       bool // each header of an answer is a list
	description bool // an answer has the text of the status, too
}

var (
	httpAPI           = &front{name: "HTTP API", decodedPath: true, stagedPath: true, cookies: true}
	functionURL       = &front{name: "function URL", streams: true, cookies: true}
	restAPI           = &front{name: "REST API", streams: true, lists: true}
	loadBalancer      = &front{name: "load balancer", rawParameter: true, forwarded: true, description: true}
	loadBalancerMulti = &front{name: "load balancer with multi-value headers", rawParameter: true, forwarded: true, description: true, lists: true}
)

// isFunctionURL tells a function URL from an HTTP API, whose events have the same
// form. Function URLs cannot have a domain name of one's own.
func isFunctionURL(domain string) bool {
	_, rest, _ := strings.Cut(domain, ".")
	return strings.HasPrefix(rest, "lambda-url.")
}
