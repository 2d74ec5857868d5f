package handler_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/service"
)

const editPrefix = "/api/v1/namespaces/default"

// newEdited starts a server whose default namespace is at revision 2.
func newEdited(t *testing.T) *server {
	t.Helper()
	s := newServer(t)
	s.must("", "POST", editPrefix+"/import", `{"document":{
		"flags":[
			{"key":"checkout","name":"Checkout","enabled":true,"variants":[{"key":"classic"}],"rules":[
				{"segmentKeys":["staff"],"distributions":[{"variant":"classic","rollout":100}]}]},
			{"key":"banner","name":"Banner","type":"BOOLEAN_FLAG_TYPE","enabled":true,"rollouts":[
				{"segment":{"segmentKeys":["staff"],"value":true}}]}],
		"segments":[{"key":"staff","name":"Staff"},{"key":"guests","name":"Guests"}]}}`)
	return s
}

// editReply is the response of an operation that edits.
func editReply(revision, unchanged int, changes ...string) string {
	var list []string
	for _, c := range changes {
		part := strings.Fields(c)
		list = append(list, fmt.Sprintf(`{"kind":%q,"key":%q,"action":%q}`, part[1], part[2], part[0]))
	}
	return fmt.Sprintf(`{"namespaceKey":"default","revision":%d,"changes":[%s],"unchanged":%d}`, revision, strings.Join(list, ","), unchanged)
}

// TestReplaceOverHTTP: a flag or segment is replaced unless it changed since a revision,
// whatever else has changed since.
func TestReplaceOverHTTP(t *testing.T) {
	s := newEdited(t)
	const flag = `{"flag":{"name":"New","enabled":true,"variants":[{"key":"classic"}]},"unlessChangedSince":2}`
	const segment = `{"segment":{"key":"staff","name":"All","matchType":"ANY_MATCH_TYPE"},"unlessChangedSince":"2","message":"everybody"}`
	s.do("PUT", editPrefix+"/flags/checkout/content", flag, "Guidon-Message", "no rules").check(t, 200, editReply(3, 0, "update flag checkout"))
	r := s.do("PUT", editPrefix+"/segments/staff/content", segment, "Guidon-Message", "ignored")
	r.check(t, 200, editReply(4, 0, "update segment staff"))
	if got := r.header.Get("Guidon-Revision"); got != "4" {
		t.Errorf("got revision %q, want 4", got)
	}
	got, _ := s.changesAt(editPrefix + "/changes?limit=2")
	if diff := cmp.Diff([]string{"update segment staff everybody", "update flag checkout no rules"}, lines(got)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}

	r = s.do("PUT", editPrefix+"/flags/checkout/content", flag)
	wantConflict(t, r, `flag "default/checkout" was changed in revision 3 by anonymous at TIME, after revision 2`)
	if got := r.header.Get("Guidon-Revision"); got != "4" {
		t.Errorf("conflict: got revision %q, want 4", got)
	}
	wantConflict(t, s.do("PUT", editPrefix+"/segments/staff/content", segment), `segment "default/staff" was changed in revision 4 by anonymous at TIME, after revision 2`)
	s.do("PUT", editPrefix+"/flags/banner/content", `{"flag":{"name":"B"},"unlessChangedSince":2}`, "If-Match", "2").fails(t, 412, 9, `namespace "default" is at revision 4, not 2`)
	s.do("PUT", editPrefix+"/flags/banner/content", `{"flag":{"name":"B"},"unlessChangedSince":2}`, "If-Match", "4").check(t, 200, editReply(5, 0, "update flag banner"))
	s.do("PUT", editPrefix+"/flags/banner/content", `{"flag":{"name":"B"}}`).check(t, 200, editReply(5, 1))
	s.do("PUT", editPrefix+"/flags/new/content", `{"flag":{"name":"N"},"unlessChangedSince":0}`).check(t, 200, editReply(6, 0, "create flag new"))

	for _, test := range []struct{ path, body, want string }{
		{"/flags/banner/content", `{}`, "invalid field flag: must not be empty"},
		{"/segments/staff/content", `{}`, "invalid field segment: must not be empty"},
		{"/flags/banner/content", `{"flag":{"key":"other","name":"B"}}`, `invalid field key: the edited object has the key "other" instead of "banner"`},
		{"/flags/banner/content", `{"flag":{"name":"B"},"unlessChangedSince":-1}`, "flag: invalid field unlessChangedSince: must not be negative"},
		{"/flags/banner/content", `{"flag":{"name":"B","type":7}}`, "flag: invalid field type: is not a known value"},
	} {
		s.do("PUT", editPrefix+test.path, test.body).fails(t, 400, 3, test.want)
	}
	s.do("PUT", "/api/v1/namespaces/none/flags/banner/content", `{"flag":{"name":"B"}}`).fails(t, 404, 5, `namespace "none" not found`)
}

var editTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// wantConflict checks that the response is 412 with the message, in which times are TIME.
func wantConflict(t *testing.T, r reply, want string) {
	t.Helper()
	r.body = editTime.ReplaceAllString(r.body, "TIME")
	r.fails(t, 412, 9, want)
}

