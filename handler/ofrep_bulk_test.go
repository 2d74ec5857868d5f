package handler_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/service"
)

// bulk is a decoded bulk response.
type bulk struct {
	Flags    []json.RawMessage
	Metadata map[string]string
}

func (r reply) bulk(t testing.TB) bulk {
	t.Helper()
	var b bulk
	if err := json.Unmarshal([]byte(r.body), &b); err != nil {
		t.Fatalf("%d %s: %v", r.status, r.body, err)
	}
	return b
}

// TestOFREPBulk tests OFREP 4: one entry for each flag, sorted by key, each equal to the
// response to the single request, success or failure.
func TestOFREPBulk(t *testing.T) {
	s := newOFREP(t)
	for _, context := range []string{`{}`, `{"targetingKey":"user-1","age":20,"beta":true,"geo":{"cc":"NO"}}`} {
		body := `{"context":` + context + `}`
		answer := s.must("", "POST", ofrepPath, body).bulk(t)
		if diff := cmp.Diff(map[string]string{"flagSetId": "default", "version": "2"}, answer.Metadata); diff != "" {
			t.Errorf("metadata (-want +got):\n%s", diff)
		}
		var keys []string
		for _, entry := range answer.Flags {
			var flag struct{ Key, ErrorCode string }
			if err := json.Unmarshal(entry, &flag); err != nil {
				t.Fatal(err)
			}
			if got := s.do("POST", ofrepPath+"/"+flag.Key, body); got.body != string(entry) || (got.status == 200) != (flag.ErrorCode == "") {
				t.Errorf("bulk has %s, single %d %s", entry, got.status, got.body)
			}
			keys = append(keys, flag.Key)
		}
		want := []string{
			"adult", "all", "checkout", "disabled", "disabled-default", "fallback", "half", "is-42", "is-7", "is-beta", "is-late", "is-norway",
			"matched-nothing", "missed", "missed-nothing", "none", "nothing", "off", "on", "some", "split",
			"typed-bare", "typed-bool", "typed-float", "typed-int", "typed-long", "typed-not", "typed-null", "typed-object", "typed-text",
		}
		if diff := cmp.Diff(want, keys); diff != "" {
			t.Errorf("keys (-want +got):\n%s", diff)
		}
	}
}

// TestOFREPBulkFlags tests OFREP 4: the property flags names the requested flags, and one
// that does not exist is an entry with an error.
func TestOFREPBulkFlags(t *testing.T) {
	s := newOFREP(t)
	const (
		on       = `{"key":"on","value":true,"variant":"true","reason":"STATIC"}`
		disabled = `{"key":"disabled","variant":"","reason":"DISABLED"}`
		nope     = `{"key":"nope","errorCode":"FLAG_NOT_FOUND","errorDetails":"flag \"default/nope\" not found"}`
		half     = `{"key":"half","errorCode":"TARGETING_KEY_MISSING","errorDetails":"invalid field context.targetingKey: must not be empty, because flag \"half\" is split by it"}`
	)
	for _, test := range []struct{ name, flags, want string }{
		{"one", `"on"`, on},
		{"several, sorted", `"on,disabled"`, disabled + "," + on},
		{"blanks and repetitions", `" on ,,on, disabled,"`, disabled + "," + on},
		{"unknown ones", `"on,nope"`, nope + "," + on},
		{"failing ones", `"on,half"`, half + "," + on},
		{"none", `" , "`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := *s
			s.t = t
			s.do("POST", ofrepPath, `{"context":{"flags":`+test.flags+`}}`).
				check(t, 200, `{"flags":[`+test.want+`],"metadata":{"flagSetId":"default","version":"2"}}`)
		})
	}
	// With another type, or empty, it is a property like any other.
	all := len(s.must("", "POST", ofrepPath, `{}`).bulk(t).Flags)
	for _, flags := range []string{`["on"]`, `1`, `null`, `""`} {
		if got := len(s.must("", "POST", ofrepPath, `{"context":{"flags":`+flags+`}}`).bulk(t).Flags); got != all {
			t.Errorf("flags %s: %d entries, want %d", flags, got, all)
		}
	}
	s.do("POST", ofrepPath+"?namespace=nowhere", `{}`).check(t, 200, `{"flags":[],"metadata":{"flagSetId":"nowhere","version":"0"}}`)
}

