package handler_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/service"
)

// comparison is a page of a comparison.
type comparison struct {
	Before, After struct {
		NamespaceKey string
		Revision     int64
	}
	Flags, Segments struct{ Created, Updated, Deleted, Unchanged int }
	Objects         []comparedObject
	NextPageToken   string
}

type comparedObject struct {
	Kind, Key, Action, Summary string
	Differences                []json.RawMessage
	MoreDifferences            int
	Diff                       *string
}

// compared compares the namespaces of the path, with the query.
func (s *server) compared(namespace, with, query string, headers ...string) (c comparison) {
	s.t.Helper()
	r := s.must("", "GET", "/api/v1/namespaces/"+namespace+"/compare?with="+with+query, "", headers...)
	if err := json.Unmarshal([]byte(r.body), &c); err != nil {
		s.t.Fatal(err)
	}
	return c
}

// load imports the document into the namespace, which it creates.
func (s *server) loadInto(namespace, document string) {
	s.t.Helper()
	s.must("", "POST", "/api/v1/namespaces/"+namespace+"/import", `{"document":`+document+`,"mode":"REPLACE_IMPORT_MODE"}`)
}

const (
	compareProduction = `{"flags":[
		{"key":"checkout","name":"Checkout","type":"BOOLEAN_FLAG_TYPE","metadata":"{\"owner\":\"ann\"}","rollouts":[
			{"segment":{"segmentKeys":["staff"],"value":true}},{"threshold":{"percentage":10,"value":true}}]},
		{"key":"old","name":"Old"},
		{"key":"theme","name":"Theme","enabled":true,"variants":[{"key":"dark"},{"key":"light","default":true}],"rules":[
			{"segmentKeys":["staff"],"distributions":[{"variant":"dark","rollout":100}]}]}],
		"segments":[{"key":"staff","name":"Staff","constraints":[{"type":"STRING_COMPARISON_TYPE","property":"group","operator":"eq","value":"staff"}]}]}`
	compareStaging = `{"flags":[
		{"key":"new","name":"New"},
		{"key":"theme","name":"Theme","enabled":true,"variants":[{"key":"dark"},{"key":"light","default":true}],"rules":[
			{"segmentKeys":["staff"],"distributions":[{"variant":"dark","rollout":100}]}]},
		{"key":"checkout","name":"Checkout","type":"BOOLEAN_FLAG_TYPE","metadata":"{\"owner\":\"bob\"}","rollouts":[
			{"segment":{"segmentKeys":["staff"],"value":true}},{"threshold":{"percentage":50,"value":true}}]}],
		"segments":[{"key":"beta","name":"Beta"},
			{"key":"staff","name":"Staff","constraints":[{"type":"STRING_COMPARISON_TYPE","property":"group","operator":"neq","value":"staff"}]}]}`
)

// TestCompare compares two namespaces: rules and rollouts by content, in spite of other ids
// and times.
func TestCompare(t *testing.T) {
	s := newServer(t)
	s.loadInto("production", compareProduction)
	s.loadInto("staging", compareStaging)
	r := s.must("", "GET", "/api/v1/namespaces/production/compare?with=staging", "")
	r.check(t, 200, `{"before":{"namespaceKey":"production","revision":1},"after":{"namespaceKey":"staging","revision":1},`+
		`"flags":{"created":1,"updated":1,"deleted":1,"unchanged":1},"segments":{"created":1,"updated":1,"deleted":0,"unchanged":0},"objects":[`+
		`{"kind":"segment","key":"beta","action":"create","summary":"created","differences":[],"moreDifferences":0},`+
		`{"kind":"segment","key":"staff","action":"update","summary":"constraint 1: operator is → is not","differences":[`+
		`{"path":"constraints[0].operator","op":"replace","before":"eq","after":"neq","summary":"constraint 1: operator is → is not"}],"moreDifferences":0},`+
		`{"kind":"flag","key":"checkout","action":"update","summary":"metadata \"owner\" \"ann\" → \"bob\"; rule 2: share 10% → 50%","differences":[`+
		`{"path":"metadata[\"owner\"]","op":"replace","before":"ann","after":"bob","summary":"metadata \"owner\" \"ann\" → \"bob\""},`+
		`{"path":"rollouts[1].threshold.percentage","op":"replace","before":10,"after":50,"summary":"rule 2: share 10% → 50%"}],"moreDifferences":0},`+
		`{"kind":"flag","key":"new","action":"create","summary":"created","differences":[],"moreDifferences":0},`+
		`{"kind":"flag","key":"old","action":"delete","summary":"deleted","differences":[],"moreDifferences":0}],"nextPageToken":""}`)
	if got := r.header.Get("Guidon-Revision"); got != "1" {
		t.Errorf("got revision %q, want that of production", got)
	}
	s.must("", "GET", "/api/v1/namespaces/staging/compare?with=staging", "").check(t, 200,
		`{"before":{"namespaceKey":"staging","revision":1},"after":{"namespaceKey":"staging","revision":1},`+
			`"flags":{"created":0,"updated":0,"deleted":0,"unchanged":3},"segments":{"created":0,"updated":0,"deleted":0,"unchanged":2},"objects":[],"nextPageToken":""}`)
}

