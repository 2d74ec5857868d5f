package handler_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/service"
)

// newOFREP returns a server with the flags of testdata/ofrep.yaml. In the flag "half",
// user-1 is in the second half of the buckets and user-2 in the first.
func newOFREP(t testing.TB, options ...func(*handler.Config)) *server {
	t.Helper()
	s := newServer(t, options...)
	file, err := os.ReadFile(filepath.Join("testdata", "ofrep.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s.load(string(file))
	return s
}

// load imports a file directly into the service.
func (s *server) load(file string) {
	s.t.Helper()
	documents, err := document.Decode([]byte(file), document.YAML, document.RejectUnknown)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, d := range documents {
		if _, _, err := s.service.Import(s.t.Context(), service.Write{}, d.Namespace.Key, d, service.ImportUpdate, false); err != nil {
			s.t.Fatal(err)
		}
	}
}

const ofrepPath = "/ofrep/v1/evaluate/flags"

// TestOFREPFlag tests OFREP 3 and 11, byte for byte.
func TestOFREPFlag(t *testing.T) {
	s := newOFREP(t)
	for _, test := range []struct{ name, flag, context, want string }{
		{"boolean, no rollouts", "on", `{}`, `"value":true,"variant":"true","reason":"STATIC"`},
		{"boolean that is off", "off", `{}`, `"value":false,"variant":"false","reason":"STATIC"`},
		{"boolean, segment matched", "adult", `{"age":18}`, `"value":true,"variant":"true","reason":"TARGETING_MATCH"`},
		{"boolean, nothing matched", "adult", `{"age":17.9}`, `"value":false,"variant":"false","reason":"DEFAULT"`},
		{"boolean, threshold matched", "split", `{"targetingKey":"user-2"}`, `"value":true,"variant":"true","reason":"SPLIT"`},
		{"boolean, threshold missed", "split", `{"targetingKey":"user-1"}`, `"value":false,"variant":"false","reason":"DEFAULT"`},
		{"boolean, threshold for all", "all", `{}`, `"value":true,"variant":"true","reason":"TARGETING_MATCH"`},
		{"boolean, threshold for none", "none", `{}`, `"value":false,"variant":"false","reason":"DEFAULT"`},
		{"variant, no rules, default variant", "fallback", `{}`, `"value":"z","variant":"z","reason":"STATIC"`},
		{
			"variant, rule matched, with its metadata", "checkout", `{"age":"20"}`,
			`"value":"treatment","variant":"treatment","reason":"TARGETING_MATCH","metadata":{"n":1.50,"ok":true,"owner":"web","tags":"[\"a\",{\"b\":1}]",` +
				`"attachment":"{\"b\":1,\"a\":2.0}","segments":"adults,everyone"}`,
		},
		{"variant, several distributions", "half", `{"targetingKey":"user-1"}`, `"value":"b","variant":"b","reason":"SPLIT","metadata":{"segments":"everyone"}`},
		{"variant, the other half", "half", `{"targetingKey":"user-2"}`, `"value":"a","variant":"a","reason":"SPLIT","metadata":{"segments":"everyone"}`},
		{"variant, bucket missed", "some", `{"targetingKey":"user-1"}`, `"value":"z","variant":"z","reason":"DEFAULT","metadata":{"segments":"everyone"}`},
		{"variant, rules missed, default variant", "missed", `{}`, `"value":"z","variant":"z","reason":"DEFAULT"`},
		{"variant, rules missed, no default variant", "missed-nothing", `{}`, `"variant":"","reason":"DEFAULT"`},
		{"variant, no rules, no default variant", "nothing", `{}`, `"variant":"","reason":"DEFAULT"`},
		{"variant, rule matched, no distributions", "matched-nothing", `{}`, `"variant":"","reason":"DEFAULT","metadata":{"segments":"everyone"}`},
		{"variant, disabled", "disabled", `{}`, `"variant":"","reason":"DISABLED"`},
		{"variant, disabled, default variant", "disabled-default", `{}`, `"value":"z","variant":"z","reason":"DISABLED"`},

		// Number literals are preserved (OFREP 3); the marker is never sent (OFREP 11).
		{"an integer", "typed-int", `{}`, `"value":10,"variant":"ten","reason":"STATIC"`},
		{"a float", "typed-float", `{}`, `"value":10.0,"variant":"ten","reason":"STATIC"`},
		{"a long number", "typed-long", `{}`, `"value":12345678901234567890.10,"variant":"v","reason":"STATIC"`},
		{"a boolean with a name", "typed-bool", `{}`, `"value":false,"variant":"nope","reason":"STATIC"`},
		{"a text", "typed-text", `{}`, `"value":"hello","variant":"v","reason":"STATIC"`},
		{"an object", "typed-object", `{}`, `"value":{"b":[1,2.50],"a":{"c":null}},"variant":"v","reason":"TARGETING_MATCH","metadata":{"team":"x","segments":"everyone"}`},
		{"null means no value", "typed-null", `{}`, `"variant":"v","reason":"STATIC"`},
		{"no attachment means no value", "typed-bare", `{}`, `"variant":"v","reason":"STATIC"`},
		{"another marker", "typed-not", `{}`, `"value":"v","variant":"v","reason":"STATIC","metadata":{"attachment":"1"}`},

		// Any JSON in the context (OFREP 2).
		{"a number for a text constraint", "is-42", `{"plan":42}`, `"value":true,"variant":"true","reason":"TARGETING_MATCH"`},
		{"a number in another spelling", "is-42", `{"plan":4.20e1}`, `"value":true,"variant":"true","reason":"TARGETING_MATCH"`},
		{"a text for a number constraint", "adult", `{"age":"18.0"}`, `"value":true,"variant":"true","reason":"TARGETING_MATCH"`},
		{"a boolean", "is-beta", `{"beta":true}`, `"value":true,"variant":"true","reason":"TARGETING_MATCH"`},
		{"a text for a boolean constraint", "is-beta", `{"beta":"true"}`, `"value":true,"variant":"true","reason":"TARGETING_MATCH"`},
		{"a structure", "is-norway", `{"geo":{ "cc" : "NO" }}`, `"value":true,"variant":"true","reason":"TARGETING_MATCH"`},
		{"a time with fractions", "is-late", `{"at":"2026-05-01T10:20:30.123Z"}`, `"value":true,"variant":"true","reason":"TARGETING_MATCH"`},
		{"null is absent", "is-beta", `{"beta":null}`, `"value":false,"variant":"false","reason":"DEFAULT"`},
		{"an entity without an id", "is-7", `{}`, `"value":false,"variant":"false","reason":"DEFAULT"`},
		{"an id that is a number", "is-7", `{"targetingKey":7}`, `"value":true,"variant":"true","reason":"TARGETING_MATCH"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := *s
			s.t = t
			r := s.do("POST", ofrepPath+"/"+test.flag, `{"context":`+test.context+`}`)
			r.check(t, 200, `{"key":"`+test.flag+`",`+test.want+`}`)
			want := http.Header{
				"Content-Type": {"application/json"}, "Cache-Control": {"no-store"}, "Guidon-Revision": {"2"},
				"Vary": {"Authorization, X-API-Key, X-Flipt-Namespace, X-Guidon-Namespace, Origin"},
			}
			for _, name := range []string{"Date", "Content-Length", "X-Request-Id"} {
				r.header.Del(name)
			}
			if diff := cmp.Diff(want, r.header); diff != "" {
				t.Errorf("header (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOFREPBuckets tests OFREP 11: an entity gets the same variant over OFREP as over the
// evaluation API.
func TestOFREPBuckets(t *testing.T) {
	s := newOFREP(t)
	for i := range 100 {
		entity := fmt.Sprintf("user-%d", i)
		context := `{"targetingKey":"` + entity + `"}`
		for _, flag := range []string{"half", "some"} {
			want := s.must("", "POST", "/evaluate/v1/variant", `{"flagKey":"`+flag+`","entityId":"`+entity+`"}`).field(t, "variantKey")
			if got := s.must("", "POST", ofrepPath+"/"+flag, `{"context":`+context+`}`).field(t, "variant"); got != want {
				t.Errorf("%s is %q for %s, want %q", flag, got, entity, want)
			}
		}
		boolean := s.must("", "POST", "/evaluate/v1/boolean", `{"flagKey":"split","entityId":"`+entity+`"}`)
		want := fmt.Sprint(strings.Contains(boolean.body, `"enabled":true`))
		if got := s.must("", "POST", ofrepPath+"/split", `{"context":`+context+`}`).field(t, "variant"); got != want {
			t.Errorf("split is %s for %s, want %s", got, entity, want)
		}
	}
}

// TestOFREPRequests tests OFREP 1 and 2 with the variants of requests that clients send.
func TestOFREPRequests(t *testing.T) {
	s := newOFREP(t)
	const on = `{"key":"on","value":true,"variant":"true","reason":"STATIC"}`
	for _, test := range []struct {
		name, path, body string
		headers          []string
		want             string
	}{
		{"no context", ofrepPath + "/on", `{}`, nil, on},
		{"unknown members", ofrepPath + "/on", `{"x":[{}],"context":{}}`, nil, on},
		{"no content type", ofrepPath + "/on", `{}`, []string{"Content-Type", ""}, on},
		{"a charset", ofrepPath + "/on", `{}`, []string{"Content-Type", "application/json; charset=utf-8"}, on},
		{"an upgrade", ofrepPath + "/on", `{}`, []string{"Connection", "Upgrade, HTTP2-Settings", "Upgrade", "h2c", "HTTP2-Settings", "AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA"}, on},
		{"another type accepted", ofrepPath + "/on", `{}`, []string{"Accept", "text/html"}, on},
		{"a base that ends in a slash", "/" + ofrepPath + "/on", `{}`, nil, on},
		{"a slash at the end", ofrepPath + "/on/", `{}`, nil, on},
		{"an escaped key", ofrepPath + "/%6Fn", `{}`, nil, on},
		{"a query", ofrepPath + "/on?pretty&x=%zz", `{}`, nil, on},
		{"the namespace of a query that is malformed elsewhere", ofrepPath + "/on?namespace=default&x=%zz", `{}`, nil, on},
		{"the namespace of a header", ofrepPath + "/on?namespace=%zz", `{}`, []string{"X-Flipt-Namespace", "default"}, on},
		{"a revision that exists", ofrepPath + "/on", `{}`, []string{"Guidon-Min-Revision", "2"}, on},
		{"bulk with a slash", ofrepPath + "/", `{"context":{"flags":"on"}}`, nil, `{"flags":[` + on + `],"metadata":{"flagSetId":"default","version":"2"}}`},
		{"bulk with two", "/" + ofrepPath + "/", `{"context":{"flags":"on"}}`, nil, `{"flags":[` + on + `],"metadata":{"flagSetId":"default","version":"2"}}`},
		{"bulk after a change", ofrepPath + "?flagConfigEtag=2&flagConfigLastModified=1771622898", `{"context":{"flags":"on"}}`, nil, `{"flags":[` + on + `],"metadata":{"flagSetId":"default","version":"2"}}`},
		{"bulk after a change that never happened", ofrepPath + "?flagConfigEtag=999", `{"context":{"flags":"on"}}`, nil, `{"flags":[` + on + `],"metadata":{"flagSetId":"default","version":"2"}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := *s
			s.t = t
			s.do("POST", test.path, test.body, test.headers...).check(t, 200, test.want)
		})
	}
	s.do("GET", "/ofrep/v1/configuration", "").check(t, 200, `{"name":"guidon","capabilities":{"cacheInvalidation":{"polling":{"enabled":true,"minPollingIntervalMs":1000}},`+
		`"flagEvaluation":{"supportedTypes":["boolean","string","int","float","object"]}}}`)
}

// demandRecorder is a store that records whether each request required a fresh state.
type demandRecorder struct {
	*states
	fresh []bool
}

func (s *demandRecorder) Snapshot(ctx context.Context, namespace string, d service.Demand) (*guidon.Snapshot, time.Duration, error) {
	s.fresh = append(s.fresh, d.Fresh)
	return s.states.Snapshot(ctx, namespace, d)
}

// TestOFREPFresh tests OFREP 2: a client that refetches after a change gets the state of
// the database; others may get a cached one.
func TestOFREPFresh(t *testing.T) {
	store := &demandRecorder{states: &states{}}
	h := handler.New(handler.Config{Service: service.NewService(store, time.Now)})
	for _, query := range []string{"", "?flagConfigEtag=3", "?flagConfigLastModified=2026-05-01T00:00:00Z", "?flagConfig=1"} {
		serve(h, "POST", ofrepPath+query, `{}`)
	}
	serve(h, "POST", ofrepPath+"/f?flagConfigEtag=3", `{}`) // has no meaning for a single flag
	serve(h, "POST", ofrepPath+"/f", `{}`, "Cache-Control", "no-cache")
	if diff := cmp.Diff([]bool{false, true, true, false, false, true}, store.fresh); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOFREPObserved checks that evaluations are reported to the observer, and that a 304
// reports none.
func TestOFREPObserved(t *testing.T) {
	o := newObserver()
	s := newOFREP(t, func(c *handler.Config) { c.Observer, c.Evaluations = o, o })
	answer := s.must("", "POST", ofrepPath, `{"context":{"flags":"adult,half,nope","age":20}}`, "X-Request-Id", "bulk")
	s.do("POST", ofrepPath, `{"context":{"flags":"adult,half,nope","age":20}}`, "If-None-Match", answer.header.Get("ETag")).check(t, 304, "")
	s.must("", "POST", ofrepPath+"/checkout", `{"context":{"age":20}}`)
	var got []string
	for len(o.evaluated) > 0 {
		e := <-o.evaluated
		got = append(got, fmt.Sprintf("%s/%s %s=%s %s %v %v", e.Namespace, e.Flag, e.Type, e.Value, e.Reason, e.FlagExists, e.Err != nil))
	}
	want := []string{
		"default/adult boolean=true match true false",
		"default/half variant=  true true",
		"default/nope =  false true",
		"default/checkout variant=treatment match true false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	e := s.logs.event(t, "bulk")
	if e["operation"] != ofrepPath || e["route"] != ofrepPath || e["namespace"] != "default" || e["revision"] != 2.0 || e["status"] != 200.0 {
		t.Errorf("%v", e)
	}
}
