package segment_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// TestList: the list shows each segment in short, filters and sorts by links, and helps if
// nothing matches.
func TestList(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	replace(t, s, "lonely", &guidon.Segment{Name: "Alone", Constraints: []*guidon.Constraint{{Type: 1, Property: "a", Operator: "eq", Value: "b"}}})
	r := s.Get(segmentsPath).Check(200).Contains("Segments 16", "Risky orders risky-orders any of 3: fraud_score is greater than 0.87", "3 flags", "just now", "All visitors all-visitors everyone 6 flags", "Alone lonely a is b not used J just now by Jonas", "1–16 of 16")
	if !strings.Contains(r.Body, `<span class="soon">not used</span>`) {
		t.Error("a segment without flags is not marked")
	}
	first := func(r *webtest.Reply) string {
		t.Helper()
		for _, link := range r.Check(200).Links() {
			if strings.HasPrefix(link, segmentsPath+"/") {
				return link
			}
		}
		return ""
	}
	for query, want := range map[string]string{"": "all-visitors", "?sort=-name": "stockholm-stores", "?sort=used": "all-visitors", "?sort=-used": "lonely", "?sort=changed": "lonely", "?q=fraud": "risky-orders", "?q=sco+0.87": "risky-orders", "?sort=nonsense": "all-visitors"} {
		if got := strings.TrimPrefix(first(s.Get(segmentsPath+query)), segmentsPath+"/"); got != want && (query != "?sort=-name" || got == "all-visitors") {
			t.Errorf("%s: the first is %s, want %s", query, got, want)
		}
	}
	s.Get(segmentsPath+"?q=germny").Check(200).Contains("No segment matches “germny”", "Did you mean Germany", "Clear the filter", "New segment “germny”")
	s.Get(segmentsPath + "?page=9").Check(200).Contains("There is no page 9.")
	s.Get(segmentsPath + "?page=x&sort=-used&q=DE").Check(200).Contains("Germany")
	s.Get(segmentsPath + "?q=" + strings.Repeat("x", 2000)).Check(400)
	if part := s.Get(segmentsPath+"?q=fraud", "Guidon-Fragment", "list"); !strings.HasPrefix(part.Body, `<div data-region="list"`) {
		t.Errorf("fragment: %.100s", part.Body)
	}
	webtest.New(t, webtest.Options{Empty: true}).Get(segmentsPath).Check(200).Contains("No segments in Default yet", "Create the first", "Import a file", "Copy from a namespace")
}

// TestPages: a page has 50 segments and links to the other pages.
func TestPages(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	for i := range 120 {
		replace(t, s, fmt.Sprintf("s%03d", i), &guidon.Segment{Name: fmt.Sprintf("S %03d", i)})
	}
	s.Get(segmentsPath).Check(200).Contains("1–50 of 120", "S 049", "Next").Lacks("S 050", "Previous")
	s.Get(segmentsPath+"?page=3").Check(200).Contains("101–120 of 120", "Previous").Lacks("S 099", "Next")
	s.Get(segmentsPath+"?page=2&sort=-name&q=S").Check(200).Contains("51–100 of 120", "S 069")
}

// TestCreate: a segment is created in one change. The key follows the name if it is empty.
func TestCreate(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	began := revision(t, s)
	r := s.Get(newPath).Check(200).Contains("New segment", "Left empty, it follows the name.")
	to := press(t, s, r, "create", "name", "  Größte Käufer & Co. ", "match", "any", "constraint.0.property", "total", "constraint.0.text", "x", "message", "for the sale").Location()
	if want := fmt.Sprintf("%s/groesste-kaeufer-co?saved=%d", segmentsPath, began+1); to != want {
		t.Fatalf("leads to %s, want %s", to, want)
	}
	s.Get(to).Check(200).Contains("Größte Käufer & Co.", "total is x").Says("Saved as revision")
	for _, test := range []struct {
		changes []string
		want    string
	}{
		{[]string{"name", ""}, "A name is needed."},
		{[]string{"name", "!"}, "A key is needed."},
		{[]string{"name", "N", "key", "check out"}, "Letters, digits, - and _ only. Did you mean check-out?"},
		{[]string{"name", "N", "key", "germany"}, "Default has a segment Germany with this key. Open it or take another key."},
		{[]string{"name", "N", "key", strings.Repeat("k", 260)}, "255 characters at most, this has 260."},
		{[]string{"name", "N", "constraint.0.property", ""}, "A property is needed."},
		{[]string{"name", "N", "constraint.0.text", ""}, "A value is needed."},
	} {
		wrong := press(t, s, r, "create", append([]string{"constraint.0.property", "p", "constraint.0.text", "v"}, test.changes...)...).Check(422).Contains("1 thing to fix:", test.want)
		if _, f := wrong.Form("segment"); f.Get(test.changes[0]) != test.changes[1] {
			t.Errorf("%v: kept %q", test.changes, f.Get(test.changes[0]))
		}
	}
	_, f := press(t, s, r, "look", "name", "N", "key", "check out").Check(200).Form("segment")
	f.Set("take", "check-out")
	if _, f := s.Post(newPath, f).Check(200).Form("segment"); f.Get("key") != "check-out" {
		t.Errorf("key %s, want check-out", f.Get("key"))
	}
	everyone := press(t, s, press(t, s, r, "remove:0", "name", "All of them").Check(200).Contains("Without a constraint, everyone"), "clear").Check(200)
	press(t, s, everyone, "create").Location()
	if got := revision(t, s); got != began+2 {
		t.Errorf("revision %d, want %d", got, began+2)
	}
}