// TestCompareDiff: with diff, each flag and segment has the difference of its YAML.
func TestCompareDiff(t *testing.T) {
	s := newServer(t)
	s.loadInto("production", compareProduction)
	s.loadInto("staging", compareStaging)
	got := map[string]string{}
	for _, o := range s.compared("production", "staging", "&diff=true").Objects {
		got[o.Key] = *o.Diff
	}
	const checkout = `diff production/flags/checkout staging/flags/checkout
--- production/flags/checkout
+++ staging/flags/checkout
@@ -4,11 +4,11 @@
     type: BOOLEAN_FLAG_TYPE
     enabled: false
     metadata:
-      owner: ann
+      owner: bob
     rollouts:
       - segment:
           key: staff
           value: true
       - threshold:
-          percentage: 10
+          percentage: 50
           value: true
`
	const created = `diff production/flags/new staging/flags/new
--- production/flags/new
+++ staging/flags/new
@@ -0,0 +1,5 @@
+flags:
+  - key: new
+    name: New
+    type: VARIANT_FLAG_TYPE
+    enabled: false
`
	if diff := cmp.Diff(checkout, got["checkout"]); diff != "" {
		t.Errorf("checkout (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(created, got["new"]); diff != "" {
		t.Errorf("new (-want +got):\n%s", diff)
	}
	if len(got) != 5 || !strings.Contains(got["staff"], "-        operator: eq\n+        operator: neq\n") || !strings.Contains(got["old"], "-  - key: old\n") {
		t.Errorf("got %q", got)
	}
	// Without it, and for objects that are large, there is none.
	s.loadInto("production", `{"flags":[{"key":"large","name":"L","description":"`+strings.Repeat("x", 1<<20)+`"}]}`)
	for _, o := range s.compared("production", "staging", "&diff=true").Objects {
		if (o.Diff != nil) != (o.Key != "large") {
			t.Errorf("%s: got the diff %v", o.Key, o.Diff)
		}
	}
	for _, o := range s.compared("production", "staging", "&diff=false").Objects {
		if o.Diff != nil {
			t.Errorf("%s: got a diff", o.Key)
		}
	}
}

// TestComparePages: all differences come in pages, of the same two states.
func TestComparePages(t *testing.T) {
	s := newServer(t)
	var flags []string
	var want []string
	for i := range 1100 {
		flags = append(flags, fmt.Sprintf(`{"key":"f%04d","name":"F"}`, i))
		want = append(want, fmt.Sprintf("flag f%04d", i))
	}
	s.loadInto("a", `{"flags":[`+strings.Join(flags, ",")+`]}`)
	s.loadInto("b", `{"flags":[{"key":"large-1","name":"L","description":"`+strings.Repeat("x", 300_000)+`"}],"segments":[{"key":"g","name":"G"}]}`)
	want = append([]string{"segment g"}, append(want, "flag large-1")...)
	for _, test := range []struct {
		limit string
		pages []int
	}{{"", slices.Concat(slices.Repeat([]int{100}, 11), []int{2})}, {"&limit=1000", []int{1000, 102}}, {"&limit=2147483647", []int{1000, 102}}, {"&limit=700", []int{700, 402}}} {
		var got []string
		var pages []int
		for token, more := "", true; more; more = token != "" {
			page := s.compared("a", "b", test.limit+"&pageToken="+url.QueryEscape(token))
			for _, o := range page.Objects {
				got = append(got, o.Kind+" "+o.Key)
			}
			if page.Flags.Deleted != 1100 || page.Flags.Created != 1 || page.Segments.Created != 1 {
				t.Errorf("a page has the counts %+v, %+v", page.Flags, page.Segments)
			}
			token, pages = page.NextPageToken, append(pages, len(page.Objects))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.limit, diff)
		}
		if diff := cmp.Diff(test.pages, pages); diff != "" {
			t.Errorf("%s: pages (-want +got):\n%s", test.limit, diff)
		}
	}
	token := url.QueryEscape(s.compared("a", "b", "").NextPageToken)
	s.must("", "POST", "/api/v1/namespaces/b/flags", `{"key":"later","name":"L"}`)
	s.do("GET", "/api/v1/namespaces/a/compare?with=b&pageToken="+token, "").
		fails(t, 412, 9, `namespace "b" has changed since the first page; begin again, or name its state, such as "b@2"`)
	// The page of the state as it was is still there.
	if page := s.compared("a", "b@1", "&pageToken="+token); len(page.Objects) != 100 || page.Objects[0].Key != "f0099" {
		t.Errorf("got %d objects", len(page.Objects))
	}
}

