package handler_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

const (
	stagingDocument = `{"namespace":{"name":"Staging"},
		"flags":[{"key":"checkout","name":"Checkout","type":"BOOLEAN_FLAG_TYPE","enabled":true,"rollouts":[{"segment":{"segmentKeys":["beta"],"value":true}},{"threshold":{"percentage":50,"value":true}}]}],
		"segments":[{"key":"beta","name":"Beta"}]}`
	liveDocument = `{"namespace":{"name":"Live"},
		"flags":[{"key":"checkout","name":"Checkout","type":"BOOLEAN_FLAG_TYPE","rollouts":[{"threshold":{"percentage":10,"value":true}}]}]}`
)

// newPlanned returns a server with the namespaces staging and live.
func newPlanned(t *testing.T, options ...func(*handler.Config)) *server {
	t.Helper()
	s := newServer(t, options...)
	for key, document := range map[string]string{"staging": stagingDocument, "live": liveDocument} {
		token := ""
		if len(options) > 0 {
			token = "Bearer " + s.grant(service.RoleAdmin)
		}
		s.must("", "POST", "/api/v1/namespaces/"+key+"/import", `{"document":`+document+`}`, "Authorization", token)
	}
	return s
}

// planOf has the fields of a plan that the tests read.
type planOf struct {
	Revision, SourceRevision int64
	Digest                   string
	Changes                  []struct {
		Kind, Key, Action, Summary, Digest string
		Required                           bool
		Differences                        []struct {
			Path          string
			Before, After any
		}
		Before, After *struct{ Flags, Segments []any }
	}
	Warnings  []struct{ Kind, Key, Text string }
	Unchanged int
	Skipped   []string
	Abridged  bool
}

func planFrom(t *testing.T, r reply) (p planOf) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.body), &p); err != nil || r.status != 200 {
		t.Fatalf("got %d %.500s: %v", r.status, r.body, err)
	}
	return p
}

func (p planOf) summary() string {
	var all []string
	for _, c := range p.Changes {
		all = append(all, fmt.Sprintf("%s %s %s", c.Action, c.Key, c.Summary))
	}
	return strings.Join(all, "; ")
}

// TestPlanAndApply promotes a flag from one namespace to another over HTTP.
func TestPlanAndApply(t *testing.T) {
	s := newPlanned(t)
	body := `"sourceNamespaceKey":"staging","flagKeys":["checkout"],"keep":["enabled","percentages"]`
	r := s.must("", "POST", "/api/v1/namespaces/live/plan", "{"+body+"}")
	p := planFrom(t, r)
	if got, want := p.summary(), "create beta created; update checkout rule 1 added (segments beta: on)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !p.Changes[0].Required || p.Changes[1].Required || p.Revision != 1 || p.SourceRevision != 1 || r.header.Get("Guidon-Revision") != "1" {
		t.Errorf("got %+v", p)
	}
	if c := p.Changes[1]; len(c.Differences) != 1 || c.Differences[0].Path != "rollouts[0]" || len(c.Before.Flags) != 1 || len(c.After.Flags) != 1 || p.Changes[0].Before != nil {
		t.Errorf("got %+v", c)
	}
	if len(p.Warnings) != 1 || p.Warnings[0].Kind != "matches-everyone" || p.Warnings[0].Key != "beta" {
		t.Errorf("got %+v", p.Warnings)
	}

	apply := func(digest, more string) reply {
		return s.do("POST", "/api/v1/namespaces/live/apply", "{"+body+`,"digest":"`+digest+`"`+more+"}")
	}
	apply("", "").fails(t, 400, 3, "invalid field digest: must not be empty")
	apply("wrong", "").fails(t, 412, 9, `nothing was changed: the plan is no longer the same: now create segment "beta"; now update flag "checkout": rule 1 added (segments beta: on)`)
	s.must("", "PUT", "/api/v1/namespaces/live/flags/checkout", `{"name":"Checkout","enabled":true}`)
	apply(p.Digest, `,"expectedChanges":[{"kind":"segment","key":"beta","digest":"`+p.Changes[0].Digest+`"},{"kind":"flag","key":"checkout","digest":"x"}]`).
		fails(t, 412, 9, `nothing was changed: the plan is no longer the same: now update flag "checkout": rule 1 added (segments beta: on)`)

	p = planFrom(t, s.must("", "POST", "/api/v1/namespaces/live/plan", "{"+body+"}"))
	r = apply(p.Digest, `,"message":"ship it"`)
	if got := planFrom(t, r); got.Revision != 3 || r.header.Get("Guidon-Revision") != "3" || got.Digest != p.Digest {
		t.Errorf("got %+v", got)
	}
	changes := s.must("", "GET", "/api/v1/namespaces/live/changes?reason=promotion", "")
	if strings.Count(changes.body, `"text":"promotion from staging@1"`) != 2 || strings.Count(changes.body, `"message":"ship it"`) != 2 {
		t.Errorf("got %s", changes.body)
	}
	if again := planFrom(t, s.must("", "POST", "/api/v1/namespaces/live/plan", "{"+body+"}")); len(again.Changes) > 0 || again.Unchanged != 2 {
		t.Errorf("planned again: %+v", again)
	}
}

