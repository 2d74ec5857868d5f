package transfer_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

const at = "/namespaces/default/compare"

const from = at + "?from=staging"

const target = `namespace: default
flags:
  - {key: dark-mode, name: Dark mode, type: BOOLEAN_FLAG_TYPE, rollouts: [{threshold: {percentage: 25, value: true}}]}
  - {key: gift, name: Gift wrapping, type: BOOLEAN_FLAG_TYPE}
  - {key: maintenance, name: Maintenance page, type: BOOLEAN_FLAG_TYPE, enabled: true}
  - {key: same, name: Same, type: BOOLEAN_FLAG_TYPE}
segments:
  - {key: christmas, name: Christmas season}
`

const staging = `namespace: {key: staging, name: Staging}
flags:
  - {key: dark-mode, name: Dark mode, type: BOOLEAN_FLAG_TYPE, rollouts: [{threshold: {percentage: 50, value: true}}]}
  - {key: gift, name: Gift wrapping, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {keys: [christmas, fans], value: true}}]}
  - {key: returns, name: Returns portal, type: BOOLEAN_FLAG_TYPE}
  - {key: same, name: Same, type: BOOLEAN_FLAG_TYPE}
segments:
  - {key: christmas, name: Christmas season, constraints: [{type: STRING_COMPARISON_TYPE, property: month, operator: eq, value: dec}]}
  - {key: fans, name: Fans, constraints: [{type: STRING_COMPARISON_TYPE, property: fan, operator: eq, value: "yes"}]}
`

type site struct {
	*webtest.Server
	t *testing.T
}

func newSite(t *testing.T, options webtest.Options) *site {
	t.Helper()
	options.Empty = true
	s := &site{webtest.New(t, options), t}
	s.Import("", []byte(target+"---\n"+staging))
	return s
}

func (s *site) snapshot(namespace string) *guidon.Snapshot {
	s.t.Helper()
	view, err := s.Service.View(s.t.Context(), namespace, service.Demand{})
	if err != nil {
		s.t.Fatal(err)
	}
	return view.Snapshot
}

// keys returns the keys of the flags and segments of the namespace default, sorted.
func (s *site) keys() (keys []string) {
	for _, f := range s.snapshot("default").Flags() {
		keys = append(keys, f.Key)
	}
	for _, g := range s.snapshot("default").Segments() {
		keys = append(keys, g.Key)
	}
	slices.Sort(keys)
	return keys
}

func (s *site) rename(namespace, flag, name string) {
	s.t.Helper()
	if _, _, err := s.Service.UpdateFlag(s.t.Context(), service.Write{}, namespace, guidon.Flag{Key: flag, Name: name}); err != nil {
		s.t.Fatal(err)
	}
}

// send sends a form of a page with a button. Each change is a field and its values, which
// replace those of the form.
func send(s *webtest.Server, r *webtest.Reply, id, button string, changes ...[]string) *webtest.Reply {
	action, form := r.Form(id)
	form.Set("do", button)
	for _, c := range changes {
		form[c[0]] = c[1:]
	}
	return s.Post(action, form)
}

// everything returns the comparison of the visitor with everything ticked.
func everything(s *webtest.Server) *webtest.Reply {
	return send(s, s.Get(from).Check(200), "compare", "all").Check(200)
}

func (s *site) wantKeys(want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.keys()); diff != "" {
		s.t.Errorf("(-want +got):\n%s", diff)
	}
}

var before = []string{"christmas", "dark-mode", "gift", "maintenance", "same"}

func TestChoose(t *testing.T) {
	s := newSite(t, webtest.Options{})
	r := s.Get(at).Check(200).Contains("Compare with", "Staging", "as it was")
	action, form := r.Form("choose")
	for _, test := range []struct{ namespace, at, want string }{
		{"staging", "", at + "?from=staging"},
		{"staging", "1", at + "?from=staging%401"},
		{"default", "2", at + "?from=default%402"},
		{"default", "2026-11-20T14:00:00Z", at + "?from=default%402026-11-20T14%3A00%3A00Z"},
		{"default", "2026-11-20", at + "?from=default%402026-11-20T00%3A00%3A00Z"},
	} {
		form.Set("source", test.namespace)
		form.Set("at", test.at)
		if got := s.Get(action + "?" + form.Encode()).Location(); got != test.want {
			t.Errorf("%v leads to %s", test, got)
		}
		if form.Set("when", test.at); strings.Contains(test.at, "T") {
			form.Del("at")
			if got := s.Get(action + "?" + form.Encode()).Location(); got != test.want {
				t.Errorf("%v as a moment leads to %s", test, got)
			}
		}
		form.Del("when")
	}
	s.Get(at + "?source=default").Check(422).Contains("Say which state of Default")
	s.Get(at + "?from=default").Check(422).Contains("Say which earlier state")
	s.Get(at + "?from=default@soon").Check(422).Contains("“soon” is neither a revision, such as 120, nor a time, such as 2026-11-20T14:00.")
	s.Get(at + "?from=default@99").Check(404).Contains("Default has no state “99”: it is still to come, or its records were removed.")
	s.Get(at + "?from=nothing").Check(404).Contains("There is no namespace “nothing”.")
	s.Get(at+"?from=default@2999-01-01").Check(200).Contains("Default at 1 Jan 2999, 00:00:00 UTC", "are the same")
	confined := s.As(s.SignIn(service.TokenInput{Name: "One", Namespaces: []string{"default"}, Role: service.RoleEditor}))
	confined.Get(from).Check(403)
}

