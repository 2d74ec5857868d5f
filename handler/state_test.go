package handler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/service"
)

// newPast returns a server with a namespace "shop", and paths of everything that can be
// read in it. Revision 8 has all of it, and the last revision has nothing.
func newPast(t *testing.T) (s *server, paths []string) {
	s = newServer(t)
	s.must("", "POST", "/api/v1/namespaces", `{"key":"shop","name":"Shop"}`) // 1
	const n = "/api/v1/namespaces/shop"
	s.must("", "POST", n+"/segments", `{"key":"s","name":"S"}`)
	s.must("", "POST", n+"/flags", `{"key":"f","name":"F","enabled":true}`)
	s.must("", "POST", n+"/flags", `{"key":"b","name":"B","type":"BOOLEAN_FLAG_TYPE"}`)
	s.must("v", "POST", n+"/flags/f/variants", `{"key":"v"}`)
	s.must("r", "POST", n+"/flags/f/rules", `{"segmentKey":"s","rank":1}`)
	s.must("o", "POST", n+"/flags/b/rollouts", `{"rank":1,"threshold":{"percentage":50,"value":true}}`)
	s.must("", "POST", n+"/segments/s/constraints", `{"type":1,"property":"p","operator":"eq","value":"x"}`) // 8
	return s, []string{
		"", "/export", "/flags", "/flags?limit=1", "/flags/f", "/flags/b", "/flags/f/rules", "/flags/f/rules/{r}",
		"/flags/b/rollouts", "/flags/b/rollouts/{o}", "/segments", "/segments/s",
	}
}

// empty removes everything from the namespace that newPast has filled.
func (s *server) empty() {
	const n = "/api/v1/namespaces/shop"
	s.must("", "DELETE", n+"/flags/f", "")
	s.must("", "DELETE", n+"/flags/b", "")
	s.must("", "DELETE", n+"/segments/s", "")
	s.must("", "PUT", n, `{"name":"Empty"}`) // 12
}

// TestStates reads everything in an earlier state, by revision and by time, also after the
// namespace was deleted. The responses are those of then, byte for byte.
func TestStates(t *testing.T) {
	s, paths := newPast(t)
	then := map[string]string{}
	for _, path := range paths {
		then[path] = s.must("", "GET", "/api/v1/namespaces/shop"+path, "").body
	}
	newest, err := s.service.LatestChange(t.Context(), "shop")
	if err != nil || newest.Revision != 8 {
		t.Fatal(newest, err)
	}
	records, err := s.service.ChangesAfter(t.Context(), "shop", change.After(0))
	if err != nil {
		t.Fatal(err)
	}
	at := records[len(records)-1].At
	s.empty()
	check := func(when string) {
		for _, path := range paths {
			for _, ref := range []string{"shop@8", "shop@" + at.Format(time.RFC3339Nano), "shop@" + at.In(time.FixedZone("", 5400)).Format(time.RFC3339Nano)} {
				got := s.do("GET", "/api/v1/namespaces/"+ref+path, "")
				if got.status != 200 || got.body != then[path] {
					t.Errorf("%s, %s%s: %d\ngot  %s\nwant %s", when, ref, path, got.status, got.body, then[path])
				}
				if r := got.header.Get("Guidon-Revision"); r != "8" {
					t.Errorf("%s, %s%s: revision %q, want 8", when, ref, path, r)
				}
			}
		}
	}
	check("after it was emptied")
	if got := s.must("", "GET", "/api/v1/namespaces/shop/flags", ""); got.header.Get("ETag") != "" || strings.Contains(got.body, `"key"`) {
		t.Errorf("the current state: %s, ETag %q", got.body, got.header.Get("ETag"))
	}
	s.must("", "DELETE", "/api/v1/namespaces/shop", "") // 13
	check("after it was deleted")
	s.must("", "POST", "/api/v1/namespaces", `{"key":"shop","name":"New"}`) // 14
	check("after it was created again")
}