// TestCopy: a new segment can begin with the constraints of another one.
func TestCopy(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := s.Get(newPath+"?copy=risky-orders").Check(200).Contains("It begins with the constraints of risky-orders.", "fraud_score is greater than 0.87")
	if to := press(t, s, r, "create").Location(); !strings.HasPrefix(to, segmentsPath+"/copy-of-risky-orders?") {
		t.Errorf("leads to %s", to)
	}
	a, b := stored(t, s, "risky-orders"), stored(t, s, "copy-of-risky-orders")
	if diff := cmp.Diff(constraints(a), constraints(b)); diff != "" || a.MatchType != b.MatchType {
		t.Errorf("the copy differs (-want +got):\n%s", diff)
	}
	s.Get(newPath + "?copy=none").Check(404)
}

// TestConflict: a draft over a revision after which somebody else changed the segment is not
// saved and not lost. Changes of other objects are no conflict. Package conflict has the
// rest.
func TestConflict(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	draft := press(t, s, press(t, s, s.Get(riskyPath).Check(200), "name"), "look", "name", "Mine").Check(200)
	replace(t, s, "germany", &guidon.Segment{Name: "Other"})
	action, fields := draft.Form("segment")
	theirs := service.NewDocumentSegment(stored(t, s, "risky-orders"))
	theirs.Description = "Theirs"
	replace(t, s, "risky-orders", theirs)
	s.Post(action, with(fields, "save", "message", "because")).Check(409).Contains("Jonas changed this segment while you were editing", "Nothing is lost", "Mine", "Theirs")
	if got := stored(t, s, "risky-orders").Name; got != "Risky orders" {
		t.Fatalf("saved as %s", got)
	}
	other := press(t, s, s.Get(riskyPath), "name").Check(200)
	replace(t, s, "nordics", &guidon.Segment{Name: "Other"})
	press(t, s, other, "save", "name", "Mine, too").Location()
}

// TestDeletedMeanwhile: the draft of a segment that was deleted is not lost.
func TestDeletedMeanwhile(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	replace(t, s, "short", &guidon.Segment{Name: "Short", Constraints: []*guidon.Constraint{{Type: 1, Property: "a", Operator: "eq", Value: "b"}}})
	draft := press(t, s, press(t, s, s.Get(segmentsPath+"/short").Check(200), "name"), "look", "name", "Mine").Check(200)
	if _, err := s.Service.DeleteSegment(t.Context(), service.Write{}, "default", "short"); err != nil {
		t.Fatal(err)
	}
	r := press(t, s, draft, "save").Check(409).Contains("deleted this segment while you were editing", "Nothing is lost")
	if !strings.Contains(r.Body, "Mine") {
		t.Errorf("the draft is lost: %s", r.Body)
	}
}

// TestGone: the page of a segment that does not exist says who deleted it, or what may be
// meant.
func TestGone(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	s.Get(segmentsPath+"/germny").Check(404).Contains("No segment germny", "Did you mean Germany")
	replace(t, s, "short", &guidon.Segment{Name: "Short"})
	if _, err := s.Service.DeleteSegment(t.Context(), service.Write{}, "default", "short"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", "/used-by", "/delete"} {
		r := s.Get(segmentsPath+"/short"+path).Check(404).Contains("Deleted by Anonymous just now at revision 4.", "Bring it back")
		if action, _ := r.Form(""); action != "/namespaces/default/changes/4/undo?segment=short" {
			t.Errorf("brings it back by %s", action)
		}
	}
	s.Post(segmentsPath+"/short", url.Values{"do": {"look"}}).Check(404)
}