// TestPlanOfDocument plans documents in all modes.
func TestPlanOfDocument(t *testing.T) {
	s := newPlanned(t)
	for mode, want := range map[string]string{
		"UPDATE_PLAN_MODE":        "create b created",
		"REPLACE_PLAN_MODE":       "create b created; delete checkout deleted",
		"CREATE_PLAN_MODE":        "create b created",
		"SKIP_EXISTING_PLAN_MODE": "create b created",
	} {
		p := planFrom(t, s.must("", "POST", "/api/v1/namespaces/live/plan", `{"mode":"`+mode+`","document":{"flags":[{"key":"b","name":"B"}]}}`))
		if got := p.summary(); got != want {
			t.Errorf("%s: got %s, want %s", mode, got, want)
		}
	}
	s.do("POST", "/api/v1/namespaces/live/plan", `{"mode":"CREATE_PLAN_MODE","document":`+liveDocument+`}`).fails(t, 400, 3, `flag "live/checkout" is not unique`)
	s.do("POST", "/api/v1/namespaces/live/plan", `{"mode":7,"document":{}}`).fails(t, 400, 3, "invalid field mode: is not a known value")
	s.do("POST", "/api/v1/namespaces/live/plan", `{"document":{},"keep":["enabled","names"]}`).fails(t, 400, 3, "invalid field keep[1]: must be one of enabled, percentages, rules")
	s.do("POST", "/api/v1/namespaces/live/plan", `{"document":{"flags":[{"key":"a"},{"key":"b c","name":"B"}]}}`).fails(t, 400, 3,
		"flags[0] \"a\": invalid field name: must not be empty\nflags[1] \"b c\": invalid field key: contains invalid characters")
}

// TestLargePlan: a document above the size up to which a body is decoded as a whole is read
// piece by piece; the details of a large plan are cut; and one above the limits is refused.
func TestLargePlan(t *testing.T) {
	withoutRaceDetector(t)
	s := newInside(t, "sends bodies that a function does not accept")
	flags := func(n int, description string) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`{"key":"f%d","name":"F","description":"%s"}`, i, description))
		}
		return `{"document":{"flags":[` + strings.Join(list, ",") + `]}}`
	}
	const path = "/api/v1/namespaces/default/plan"
	p := planFrom(t, s.must("", "POST", path, flags(2000, strings.Repeat("x", 1000))))
	if len(p.Changes) != 2000 || !p.Abridged || p.Changes[0].After == nil || p.Changes[1999].After != nil {
		t.Errorf("got %d changes, abridged %t", len(p.Changes), p.Abridged)
	}
	p = planFrom(t, s.must("", "POST", path, flags(300, strings.Repeat("x", 1000))))
	if len(p.Changes) != 300 || p.Abridged || p.Changes[299].After == nil {
		t.Errorf("got %d changes, abridged %t", len(p.Changes), p.Abridged)
	}
	p = planFrom(t, s.must("", "POST", path, flags(2, strings.Repeat("x", 9<<20)))) // larger than any other request
	if len(p.Changes) != 2 || !p.Abridged {
		t.Errorf("got %d changes, abridged %t", len(p.Changes), p.Abridged)
	}
	answer := httptest.NewRecorder()
	request := httptest.NewRequest("POST", "http://127.0.0.1"+path, strings.NewReader("{}"))
	request.ContentLength = 256<<20 + 1
	s.handler.ServeHTTP(answer, request)
	reply{answer.Code, answer.Header(), answer.Body.String()}.fails(t, 413, 8, "the request body exceeds 256 MiB; plan it in parts")
}

