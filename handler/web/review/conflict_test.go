package review_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

const (
	flags    = "/namespaces/default/flags/"
	segments = "/namespaces/default/segments/"
)

// visitors returns a server as two visitors see it: Mira and Jonas.
func visitors(t *testing.T) (mira, jonas *webtest.Server) {
	t.Helper()
	s := webtest.New(t, webtest.Options{})
	return s, s.As(s.SignIn(service.TokenInput{Name: "Jonas"}))
}

// press sends the form with the id of a page with a button, and with changed fields: names and
// values in turn.
func press(t *testing.T, s *webtest.Server, r *webtest.Reply, id, do string, changed ...string) *webtest.Reply {
	t.Helper()
	action, form := r.Form(id)
	for i := 0; i+1 < len(changed); i += 2 {
		form.Set(changed[i], changed[i+1])
	}
	form.Set("do", do)
	return s.Post(action, form)
}

// edits has the edits of one visitor on a page of a flag: names and values of fields.
func edits(t *testing.T, s *webtest.Server, path string, changed ...string) *webtest.Reply {
	t.Helper()
	return press(t, s, s.Get(flags+path).Check(200), "edit", "save", changed...)
}

// content returns a flag or segment as the API has it.
func content(t *testing.T, s *webtest.Server, path string) string {
	t.Helper()
	r := s.Get("/api/v1/namespaces/default/" + path + "/content")
	if r.Status != 200 {
		t.Fatalf("%s: %d %s", path, r.Status, r.Body)
	}
	var c map[string]any
	if err := json.Unmarshal([]byte(r.Body), &c); err != nil {
		t.Fatal(err)
	}
	delete(c, "createdAt")
	delete(c, "updatedAt")
	text, _ := json.Marshal(c)
	return string(text)
}

// has checks that the text contains the parts.
func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("got %s, want %s in it", text, part)
		}
	}
}

// cards returns the texts of the cards of the conflicts, in order.
func cards(r *webtest.Reply) (texts []string) {
	for _, n := range r.All("") {
		if strings.HasPrefix(webtest.Attribute(n, "class"), "card") && (n.Data == "label" || n.Data == "div") && isCard(n) {
			texts = append(texts, webtest.TextOf(n))
		}
	}
	return texts
}

func isCard(n *html.Node) bool {
	for c := range n.ChildNodes() {
		if webtest.Attribute(c, "class") == "card-head" {
			return true
		}
	}
	return false
}

// rows returns the rows of changes that do not conflict.
func rows(r *webtest.Reply) (texts []string) {
	for _, n := range r.All("tbody") {
		for row := range n.ChildNodes() {
			if row.Data == "tr" {
				texts = append(texts, webtest.TextOf(row))
			}
		}
	}
	return texts
}