// TestUsedByException: a rule that excludes the members of a segment uses it.
func TestUsedByException(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	s.Import("default", []byte(`version: guidon/1
namespace: {key: default, name: Default}
flags:
  - key: layout
    name: Layout
    type: VARIANT_FLAG_TYPE
    rules: [{everyone: true, code_default: true}, {everyone: true, except: [blocked], code_default: true}]
  - {key: sweden, name: Sweden, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {key: blocked, value: true}, except: [blocked]}]}
segments: [{key: blocked, name: Blocked}]
`))
	for _, path := range []string{"", "/used-by"} {
		s.Get(segmentsPath+"/blocked"+path).Check(200).Contains("Used by 2 flags", "Layout", "ule 2", "Sweden", "ule 1")
	}
	s.Get(segmentsPath + "/blocked/delete").Check(200).Contains("cannot be deleted yet")
}

// TestDelete: a used segment is not deleted, but says by what it is used; another one is if
// its key is typed, and the list says so.
func TestDelete(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := s.Get(riskyPath+"/delete").Check(200).Contains("Risky orders cannot be deleted yet", "3 flags use it. Take it out of these first.", "Payment methods", "Rule 2 with other segments")
	for _, want := range []string{"/namespaces/default/flags/payment-methods?edit=1", "/namespaces/default/flags/one-click-buy?edit=2"} {
		if !strings.Contains(strings.Join(r.Links(), " ")+" ", want+" ") {
			t.Errorf("no link to %s: %v", want, r.Links())
		}
	}
	used := url.Values{"key": {"risky-orders"}, "revision": {fmt.Sprint(revision(t, s))}}
	s.Post(riskyPath+"/delete", used).Check(409).Contains("cannot be deleted yet")

	const path = segmentsPath + "/Short/delete"
	replace(t, s, "Short", &guidon.Segment{Name: "Short"})
	r = s.Get(path).Check(200).Contains("Delete Short?", "You can undo this in Changes.", "Keep it")
	_, f := r.Form("")
	for _, typed := range []string{"", "short", "Short "} {
		s.Post(path, with(f, "", "key", typed)).Check(422).Contains("Type the key exactly as it is: Short")
	}
	s.Post(path, with(f, "", "key", "Short", "revision", "x")).Check(400)
	replace(t, s, "Short", &guidon.Segment{Name: "Shorter"})
	changed := s.Post(path, with(f, "", "key", "Short")).Check(409).Contains("This segment was changed by Jonas meanwhile.")
	_, f = changed.Form("")
	to := s.Post(path, with(f, "", "key", "Short", "message", "unused")).Location()
	s.Get(to).Check(200).Says("Deleted Short as revision", "Undo")
	s.Get(segmentsPath + "/Short").Check(404)
}

// TestUses: the flags that use the segment are listed with what would change without it.
func TestUses(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	s.Get(riskyPath+"/used-by").Check(200).Contains("Payment methods", "Rule 1", "All those who match rule 2 instead of rule 1 go from high-risk to germany.",
		"13% of those who no longer match rule 2 go from off to on.", "Partly on")
	replace(t, s, "free", &guidon.Segment{Name: "Free"})
	s.Get(segmentsPath + "/free/used-by").Check(200).Contains("No flag uses this segment")
	s.Get(riskyPath + "/used-by?after=nonsense").Check(400)
}

// TestAt: earlier states are shown without controls.
func TestAt(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	began := revision(t, s)
	replace(t, s, "risky-orders", &guidon.Segment{Name: "Later"})
	then := fmt.Sprintf("?at=%d", began)
	r := s.Get(riskyPath+then).Check(200).Contains("Risky orders", fmt.Sprintf("This is the segment as it was at revision %d.", began), "fraud_score is greater than 0.87").Lacks("Add constraint", "Delete")
	press(t, s, r, "check", "entity", "u-66613").Check(200).Contains("In. As the segment is saved.")
	s.Get(riskyPath+"/used-by"+then).Check(200).Contains("Payment methods", "as it was")
	s.Get(riskyPath).Check(200).Contains("Later")
	s.Get(riskyPath + "?at=x").Check(400)
	s.Get(riskyPath + "?at=99").Check(404)
}