// TestCompareStates: each side may be an earlier state, also of the same namespace or of one
// that no longer exists.
func TestCompareStates(t *testing.T) {
	s := newServer(t)
	s.must("", "POST", "/api/v1/namespaces", `{"key":"a","name":"A"}`)
	s.must("", "POST", "/api/v1/namespaces/a/flags", `{"key":"f","name":"F"}`)
	s.must("", "PUT", "/api/v1/namespaces/a/flags/f", `{"name":"G"}`)
	s.must("", "PUT", "/api/v1/namespaces/a", `{"name":"B"}`)
	s.must("", "POST", "/api/v1/namespaces", `{"key":"gone","name":"Gone"}`)
	s.must("", "POST", "/api/v1/namespaces/gone/flags", `{"key":"f","name":"G"}`)
	s.must("", "DELETE", "/api/v1/namespaces/gone/flags/f", "")
	s.must("", "DELETE", "/api/v1/namespaces/gone", "")
	for _, test := range []struct {
		before, after, revision string
		want                    []string
	}{
		{"a@2", "a@3", "2", []string{`flag f: name "F" → "G"`}},
		{"a@3", "a@2", "3", []string{`flag f: name "G" → "F"`}},
		{"a@1", "a", "1", []string{`namespace a: name "A" → "B"`, "flag f: created"}},
		{"a", "a@1", "4", []string{`namespace a: name "B" → "A"`, "flag f: deleted"}},
		{"a@2999-01-01T00:00:00Z", "a", "4", nil},
		{"a@2", "gone@2", "2", []string{`flag f: name "F" → "G"`}},
		{"gone@2", "a", "2", nil},
	} {
		r := s.must("", "GET", "/api/v1/namespaces/"+test.before+"/compare?diff=true&with="+test.after, "")
		var c comparison
		if err := json.Unmarshal([]byte(r.body), &c); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range c.Objects {
			got = append(got, o.Kind+" "+o.Key+": "+o.Summary)
			if o.Diff != nil && !strings.HasPrefix(*o.Diff, fmt.Sprintf("diff %s/flags/f ", c.name())) {
				t.Errorf("%s with %s: got %s", test.before, test.after, *o.Diff)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" || r.header.Get("Guidon-Revision") != test.revision {
			t.Errorf("%s with %s: at %s (-want +got):\n%s", test.before, test.after, r.header.Get("Guidon-Revision"), diff)
		}
		tag := r.header.Get("ETag")
		if again := s.do("GET", "/api/v1/namespaces/"+test.before+"/compare?diff=true&with="+test.after, "", "If-None-Match", tag); again.status != 304 || tag == "" {
			t.Errorf("%s with %s: the tag %q gets %d", test.before, test.after, tag, again.status)
		}
	}
	// The tag depends on both states.
	tag := s.must("", "GET", "/api/v1/namespaces/a@2/compare?with=a", "").header.Get("ETag")
	s.must("", "PUT", "/api/v1/namespaces/a/flags/f", `{"name":"H"}`)
	if r := s.do("GET", "/api/v1/namespaces/a@2/compare?with=a", "", "If-None-Match", tag); r.status != 200 || !strings.Contains(r.body, `\"F\" → \"H\"`) {
		t.Errorf("after a change: %d %s", r.status, r.body)
	}
	s.do("GET", "/api/v1/namespaces/a/compare?with=a@6", "").fails(t, 404, 5, "namespace \"a\" has no revision 6 yet; the current one is 5")
	s.do("GET", "/api/v1/namespaces/a@x/compare?with=a", "").fails(t, 400, 3, `invalid reference "a@x": after "@" must be a revision, such as 412, or a time in RFC 3339, such as 2026-11-20T14:03:00Z`)
	s.do("GET", "/api/v1/namespaces/a/compare?with=a@0", "").fails(t, 400, 3, `invalid reference "a@0": the revision must be positive`)
}

// name returns how diffs name the state before.
func (c *comparison) name() string {
	if c.Before.NamespaceKey != c.After.NamespaceKey {
		return c.Before.NamespaceKey
	}
	return fmt.Sprintf("%s@%d", c.Before.NamespaceKey, c.Before.Revision)
}

// TestCompareLargePages: pages end before they are too large, and no difference is left out
// without saying so.
func TestCompareLargePages(t *testing.T) {
	withoutRaceDetector(t)
	s := newServer(t)
	document := func(letter string) string {
		var flags []string
		for i := range 8 {
			flags = append(flags, fmt.Sprintf(`{"key":"f%d","name":"F","description":"%s"}`, i, strings.Repeat(letter, 300_000)))
		}
		return `{"flags":[` + strings.Join(flags, ",") + `]}`
	}
	s.loadInto("a", document("x"))
	s.loadInto("b", document("y"))
	first := s.compared("a", "b", "")
	second := s.compared("a", "b", "&pageToken="+url.QueryEscape(first.NextPageToken))
	if len(first.Objects) != 5 || len(second.Objects) != 3 || second.NextPageToken != "" {
		t.Errorf("got pages of %d and %d objects", len(first.Objects), len(second.Objects))
	}
	rules := func(segment string) string {
		return `{"segments":[{"key":"s","name":"S"},{"key":"t","name":"T"}],"flags":[{"key":"f","name":"F","rules":[` +
			strings.Join(slices.Repeat([]string{`{"segmentKeys":["` + segment + `"],"distributions":[]}`}, 1200), ",") + `]}]}`
	}
	s.loadInto("a", rules("s"))
	s.loadInto("b", rules("t"))
	o := s.compared("a", "b", "").Objects[0]
	if len(o.Differences)+o.MoreDifferences < 1200 || len(o.Differences) != 1000 || o.MoreDifferences == 0 {
		t.Errorf("got %d differences and %d more", len(o.Differences), o.MoreDifferences)
	}
}

// TestCompareOfNamespaces: a namespace is compared itself only with another state of its own.
func TestCompareOfNamespaces(t *testing.T) {
	s := newServer(t)
	s.must("", "POST", "/api/v1/namespaces", `{"key":"a","name":"A"}`)
	s.must("", "POST", "/api/v1/namespaces", `{"key":"b","name":"B"}`)
	if got := s.compared("a", "b", ""); len(got.Objects) != 0 {
		t.Errorf("got %+v, want no differences", got.Objects)
	}
	got := s.compared("", "default", "")
	if got.Before.NamespaceKey != "default" {
		t.Errorf("got %+v, want the default namespace", got.Before)
	}
}

// TestCompareMinRevision: the revision that a request demands is that of its own namespace.
func TestCompareMinRevision(t *testing.T) {
	s := newServer(t)
	s.loadInto("a", `{}`)
	s.loadInto("b", `{}`)
	s.must("", "POST", "/api/v1/namespaces/a/flags", `{"key":"f","name":"F"}`)
	for _, sides := range [][2]string{{"a", "b"}, {"a", "a"}} {
		if got := s.compared(sides[0], sides[1], "", "Guidon-Min-Revision", "2", "Cache-Control", "no-cache"); got.Before.NamespaceKey != "a" {
			t.Errorf("got %+v", got)
		}
	}
}

func TestCompareErrors(t *testing.T) {
	s := newServer(t)
	s.must("", "POST", "/api/v1/namespaces", `{"key":"a","name":"A"}`)
	for path, want := range map[string]struct {
		status, code int
		message      string
	}{
		"a/compare":                         {400, 3, "invalid field with: must not be empty"},
		"a/compare?with=":                   {400, 3, "invalid field with: must not be empty"},
		"a/compare?with=b":                  {404, 5, `namespace "b" not found`},
		"b/compare?with=a":                  {404, 5, `namespace "b" not found`},
		"a/compare?with=a&limit=-1":         {400, 3, "invalid field limit: must be greater than or equal to '0'"},
		"a/compare?with=a&pageToken=x":      {400, 3, `pageToken is not valid: "x"`},
		"a/compare?with=a&pageToken=e30%3D": {400, 3, `pageToken is not valid: "e30="`},
		"a/compare?with=a&pageToken=eyJPZmZzZXQiOi0xfQ%3D%3D": {400, 3, `pageToken is not valid: "eyJPZmZzZXQiOi0xfQ=="`},
		"a/compare?with=a&pageToken=eyJPZmZzZXQiOjF9":         {412, 9, `namespace "a" has changed since the first page; begin again, or name its state, such as "a@1"`},
	} {
		s.do("GET", "/api/v1/namespaces/"+path, "").fails(t, want.status, want.code, want.message)
	}
}

// TestCompareAccess: the caller must be a viewer of both namespaces, and otherwise does not
// learn which exist.
func TestCompareAccess(t *testing.T) {
	s := newServer(t, required)
	admin := "Bearer " + s.token("")
	for _, key := range []string{"a", "b", "c"} {
		s.must("", "POST", "/api/v1/namespaces", `{"key":"`+key+`","name":"N"}`, "Authorization", admin)
	}
	limited := "Bearer " + s.token("a")
	both := "Bearer " + s.grant(service.RoleViewer, "a", "b")
	evaluator := "Bearer " + s.grant(service.RoleEvaluator, "a", "b")
	for _, test := range []struct {
		who, token, namespace, with string
		status, code                int
		message                     string
	}{
		{"a viewer", both, "a", "b", 200, 0, ""},
		{"a viewer", both, "a", "c", 403, 7, `permission denied: needs viewer on namespace "c"`},
		{"a viewer", both, "a", "nope", 403, 7, `permission denied: needs viewer on namespace "nope"`},
		{"a viewer", both, "a@1", "b@1", 200, 0, ""},
		{"a viewer", both, "a", "c@1", 403, 7, `permission denied: needs viewer on namespace "c"`},
		{"a viewer", both, "a", "nope@x", 403, 7, `permission denied: needs viewer on namespace "nope"`},
		{"a limited token", limited, "a", "b@1", 403, 7, `permission denied: needs viewer on namespace "b"`},
		{"a limited token", limited, "a@1", "a@1", 200, 0, ""},
		{"a viewer", both, "c", "a", 403, 7, `permission denied: needs viewer on namespace "c"`},
		{"a viewer", both, "nope", "a", 403, 7, `permission denied: needs viewer on namespace "nope"`},
		{"an evaluator", evaluator, "a", "b", 403, 7, `permission denied: needs viewer on namespace "a"`},
		{"a limited token", limited, "a", "a", 200, 0, ""},
		{"a limited token", limited, "a", "b", 403, 7, `permission denied: needs viewer on namespace "b"`},
		{"a limited token", limited, "a", "nope", 403, 7, `permission denied: needs viewer on namespace "nope"`},
		{"a limited token", limited, "b", "a", 401, 16, "request was not authenticated"},
		{"a limited token", limited, "b", "nope", 401, 16, "request was not authenticated"},
		{"nobody", "", "a", "b", 401, 16, "request was not authenticated"},
	} {
		var headers []string
		if test.token != "" {
			headers = []string{"Authorization", test.token}
		}
		r := s.do("GET", "/api/v1/namespaces/"+test.namespace+"/compare?with="+test.with, "", headers...)
		if test.status == 200 {
			if r.status != 200 {
				t.Errorf("%s of %s with %s: %d %s", test.who, test.namespace, test.with, r.status, r.body)
			}
			continue
		}
		r.fails(t, test.status, test.code, test.message)
	}
}