// TestSwitchOverHTTP turns flags of both types off and on again.
func TestSwitchOverHTTP(t *testing.T) {
	s := newEdited(t)
	isEnabled := func(want bool) {
		t.Helper()
		got := s.must("", "POST", "/evaluate/v1/boolean", `{"flagKey":"banner","entityId":"ann"}`).body
		if !strings.Contains(got, fmt.Sprintf(`"enabled":%t`, want)) {
			t.Errorf("got %s, want %t", got, want)
		}
	}
	const on, off = editPrefix + "/flags/banner/on", editPrefix + "/flags/banner/off"
	s.do("POST", off, `{"unlessChangedSince":2}`).check(t, 200, editReply(3, 0, "update flag banner"))
	isEnabled(false)
	s.do("POST", off, "").check(t, 200, editReply(3, 1))
	wantConflict(t, s.do("POST", on, `{"unlessChangedSince":2}`), `flag "default/banner" was changed in revision 3 by anonymous at TIME, after revision 2`)
	s.do("POST", on, `{"message":"fixed"}`).check(t, 200, editReply(4, 0, "update flag banner"))
	isEnabled(true)
	s.do("POST", on, `{}`).check(t, 200, editReply(4, 1))
	s.do("POST", editPrefix+"/flags/none/off", "").fails(t, 404, 5, `flag "default/none" not found`)
	s.do("POST", off, `{"everyone":true}`).fails(t, 400, 3, "invalid field everyone: a flag is always turned off for everyone")

	const checkout = editPrefix + "/flags/checkout"
	before := s.do("GET", checkout+"/content", "").body
	s.do("POST", checkout+"/off", "").check(t, 200, editReply(5, 0, "update flag checkout"))
	s.do("POST", checkout+"/on", "").check(t, 200, editReply(6, 0, "update flag checkout"))
	updated := regexp.MustCompile(`"updatedAt":"[^"]*"`)
	if diff := cmp.Diff(updated.ReplaceAllString(before, ""), updated.ReplaceAllString(s.do("GET", checkout+"/content", "").body, "")); diff != "" {
		t.Errorf("a variant flag turned off and on (-want +got):\n%s", diff)
	}
}

// TestTurnOnForEveryone: a flag that was not turned off is turned on for everyone only if that
// is demanded, and the preview says for whom.
func TestTurnOnForEveryone(t *testing.T) {
	s := newEdited(t)
	const ramp = editPrefix + "/flags/ramp"
	s.do("PUT", ramp+"/content", `{"flag":{"name":"Ramp","type":"BOOLEAN_FLAG_TYPE","rollouts":[{"threshold":{"percentage":0,"value":true}}]}}`).check(t, 200, editReply(3, 0, "create flag ramp"))
	s.do("POST", ramp+"/on", "").fails(t, 400, 3, `flag "ramp" is not turned on: it has not been turned off, so there is nothing to restore; to enable it for everyone, set everyone`)
	for body, want := range map[string]string{`{"turnOn":true}`: "all entities go from off to on", `{"turnOn":false}`: `"groups":[]`} {
		if r := s.do("POST", ramp+"/effect", body); r.status != 200 || !strings.Contains(r.body, want) {
			t.Errorf("the effect of %s: got %d %s, want %s", body, r.status, r.body, want)
		}
	}
	s.do("POST", ramp+"/effect", `{}`).fails(t, 400, 3, "invalid field flag, turnOn or ramp: must not be empty")
	s.do("POST", ramp+"/effect", `{"turnOn":true,"flag":{"name":"Ramp"}}`).fails(t, 400, 3, "invalid field flag, turnOn or ramp: only one can be present")
	s.do("POST", ramp+"/reach", `{"turnOn":true}`).fails(t, 400, 3, "invalid field turnOn: must not be set")
	s.do("POST", ramp+"/on", `{"everyone":true}`).check(t, 200, editReply(4, 0, "update flag ramp"))
	s.do("POST", ramp+"/on", `{"everyone":true}`).check(t, 200, editReply(4, 1))
}

