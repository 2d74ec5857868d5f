package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/guidonhq/guidon"
)

// maxSaid is the maximum length of [Failure].Said, in characters.
const maxSaid = 200

// Failure is a request to a provider that did not succeed. It is for logs: neither its
// text nor Said may reach a client.
type Failure struct {
	Provider string
	URL      string // without query, which may hold secrets
	Status   int    // of an error response, otherwise 0
	// Said is what the provider said in a response with an error status: at most 200
	// printable characters. It is not part of the text of the error.
	Said string
	Err  error // the cause, or nil if it is the status

	limited bool // the status is 403 because of too many requests
}

// Error returns the provider, the URL and the cause.
func (f *Failure) Error() string {
	text := fmt.Sprintf("provider %q: %s", f.Provider, f.URL)
	if f.Status != 0 {
		text += fmt.Sprintf(": status %d", f.Status)
	}
	if f.Err != nil {
		text += ": " + Printable(f.Err.Error())
	}
	return text
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// temporary reports whether the provider cannot be used for now, as opposed to a
// provider that rejects the request.
func (f *Failure) temporary() bool {
	return f.Err != nil || f.Status >= http.StatusInternalServerError || f.Status == http.StatusTooManyRequests || f.limited
}

// isLimited reports whether the response is a 403 of GitHub, or of a host like it, to a
// client that has sent too many requests.
func isLimited(r *http.Response) bool {
	return r.StatusCode == http.StatusForbidden && (r.Header.Get("Retry-After") != "" || r.Header.Get("X-RateLimit-Remaining") == "0")
}

// Unavailable returns the error for callers that need something of the provider and
// cannot get it because of err, which only logs will contain.
func (c *Client) Unavailable(err error) error {
	message := fmt.Sprintf("provider %q is unavailable; try again later", c.name)
	return &guidon.Error{Code: guidon.Unavailable, Message: message, Err: err}
}

// Failure returns the failure of a request that a library sent by [Client.HTTP]. said is
// what the provider said in a response with an error status, otherwise "".
func (c *Client) Failure(url string, status int, said string, err error) *Failure {
	if err != nil {
		err = withoutURL(err)
	}
	return &Failure{Provider: c.name, URL: shown(url), Status: status, Said: Printable(said), Err: err}
}

// said returns the message in the body of an error response. Of a JSON object it takes the
// usual members only, so that values that the provider repeats stay out of logs.
func said(body []byte) string {
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil {
		return Printable(string(body))
	}
	var texts []string
	for _, name := range []string{"error", "error_description", "message"} {
		var text string
		if json.Unmarshal(object[name], &text) == nil && text != "" {
			texts = append(texts, text)
		}
	}
	return Printable(strings.Join(texts, ": "))
}

// Printable returns the first 200 characters of the text, with a space for each run of
// characters that cannot be printed. It is safe for logs even if a stranger wrote it.
func Printable(text string) string {
	var b strings.Builder
	count, gap := 0, false
	for _, r := range text {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar || r == ' ' {
			gap = count > 0
			continue
		}
		if gap && count < maxSaid {
			b.WriteByte(' ')
			count++
		}
		gap = false
		if count == maxSaid {
			break
		}
		b.WriteRune(r)
		count++
	}
	return strings.TrimSuffix(b.String(), " ")
}

// withoutURL returns the cause of an error of [http.Client], whose text has the URL
// with its query.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