// TestStateInField names the state in a field of the request instead of the path.
func TestStateInField(t *testing.T) {
	s := newServer(t)
	s.must("", "POST", "/api/v1/flags", `{"key":"f","name":"F"}`) // 2
	s.must("", "DELETE", "/api/v1/flags/f", "")
	for path, want := range map[string]int{
		"/api/v1/flags/f": 404, "/api/v1/flags/f?namespaceKey=default@2": 200, "/api/v1/flags/f?namespace_key=@2": 200, "/api/v1/flags/f?namespaceKey=@3": 404,
	} {
		if got := s.do("GET", path, ""); got.status != want {
			t.Errorf("%s: %d %s, want %d", path, got.status, got.body, want)
		}
	}
	got := s.must("", "GET", "/api/v1/flags/f?namespaceKey=@2", "")
	if !strings.Contains(got.body, `"namespaceKey":"default"`) {
		t.Errorf("the response names another namespace: %s", got.body)
	}
}

func TestStateErrors(t *testing.T) {
	s, _ := newPast(t)
	s.empty()
	s.must("", "DELETE", "/api/v1/namespaces/shop", "") // 13
	for _, c := range []struct {
		path         string
		status, code int
		message      string
	}{
		{"shop@14/flags", 404, 5, `namespace "shop" has no revision 14 yet; the current one is 13`},
		{"shop@13/flags", 404, 5, `namespace "shop" did not exist at revision 13`},
		{"shop@13/export", 404, 5, `namespace "shop" did not exist at revision 13`},
		{"shop@2001-02-03T04:05:06Z/flags/f", 404, 5, `namespace "shop" did not exist at 2001-02-03T04:05:06Z`},
		{"shop@3001-02-03T04:05:06Z", 404, 5, `namespace "shop" did not exist at 3001-02-03T04:05:06Z`}, // it is deleted
		{"till@1/flags", 404, 5, `namespace "till" not found`},
		{"till@2001-02-03T04:05:06Z/export", 404, 5, `namespace "till" not found`},
		{"shop@8/flags/none", 404, 5, `flag "shop/none" not found`},
		{"shop@0/flags", 400, 3, `invalid reference "shop@0": the revision must be positive`},
		{"shop@-1/flags", 400, 3, `invalid reference "shop@-1": the revision must be positive`},
		{"shop@now", 400, 3, `invalid reference "shop@now": after "@" must be a revision, such as 412, or a time in RFC 3339, such as 2026-11-20T14:03:00Z`},
		{"shop@8%00/flags", 400, 3, `invalid reference "shop@8\x00": after "@" must be a revision, such as 412, or a time in RFC 3339, such as 2026-11-20T14:03:00Z`},
		{"sh%00op@8/flags", 400, 3, `invalid field namespaceKey: must not contain a NUL character`},
		{"shop@8/flags?limit=-1", 400, 3, ""},
	} {
		got := s.do("GET", "/api/v1/namespaces/"+c.path, "")
		if c.message == "" && got.status == c.status {
			continue
		}
		got.fails(t, c.status, c.code, c.message)
	}
}

// TestStateConditions: the ETag is that of the state, and demands are about the current one.
func TestStateConditions(t *testing.T) {
	s, _ := newPast(t)
	const path = "/api/v1/namespaces/shop@8/flags"
	tag := s.must("", "GET", path, "").header.Get("ETag")
	other := s.must("", "GET", "/api/v1/namespaces/shop@7/flags", "").header.Get("ETag")
	if !strings.HasPrefix(tag, `W/"8-`) || other == tag {
		t.Errorf("got the ETags %s and %s", tag, other)
	}
	s.empty() // 12
	for _, c := range []struct {
		name    string
		path    string
		headers []string
		status  int
	}{
		{"the ETag of the state", path, []string{"If-None-Match", tag}, 304},
		{"as a part of a list", path, []string{"If-None-Match", other + ", " + tag}, 304},
		{"by another name", "/api/v1/namespaces/shop@8/export", []string{"If-None-Match", tag}, 304},
		{"another ETag", path, []string{"If-None-Match", other}, 200},
		{"the current state has none", "/api/v1/namespaces/shop/flags", []string{"If-None-Match", tag}, 200},
		{"an error is no match", path + "/none", []string{"If-None-Match", "*"}, 404},
		{"no-cache", path, []string{"Cache-Control", "no-cache"}, 200},
		{"a minimum that the current state has", path, []string{"Guidon-Min-Revision", "12"}, 200},
		{"a minimum that it does not have", path, []string{"Guidon-Min-Revision", "13"}, 503},
		{"a condition of writes", path, []string{"If-Match", "1"}, 200},
	} {
		got := s.do("GET", c.path, "", c.headers...)
		if got.status != c.status || c.status == 304 && (got.body != "" || got.header.Get("Guidon-Revision") != "8" || got.header.Get("ETag") != tag) {
			t.Errorf("%s: %d %v %s, want %d", c.name, got.status, got.header, got.body, c.status)
		}
	}
	if got := s.must("", "GET", path, "").header.Get("Cache-Control"); got != "private, no-cache" {
		t.Errorf("Cache-Control %q", got)
	}
}