// TestPlanAccess: the caller must be allowed to read the source, whether it exists or not,
// and to change the target to apply a plan.
func TestPlanAccess(t *testing.T) {
	s := newPlanned(t, required)
	limited, _, err := s.service.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: "limited", Namespace: "live"})
	if err != nil {
		t.Fatal(err)
	}
	viewer, editor := s.grant(service.RoleViewer, "live", "staging"), s.grant(service.RoleEditor, "live")
	for _, test := range []struct {
		name, token, action, source string
		status                      int
		want                        string
	}{
		{"a viewer plans", viewer, "plan", "staging", 200, `"digest"`},
		{"a viewer does not apply", viewer, "apply", "staging", 403, `needs editor on namespace \"live\"`},
		{"a source that the caller may not read", editor, "plan", "staging", 403, `needs viewer on namespace \"staging\"`},
		{"a source that does not exist", editor, "plan", "nowhere", 403, `needs viewer on namespace \"nowhere\"`},
		{"also to apply", editor, "apply", "staging", 403, `needs viewer on namespace \"staging\"`},
		{"and one that does not exist", editor, "apply", "nowhere", 403, `needs viewer on namespace \"nowhere\"`},
		{"a token that is limited to the target", limited, "plan", "staging", 403, `needs viewer on namespace \"staging\"`},
		{"wherever it is to read", limited, "apply", "nowhere", 403, `needs viewer on namespace \"nowhere\"`},
		{"also of an earlier state", limited, "plan", "nowhere@2", 403, `needs viewer on namespace \"nowhere\"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := *s
			s.t = t
			body := `{"sourceNamespaceKey":"` + test.source + `"}`
			if test.action == "apply" {
				body = `{"sourceNamespaceKey":"` + test.source + `","digest":"x"}`
			}
			r := s.do("POST", "/api/v1/namespaces/live/"+test.action, body, "Authorization", "Bearer "+test.token)
			if r.status != test.status || !strings.Contains(r.body, test.want) {
				t.Errorf("got %d %s, want %d %s", r.status, r.body, test.status, test.want)
			}
		})
	}
	s.must("", "POST", "/api/v1/namespaces/live/plan", `{"document":{}}`, "Authorization", "Bearer "+limited)
	s.must("", "POST", "/api/v1/namespaces/live/plan", `{"sourceNamespaceKey":"live@1"}`, "Authorization", "Bearer "+limited)
}

// TestRestoreAndUndo changes a flag over HTTP, undoes that, and restores the flag.
func TestRestoreAndUndo(t *testing.T) {
	s := newPlanned(t)
	put := func(body string) { s.must("", "PUT", "/api/v1/namespaces/live/flags/checkout", body) }
	put(`{"name":"Two","enabled":true}`)
	put(`{"name":"Three","enabled":true,"description":"new"}`)
	const path = "/api/v1/namespaces/live/"

	undo := func(choices string) string { return `"undo":{"firstRevision":2` + choices + `}` }
	r := s.must("", "POST", path+"plan", "{"+undo("")+"}")
	const conflict = `"conflicts":[{"kind":"flag","key":"checkout","path":"name","name":"name","earlier":"Checkout","changed":"Two","current":"Three","inUse":false}]`
	if p := planFrom(t, r); p.Digest != "" || p.summary() != "update checkout default value on → off" || !strings.Contains(r.body, conflict) {
		t.Errorf("got %s", r.body)
	}
	s.do("POST", path+"apply", "{"+undo("")+`,"digest":"x"}`).fails(t, 412, 9,
		`nothing was changed: what was changed again must be resolved: flag "checkout": name: before "Checkout", changed to "Two", now "Three"`)
	s.do("POST", path+"plan", "{"+undo(`,"choices":[{"kind":"flag","key":"checkout","path":"name","side":"mine"}]`)+"}").fails(t, 400, 3,
		"invalid field undo.choices[0].side: must be one of current, earlier")
	choice := `{"kind":"flag","key":"checkout","path":"name","side":"earlier"}`
	s.do("POST", path+"plan", "{"+undo(`,"choices":[`+choice+","+choice+"]")+"}").fails(t, 400, 3, "invalid field undo.choices[1]: is not unique")
	resolved := undo(`,"choices":[` + choice + "]")
	p := planFrom(t, s.must("", "POST", path+"plan", "{"+resolved+"}"))
	s.must("", "POST", path+"apply", "{"+resolved+`,"digest":"`+p.Digest+`"}`)
	if got := s.must("", "GET", path+"flags/checkout", "").body; !strings.Contains(got, `"name":"Checkout","description":"new","enabled":false`) {
		t.Errorf("undone: got %s", got)
	}

	restore := `"sourceNamespaceKey":"live@1","flagKeys":["checkout"]`
	p = planFrom(t, s.must("", "POST", path+"plan", "{"+restore+"}"))
	if p.summary() != `update checkout description "new" → nothing` || p.SourceRevision != 1 || p.Revision != 4 {
		t.Errorf("got %+v", p)
	}
	r = s.must("", "POST", path+"apply", "{"+restore+`,"digest":"`+p.Digest+`"}`)
	if r.header.Get("Guidon-Revision") != "5" {
		t.Errorf("got revision %s", r.header.Get("Guidon-Revision"))
	}
	changes := s.must("", "GET", path+"changes", "").body
	for _, reason := range []string{"restore to 1", "undo of 2"} {
		if !strings.Contains(changes, `"text":"`+reason+`"`) {
			t.Errorf("no change has the reason %q: %s", reason, changes)
		}
	}
	s.do("POST", "/api/v1/namespaces/live@1/plan", "{"+restore+"}").fails(t, 400, 3,
		`invalid namespace "live@1": must be a key; a reference to a state (key@revision or key@time) can only be read`)
	s.do("POST", path+"plan", `{"sourceNamespaceKey":"live@9"}`).fails(t, 404, 5, `namespace "live" has no revision 9 yet; the current one is 5`)
}

// TestPlanOverGRPC plans and applies by messages.
func TestPlanOverGRPC(t *testing.T) {
	s := newInside(t, "calls operations without a request")
	if _, _, err := s.service.Import(t.Context(), service.Write{}, "staging", &service.Document{Flags: []*guidon.Flag{{Key: "a", Name: "A"}}}, service.ImportCreate, false); err != nil {
		t.Fatal(err)
	}
	invoke := func(method string, m call.Request) (*guidonv1.PlanResponse, error) {
		for _, o := range s.handler.Operations() {
			if o.Method() == method {
				r, err := s.handler.Invoke(t.Context(), o, m)
				if err != nil {
					return nil, err
				}
				return r.Message.(*guidonv1.PlanResponse), nil
			}
		}
		t.Fatalf("no method %s", method)
		return nil, nil
	}
	p, err := invoke("Plan", call.Request{Transport: "grpc", Message: &guidonv1.PlanRequest{SourceNamespaceKey: "staging"}})
	if err != nil || len(p.GetChanges()) != 1 || p.GetNamespaceKey() != "default" || p.GetSourceRevision() != 1 {
		t.Fatalf("got %v, %v", p, err)
	}
	apply := &guidonv1.ApplyRequest{SourceNamespaceKey: "staging", Digest: "wrong"}
	if _, err = invoke("Apply", call.Request{Transport: "grpc", Message: apply}); guidon.CodeOf(err) != guidon.FailedPrecondition {
		t.Errorf("got %v", err)
	}
	apply.Digest = p.GetDigest()
	if p, err = invoke("Apply", call.Request{Transport: "grpc", Message: apply}); err != nil || p.GetRevision() == 0 {
		t.Errorf("got %v, %v", p, err)
	}
}