// TestOFREPETag tests OFREP 6: the ETag covers the context and the namespace, but not the
// spelling of the context.
func TestOFREPETag(t *testing.T) {
	s := newOFREP(t)
	s.load("namespace: {key: shop, name: Shop}")
	const body = `{"context":{"targetingKey":"user-1","age":20,"geo":{"a":1,"b":[true]}}}`
	first := s.must("", "POST", ofrepPath, body)
	tag := first.header.Get("ETag")
	if !strings.HasPrefix(tag, `W/"`) || !strings.HasSuffix(tag, `"`) {
		t.Fatalf("ETag %s", tag)
	}
	for name, test := range map[string]struct {
		path, body string
		same       bool
	}{
		"again":               {ofrepPath, body, true},
		"in another order":    {ofrepPath, `{"context":{"geo":{"b":[true],"a":1.0},"age":20,"targetingKey":"user-1"}}`, true},
		"as strings":          {ofrepPath, `{"x":1,"context":{"targetingKey":"user-1","age":"20","geo":"{\"a\":1,\"b\":[true]}","none":null}}`, true},
		"after a change":      {ofrepPath + "?flagConfigEtag=2", body, true},
		"another entity":      {ofrepPath, `{"context":{"targetingKey":"user-2","age":20,"geo":{"a":1,"b":[true]}}}`, false},
		"another property":    {ofrepPath, `{"context":{"targetingKey":"user-1","age":21,"geo":{"a":1,"b":[true]}}}`, false},
		"one more property":   {ofrepPath, `{"context":{"targetingKey":"user-1","age":20,"geo":{"a":1,"b":[true]},"x":1}}`, false},
		"without a context":   {ofrepPath, `{}`, false},
		"another namespace":   {ofrepPath + "?namespace=shop", body, false},
		"no namespace at all": {ofrepPath + "?namespace=x", body, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := *s
			s.t = t
			if got := s.must("", "POST", test.path, test.body).header.Get("ETag"); (got == tag) != test.same {
				t.Errorf("ETag %s, before %s, want it the same: %t", got, tag, test.same)
			}
		})
	}
	if got := s.must("", "POST", ofrepPath+"/on", body).header.Get("ETag"); got != "" {
		t.Errorf("the single call has ETag %s", got)
	}
	// Properties whose concatenation is the same must give different ETags.
	a := s.must("", "POST", ofrepPath, `{"context":{"a":"bc"}}`).header.Get("ETag")
	b := s.must("", "POST", ofrepPath, `{"context":{"ab":"c"}}`).header.Get("ETag")
	if a == b {
		t.Errorf("both %s", a)
	}
}

