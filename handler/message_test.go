package handler_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/service"
)

// loggedChange has the fields of a change record that the tests need.
type loggedChange struct {
	Revision            int64
	Kind, Key, Action   string
	Message             *string
	Summary             string
	Reason              *struct{ Kind, Text string }
	Before, After       json.RawMessage
	Actor               struct{ ID string }
	RequestID, At, Name string
}

// changesAt returns the records of a response, and the token of the next page.
func (s *server) changesAt(path string, headers ...string) (changes []loggedChange, next string) {
	s.t.Helper()
	var list struct {
		Changes       []loggedChange
		NextPageToken string
	}
	r := s.must("", "GET", path, "", headers...)
	if err := json.Unmarshal([]byte(r.body), &list); err != nil {
		s.t.Fatal(err)
	}
	return list.Changes, list.NextPageToken
}

// lines returns records in a form that is easy to compare.
func lines(changes []loggedChange) []string {
	all := []string{}
	for _, c := range changes {
		line := fmt.Sprintf("%s %s %s", c.Action, c.Kind, c.Key)
		if c.Reason != nil {
			line += " [" + c.Reason.Text + "]"
		}
		if c.Message != nil {
			line += " " + *c.Message
		}
		all = append(all, line)
	}
	return all
}

// TestMessageOfEveryWrite: whatever is written, the record has the message. An invalid
// message fails the write, whatever it is.
func TestMessageOfEveryWrite(t *testing.T) {
	s := newServer(t, required)
	admin := "Bearer " + s.token("")
	const (
		n       = "/api/v1/namespaces"
		flag    = n + "/n/flags/f"
		segment = n + "/n/segments/s"
		tokens  = "&kind=authentication"
		grants  = "&kind=binding"
	)
	for i, write := range []struct{ save, method, path, body, filter string }{
		{"", "POST", n, `{"key":"n","name":"N"}`, ""},
		{"", "PUT", n + "/n", `{"name":"NN"}`, ""},
		{"", "POST", n + "/n/flags", `{"key":"f","name":"F"}`, ""},
		{"", "PUT", flag, `{"name":"FF"}`, ""},
		{"v", "POST", flag + "/variants", `{"key":"v"}`, ""},
		{"", "PUT", flag + "/variants/{v}", `{"key":"v","name":"V"}`, ""},
		{"", "POST", n + "/n/segments", `{"key":"s","name":"S","matchType":"ANY_MATCH_TYPE"}`, ""},
		{"", "PUT", segment, `{"name":"SS","matchType":"ANY_MATCH_TYPE"}`, ""},
		{"c", "POST", segment + "/constraints", `{"type":"STRING_COMPARISON_TYPE","property":"p","operator":"eq","value":"x"}`, ""},
		{"", "DELETE", segment + "/constraints/{c}", "", ""},
		{"r", "POST", flag + "/rules", `{"segmentKey":"s","rank":1}`, ""},
		{"r2", "POST", flag + "/rules", `{"segmentKey":"s","rank":2}`, ""},
		{"", "PUT", flag + "/rules/order", `{"ruleIds":["{r2}","{r}"]}`, ""},
		{"d", "POST", flag + "/rules/{r}/distributions", `{"variantId":"{v}","rollout":100}`, ""},
		{"", "DELETE", flag + "/rules/{r}", "", ""},
		{"", "POST", n + "/n/import", `{"document":{"segments":[{"key":"t","name":"T","matchType":"ANY_MATCH_TYPE"}]}}`, ""},
		{"", "PUT", flag + "/content", `{"flag":{"name":"FFF"}}`, ""},
		{"", "PUT", segment + "/content", `{"segment":{"name":"SSS"}}`, ""},
		{"", "POST", n + "/n/patch", `{"flags":[{"put":{"key":"b","name":"B","type":1}}]}`, ""},
		{"", "POST", n + "/n/flags/b/off", "", ""},
		{"", "POST", n + "/n/flags/b/on", "", ""},
		{"", "POST", n + "/n/patch", `{"flags":[{"delete":"b"}]}`, ""},
		{"", "DELETE", flag, "", ""},
		{"", "POST", "/auth/v1/method/token", `{"name":"ci"}`, tokens},
		{"b", "POST", "/auth/v1/bindings", `{"role":"viewer","subject":"codehost:org:x"}`, grants},
		{"", "DELETE", "/auth/v1/bindings/{b}", "", grants},
		{"", "DELETE", n + "/n", "", ""},
	} {
		bad := s.do(write.method, write.path, write.body, "Authorization", admin, "Guidon-Message", strings.Repeat("x", 1001))
		bad.fails(t, 400, 3, "invalid field message: must not be longer than 1000 characters")
		want := fmt.Sprintf("№ %d: 50 %% off, “now”", i)
		s.must(write.save, write.method, write.path, write.body, "Authorization", admin, "Guidon-Message", url.PathEscape(want))
		got, _ := s.changesAt(n+"/n/changes?limit=1"+write.filter, "Authorization", admin)
		if len(got) != 1 || got[0].Message == nil || *got[0].Message != want {
			t.Errorf("%s %s: got %+v, want the message %q", write.method, write.path, lines(got), want)
		}
	}
}

