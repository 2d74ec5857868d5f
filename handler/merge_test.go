package handler_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestMergeOverHTTP brings an edit together with what was saved meanwhile. Nothing is stored.
func TestMergeOverHTTP(t *testing.T) {
	s := newEdited(t)
	const at = editPrefix + "/flags/checkout/merge"
	const mine = `{"name":"Mine","enabled":true,"variants":[{"key":"classic"}],"rules":[{"segmentKeys":["staff"],"distributions":[{"variant":"classic","rollout":100}]}]}`
	s.do("POST", at, `{"since":2,"flag":`+mine+`}`).check(t, 200, mergeReply("Mine", 2, ``, `{"path":"name","op":"replace","before":"Checkout","after":"Mine","summary":"name \"Checkout\" → \"Mine\""}`, ``))

	s.must("", "PUT", editPrefix+"/flags/checkout/content", strings.Replace(`{"flag":`+mine+`}`, "Mine", "Theirs", 1))
	r := s.do("POST", at, `{"since":"2","flag":`+mine+`}`)
	if got := r.header.Get("Guidon-Revision"); got != "3" {
		t.Errorf("got revision %q, want 3", got)
	}
	const conflict = `{"path":"name","name":"name","earlier":"Checkout","mine":"Mine","theirs":"Theirs","inUse":false}`
	r.body = withoutLatest(t, r.body, `"revision":3`, `"action":"update"`, `"summary":"name \"Checkout\" → \"Theirs\""`)
	r.check(t, 200, mergeReply("Mine", 3, conflict, ``, ``))
	r = s.do("POST", at, `{"since":2,"flag":`+mine+`,"choices":[{"path":"name","side":"theirs"}]}`)
	r.body = withoutLatest(t, r.body)
	r.check(t, 200, mergeReply("Theirs", 3, ``, ``, `{"path":"name","op":"replace","before":"Mine","after":"Theirs","summary":"name \"Mine\" → \"Theirs\""}`))
	renamed := strings.Replace(mine, `"enabled":true`, `"enabled":false`, 1)
	r = s.do("POST", at, `{"since":2,"pageWords":true,"flag":`+renamed+`}`)
	if want := `"path":"enabled","op":"replace","before":true,"after":false,"summary":"state on → off","wording":{"parts":["state"],"before":"on","after":"off","what":""}`; !strings.Contains(r.body, want) {
		t.Errorf("with the parts of summaries, got %s, want %s", r.body, want)
	}
	if want := `"inUse":false,"wording":{"earlier":"Checkout","mine":"Mine","theirs":"Theirs"}}`; !strings.Contains(r.body, want) {
		t.Errorf("with values in words, got %s, want %s", r.body, want)
	}
	r = s.do("POST", at, `{"since":2}`)
	if !strings.Contains(r.body, `"path":".","name":"everything"`) || strings.Contains(r.body, `"mine":{`) || strings.Contains(r.body, `{"flag":{`) {
		t.Errorf("a deletion: got %s", r.body)
	}
	s.do("POST", editPrefix+"/segments/staff/merge", `{"since":2,"segment":{"name":"All"}}`).check(t, 200,
		`{"segment":{"key":"staff","name":"All","description":"","matchType":"ALL_MATCH_TYPE","constraints":[]},"details":{"baseRevision":2,"currentRevision":3,"conflicts":[],`+
			`"mine":[{"path":"name","op":"replace","before":"Staff","after":"All","summary":"name \"Staff\" → \"All\""}],"theirs":[],"baseMissing":false,"abridged":false}}`)

	for _, test := range []struct{ path, body, want string }{
		{at, `{"since":-1}`, "invalid field since: must not be negative"},
		{at, `{"flag":{"key":"other","name":"N"}}`, `invalid field key: the edited object has the key "other" instead of "checkout"`},
		{at, `{"flag":{"name":""}}`, "flag: invalid field name: must not be empty"},
		{at, `{"since":2,"flag":` + mine + `,"choices":[{"path":"name","side":"ours"}]}`, "invalid field choices[0].side: must be one of mine, theirs"},
		{at, `{"since":2,"flag":` + mine + `,"choices":[{"path":"name","side":"mine"},{"path":"name","side":"mine"}]}`, "invalid field choices[1]: is not unique"},
		{at, `{"since":2,"flag":` + mine + `,"choices":[{"path":"enabled","side":"mine"}]}`, "invalid choice for enabled: there is no such conflict"},
		{editPrefix + "/segments/staff/merge", `{"segment":{"name":"S","matchType":7}}`, "segment: invalid field matchType: is not a known value"},
	} {
		s.do("POST", test.path, test.body).fails(t, 400, 3, test.want)
	}
	s.do("POST", "/api/v1/namespaces/none/flags/checkout/merge", `{}`).fails(t, 404, 5, `namespace "none" not found`)
	if got := s.must("", "GET", editPrefix+"/flags/checkout/content", "").header.Get("Guidon-Revision"); got != "3" {
		t.Errorf("the namespace is at revision %s, want 3", got)
	}
}

// mergeReply is the response of a merge of the flag checkout.
func mergeReply(name string, current int, conflicts, mine, theirs string) string {
	return fmt.Sprintf(`{"flag":{"key":"checkout","name":%q,"type":"VARIANT_FLAG_TYPE","description":"","enabled":true,"metadata":"",`+
		`"variants":[{"default":false,"key":"classic","name":"","description":"","attachment":""}],`+
		`"rules":[{"segmentKeys":["staff"],"segmentOperator":"OR_SEGMENT_OPERATOR","rank":0,"distributions":[{"variant":"classic","rollout":100}]}],"rollouts":[]},`+
		`"details":{"baseRevision":2,"currentRevision":%d,"conflicts":[%s],"mine":[%s],"theirs":[%s],"baseMissing":false,"abridged":false}}`,
		name, current, conflicts, mine, theirs)
}

// withoutLatest returns the body without the latest change, which must have the texts.
func withoutLatest(t *testing.T, body string, texts ...string) string {
	t.Helper()
	before, rest, found := strings.Cut(body, `"latest":`)
	change, after, ends := strings.Cut(rest, `,"baseMissing"`)
	if !found || !ends {
		t.Fatalf("no latest change: %s", body)
	}
	for _, text := range texts {
		if !strings.Contains(strings.ReplaceAll(change, `": "`, `":"`), text) {
			t.Errorf("the latest change lacks %s: %s", text, change)
		}
	}
	return before + `"baseMissing"` + after
}