// TestOFREPNotModified tests OFREP 6: ETags are compared weakly, in every form that
// proxies may produce, and without quotes.
func TestOFREPNotModified(t *testing.T) {
	s := newOFREP(t)
	const body = `{"context":{"targetingKey":"user-1"}}`
	first := s.must("", "POST", ofrepPath, body)
	tag := first.header.Get("ETag")
	strong := strings.TrimPrefix(tag, "W/")
	for _, test := range []struct {
		name, header string
		status       int
	}{
		{"weak", tag, 304},
		{"strong", strong, 304},
		{"without quotes", strings.Trim(strong, `"`), 304},
		{"weak without quotes", "W/" + strings.Trim(strong, `"`), 304},
		{"in a list", `"x", ` + tag + `,W/"y"`, 304},
		{"another", `W/"x"`, 200},
		{"anything", "*", 200},
		{"nothing", "", 200},
		{"part of it", tag[:len(tag)-2] + `"`, 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := *s
			s.t = t
			r := s.do("POST", ofrepPath, body, "If-None-Match", test.header)
			want := first
			want.status = test.status
			if test.status == 304 {
				want.body = ""
				want.header = first.header.Clone()
				for _, name := range []string{"Content-Type", "Content-Length", "Vary"} {
					want.header.Del(name)
				}
				want.header["Vary"] = []string{"Authorization, X-API-Key, X-Flipt-Namespace, X-Guidon-Namespace, Origin"}
			}
			for _, h := range []http.Header{r.header, want.header} {
				h.Del("Date")
				h.Del("X-Request-Id")
			}
			if diff := cmp.Diff(want, r, cmp.AllowUnexported(reply{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}

	// Every change of the namespace changes the ETag (OFREP 6).
	s.must("", "PUT", "/api/v1/flags/on", `{"name":"other"}`)
	if r := s.do("POST", ofrepPath, body, "If-None-Match", tag); r.status != 200 || r.header.Get("ETag") == tag {
		t.Errorf("after a change: %d %s", r.status, r.header.Get("ETag"))
	}
}

// TestOFREPRestored checks that the ETag distinguishes the states before and after a
// database was restored, even if the revision number is the same. Two instances with the
// same state give the same bytes (OFREP 6, 11).
func TestOFREPRestored(t *testing.T) {
	at := func(stamp int64) *server {
		snapshot := guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 7, Stamp: stamp},
			[]*guidon.Flag{{Key: "b", Type: guidon.BooleanFlag}, {Key: "a", Type: guidon.BooleanFlag}}, nil)
		store := &states{byKey: map[string]*guidon.Snapshot{"default": snapshot}}
		return newServer(t, func(c *handler.Config) { c.Service = service.NewService(store, time.Now) })
	}
	const want = `{"flags":[{"key":"a","value":false,"variant":"false","reason":"STATIC"},{"key":"b","value":false,"variant":"false","reason":"STATIC"}],` +
		`"metadata":{"flagSetId":"default","version":"7"}}`
	before, twin, restored := at(1).do("POST", ofrepPath, `{}`), at(1).do("POST", ofrepPath, `{}`), at(2).do("POST", ofrepPath, `{}`)
	for _, r := range []reply{before, twin, restored} {
		r.check(t, 200, want)
	}
	if before.header.Get("ETag") != twin.header.Get("ETag") || before.header.Get("ETag") == restored.header.Get("ETag") {
		t.Errorf("ETags %v, %v, %v", before.header["Etag"], twin.header["Etag"], restored.header["Etag"])
	}
}

// TestOFREPConcurrent tests OFREP 11: the same state and context give the same bytes,
// with concurrent requests too.
func TestOFREPConcurrent(t *testing.T) {
	s := newOFREP(t)
	const body = `{"context":{"targetingKey":"user-1","age":20}}`
	want := s.must("", "POST", ofrepPath, body)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				r := s.do("POST", ofrepPath, body)
				if r.body != want.body || r.header.Get("ETag") != want.header.Get("ETag") {
					t.Errorf("got %s, want %s", r.body, want.body)
				}
			}
		})
	}
	all.Wait()
}

// TestOFREPBound checks that the size of a bulk response is limited, and the error says
// how to avoid the limit.
func TestOFREPBound(t *testing.T) {
	flags := make([]*guidon.Flag, 70)
	for i := range flags {
		v := &guidon.Variant{ID: "v", Key: "v", Attachment: `"` + strings.Repeat("x", 1_000_000) + `"`}
		flags[i] = &guidon.Flag{Key: strings.Repeat("f", i+1), Enabled: true, Variants: []*guidon.Variant{v}, DefaultVariantID: "v"}
	}
	h := over(guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 1}, flags, nil))
	recorder := serve(h, "POST", ofrepPath, `{}`)
	want := `{"errorCode":"GENERAL","errorDetails":"the response exceeds 67108864 bytes; name fewer flags in the field context.flags, separated by commas"}`
	if got := recorder.Body.String(); recorder.Code != 413 || got != want {
		t.Errorf("%d %.200s", recorder.Code, got)
	}
	if recorder := serve(h, "POST", ofrepPath, `{"context":{"flags":"f,ff"}}`); recorder.Code != 200 || recorder.Body.Len() < 2_000_000 {
		t.Errorf("%d, %d bytes", recorder.Code, recorder.Body.Len())
	}
}