// TestMessageHeader: the value is percent-encoded UTF-8, of limited length and without
// characters that hide what it says.
func TestMessageHeader(t *testing.T) {
	s := newServer(t)
	s.must("", "POST", "/api/v1/flags", `{"key":"f","name":"F"}`)
	const encoding = "invalid header Guidon-Message: must be percent-encoded UTF-8; write %25 for a percent sign"
	const control = "invalid field message: must not contain line breaks or other control characters"
	for i, test := range []struct{ header, want, problem string }{
		{"plain, (with) + punctuation: \"ok\"?", "plain, (with) + punctuation: \"ok\"?", ""},
		{"Gr%C3%BC%c3%9fe 50%25", "Grüße 50%", ""},
		{"raw Grüße", "raw Grüße", ""},
		{strings.Repeat("%F0%9F%8E%88", 1000), strings.Repeat("🎈", 1000), ""},
		{strings.Repeat("%F0%9F%8E%88", 1001), "", "invalid field message: must not be longer than 1000 characters"},
		{"50 % off", "", encoding},
		{"50 %", "", encoding},
		{"%ff", "", encoding},
		{"two%0Alines", "", control},
		{"%00", "", control},
		{"%E2%80%AEreversed", "", control},
		{"", "", ""},
	} {
		r := s.do("PUT", "/api/v1/flags/f", fmt.Sprintf(`{"name":"F%d"}`, i), "Guidon-Message", test.header)
		if test.problem != "" {
			r.fails(t, 400, 3, test.problem)
			continue
		}
		got, _ := s.changesAt("/api/v1/namespaces/default/changes?limit=1")
		switch m := got[0].Message; {
		case r.status != 200:
			t.Errorf("%q: %d %s", test.header, r.status, r.body)
		case test.want == "" && m != nil, test.want != "" && (m == nil || *m != test.want):
			t.Errorf("%q: got %q, want %q", test.header, lines(got), test.want)
		}
	}
	// On a read, which changes nothing, the header means nothing.
	s.must("", "GET", "/api/v1/flags/f", "", "Guidon-Message", "50 %")
	t.Run("invalid UTF-8", func(t *testing.T) {
		s.do("PUT", "/api/v1/flags/f", `{"name":"N"}`, "Guidon-Message", "\xff").fails(t, 400, 3, encoding)
	})
}