// TestDisjoint: changes of different parts go together, and are saved together.
func TestDisjoint(t *testing.T) {
	s, jonas := visitors(t)
	mine := s.Get(flags + "checkout-redesign/details")
	edits(t, jonas, "checkout-redesign?edit=3", "rule.2.share.classic", "70", "rule.2.share.one-page", "20").Location()
	r := press(t, s, mine, "edit", "save", "name", "Mine").Check(409)
	r.Contains("Jonas changed this flag while you were editing", "Nothing is lost", "You began at revision 2, and this flag is now at 3.",
		"Jonas changed 2 things meanwhile. They go with yours.", "Save the result", "Go on editing", "Throw mine away").Lacks("Both of you changed this")
	want := []string{
		`Rule 3: share of "classic" 80% 70% Jonas`, `Rule 3: share of "one-page" 10% 20% Jonas`, `Name "Checkout redesign" "Mine" You`,
	}
	if diff := cmp.Diff(want, rows(r)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	before := content(t, s, "flags/checkout-redesign")
	if strings.Contains(before, "Mine") {
		t.Error("a conflict was saved")
	}
	if got, want := press(t, s, r, "edit", "settle").Location(), flags+"checkout-redesign/details?saved=4"; got != want {
		t.Errorf("leads to %s, want %s", got, want)
	}
	has(t, content(t, s, "flags/checkout-redesign"), `"name":"Mine"`, `"rollout":70,"variant":"classic"`)
}

// TestSameField: of a part that both have changed, the visitor chooses one.
func TestSameField(t *testing.T) {
	for _, test := range []struct{ side, want string }{{"", "Mine"}, {"mine", "Mine"}, {"theirs", "Theirs"}} {
		s, jonas := visitors(t)
		mine := s.Get(flags + "one-click-buy/details")
		edits(t, jonas, "one-click-buy/details", "name", "Theirs", "owner", "jonas").Location()
		r := press(t, s, mine, "edit", "save", "name", "Mine", "description", "Mine too").Check(409).Contains("Both of you changed this", "Only one of you changed these")
		if got := cards(r); len(got) != 3 || !strings.HasPrefix(got[1], "Jonas revision 3, just now Theirs") || got[2] != "You not saved Mine" || !strings.HasPrefix(got[0], "When you began revision 2") {
			t.Errorf("got the cards %q", got)
		}
		_, form := r.Form("edit")
		if got := form.Get("choice.0"); got != "mine" {
			t.Errorf("%q is chosen, want mine", got)
		}
		if test.side == "" {
			r = press(t, s, r, "edit", "settle")
		} else {
			r = press(t, s, r, "edit", "settle", "choice.0", test.side)
		}
		r.Location()
		has(t, content(t, s, "flags/one-click-buy"), `"name":"`+test.want+`"`, "Mine too", "jonas")
	}
}

// TestShares: the shares of a rule are one part.
func TestShares(t *testing.T) {
	s, jonas := visitors(t)
	mine := s.Get(flags + "checkout-redesign?edit=3")
	edits(t, jonas, "checkout-redesign?edit=3", "rule.2.share.classic", "60", "rule.2.share.express", "30").Location()
	r := press(t, s, mine, "edit", "save", "rule.2.share.classic", "70", "rule.2.share.one-page", "20").Check(409).Contains("Rule 3: shares")
	want := []string{
		"When you began revision 2 80% \"classic\", 10% \"one-page\", 10% \"express\"",
		"Jonas revision 3, just now 60% \"classic\", 10% \"one-page\", 30% \"express\"", `You not saved 70% "classic", 20% "one-page", 10% "express"`,
	}
	if diff := cmp.Diff(want, cards(r)); diff != "" {
		t.Errorf("cards (-want +got):\n%s", diff)
	}
	press(t, s, r, "edit", "settle").Location()
	has(t, content(t, s, "flags/checkout-redesign"), `{"rollout":70,"variant":"classic"},{"rollout":20,"variant":"one-page"},{"rollout":10,"variant":"express"}`)
}

// TestWords: parts and their values are said as pages say them.
func TestWords(t *testing.T) {
	for _, test := range []struct {
		name         string
		mine, theirs func(t *testing.T, s *webtest.Server, r *webtest.Reply) *webtest.Reply
		wants        []string
	}{
		{
			"the order", pressed("down:0"), pressed("up:2"),
			[]string{"Order of the rules", "When you began revision 2 1, 2, 3", "Jonas revision 3, just now 1, 3, 2", "You not saved 2, 1, 3"},
		},
		{
			"a rule removed and changed", pressed("remove:2"), pressed("edit:2", "rule.2.share", "30"),
			[]string{"Rule 3", "12.5%: on", "30%: on", "You not saved Removed"},
		},
		{
			"a rule moved", pressed("up:2"), pressed("edit:2", "rule.2.share", "30"),
			[]string{"Rule 2: share 12.5% 30% Jonas", "Rule 3 Moved to 2 You"},
		},
		{
			"a rule removed and everyone else", pressed("remove:2"), pressed("else:edit", "else", "on"),
			[]string{"Default value off on Jonas", "Rule 3 Removed (12.5%: on) You"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, jonas := visitors(t)
			mine, theirs := s.Get(flags+"one-click-buy"), jonas.Get(flags+"one-click-buy")
			press(t, jonas, test.theirs(t, jonas, theirs), "edit", "save").Location()
			press(t, s, test.mine(t, s, mine), "edit", "save").Check(409).Contains(test.wants...)
		})
	}
}

// pressed presses a button of the form, and changes fields of the next page.
func pressed(do string, changed ...string) func(t *testing.T, s *webtest.Server, r *webtest.Reply) *webtest.Reply {
	return func(t *testing.T, s *webtest.Server, r *webtest.Reply) *webtest.Reply {
		t.Helper()
		r = press(t, s, r, "edit", do).Check(200)
		if len(changed) == 0 {
			return r
		}
		return press(t, s, r, "edit", "draft", changed...).Check(200)
	}
}

// TestGoOn: the result is opened as a draft, and saved without another conflict.
func TestGoOn(t *testing.T) {
	for _, test := range []struct {
		tab          string
		mine, theirs []string
		want         []string
		lacks        string
	}{
		{"one-click-buy?edit=3", []string{"rule.2.share", "25"}, []string{"rule.2.share", "30", "rule.2.note", "seen"}, []string{`"percentage":30`, "seen"}, "25"},
		{"one-click-buy/details", []string{"name", "Mine", "description", "Mine too"}, []string{"name", "Theirs", "owner", "jonas"}, []string{"Theirs", "Mine too", "jonas"}, `"Mine"`},
		{"checkout-redesign/variants?edit=1", []string{"variant.0.name", "Mine", "variant.0.description", "Mine too"}, []string{"variant.0.name", "Theirs"}, []string{"Theirs", "Mine too"}, `"Mine"`},
	} {
		t.Run(test.tab, func(t *testing.T) {
			s, jonas := visitors(t)
			key, _, _ := strings.Cut(test.tab, "/")
			key, _, _ = strings.Cut(key, "?")
			mine := s.Get(flags + test.tab)
			edits(t, jonas, test.tab, test.theirs...).Location()
			r := press(t, s, mine, "edit", "save", test.mine...).Check(409)
			before := content(t, s, "flags/"+key)
			r = press(t, s, r, "edit", "continue", "choice.0", "theirs").Check(200)
			if content(t, s, "flags/"+key) != before {
				t.Error("going on has saved")
			}
			press(t, s, r, "edit", "save").Location()
			got := content(t, s, "flags/"+key)
			has(t, got, test.want...)
			if strings.Contains(got, test.lacks) {
				t.Errorf("got %s, which has %s", got, test.lacks)
			}
		})
	}
}

// TestAgain: another change while the visitor chooses shows the page again, with the choices.
func TestAgain(t *testing.T) {
	for _, button := range []string{"settle", "continue"} {
		s, jonas := visitors(t)
		mine := s.Get(flags + "one-click-buy/details")
		edits(t, jonas, "one-click-buy/details", "name", "Theirs").Location()
		r := press(t, s, mine, "edit", "save", "name", "Mine", "description", "Mine too").Check(409)
		edits(t, jonas, "one-click-buy/details", "name", "Theirs again", "owner", "jonas").Location()
		r = press(t, s, r, "edit", button, "choice.0", "theirs").Check(409).Contains("is now at 4", "Theirs again", "Mine too")
		_, form := r.Form("edit")
		if got := form.Get("choice.0"); got != "theirs" {
			t.Errorf("%s: %q is chosen, want theirs", button, got)
		}
		press(t, s, r, "edit", "settle").Location()
		has(t, content(t, s, "flags/one-click-buy"), "Theirs again", "Mine too", "jonas")
	}
}

// TestNoConflict: changes of other objects do not conflict.
func TestNoConflict(t *testing.T) {
	s, jonas := visitors(t)
	mine, segment := s.Get(flags+"one-click-buy/details"), s.Get(segments+"risky-orders")
	edits(t, jonas, "dark-mode/details", "name", "Night mode").Location()
	press(t, s, mine, "edit", "save", "name", "Mine").Location()
	press(t, s, segment, "segment", "save", "match", "all").Location()
}

// TestEqual: there is nothing left to save if both have changed the same.
func TestEqual(t *testing.T) {
	s, jonas := visitors(t)
	mine := s.Get(flags + "one-click-buy/details")
	edits(t, jonas, "one-click-buy/details", "name", "Same").Location()
	r := press(t, s, mine, "edit", "save", "name", "Same").Check(409).Contains("There is nothing left to save", "See the flag").Lacks("Save the result")
	if got, want := press(t, s, r, "edit", "settle").Location(), flags+"one-click-buy/details?saved=none"; got != want {
		t.Errorf("leads to %s, want %s", got, want)
	}
}

// TestDeleted: a flag that was deleted meanwhile is created again, or stays deleted.
func TestDeleted(t *testing.T) {
	for _, side := range []string{"mine", "theirs"} {
		s, jonas := visitors(t)
		mine := s.Get(flags + "one-click-buy?edit=3")
		press(t, jonas, jonas.Get(flags+"one-click-buy/delete"), "question", "delete", "key", "one-click-buy").Location()
		r := press(t, s, mine, "edit", "save", "rule.2.share", "25").Check(409)
		r.Contains("Jonas deleted this flag while you were editing", "You changed it, and Jonas deleted it", "The whole flag", "Deleted", "With your change", "share 12.5%").Lacks("Go on editing")
		press(t, s, r, "edit", "continue", "choice.0", "theirs")
		r = press(t, s, r, "edit", "draft").Check(409) // nothing else can be done with it
		got := press(t, s, r, "edit", "settle", "choice.0", side).Location()
		status := s.Get(flags + "one-click-buy").Status
		if side == "theirs" {
			if got != "/namespaces/default/flags" || status != 404 {
				t.Errorf("leads to %s; the flag has status %d", got, status)
			}
			continue
		}
		has(t, content(t, s, "flags/one-click-buy"), `"percentage":25`)
	}
}

// TestDeletedUnchanged: a draft without changes of a flag that was deleted has nothing to save.
func TestDeletedUnchanged(t *testing.T) {
	s, jonas := visitors(t)
	mine := s.Get(flags + "one-click-buy?edit=3")
	press(t, jonas, jonas.Get(flags+"one-click-buy/delete"), "question", "delete", "key", "one-click-buy").Location()
	r := press(t, s, mine, "edit", "save").Check(409).Contains("There is nothing left to save", "Back to the list")
	if got := press(t, s, r, "edit", "settle").Location(); got != "/namespaces/default/flags" {
		t.Errorf("leads to %s", got)
	}
}

// TestBaseGone: without the state that the edit began from, every difference is a choice.
func TestBaseGone(t *testing.T) {
	s, jonas := visitors(t)
	mine, deleted := s.Get(flags+"one-click-buy/details"), s.Get(flags+"dark-mode/details")
	edits(t, jonas, "one-click-buy/details", "owner", "jonas").Location()
	edits(t, jonas, "one-click-buy/details", "name", "Theirs").Location()
	edits(t, jonas, "dark-mode/details", "name", "Theirs").Location()
	if _, err := s.DB.DeleteChanges(t.Context(), time.Now().Add(time.Hour), 10_000); err != nil {
		t.Fatal(err)
	}
	r := press(t, s, mine, "edit", "save", "name", "Mine").Check(409)
	r.Contains("It is no longer known what this flag was when you began", "These differ").Lacks("When you began revision", "Both of you")
	if got := cards(r); len(got) < 2 || got[0] != "Jonas revision 4, just now Theirs" || got[1] != "You not saved Mine" {
		t.Errorf("got the cards %q", got)
	}
	press(t, s, r, "edit", "settle", "choice.0", "theirs").Location()
	has(t, content(t, s, "flags/one-click-buy"), `"name":"Theirs"`)

	press(t, jonas, jonas.Get(flags+"dark-mode/delete"), "question", "delete", "key", "dark-mode").Location()
	r = press(t, s, deleted, "edit", "save", "description", "Mine").Check(409).Contains("Jonas deleted this flag", "The whole flag")
	press(t, s, r, "edit", "settle").Location()
	has(t, content(t, s, "flags/dark-mode"), `"description":"Mine"`)
}

// TestSegment: drafts of segments meet the changes of others the same way.
func TestSegment(t *testing.T) {
	draft := func(t *testing.T, s *webtest.Server) *webtest.Reply {
		return press(t, s, s.Get(segments+"risky-orders").Check(200), "segment", "name").Check(200)
	}
	t.Run("disjoint", func(t *testing.T) {
		s, jonas := visitors(t)
		mine := draft(t, s)
		press(t, jonas, draft(t, jonas), "segment", "save", "description", "Theirs").Location()
		r := press(t, s, mine, "segment", "save", "name", "Mine").Check(409)
		r.Contains("Jonas changed this segment while you were editing", "Jonas changed 1 thing meanwhile. It goes with yours.")
		if got := press(t, s, r, "segment", "settle").Location(); got != segments+"risky-orders?saved=4" {
			t.Errorf("leads to %s", got)
		}
		has(t, content(t, s, "segments/risky-orders"), `"name":"Mine"`, `"description":"Theirs"`)
	})
	t.Run("same field", func(t *testing.T) {
		s, jonas := visitors(t)
		mine := draft(t, s)
		press(t, jonas, draft(t, jonas), "segment", "save", "name", "Theirs").Location()
		r := press(t, s, mine, "segment", "save", "name", "Mine", "description", "Mine too").Check(409)
		r = press(t, s, r, "segment", "continue", "choice.0", "theirs").Check(200).Contains("You now edit over revision 3")
		press(t, s, r, "segment", "save").Location()
		has(t, content(t, s, "segments/risky-orders"), `"name":"Theirs"`, `"description":"Mine too"`)
	})
	t.Run("same constraint", func(t *testing.T) {
		s, jonas := visitors(t)
		mine, theirs := press(t, s, s.Get(segments+"risky-orders"), "segment", "edit:0"), press(t, jonas, jonas.Get(segments+"risky-orders"), "segment", "edit:0")
		press(t, jonas, theirs, "segment", "save", "constraint.0.text", "0.9").Location()
		r := press(t, s, mine, "segment", "save", "constraint.0.text", "0.8").Check(409).Contains("Constraint 1: value")
		if got := cards(r); len(got) != 3 || !strings.HasSuffix(got[1], "0.9") || got[2] != "You not saved 0.8" {
			t.Errorf("got the cards %q", got)
		}
		press(t, s, r, "segment", "settle").Location()
		has(t, content(t, s, "segments/risky-orders"), `"value":"0.8"`)
	})
	t.Run("again", func(t *testing.T) {
		s, jonas := visitors(t)
		mine := draft(t, s)
		press(t, jonas, draft(t, jonas), "segment", "save", "name", "Theirs").Location()
		r := press(t, s, mine, "segment", "save", "name", "Mine").Check(409)
		press(t, jonas, draft(t, jonas), "segment", "save", "name", "Theirs again").Location()
		press(t, s, r, "segment", "continue").Check(409).Contains("Theirs again")
		r = press(t, s, r, "segment", "settle").Check(409).Contains("Theirs again")
		press(t, s, r, "segment", "settle").Location()
		has(t, content(t, s, "segments/risky-orders"), `"name":"Mine"`)
	})
	t.Run("another one removed", func(t *testing.T) {
		s, jonas := visitors(t)
		mine := s.Get(segments + "risky-orders?edit=2").Check(200)
		theirs := press(t, jonas, jonas.Get(segments+"risky-orders"), "segment", "remove:0").Check(200)
		press(t, jonas, theirs, "segment", "save").Location()
		r := press(t, s, mine, "segment", "reset:1", "constraint.1.property", "other").Check(200).Contains("Jonas changed this segment").Lacks("unsaved change")
		if _, form := r.Form("segment"); form.Get("constraint.1.property") != "country" {
			t.Errorf("as it was, constraint 2 compares %s", form.Get("constraint.1.property"))
		}
	})
	t.Run("deleted", func(t *testing.T) {
		s, _ := visitors(t)
		g := &guidon.Segment{Key: "spare", Name: "Spare"}
		if _, _, err := s.Service.ReplaceSegment(t.Context(), service.Write{}, "default", "spare", g, nil); err != nil {
			t.Fatal(err)
		}
		mine := press(t, s, s.Get(segments+"spare").Check(200), "segment", "name").Check(200)
		_, form := s.Get(segments + "spare/delete").Form("")
		form.Set("key", "spare")
		s.Post(segments+"spare/delete", form).Location()
		r := press(t, s, mine, "segment", "save", "name", "Mine").Check(409).Contains("Mira deleted this segment while you were editing")
		press(t, s, r, "segment", "settle").Location()
		has(t, content(t, s, "segments/spare"), `"name":"Mine"`)
	})
	t.Run("base gone", func(t *testing.T) {
		s, jonas := visitors(t)
		mine := draft(t, s)
		press(t, jonas, draft(t, jonas), "segment", "save", "description", "First").Location()
		press(t, jonas, draft(t, jonas), "segment", "save", "name", "Theirs").Location()
		if _, err := s.DB.DeleteChanges(t.Context(), time.Now().Add(time.Hour), 10_000); err != nil {
			t.Fatal(err)
		}
		r := press(t, s, mine, "segment", "save", "name", "Mine").Check(409).Contains("It is no longer known what this segment was")
		press(t, s, r, "segment", "settle", "choice.1", "theirs").Location()
		has(t, content(t, s, "segments/risky-orders"), `"name":"Mine"`, `"description":"First"`)
	})
}

// TestForms: forms that no page has are refused, or show the page again, and change nothing.
func TestForms(t *testing.T) {
	s, jonas := visitors(t)
	mine := s.Get(flags + "one-click-buy/details")
	edits(t, jonas, "one-click-buy/details", "name", "Theirs").Location()
	r := press(t, s, mine, "edit", "save", "name", "Mine").Check(409)
	before := content(t, s, "flags/one-click-buy")
	for _, test := range []struct {
		status int
		fields []string
	}{
		{409, []string{"now", ""}}, {409, []string{"now", "x"}}, {409, []string{"now", "2"}}, {409, []string{"now", "99"}}, {409, []string{"now", "-1"}},
		{400, []string{"revision", "0"}}, {400, []string{"tab", "none"}}, {422, []string{"name", ""}},
	} {
		press(t, s, r, "edit", "settle", test.fields...).Check(test.status)
	}
	viewer := s.As(s.SignIn(service.TokenInput{Name: "Vera", Role: service.RoleViewer}))
	press(t, viewer, r, "edit", "settle").Check(403)
	if got := content(t, s, "flags/one-click-buy"); got != before {
		t.Errorf("something was saved: %s", got)
	}
}

// TestHostile: texts of other people stay texts.
func TestHostile(t *testing.T) {
	hostile := []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'; drop`, `</textarea></form>`, `javascript:alert(1)`, "\u202egnp.exe", `{{.}}`, `&amp;&lt;`,
		"a\tb\nc", strings.Repeat("long", 60), `"quoted" → "text"`, `: added → removed`, `variant "x": key`,
	}
	want := 0
	for i, text := range append([]string{"plain"}, hostile...) {
		s, jonas := visitors(t)
		mine := s.Get(flags + "checkout-redesign/details")
		edits(t, jonas, "checkout-redesign/details", "description", text, "owner", text).Location()
		r := press(t, s, mine, "edit", "save", "description", "Mine", "owner", "mine").Check(409)
		got := len(r.All(""))
		if i == 0 {
			want = got
		}
		if got != want {
			t.Errorf("%q: the page has %d elements, want %d", text, got, want)
		}
		_, form := r.Form("edit")
		if got := form.Get("description"); got != "Mine" {
			t.Errorf("%q: the form has the description %q", text, got)
		}
	}
}

