package lambda

import "strings"

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