// TestImportMessage: an import has its reason, and its message in the header or in the body,
// which has precedence.
func TestImportMessage(t *testing.T) {
	s := newServer(t)
	long := strings.Repeat("x", 300<<10) // decoded while it is read
	for i, test := range []struct{ field, header, description, want string }{
		{"", "", "", "create flag f0 [import]"},
		{"", "header", "", "create flag f1 [import] header"},
		{`,"message":"field"`, "header", "", "create flag f2 [import] field"},
		{`,"message":"field"`, "", long, "create flag f3 [import] field"},
	} {
		body := fmt.Sprintf(`{"document":{"flags":[{"key":"f%d","name":"F","description":%q}]}%s}`, i, test.description, test.field)
		s.must("", "POST", "/api/v1/namespaces/default/import", body, "Guidon-Message", test.header)
		got, _ := s.changesAt("/api/v1/namespaces/default/changes?limit=1")
		if diff := cmp.Diff([]string{test.want}, lines(got)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	s.do("POST", "/api/v1/namespaces/default/import", `{"document":{},"message":"a\nb"}`).
		fails(t, 400, 3, "invalid field message: must not contain line breaks or other control characters")
}

// TestMessageNotLogged: what somebody writes about a change is not in the log.
func TestMessageNotLogged(t *testing.T) {
	s := newServer(t)
	for id, r := range map[string]reply{
		"written":   s.do("POST", "/api/v1/flags", `{"key":"f","name":"F"}`, "Guidon-Message", "confidential", "X-Request-Id", "written"),
		"failed":    s.do("POST", "/api/v1/flags", `{"name":"F"}`, "Guidon-Message", "confidential", "X-Request-Id", "failed"),
		"malformed": s.do("POST", "/api/v1/flags", `{"key":"g","name":"G"}`, "Guidon-Message", "confidential %", "X-Request-Id", "malformed"),
	} {
		if _, all := s.logs.find(t, id, 1); strings.Contains(all, "confidential") {
			t.Errorf("%s: %d %s, and the log is %s", id, r.status, r.body, all)
		}
	}
}

// TestChangeFilters selects changes by message and reason, also together with other filters
// and page by page.
func TestChangeFilters(t *testing.T) {
	s := newServer(t)
	const changes = "/api/v1/namespaces/default/changes?"
	write := func(message, method, path, body string) {
		t.Helper()
		s.must("", method, "/api/v1/"+path, body, "Guidon-Message", message)
	}
	write("Summer sale", "POST", "flags", `{"key":"a","name":"A"}`)
	write("", "POST", "flags", `{"key":"b","name":"B"}`)
	write("summer import", "POST", "namespaces/default/import", `{"document":{"flags":[{"key":"c","name":"C"},{"key":"d","name":"D"}]}}`)
	write("sale is over", "PUT", "flags/a", `{"name":"AA"}`)
	const (
		over   = "update flag a sale is over"
		d, c   = "create flag d [import] summer import", "create flag c [import] summer import"
		summer = "create flag a Summer sale"
	)
	for query, want := range map[string][]string{
		"message=SALE":                   {over, summer},
		"message=summer":                 {d, c, summer},
		"message=summer&key=c":           {c},
		"message=sale&actor=nobody":      {},
		"reason=import":                  {d, c},
		"reason=undo":                    {},
		"firstRevision=4":                {over, d, c},
		"lastRevision=2":                 {summer, "create namespace default"},
		"firstRevision=4&lastRevision=4": {d, c},
		"first_revision=4&last_revision=4&key=c&message=summer": {c},
		"firstRevision=9": {},
		"reason=import&message=over&since=2001-01-01T00:00:00Z":   {},
		"reason=import&message=sum&since=2001-01-01T00:00:00Z":    {d, c},
		"message=sale&kind=flag&until=2999-01-01T00:00:00Z":       {over, summer},
		"message=sale&kind=segment":                               {},
		"message=sale&kind=authentication":                        {},
		"message=" + url.QueryEscape(strings.Repeat("x", 1000)):   {},
		"reason=import&since=2999-01-01T00:00:00Z&message=summer": {},
	} {
		for _, limit := range []int{1, 2, 25} {
			got := []string{}
			for token := ""; ; {
				page, next := s.changesAt(fmt.Sprintf("%s%s&limit=%d&pageToken=%s", changes, query, limit, url.QueryEscape(token)))
				got = append(got, lines(page)...)
				if token = next; token == "" {
					break
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, limit %d (-want +got):\n%s", query, limit, diff)
			}
		}
	}
	s.do("GET", changes+"reason=direct", "").fails(t, 400, 3, "invalid field reason: must be import, promotion, restore or undo")
	s.do("GET", changes+"firstRevision=-1", "").fails(t, 400, 3, "invalid field firstRevision: must not be negative")
	s.do("GET", changes+"firstRevision=4&lastRevision=3", "").fails(t, 400, 3, "invalid field lastRevision: must not be less than firstRevision")
	s.do("GET", changes+"lastRevision=-1", "").fails(t, 400, 3, "invalid field lastRevision: must not be negative")
	s.do("GET", changes+"message="+strings.Repeat("x", 1001), "").fails(t, 400, 3, "invalid field message: must not be longer than 1000 characters")
}

// TestLatestChanges returns who last changed each object, in the order of the keys.
func TestLatestChanges(t *testing.T) {
	s := newServer(t)
	const latest = "/api/v1/namespaces/default/changes/latest?"
	s.must("", "POST", "/api/v1/flags", `{"key":"a","name":"A"}`)
	s.must("", "POST", "/api/v1/flags", `{"key":"b","name":"B"}`, "Guidon-Message", "b is new")
	s.must("", "POST", "/api/v1/segments", `{"key":"a","name":"A","matchType":"ANY_MATCH_TYPE"}`)
	s.must("", "PUT", "/api/v1/flags/a", `{"name":"AA"}`, "Guidon-Message", "another name")
	s.must("", "POST", "/api/v1/flags", `{"key":"gone","name":"G"}`)
	s.must("", "DELETE", "/api/v1/flags/gone", "")
	for _, test := range []struct {
		name, query string
		want        []string
	}{
		{"a flag", "kind=flag&keys=a", []string{"update flag a another name"}},
		{"a segment", "kind=segment&keys=a", []string{"create segment a"}},
		{"no key", "kind=flag&keys=", []string{}},
		{"several keys", "kind=flag&keys=b&keys=a&keys=gone&keys=nope&keys=b", []string{"create flag b b is new", "update flag a another name"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, _ := s.changesAt(latest + test.query)
			if diff := cmp.Diff(test.want, lines(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, c := range got {
				if c.Before != nil || c.After != nil || c.At == "" || c.Actor.ID != "anonymous" {
					t.Errorf("got %+v", c)
				}
			}
		})
	}
	if got, _ := s.changesAt(latest + "kind=flag&keys=a&withoutSummaries=true"); len(got) != 1 || got[0].Summary != "" {
		t.Errorf("without summaries: got %+v", got)
	}
	if got, _ := s.changesAt(latest + "kind=flag&keys=a"); len(got) != 1 || got[0].Summary == "" {
		t.Errorf("with summaries: got %+v", got)
	}
	if got := s.must("", "GET", latest+"kind=flag&keys=a", "").header.Get("Guidon-Revision"); got != "7" {
		t.Errorf("got revision %q, want 7", got)
	}
	if got, _ := s.changesAt("/api/v1/namespaces/nope/changes/latest?kind=flag&keys=a"); len(got) != 0 {
		t.Errorf("unknown namespace: got %+v", got)
	}
	s.must("", "GET", latest+"kind=flag"+strings.Repeat("&keys=a", 500), "")
	t.Run("too many keys", func(t *testing.T) {
		s.do("GET", latest+"kind=flag"+strings.Repeat("&keys=a", 501), "").fails(t, 400, 3, "invalid field keys: must not have more than 500 values")
	})
	s.do("GET", latest+"kind=flag", "").fails(t, 400, 3, "invalid field keys: must not be empty")
	s.do("GET", latest+"keys=a", "").fails(t, 400, 3, "invalid field kind: must be flag or segment")
	s.do("GET", latest+"kind=authentication&keys=a", "").fails(t, 400, 3, "invalid field kind: must be flag or segment")
}

// TestListAllChanges: changes are listed across the namespaces that the caller may view, also of
// deleted ones, page by page.
func TestListAllChanges(t *testing.T) {
	s := newServer(t, required)
	admin := []string{"Authorization", "Bearer " + s.token("")}
	for _, key := range []string{"shop", "secret", "gone"} {
		s.must("", "POST", "/api/v1/namespaces", `{"key":"`+key+`","name":"`+key+`"}`, admin...)
	}
	s.must("", "POST", "/api/v1/namespaces/shop/flags", `{"key":"pay","name":"Pay","type":"BOOLEAN_FLAG_TYPE","enabled":true}`, admin...)
	s.must("", "POST", "/api/v1/namespaces/shop/flags/pay/off", `{}`, admin...)
	s.must("", "POST", "/api/v1/namespaces/shop/flags/pay/on", `{}`, admin...)
	s.must("", "PUT", "/api/v1/namespaces/shop/flags/pay", `{"name":"Payment","enabled":true}`, admin...)
	s.must("", "PUT", "/api/v1/namespaces/shop/flags/pay", `{"name":"Payment","enabled":false}`, admin...)
	s.must("", "DELETE", "/api/v1/namespaces/gone", "", admin...)
	list := func(query string, headers ...string) (lines []string, next string) {
		t.Helper()
		var r struct {
			Changes []struct {
				NamespaceKey, Key, Summary string
				Before, After              any
			}
			NextPageToken string
		}
		if err := json.Unmarshal([]byte(s.must("", "GET", "/api/v1/changes?"+query, "", headers...).body), &r); err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Changes {
			lines = append(lines, fmt.Sprintf("%s/%s %s", c.NamespaceKey, c.Key, c.Summary))
		}
		return lines, r.NextPageToken
	}
	shop := []string{
		"shop/pay turned off", `shop/pay name "Pay" → "Payment"`, "shop/pay turned on", "shop/pay turned off", `shop/pay created (boolean flag "Pay")`, `shop/shop created ("shop")`,
	}
	for _, test := range []struct {
		name, query, token string
		want               []string
	}{
		{"viewer of some", "", s.grant(service.RoleViewer, "sh*"), shop},
		{"limited token", "namespaceKey=shop", s.token("shop"), shop},
		{"events", "events=turned-on&events=other", s.grant(service.RoleViewer), []string{shop[1], shop[2]}},
		{"deleted", "namespaceKey=gone&events=deleted&since=2001-01-01T00:00Z", s.grant(service.RoleViewer), []string{`gone/gone deleted ("gone")`}},
		{"nothing yet", "since=2999-01-01T00:00:00Z", s.grant(service.RoleViewer), nil},
		{"page", "namespaceKey=shop&limit=2", s.grant(service.RoleViewer), shop[:2]},
	} {
		got, _ := list(test.query, "Authorization", "Bearer "+test.token)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	_, next := list("namespaceKey=shop&limit=2", admin...)
	if got, _ := list("namespaceKey=shop&limit=2&pageToken="+url.QueryEscape(next), admin...); !cmp.Equal(got, shop[2:4]) {
		t.Errorf("the second page has %q", got)
	}
	for query, want := range map[string]string{
		"limit=-1": "invalid field limit: must be greater than or equal to '0'", "pageToken=x": `pageToken is not valid: "x"`,
		"pageToken=e30%3D":    `pageToken is not valid: "e30="`,
		"events=odd":          "invalid field events: must be turned-off, turned-on, targeting, created, deleted or other",
		"maxObjectBytes=-1":   "invalid field maxObjectBytes: must not be negative",
		"since=2026-11-24T09": `parsing field "since": "2026-11-24T09" is not an RFC 3339 time`,
	} {
		s.do("GET", "/api/v1/changes?"+query, "", admin...).fails(t, 400, 3, want)
	}
	s.do("GET", "/api/v1/changes?namespaceKey=secret", "", "Authorization", "Bearer "+s.grant(service.RoleViewer, "shop")).
		fails(t, 403, 7, `permission denied: needs viewer on namespace "secret"`)
	s.do("GET", "/api/v1/changes", "", "Authorization", "Bearer "+s.grant(service.RoleClient)).fails(t, 403, 7, `permission denied: needs viewer on namespace "*"`)
	for _, query := range []string{"", "?namespaceKey=secret"} {
		if got := s.do("GET", "/api/v1/changes"+query, "", "Authorization", "Bearer "+s.token("shop")); got.status != 401 {
			t.Errorf("%q with a token that is limited to shop: got %d %s", query, got.status, got.body)
		}
	}
}
