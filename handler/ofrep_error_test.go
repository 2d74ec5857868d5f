package handler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/service"
)

// TestOFREPErrors tests OFREP 5: every error has a body in OFREP's format.
func TestOFREPErrors(t *testing.T) {
	s := newOFREP(t)
	const (
		notObject = `"errorCode":"PARSE_ERROR","errorDetails":"the request body must be a JSON object"`
		noContext = `"errorCode":"INVALID_CONTEXT","errorDetails":"invalid field context: must be an object"`
		unsplit   = `"errorCode":"TARGETING_KEY_MISSING","errorDetails":"invalid field context.targetingKey: must not be empty, because flag \"half\" is split by it"`
		wrong     = `"errorCode":"GENERAL","errorDetails":"Method Not Allowed"`
	)
	for _, test := range []struct {
		name, method, path, body string
		status                   int
		allow, want              string
	}{
		{"unknown flag", "POST", ofrepPath + "/nope", `{}`, 404, "", `{"key":"nope","errorCode":"FLAG_NOT_FOUND","errorDetails":"flag \"default/nope\" not found"}`},
		{"unknown namespace", "POST", ofrepPath + "/on?namespace=x", `{}`, 404, "", `{"key":"on","errorCode":"FLAG_NOT_FOUND","errorDetails":"flag \"x/on\" not found"}`},
		{"a malformed namespace", "POST", ofrepPath + "/on?namespace=x%zz", `{}`, 400, "", `{"key":"on","errorCode":"GENERAL","errorDetails":"the query string is malformed"}`},
		{"a semicolon, bulk", "POST", ofrepPath + "?namespace=x;a=b", `{}`, 400, "", `{"errorCode":"GENERAL","errorDetails":"the query string is malformed"}`},
		{"a namespace twice", "POST", ofrepPath + "/on?namespace=default&namespace=x", `{}`, 400, "", `{"key":"on","errorCode":"GENERAL","errorDetails":"too many values for parameter \"namespace\""}`},
		{"a namespace twice, bulk", "POST", ofrepPath + "?namespace=x&a=b&namespace=x", `{}`, 400, "", `{"errorCode":"GENERAL","errorDetails":"too many values for parameter \"namespace\""}`},
		{"a comma", "POST", ofrepPath + "/a%2Cb", `{}`, 404, "", `{"key":"a,b","errorCode":"FLAG_NOT_FOUND","errorDetails":"flag \"default/a,b\" not found"}`},
		{"a slash", "POST", ofrepPath + "/a%2Fb", `{}`, 404, "", `{"key":"a/b","errorCode":"FLAG_NOT_FOUND","errorDetails":"flag \"default/a/b\" not found"}`},
		{"not JSON", "POST", ofrepPath + "/half", `{`, 400, "", `{"key":"half",` + notObject + `}`},
		{"nothing", "POST", ofrepPath + "/half", ``, 400, "", `{"key":"half",` + notObject + `}`},
		{"a list", "POST", ofrepPath + "/half", `[]`, 400, "", `{"key":"half",` + notObject + `}`},
		{"not JSON, bulk", "POST", ofrepPath, `{`, 400, "", `{` + notObject + `}`},
		{"a context that is a text", "POST", ofrepPath + "/half", `{"context":"x"}`, 400, "", `{"key":"half",` + noContext + `}`},
		{"a context that is a list, bulk", "POST", ofrepPath, `{"context":[]}`, 400, "", `{` + noContext + `}`},
		{"an object as targeting key", "POST", ofrepPath + "/on", `{"context":{"targetingKey":{}}}`, 400, "", `{"key":"on","errorCode":"INVALID_CONTEXT","errorDetails":"invalid field context.targetingKey: must be a string or a number"}`},
		{"no targeting key", "POST", ofrepPath + "/half", `{}`, 400, "", `{"key":"half",` + unsplit + `}`},
		{"an empty targeting key", "POST", ofrepPath + "/half", `{"context":{"targetingKey":""}}`, 400, "", `{"key":"half",` + unsplit + `}`},
		{"a body too large", "POST", ofrepPath + "/on", `{"x":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "", `{"key":"on","errorCode":"GENERAL","errorDetails":"the request body exceeds 1048576 bytes"}`},
		{"too many flags", "POST", ofrepPath, `{"context":{"flags":"` + strings.Repeat("x,", 1001) + `"}}`, 413, "", `{"errorCode":"GENERAL","errorDetails":"invalid field context.flags: must not name more than 1000 flags"}`},
		{"wrong method", "GET", ofrepPath + "/on", ``, 405, "POST", `{"key":"on",` + wrong + `}`},
		{"wrong method, bulk", "PUT", ofrepPath, `{}`, 405, "POST", `{` + wrong + `}`},
		{"wrong method behind two slashes", "GET", "/" + ofrepPath + "/", ``, 405, "POST", `{` + wrong + `}`},
		{"an unknown method", "BREW", ofrepPath, ``, 405, "POST", `{` + wrong + `}`},
		{"without CORS", "OPTIONS", ofrepPath, ``, 405, "POST", `{` + wrong + `}`},
		{"wrong method, configuration", "POST", "/ofrep/v1/configuration", `{}`, 405, "GET", `{` + wrong + `}`},
		{"unknown path", "POST", "/ofrep/v1/nope", `{}`, 404, "", `{"errorCode":"FLAG_NOT_FOUND","errorDetails":"Not Found"}`},
		{"no path", "GET", "/ofrep", ``, 404, "", `{"errorCode":"FLAG_NOT_FOUND","errorDetails":"Not Found"}`},
		{"another path", "GET", "/ofrepository", ``, 404, "", "404 page not found\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := *s
			s.t = t
			r := s.do(test.method, test.path, test.body)
			r.check(t, test.status, test.want)
			if got := r.header.Get("Allow"); got != test.allow {
				t.Errorf("Allow %q, want %q", got, test.allow)
			}
		})
	}
}

// TestOFREPFailures tests OFREP 5 for failures on our side: a panic, and a database that
// cannot be reached, with Retry-After in whole seconds.
func TestOFREPFailures(t *testing.T) {
	broken := func(with any) func(*handler.Config) {
		return func(c *handler.Config) { c.Service = service.NewService(brokenStore{with: with}, time.Now) }
	}
	s := newServer(t, broken(guidon.Errorf(guidon.Unavailable, "the database cannot be reached")))
	r := s.do("POST", ofrepPath+"/on", `{}`)
	r.check(t, 503, `{"key":"on","errorCode":"GENERAL","errorDetails":"the database cannot be reached"}`)
	if got := r.header.Get("Retry-After"); got != "1" {
		t.Errorf("Retry-After %q", got)
	}
	s = newServer(t, broken("secret detail"))
	s.do("POST", ofrepPath+"/on", `{}`).check(t, 500, `{"key":"on","errorCode":"GENERAL","errorDetails":"internal error"}`)
	s.do("POST", ofrepPath, `{}`).check(t, 500, `{"errorCode":"GENERAL","errorDetails":"internal error"}`)
}