// TestPatchOverHTTP changes several objects in one revision.
func TestPatchOverHTTP(t *testing.T) {
	s := newEdited(t)
	const path = editPrefix + "/patch"
	s.do("POST", path, `{"message":"cleaning up",
		"flags":[{"delete":"checkout","unlessChangedSince":2},{"put":{"key":"banner","name":"Banner","type":"BOOLEAN_FLAG_TYPE","rollouts":[{"segment":{"segmentKeys":["new"],"value":true}}]}}],
		"segments":[{"put":{"key":"new","name":"New"}},{"delete":"staff","unlessChangedSince":2},{"delete":"none"}]}`,
	).check(t, 200, editReply(3, 1, "create segment new", "update flag banner", "delete flag checkout", "delete segment staff"))
	got, _ := s.changesAt(editPrefix + "/changes?limit=4")
	want := []string{"delete segment staff cleaning up", "delete flag checkout cleaning up", "update flag banner cleaning up", "create segment new cleaning up"}
	if diff := cmp.Diff(want, lines(got)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}

	wantConflict(t, s.do("POST", path, `{"flags":[{"delete":"banner","unlessChangedSince":2},{"delete":"checkout","unlessChangedSince":2}],"segments":[{"delete":"guests","unlessChangedSince":2}]}`),
		`flag "default/banner" was changed in revision 3 by anonymous at TIME, after revision 2`+"\n"+
			`flag "default/checkout" was deleted in revision 3 by anonymous at TIME, after revision 2`)
	s.do("POST", path, `{"flags":[{"put":{"key":"x"}},{"unlessChangedSince":1}],"segments":[{"delete":"new"}]}`).fails(t, 400, 3,
		`flags[0] "x": invalid field name: must not be empty`+"\n"+`flags[1] "": invalid field put, delete, turnOff or turnOn: must not be empty`+"\n"+
			`segments[0] "new": segment "default/new" is in use by flag "banner" (rule 1)`)
	s.do("POST", path, `{}`).fails(t, 400, 3, "invalid field flags and segments: must not be empty")
	s.do("POST", path, `{"flags":[`+strings.Repeat(`{"delete":"a"},`, 100)+`{"delete":"b"}]}`).fails(t, 413, 8, "101 flags and segments are more than the limit of 100")
	s.do("POST", path, `{"flags":[{"delete":"banner","put":{"key":"banner","name":"B"}}]}`).fails(t, 400, 3, `flags[0] "banner": invalid field put, delete, turnOff or turnOn: only one can be present`)
	s.do("POST", path, `{"flags":[{"turnOff":"banner","unlessChangedSince":3},{"turnOff":"checkout"}]}`).fails(t, 400, 3, `flags[1] "checkout": flag "default/checkout" not found`)
	s.do("POST", path, `{"flags":[{"turnOff":"banner","unlessChangedSince":3}]}`).check(t, 200, editReply(4, 0, "update flag banner"))
	if body := s.do("GET", editPrefix+"/flags/banner/content", "").body; !strings.Contains(body, service.OffDescription) {
		t.Errorf("got %s, want the flag turned off", body)
	}
	s.do("POST", path, `{"flags":[{"turnOff":"banner"}]}`).check(t, 200, editReply(4, 1))
	s.do("POST", path, `{"flags":[{"turnOff":"banner","everyone":true}]}`).fails(t, 400, 3, `flags[0] "banner": invalid field everyone: only turnOn can have it`)
	s.do("POST", path, `{"flags":[{"turnOn":"banner"}]}`).check(t, 200, editReply(5, 0, "update flag banner"))
	if body := s.do("GET", editPrefix+"/flags/banner/content", "").body; strings.Contains(body, service.OffDescription) {
		t.Errorf("got %s, want the flag turned on", body)
	}
}

// TestEditRoles: editors edit their namespaces, and nothing else.
func TestEditRoles(t *testing.T) {
	s := newServer(t, required)
	s.must("", "POST", "/api/v1/namespaces", `{"key":"shop","name":"Shop"}`, "Authorization", "Bearer "+s.token(""))
	editor, viewer := "Bearer "+s.grant(service.RoleEditor, "shop"), "Bearer "+s.grant(service.RoleViewer, "shop")
	for _, test := range []struct {
		authorization, namespace string
		status                   int
	}{{editor, "shop", 200}, {editor, "default", 403}, {viewer, "shop", 403}, {"", "shop", 401}} {
		body := `{"flags":[{"put":{"key":"a","name":"A"}}]}`
		if r := s.do("POST", "/api/v1/namespaces/"+test.namespace+"/patch", body, "Authorization", test.authorization); r.status != test.status {
			t.Errorf("%s: got %d %s, want %d", test.namespace, r.status, r.body, test.status)
		}
	}
}

// TestContent: what GET returns is what PUT takes, so putting it again changes nothing.
func TestContent(t *testing.T) {
	s := newEdited(t)
	for _, object := range []struct{ path, member string }{{"/flags/checkout", "flag"}, {"/segments/staff", "segment"}} {
		r := s.do("GET", editPrefix+object.path+"/content", "")
		var content map[string]json.RawMessage
		if err := json.Unmarshal([]byte(r.body), &content); err != nil || r.status != 200 || r.header.Get("Guidon-Revision") != "2" {
			t.Fatalf("%s: got %d %s", object.path, r.status, r.body)
		}
		for _, member := range []string{"createdAt", "updatedAt"} {
			if len(content[member]) < 20 {
				t.Errorf("%s: got %s %s", object.path, member, content[member])
			}
		}
		s.do("PUT", editPrefix+object.path+"/content", fmt.Sprintf(`{%q:%s}`, object.member, content[object.member])).check(t, 200, editReply(2, 1))
	}
	s.do("GET", editPrefix+"/flags/none/content", "").fails(t, 404, 5, `flag "default/none" not found`)
	s.do("GET", editPrefix+"/segments/none/content", "").fails(t, 404, 5, `segment "default/none" not found`)
}