// TestHistoryHead: the history has the head and the tabs of the page of its object.
func TestHistoryHead(t *testing.T) {
	s, _ := visitors(t)
	for path, tabs := range map[string]string{
		flags + "checkout-redesign": "Targeting 3 Variants 3 History Namespaces Code Details", segments + "risky-orders": "Constraints 3 Used by 3 History",
	} {
		r := s.Get(path + "/history").Check(200)
		for _, n := range r.All("nav") {
			if webtest.Attribute(n, "class") != "tabs" {
				continue
			}
			if got := webtest.TextOf(n); got != tabs {
				t.Errorf("%s: got the tabs %q, want %q", path, got, tabs)
			}
			for a := range n.Descendants() {
				if current := webtest.Attribute(a, "aria-current") == "page"; a.Data == "a" && current != (webtest.TextOf(a) == "History") {
					t.Errorf("%s: %s is current: %t", path, webtest.TextOf(a), current)
				}
			}
		}
		if heads := r.All("h1"); len(heads) != 1 {
			t.Errorf("%s: %d headings", path, len(heads))
		}
	}
}

// TestSentAgain: a form that is sent again, because its answer was lost, is saved once, and
// can be compared with what is stored.
func TestSentAgain(t *testing.T) {
	s, _ := visitors(t)
	for _, test := range []struct{ address, form, field, value string }{
		{flags + "one-click-buy/details", "edit", "name", "Mine"},
		{flags + "one-click-buy?edit=3", "edit", "rule.2.share", "25"},
		{segments + "risky-orders", "segment", "match", "all"},
	} {
		mine := s.Get(test.address)
		press(t, s, mine, test.form, "look", test.field, test.value).Check(200).Lacks("What you entered is stored")
		saved := press(t, s, mine, test.form, "save", test.field, test.value).Location()
		press(t, s, mine, test.form, "look", test.field, test.value).Check(200).Contains("What you entered is stored")
		if got := press(t, s, mine, test.form, "save", test.field, test.value).Location(); got != saved || !strings.Contains(got, "?saved=") {
			t.Errorf("%s: sent again, it leads to %s, want %s", test.address, got, saved)
		}
	}
}

// TestSegmentDifferences: a constraint that is only negated differs.
func TestSegmentDifferences(t *testing.T) {
	segment := func(negate bool) *guidonv1.DocumentSegment {
		return &guidonv1.DocumentSegment{Key: "s", Name: "S", Constraints: []*guidonv1.DocumentConstraint{
			{Type: flipt.ComparisonType_STRING_COMPARISON_TYPE, Property: "country", Operator: "eq", Value: "SE", Negate: negate},
		}}
	}
	got := review.SegmentDifferences(segment(false), segment(true))
	if len(got) != 1 || got[0].Summary != "constraint 1 negated" {
		t.Errorf("got %+v", got)
	}
}