func TestCompare(t *testing.T) {
	s := newSite(t, webtest.Options{})
	r := s.Get(from).Check(200)
	r.Contains("Dark mode", "25%", "50%", "Rule 1 share 25% → , now 50%", "25% of all entities go from off to on", "only in Staging", "Dark mode (Partly on)", "Returns portal (Off)", "Boolean, off, nobody targeted",
		"needed by Gift wrapping", "Only in Default 1", "maintenance", "The same in both: 1 flag or segment", "Staging at revision 2, Default at 2")
	for _, test := range []struct {
		button, show    string
		flags, segments []string
		selected        string
	}{
		{"select", "", nil, nil, "0 selected"},
		{"all", "create", []string{"returns"}, []string{"fans"}, "2 selected"},
		{"all", "update", []string{"dark-mode", "gift", "returns"}, []string{"christmas", "fans"}, "5 selected"},
		{"all", "", []string{"dark-mode", "gift", "returns"}, []string{"christmas", "fans"}, "5 selected"},
		{"none", "create", []string{"dark-mode", "gift"}, []string{"christmas"}, "3 selected"},
		{"none", "", nil, nil, "0 selected"},
	} {
		r = send(s.Server, r, "compare", test.button, []string{"show", test.show}).Check(200).Contains("All 6", "Changed 3", "Only in Staging 2", "Only in Default 1", test.selected)
		_, form := r.Form("compare")
		want := map[string][]string{"flag": test.flags, "segment": test.segments, "scope": {"selected"}, "show": {test.show}}
		if diff := cmp.Diff(want, map[string][]string{"flag": form["flag"], "segment": form["segment"], "scope": form["scope"], "show": form["show"]}); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", test, diff)
		}
	}
	_, form := s.Get(from + "&flag=gift").Check(200).Form("compare")
	if diff := cmp.Diff([]string{"gift", "christmas", "fans"}, append(form["flag"], sorted(form["segment"])...)); diff != "" {
		t.Errorf("ticked (-want +got):\n%s", diff)
	}
	s.wantKeys(before...)
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

func TestPromote(t *testing.T) {
	for _, test := range []struct {
		name    string
		changes [][]string
		review  []string
		want    []string
	}{
		{"everything that is ticked", nil, []string{"3 flags and 2 segments"}, []string{"christmas", "dark-mode", "fans", "gift", "maintenance", "returns", "same"}},
		{"one flag", [][]string{{"flag", "dark-mode"}, {"segment"}}, []string{"1 flag", "go from off to on"}, before},
		{"a flag with its segments", [][]string{{"flag", "gift"}, {"segment"}, {"offered"}}, []string{"1 flag and 2 segments", "needed by a flag"}, []string{"christmas", "dark-mode", "fans", "gift", "maintenance", "same"}},
		{"without a segment that exists", [][]string{{"flag", "gift"}, {"segment", "fans"}}, []string{"1 flag and 1 segment", "Left out, although flags of the selection use it: christmas"}, []string{"christmas", "dark-mode", "fans", "gift", "maintenance", "same"}},
		{"everything", [][]string{{"scope", "all"}}, []string{"3 flags and 2 segments"}, []string{"christmas", "dark-mode", "fans", "gift", "maintenance", "returns", "same"}},
		{"equal", [][]string{{"scope", "equal"}}, []string{"4 flags and 2 segments", "deleted"}, []string{"christmas", "dark-mode", "fans", "gift", "returns", "same"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, webtest.Options{})
			r := send(s.Server, everything(s.Server), "compare", "review", test.changes...).Check(200).Contains(test.review...).Lacks("Something was saved meanwhile")
			s.wantKeys(before...)
			to := send(s.Server, r, "review", "apply", []string{"message", "to production"}).Location()
			if want := "/namespaces/default/flags?saved=3"; to != want {
				t.Errorf("leads to %s, want %s", to, want)
			}
			s.wantKeys(test.want...)
			s.Get("/namespaces/default/changes").Contains("to production")
		})
	}
}

