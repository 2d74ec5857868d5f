package web

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon/handler/web/page"
)

// grantRequest has the parameters that a command line puts into the address of the page to
// sign in. All of them are in a form that is safe to be forwarded.
type grantRequest struct {
	Port      string // where it listens on the loopback interface, or "" if it does not
	Challenge string // the S256 challenge of its code verifier (RFC 7636)
	State     string // it gets this back; only with a port
	Name      string // its name of the machine; may be empty
}

// Limits of the fields, in bytes. They make the address of the page short enough to return
// to it after signing in.
const (
	challengeLength = 43 // of a SHA-256 in base64url
	maxState        = 128
	maxMachine      = 64
)

// parseGrantRequest returns the request, and whether it is valid.
func parseGrantRequest(fields url.Values) (grantRequest, bool) {
	for _, values := range fields {
		if len(values) > 1 {
			return grantRequest{}, false
		}
	}
	r := grantRequest{
		Port: fields.Get("port"), Challenge: fields.Get("challenge"), State: fields.Get("state"),
		Name: machineName(fields.Get("name")),
	}
	switch {
	case len(r.Challenge) != challengeLength || !consistsOf(r.Challenge, base64URL):
		return grantRequest{}, false
	case r.Port == "" && r.State == "":
		return r, true
	}
	return r, isPort(r.Port) && r.State != "" && len(r.State) <= maxState && consistsOf(r.State, unreserved)
}

// The characters of base64url, and those that mean nothing special in a URL (RFC 3986 2.3).
const (
	base64URL  = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	unreserved = base64URL + ".~"
)

func consistsOf(text, characters string) bool { return strings.Trim(text, characters) == "" }

// isPort reports whether the text is the number of a port in its only usual form.
func isPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return err == nil && port > 0 && strconv.FormatUint(port, 10) == text
}

// machineName returns the name of a machine for people. It has no slashes, which an
// address to return to must not contain.
func machineName(name string) string {
	return page.Printable(strings.NewReplacer("/", "-", `\`, "-").Replace(name), maxMachine)
}

// page returns the address of the page about the request, below the public path.
func (r grantRequest) page() string {
	return commandLinePath + page.Query("challenge", r.Challenge, "port", r.Port, "state", r.State, "name", r.Name)
}

// origin returns the origin at which the command line listens.
func (r grantRequest) origin() string { return "http://127.0.0.1:" + r.Port }

// callback returns where the browser takes the result to the command line.
func (r grantRequest) callback(result url.Values) string {
	result.Set("state", r.State)
	return r.origin() + "/callback?" + result.Encode()
}