// TestStateRejected sends a reference to every operation that must not accept it.
func TestStateRejected(t *testing.T) {
	s := newStreaming(t, stream.Config{})
	s.must("", "POST", "/api/v1/flags", `{"key":"f","name":"F","enabled":true}`)
	const rule = `must be a key; a reference to a state (key@revision or key@time) can only be read`
	const n = "/api/v1/namespaces/default@2"
	for _, c := range []struct{ method, path, body string }{
		{"PUT", n, `{"name":"N"}`},
		{"DELETE", n, ""},
		{"POST", n + "/flags", `{"key":"g","name":"G"}`},
		{"PUT", n + "/flags/f", `{"name":"G"}`},
		{"DELETE", n + "/flags/f", ""},
		{"DELETE", "/api/v1/flags/f?namespaceKey=@2", ""},
		{"POST", "/api/v1/flags", `{"key":"g","name":"G","namespaceKey":"default@2"}`},
		{"POST", n + "/segments", `{"key":"s","name":"S"}`},
		{"POST", n + "/flags/f/variants", `{"key":"v"}`},
		{"PUT", n + "/flags/f/rules/order", `{"ruleIds":["a"]}`},
		{"POST", n + "/import", `{"document":{}}`},
		{"POST", n + "/patch", `{"flags":[{"delete":"f"}]}`},
		{"PUT", n + "/flags/f/content", `{"flag":{"name":"G"}}`},
		{"POST", n + "/flags/f/off", ""},
		{"GET", n + "/changes", ""},
		{"POST", "/evaluate/v1/variant", `{"flagKey":"f","namespaceKey":"default@2"}`},
		{"POST", "/evaluate/v1/boolean", `{"flagKey":"f","namespaceKey":"default@2"}`},
		{"POST", "/evaluate/v1/batch", `{"requests":[{"flagKey":"f","namespaceKey":"default@2"}]}`},
		{"POST", n + "/evaluate", `{"flagKey":"f","entityId":"e"}`},
		{"POST", n + "/batch-evaluate", `{"requests":[{"flagKey":"f","entityId":"e"}]}`},
		{"GET", "/internal/v1/evaluation/snapshot/namespace/default@2", ""},
	} {
		got := s.do(c.method, c.path, c.body)
		if got.status != 400 || !strings.Contains(got.body, rule) || got.header.Get("Guidon-Revision") != "" {
			t.Errorf("%s %s: %d %s, want the rule", c.method, c.path, got.status, got.body)
		}
	}
	t.Run("stream", func(t *testing.T) {
		s.do("GET", n+"/changes/stream", "").fails(t, 400, 3, `invalid namespace "default@2": `+rule)
	})
	for _, c := range []struct{ method, path string }{{"POST", "/ofrep/v1/evaluate/flags/f"}, {"POST", "/ofrep/v1/evaluate/flags"}, {"GET", "/ofrep/v1/events"}} {
		body := `{"context":{"targetingKey":"e"}}`
		if c.method == "GET" {
			body = ""
		}
		got := s.do(c.method, c.path, body, "X-Guidon-Namespace", "default@2")
		if got.status < 400 || got.status >= 500 || c.path != "/ofrep/v1/events" && !strings.Contains(got.body, rule) {
			t.Errorf("%s: %d %s, want the rule", c.path, got.status, got.body)
		}
	}
	s.do("POST", "/api/v1/namespaces", `{"key":"a@2","name":"A"}`).check(t, 400, s.do("POST", "/api/v1/namespaces", `{"key":"a!2","name":"A"}`).body)
	if got := s.must("", "GET", "/api/v1/namespaces/default/export", "").header.Get("Guidon-Revision"); got != "2" {
		t.Errorf("a rejected request has made revision %s", got)
	}
}