// TestLeftOut: a flag whose segment does not come along and does not exist is refused.
func TestLeftOut(t *testing.T) {
	s := newSite(t, webtest.Options{})
	r := send(s.Server, everything(s.Server), "compare", "review", []string{"flag", "gift"}, []string{"segment", "christmas"}).Check(422)
	r.Contains("This is not possible as it is.", "fans")
	r = send(s.Server, r, "review", "select").Check(200).Contains("Gift wrapping")
	_, form := r.Form("compare")
	if diff := cmp.Diff([]string{"gift", "christmas"}, append(form["flag"], form["segment"]...)); diff != "" {
		t.Errorf("ticked (-want +got):\n%s", diff)
	}
	send(s.Server, s.Get(from), "compare", "review", []string{"flag"}, []string{"segment"}).Check(422).Contains("Tick a flag or a segment first.")
	s.wantKeys(before...)
}

func TestKeep(t *testing.T) {
	s := newSite(t, webtest.Options{})
	r := send(s.Server, s.Get(from).Check(200), "compare", "review", []string{"flag", "dark-mode"}, []string{"segment"}, []string{"keep", "percentages"}).Check(200).Contains("Nothing would change")
	_, form := send(s.Server, r, "review", "select").Check(200).Form("compare")
	if diff := cmp.Diff([]string{"percentages"}, form["keep"]); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

// TestMoved: if either side was saved meanwhile, the plan is shown again with what is
// different.
func TestMoved(t *testing.T) {
	for _, namespace := range []string{"default", "staging"} {
		s := newSite(t, webtest.Options{})
		open := everything(s.Server)
		s.rename(namespace, "gift", "Another")
		r := send(s.Server, open, "compare", "review").Check(200).Contains("Something was saved meanwhile", "different from what you saw")
		s.rename(namespace, "dark-mode", "Darker")
		r = send(s.Server, r, "review", "apply", []string{"message", "kept"}).Check(409).Contains("Something was saved meanwhile")
		if got := strings.Count(r.Text(), "different from what you saw"); got != 1 {
			t.Errorf("%d rows are marked, want 1: %s", got, r.Text())
		}
		s.wantKeys(before...)
		// Objects that are not selected may change in between.
		s.rename("default", "same", "Other")
		send(s.Server, send(s.Server, s.Get(from), "compare", "review", []string{"flag", "gift"}), "review", "apply").Location()
		if got := s.snapshot("default").Flag("gift"); len(got.Rollouts) != 1 {
			t.Errorf("the flag was not promoted: %v", got)
		}
	}
}

func TestRestore(t *testing.T) {
	s := newSite(t, webtest.Options{})
	send(s.Server, send(s.Server, s.Get(from), "compare", "review", []string{"scope", "equal"}), "review", "apply").Location()
	r := s.Get(at+"?from=default@2").Check(200).Contains("Default at 2", "New since 2", "Maintenance page")
	r = send(s.Server, r, "compare", "review", []string{"scope", "equal"}).Check(200).Contains("Restore Default", "deleted")
	send(s.Server, r, "review", "apply").Location()
	s.wantKeys(before...)
	s.Get(at + "?from=default@2").Check(200).Contains("are the same")
	s.Get("/namespaces/default/changes").Contains("restore")
}

func TestConfirm(t *testing.T) {
	s := newSite(t, webtest.Options{})
	confirm := true
	if _, _, err := s.Service.UpdateNamespace(t.Context(), service.Write{}, service.NamespaceInput{Key: "default", Name: "Default", ConfirmChanges: &confirm}); err != nil {
		t.Fatal(err)
	}
	r := send(s.Server, everything(s.Server), "compare", "review").Check(200).Contains("Type default to change this namespace")
	send(s.Server, r, "review", "apply", []string{"namespace", "staging"}).Check(422).Contains("Type the key of the namespace: default.")
	s.wantKeys(before...)
	send(s.Server, r, "review", "apply", []string{"namespace", "default"}).Location()
}

func TestRights(t *testing.T) {
	for _, readOnly := range []bool{false, true} {
		s := newSite(t, webtest.Options{ReadOnly: readOnly})
		visitor := s.Server
		if !readOnly {
			visitor = s.As(s.SignIn(service.TokenInput{Name: "Viewer", Role: service.RoleViewer}))
		}
		r := send(visitor, everything(visitor), "compare", "review").Check(200).Contains("3 flags and 2 segments").Lacks("Message")
		for _, n := range r.All("button") {
			if webtest.Attribute(n, "value") == "apply" {
				t.Error("there is a button that applies the plan")
			}
		}
		refused := send(visitor, r, "review", "apply").Check(403).Lacks("editor")
		if !readOnly {
			refused.Contains("This needs the role Edit in Default; you have View.").Lacks("permission denied")
		}
		s.wantKeys(before...)
	}
}

// TestLong: more than 200 rows are counted, and everything is included unless selected.
func TestLong(t *testing.T) {
	s := newSite(t, webtest.Options{})
	var many strings.Builder
	many.WriteString("flags:\n")
	for i := range 250 {
		fmt.Fprintf(&many, "  - {key: f%03d, name: F%03d}\n", i, i)
	}
	s.Import("many", []byte(many.String()))
	r := s.Get(at + "?from=many").Check(200).Contains("and 50 flags and segments more, which cannot be ticked here")
	_, form := r.Form("compare")
	if got := form.Get("scope"); got != "selected" || len(form["flag"]) > 0 {
		t.Errorf("the scope is %q with %d flags", got, len(form["flag"]))
	}
	if _, form = send(s.Server, r, "compare", "all").Check(200).Contains("200 selected").Form("compare"); len(form["flag"]) != 200 {
		t.Errorf("%d flags are selected", len(form["flag"]))
	}
	r = s.Get(at + "?from=many&flag=f249").Check(200).Contains("Also selected: f249")
	send(s.Server, send(s.Server, r, "compare", "review").Check(200).Contains("1 flag"), "review", "apply").Location()
	if s.snapshot("default").Flag("f249") == nil || s.snapshot("default").Flag("f000") != nil {
		t.Error("other flags were promoted")
	}
	r = send(s.Server, s.Get(at+"?from=many"), "compare", "review", []string{"scope", "all"}).Check(200).Contains("249 flags", "and 49 flags and segments more")
	send(s.Server, r, "review", "apply").Location()
	if s.snapshot("default").Flag("f000") == nil {
		t.Error("the flags were not promoted")
	}
}

// hostile are texts that must be texts wherever they are shown.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `</title><svg onload=alert(1)>`, `</td></tr></table><form action=//evil.example>`,
	`javascript:alert(1)`, `//evil.example`, `<!--`, `-->`, `</textarea><script>`, `<select>`, `<plaintext>`, `{{.}}`, `&lt;b&gt;`, `"`, `'`, "`", `\`, "مرحبا", "👩\u200d👩\u200d👧", strings.Repeat("x", 255), "../../etc", "%2e%2e%2f", "?a=b#c",
}

func TestHostileComparison(t *testing.T) {
	pages := func(text string) string {
		s := newSite(t, webtest.Options{})
		for i, namespace := range []string{"default", "staging"} {
			d := &service.Document{
				Flags:    []*guidon.Flag{{Key: "h", Name: text, Description: strings.Repeat("a", i) + text}},
				Segments: []*guidon.Segment{{Key: "g", Name: text, Description: strings.Repeat("a", i) + text}},
			}
			if _, _, err := s.Service.Import(t.Context(), service.Write{}, namespace, d, service.ImportUpdate, false); err != nil {
				t.Fatal(err)
			}
		}
		r := everything(s.Server)
		return r.Elements() + send(s.Server, r, "compare", "review").Check(200).Elements()
	}
	want := pages("harmless")
	for _, text := range hostile {
		got := pages(text)
		if page.Printable(text, len(text)) != text { // its values are shown in another way
			for kind := range strings.Lines(got) {
				if !strings.Contains(want, kind) {
					t.Errorf("%q: the pages have the element %s", text, kind)
				}
			}
		} else if got != want {
			t.Errorf("%q: other elements: %s", text, cmp.Diff(want, got))
		}
	}
}

// TestHostileAddresses: what a link of somebody else has in its address is text, too.
func TestHostileAddresses(t *testing.T) {
	s := newSite(t, webtest.Options{})
	for _, field := range []string{"from", "source", "at", "flag", "segment", "keep", "scope"} {
		want := ""
		for _, text := range append([]string{"harmless"}, hostile...) {
			query := url.Values{"from": {"staging"}}
			if field == "source" || field == "at" {
				query = url.Values{"source": {"default"}}
			}
			query.Set(field, text)
			r := s.Get(at + "?" + query.Encode())
			if r.Status == 303 {
				continue
			}
			if r.Status != 200 && r.Status != 422 && r.Status != 404 && r.Status != 403 {
				t.Fatalf("%s=%q: got status %d", field, text, r.Status)
			}
			if got := r.Check(r.Status).Elements(); want == "" {
				want = got
			} else if got != want {
				t.Errorf("%s=%q: other elements: %s", field, text, cmp.Diff(want, got))
			}
		}
	}
}
