package handler_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/service"
)

// offered returns the stream in a bulk response, as JSON, and its URL.
func offered(t testing.TB, r reply) (member, target string) {
	t.Helper()
	var body struct{ EventStreams []json.RawMessage }
	if err := json.Unmarshal([]byte(r.body), &body); err != nil || len(body.EventStreams) > 1 {
		t.Fatalf("%d %s: %v", r.status, r.body, err)
	}
	if len(body.EventStreams) == 0 {
		return "", ""
	}
	var stream struct {
		URL      string
		Endpoint struct{ RequestURI string }
	}
	if err := json.Unmarshal(body.EventStreams[0], &stream); err != nil {
		t.Fatal(err)
	}
	return string(body.EventStreams[0]), stream.URL + stream.Endpoint.RequestURI
}

// TestOFREPEventStreams tests OFREP 7: the bulk response has the URL of the stream. The
// URL is the same each time, needs no headers and does not reveal the token.
func TestOFREPEventStreams(t *testing.T) {
	config := stream.Config{MaxOFREP: 2}
	open := newStreaming(t, config)
	open.must("", "POST", ofrepPath, `{}`).check(t, 200, `{"flags":[],"eventStreams":[{"type":"sse",`+
		`"endpoint":{"requestUri":"/ofrep/v1/events?namespace=default"},"inactivityDelaySec":120}],"metadata":{"flagSetId":"default","version":"1"}}`)
	config.PublicURL = "https://flags.example/base"
	public := newStreaming(t, config)
	member, _ := offered(t, public.must("", "POST", ofrepPath+"?namespace=a%26b", `{}`))
	if want := `{"type":"sse","url":"https://flags.example/base/ofrep/v1/events?namespace=a%26b","inactivityDelaySec":120}`; member != want {
		t.Errorf("got %s, want %s", member, want)
	}

	config.PublicURL = ""
	s := newStreaming(t, config, required)
	token, other, shop := s.token(""), s.token(""), s.token("shop")
	bulk := func(token string, headers ...string) reply {
		return s.must("", "POST", ofrepPath, `{}`, append(headers, "X-API-Key", token)...)
	}
	first := bulk(token)
	member, target := offered(t, first)
	if again, _ := offered(t, bulk(token)); again != member {
		t.Errorf("the second time %s, the first %s", again, member)
	}
	if strings.Contains(first.body, token) || strings.Contains(first.body, service.HashToken(token)) {
		t.Errorf("the token is in %s", first.body)
	}
	ids, _ := s.follow(target)
	if got := <-ids; !strings.HasPrefix(got, "1-") {
		t.Errorf("id %s", got)
	}
	s.must("", "POST", "/api/v1/flags", `{"key":"a","name":"a"}`, "Authorization", "Bearer "+token)
	if got := <-ids; !strings.HasPrefix(got, "2-") {
		t.Errorf("id %s", got)
	}

	tags := map[string]bool{}
	for _, r := range []reply{bulk(token), bulk(other), bulk(shop), bulk(token, "X-Flipt-Namespace", "shop")} {
		tags[r.header.Get("ETag")] = true
		_, target := offered(t, r)
		u, err := url.Parse(target)
		if err != nil || u.Path != eventsPath || u.Query().Get("capability") == "" {
			t.Errorf("%q: %v", target, err)
		}
	}
	if len(tags) != 4 {
		t.Errorf("%d ETags for 4 URLs", len(tags))
	}
	if r := s.do("POST", ofrepPath, `{}`, "X-API-Key", token, "If-None-Match", bulk(token).header.Get("ETag")); r.status != 304 {
		t.Errorf("with the current ETag: got %d, want 304", r.status)
	}
	if _, target := offered(t, bulk(shop)); !strings.Contains(target, "namespace=shop") {
		t.Errorf("the stream of a limited token is %s", target)
	}

	// If all slots are taken, other clients must poll. A client that refetches after a
	// change keeps its stream.
	s.follow(target)
	full := bulk(token)
	if member, _ := offered(t, full); member != "" || full.header.Get("ETag") == bulk(token, "X-Flipt-Namespace", "shop").header.Get("ETag") {
		t.Errorf("offered %s, ETag %s", member, full.header.Get("ETag"))
	}
	if r := s.do("GET", target, ""); r.status != 503 || r.header.Get("Retry-After") == "" {
		t.Errorf("one too many: %d %s", r.status, r.body)
	}
	refetched := s.must("", "POST", ofrepPath+"?flagConfigEtag=2", `{}`, "X-API-Key", token)
	if got, _ := offered(t, refetched); got != member {
		t.Errorf("the client with a stream is offered %s, before %s", got, member)
	}
}

// TestOFREPEventStreamsRenewed checks that the URL, and with it the ETag, changes long
// before its capability ends.
func TestOFREPEventStreamsRenewed(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a := &service.Authentication{ID: "id", TokenHash: service.HashToken("secret")}
		j := newJournal()
		j.setTokens(a)
		h, _ := streaming(j, required)
		fetch := func() (target, tag string) {
			r := serve(h, "POST", ofrepPath, `{}`, "X-API-Key", "secret")
			_, target = offered(t, reply{r.Code, r.Header(), r.Body.String()})
			return target, r.Header().Get("ETag")
		}
		end := service.CapabilityEnd(time.Now())
		time.Sleep(time.Until(end.Add(-service.CapabilityWindow - 1)))
		target, tag := fetch()
		time.Sleep(time.Nanosecond)
		nextTarget, nextTag := fetch()
		if target == nextTarget || tag == nextTag {
			t.Errorf("still %s, %s", nextTarget, nextTag)
		}
		time.Sleep(time.Until(end.Add(-1)))
		l := listen(t, h, target)
		l.begun(refetch("1", "1"))
		l.cancel()
		time.Sleep(time.Nanosecond)
		if r := download(t, h, target); r.status != 401 {
			t.Errorf("after its end: %d", r.status)
		}
		if diff := cmp.Diff(401, serve(h, "POST", ofrepPath, `{}`, "X-API-Key", strings.SplitAfter(nextTarget, "capability=")[1]).Code); diff != "" {
			t.Errorf("a capability as a token (-want +got):\n%s", diff)
		}
	})
}