// TestStateAccess: what a caller may read is decided by the key before the "@". No
// reference reveals anything about another namespace, not even whether it exists.
func TestStateAccess(t *testing.T) {
	s := newServer(t, required)
	admin := "Bearer " + s.token("")
	for _, key := range []string{"mine", "secret"} {
		s.must("", "POST", "/api/v1/namespaces", `{"key":"`+key+`","name":"N"}`, "Authorization", admin)
		s.must("", "POST", "/api/v1/namespaces/"+key+"/flags", `{"key":"f","name":"F"}`, "Authorization", admin)
		s.must("", "DELETE", "/api/v1/namespaces/"+key+"/flags/f", "", "Authorization", admin)
	}
	for name, token := range map[string]string{
		"limited":   s.token("mine"),
		"viewer":    s.grant(service.RoleViewer, "mine"),
		"editor":    s.grant(service.RoleEditor, "mine"),
		"by prefix": s.grant(service.RoleViewer, "mine*"),
	} {
		for _, ref := range []string{"mine@2", "mine@2999-01-01T00:00:00Z", "mine"} {
			if got := s.do("GET", "/api/v1/namespaces/"+ref+"/flags", "", "Authorization", "Bearer "+token); got.status != 200 {
				t.Errorf("%s: %s: %d %s", name, ref, got.status, got.body)
			}
		}
		refused := s.do("GET", "/api/v1/namespaces/secret/flags", "", "Authorization", "Bearer "+token)
		for _, ref := range []string{
			"secret@2", "secret@99", "secret@0", "secret@x", "secret@", "secret@mine", "secret@2@mine", "secret@2001-01-01T00:00:00Z", "none@2",
			"%40mine", "@2", "secret@mine@2",
		} {
			for _, path := range []string{"", "/flags", "/flags/f", "/export", "/segments"} {
				got := s.do("GET", "/api/v1/namespaces/"+ref+path, "", "Authorization", "Bearer "+token)
				if got.status != refused.status || name == "limited" && got.body != refused.body || strings.Contains(got.body, "revision") {
					t.Errorf("%s: %s%s: %d %s, want %d %s", name, ref, path, got.status, got.body, refused.status, refused.body)
				}
			}
		}
		// The field of the query does not count beside the path, nor the other way around.
		got := s.do("GET", "/api/v1/namespaces/secret@2/flags?namespaceKey=mine", "", "Authorization", "Bearer "+token)
		if got.status != refused.status {
			t.Errorf("%s: a field beside the path: %d %s", name, got.status, got.body)
		}
	}
	for _, header := range []string{"", "Bearer none"} {
		for _, ref := range []string{"mine@2", "mine@x", "none@1"} {
			s.do("GET", "/api/v1/namespaces/"+ref+"/flags", "", "Authorization", header).fails(t, 401, 16, unauthenticated)
		}
	}
	viewer := "Bearer " + s.grant(service.RoleViewer, "mine")
	got := s.do("POST", "/api/v1/namespaces/mine@2/flags", `{"key":"g","name":"G"}`, "Authorization", viewer)
	if got.status != 400 || !strings.Contains(got.body, "can only be read") {
		t.Errorf("a write to a state: %d %s", got.status, got.body)
	}
}

// TestStateOperations: every operation that reads one namespace of the management API
// reads its states, and no other does.
func TestStateOperations(t *testing.T) {
	s := newInside(t, "lists operations")
	want := map[string]bool{}
	for _, name := range strings.Fields("GetNamespace ListFlags GetFlag ListRules GetRule ListRollouts GetRollout ListSegments GetSegment Export " +
		"Explain ExplainBatch ExplainFlags ExplainSegment GetSegmentUsage PreviewSegment PreviewFlag GetFlagReach PreviewFlagReach GetFlagTimeline ListFlagUses GetFlagContent GetSegmentContent Compare " +
		"ListFlagSummaries ListSegmentSummaries ListUnusedFlags ListProperties GetCatalogCounts") {
		want[name] = true
	}
	for _, o := range s.handler.Operations() {
		if o.HasMessages() && o.Has(call.ReadsStates) != want[o.Method()] || !o.HasMessages() && o.Has(call.ReadsStates) {
			t.Errorf("%s: reads states: %t", o.Name, o.Has(call.ReadsStates))
		}
	}
}