// TestViewers: viewers see no control that edits, and nothing they send is
// saved. They can ask who is in a segment.
func TestViewers(t *testing.T) {
	editor := webtest.New(t, webtest.Options{})
	viewer := editor.As(editor.SignIn(service.TokenInput{Name: "Vera", Role: service.RoleViewer}))
	readOnly := webtest.New(t, webtest.Options{ReadOnly: true})
	draft := press(t, editor, press(t, editor, editor.Get(riskyPath), "name"), "look", "name", "Mine").Check(200)
	_, fields := draft.Form("segment")
	for name, s := range map[string]*webtest.Server{"viewer": viewer, "read-only": readOnly} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{segmentsPath, riskyPath, riskyPath + "/used-by", riskyPath + "/delete", newPath, newPath + "?copy=germany", segmentsPath + "?q=none-of-these"} {
				r := s.Get(path).Check(200).Lacks("New segment “", "Add constraint", "Save", "Duplicate", "Create segment")
				if path != riskyPath+"/delete" && !strings.Contains(path, "?q") {
					r.Contains("View only")
				}
				for _, b := range r.All("button") {
					if do := webtest.Attribute(b, "value"); webtest.Attribute(b, "name") == "do" && do != "check" {
						t.Errorf("%s has the button %s", path, do)
					}
				}
			}
			press(t, s, s.Get(riskyPath), "check", "entity", "u-66613").Check(200).Contains("In.")
			refused := func(r *webtest.Reply) {
				t.Helper()
				if r.Status != 403 && r.Status != 404 && r.Status != 400 {
					t.Errorf("got %d %s", r.Status, r.Text())
				}
			}
			if name == "viewer" {
				refused(s.Post(riskyPath, with(fields, "save")))
				refused(s.Post(newPath, with(fields, "create", "key", "new")))
			}
		})
	}
	viewer.Get(riskyPath).Contains("Editing needs the role Edit in Default; you have View.")
	readOnly.Get(riskyPath).Contains("This server is read-only.")
	if got := stored(t, editor, "risky-orders").Name; got != "Risky orders" {
		t.Errorf("saved as %s", got)
	}
	if r := editor.As("").Get(riskyPath); r.Status != 303 || !strings.HasPrefix(r.Location(), "/sign-in") {
		t.Errorf("a stranger gets %d", r.Status)
	}
}

// TestOutage: what was entered is kept if the database does not answer.
func TestOutage(t *testing.T) {
	var fault error
	s := webtest.New(t, webtest.Options{Fault: func() error { return fault }})
	draft := press(t, s, s.Get(riskyPath).Check(200), "name").Check(200)
	fault = guidon.Errorf(guidon.Unavailable, "away")
	r := press(t, s, draft, "save", "name", "Mine").Check(503).Contains("It is not known whether this was saved")
	fault = nil
	action, fields := r.Form("")
	fields.Set("do", "save") // the button "Send again"
	s.Post(action, fields).Location()
	if got := stored(t, s, "risky-orders").Name; got != "Mine" {
		t.Errorf("saved as %s", got)
	}
}

// TestAdditions: what the database does not store yet is said, not taken for a conflict.
func TestAdditions(t *testing.T) {
	var fault error
	s := webtest.New(t, webtest.Options{Fault: func() error { return fault }})
	draft := press(t, s, s.Get(riskyPath).Check(200), "name").Check(200)
	fault = service.ErrAdditions
	r := press(t, s, draft, "save", "name", "Mine").Check(422).Contains("Instances of earlier releases cannot read this")
	fault = nil
	press(t, s, r, "save").Location()
	if got := stored(t, s, "risky-orders").Name; got != "Mine" {
		t.Errorf("saved as %s", got)
	}
}

// TestUnchangedPages: browsers need not load a page again that is the same.
func TestUnchangedPages(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	for _, path := range []string{segmentsPath, riskyPath, riskyPath + "/used-by"} {
		r := s.Get(path).Check(200)
		if again := s.Get(path, "If-None-Match", r.Header.Get("ETag")); again.Status != 304 {
			t.Errorf("%s: got %d", path, again.Status)
		}
	}
	if gone := s.Get(segmentsPath + "/none").Check(404); gone.Header.Get("ETag") != "" {
		t.Error("the page about a missing segment has a tag")
	}
}

// TestBase: addresses are below the public path.
func TestBase(t *testing.T) {
	s := webtest.New(t, webtest.Options{Page: func(c *page.Config) { c.PublicPath = "/base" }})
	for _, path := range []string{segmentsPath, riskyPath, riskyPath + "/used-by", riskyPath + "/delete", newPath, segmentsPath + "/none"} {
		for _, link := range s.Get(path).Links() {
			if !strings.HasPrefix(link, "/base/") && !strings.HasPrefix(link, "#") {
				t.Errorf("%s links to %s", path, link)
			}
		}
	}
}
