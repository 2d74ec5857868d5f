package segment_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// TestShow: the page reads the constraints as sentences, and says what must be known.
func TestShow(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	s.Get(riskyPath).Check(200).Contains(
		"Risky orders", "What the fraud team wants to see prepaid", "Used by 3 flags", "fraud_score is greater than 0.87",
		"or ab Text country is not one of AT BE CH", "entity id is one of u-66613 u-70021", "Chargebacks in the past",
		"When country is missing, this does not match. To catch missing ones too, add the constraint country is empty.",
		"Payment methods rule 1", "One-click buy rule 2", "Is somebody in it?",
	).Lacks("unsaved", "never matches")
	s.Get(segmentsPath+"/all-visitors").Check(200).Contains("everyone", "There are no constraints, so everyone is in this segment.")
	s.Get(segmentsPath+"/christmas-season").Check(200).Contains("now is at or after 2026-11-27 27 Nov 2026", "24 Dec 2026, 18:00:00 UTC")
}

// TestEveryOperator: each operator of each type, chosen in the way of a browser without
// scripts, is saved and read back.
func TestEveryOperator(t *testing.T) {
	const text, number, boolean, date, entity, version, pattern, list, address = "1", "2", "3", "4", "5", "1000", "1001", "1002", "1003"
	s := webtest.New(t, webtest.Options{})
	for _, test := range []struct {
		kind, operators string
		field, entered  string
		stored, shown   string
	}{
		{text, "eq neq contains notcontains prefix suffix", "text", "a, b", "a, b", "a, b"},
		{text, "isoneof isnotoneof", "list", `AT DE,"New York"`, `["AT","DE","New York"]`, "New York"},
		{text, "empty notempty", "", "", "", ""},
		{number, "eq neq gt gte lt lte", "text", "12.50", "12.50", "12.50"},
		{number, "isoneof isnotoneof", "list", "[1, 2.50, 1e3]", "[1,2.50,1e3]", "2.50"},
		{number, "isoneof", "list", ".5 +7", "[0.5,7]", "0.5"},
		{number, "present notpresent", "", "", "", ""},
		{boolean, "true false present notpresent", "", "", "", ""},
		{date, "eq neq gt gte lt lte", "date", "2026-12-01", "2026-12-01", "1 Dec 2026"},
		{date, "gt", "date", "2026-12-01T18:00:00+01:00", "2026-12-01T17:00:00Z", "1 Dec 2026, 17:00:00 UTC"},
		{date, "present notpresent", "", "", "", ""},
		{entity, "eq neq contains notcontains", "text", "u-1", "u-1", "u-1"},
		{entity, "isoneof isnotoneof", "list", "u-1\nu-2", `["u-1","u-2"]`, "u-2"},
		{version, "eq neq gt gte lt lte", "text", "v2.4", "v2.4", "v2.4"},
		{version, "present notpresent", "", "", "", ""},
		{pattern, "eq", "text", `(?i)@example\.com$`, `(?i)@example\.com$`, `(?i)@example\.com$`},
		{list, "anyof allof", "list", "admin\r\nowner, 7", `["admin","owner","7"]`, "owner"},
		{list, "present notpresent", "", "", "", ""},
		{address, "isoneof", "list", "192.0.2.0/24\n2001:db8::1", `["192.0.2.0/24","2001:db8::1"]`, "192.0.2.0/24"},
	} {
		for operator := range strings.FieldsSeq(test.operators) {
			t.Run(test.kind+" "+operator+" "+test.entered, func(t *testing.T) {
				s := *s
				key := fmt.Sprintf("t%s-%s-%x", test.kind, operator, test.entered)
				replace(t, &s, key, &guidon.Segment{Name: "T"})
				r := press(t, &s, s.Get(segmentsPath+"/"+key).Check(200), "add").Check(200)
				r = press(t, &s, r, "compare:0", "constraint.0.type", test.kind, "constraint.0.operator", operator, "constraint.0.property", "prop").Check(200)
				if test.kind != entity {
					r.Contains("Property")
				}
				changes := []string{}
				if test.field != "" {
					changes = []string{"constraint.0." + test.field, test.entered}
				}
				press(t, &s, r, "save", changes...).Location()
				property := "prop"
				if test.kind == entity {
					property = "entityId"
				}
				want := strings.TrimSpace(property + " " + operator + " " + test.stored)
				if diff := cmp.Diff([]string{want}, constraints(stored(t, &s, key))); diff != "" {
					t.Errorf("stored (-want +got):\n%s", diff)
				}
				shown := s.Get(segmentsPath + "/" + key).Check(200).Contains(test.shown)
				again := press(t, &s, shown, "edit:0").Check(200).Lacks("unsaved")
				press(t, &s, again, "done:0").Check(200).Lacks("unsaved", "to fix")
			})
		}
	}
}

// TestEdit: buttons change the draft and save nothing; Save makes one change.
func TestEdit(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	began := revision(t, s)
	r := press(t, s, s.Get(riskyPath).Check(200), "edit:0").Check(200).Lacks("unsaved")
	r = press(t, s, r, "done:0", "constraint.0.text", "0.9").Check(200).Contains("fraud_score is greater than 0.9", "1 unsaved change", "3 flags use this segment. All of them can give other results.")
	r = press(t, s, r, "duplicate:0").Check(200).Contains("2 unsaved changes")
	r = press(t, s, r, "down:2").Check(200)
	r = press(t, s, r, "remove:1").Check(200)
	press(t, s, r, "look", "match", "all").Check(200).Contains("All constraints have to match here. To catch missing ones too, choose the opposite comparison and “Not”.")
	r = press(t, s, r, "missing:2").Check(200).Lacks("To catch missing ones too")
	r = press(t, s, r, "name").Check(200)
	r = press(t, s, r, "review", "name", "Riskier", "description", "a\r\nb").Check(200).Contains("Review", "− removed", "name: Riskier", "What changes for people", "Constraint 1 value 0.87 → , now 0.9").CheckEnter("", "save")
	if got := revision(t, s); got != began {
		t.Fatalf("something was saved: revision %d, want %d", got, began)
	}
	action, fields := r.Form("")
	back := s.Post(action, with(fields, "look")).Check(200).Contains("unsaved changes")
	if _, kept := back.Form("segment"); kept.Get("name") != "Riskier" || kept.Get("match") != "any" {
		t.Errorf("going on editing lost the draft: %v", kept)
	}
	to := s.Post(action, with(fields, "save", "message", "why not")).Location()
	if want := fmt.Sprintf("%s?saved=%d", riskyPath, began+1); to != want {
		t.Fatalf("leads to %s, want %s", to, want)
	}
	s.Get(to).Check(200).Says(fmt.Sprintf("Saved as revision %d", began+1), "Undo")
	g := stored(t, s, "risky-orders")
	want := []string{
		"fraud_score gt 0.9", `entityId isoneof ["u-66613","u-70021"]`,
		`country isnotoneof ["AT","BE","CH","DE","DK","FI","FR","IT","NL","NO","SE"]`, "country empty",
	}
	if diff := cmp.Diff(want, constraints(g)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if g.Name != "Riskier" || g.Description != "a\nb" || g.MatchType != guidon.MatchAny {
		t.Errorf("got %+v", g)
	}
}

// TestUnchanged: what was not edited stays as it was, byte for byte, and saving it changes
// nothing.
func TestUnchanged(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	replace(t, s, "odd", &guidon.Segment{Name: "Odd\nname", Description: "a\r\nb\n", Constraints: []*guidon.Constraint{
		{Type: 1, Property: "p\nq", Operator: "isoneof", Value: "[ \"a\" , \"\\u00e9\" ]", Description: "x\ny"},
		{Type: 2, Property: "n", Operator: "isoneof", Value: "[1.0, 2e3]"},
		{Type: 2, Property: "n", Operator: "gt", Value: "many"},
		{Type: 4, Property: "d", Operator: "isoneof", Value: "2026-12-01"},
		{Type: 4, Property: "d", Operator: "gt", Value: "2026-12-01T10:00:00Z"},
		{Type: 1, Property: "t", Operator: "eq", Value: " a\n b "},
	}})
	began := revision(t, s)
	r := s.Get(segmentsPath+"/odd").Check(200).Contains("This never matches: dates cannot be compared with a list.", "This never matches: the value is not a number.")
	for i := range 6 {
		r = press(t, s, r, fmt.Sprintf("edit:%d", i)).Check(200).Lacks("unsaved")
	}
	_, fields := r.Form("segment")
	for name, values := range fields { // as a browser sends it
		for i, v := range values {
			v = strings.ReplaceAll(strings.ReplaceAll(v, "\r\n", "\n"), "\n", "\r\n")
			if !strings.HasSuffix(name, "description") && !strings.HasSuffix(name, ".list") && name != "context" {
				v = strings.ReplaceAll(v, "\r\n", "")
			}
			fields[name][i] = v
		}
	}
	s.Post(segmentsPath+"/odd", with(fields, "save")).Location()
	if got := revision(t, s); got != began {
		t.Errorf("saved revision %d, want %d: %v", got, began, constraints(stored(t, s, "odd")))
	}
}

// TestTurn: another type or operator keeps what was entered as far as it has a place, and is
// not saved unseen.
func TestTurn(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := press(t, s, s.Get(riskyPath).Check(200), "edit:1").Check(200)
	r422 := press(t, s, r, "save", "constraint.1.operator", "eq").Check(422).Contains("The way of comparing has changed")
	if _, f := r422.Form("segment"); f.Get("constraint.1.text") != "AT" {
		t.Errorf("the first value is not kept: %v", f)
	}
	r = press(t, s, r, "compare:1", "constraint.1.type", "2").Check(200)
	if _, f := r.Form("segment"); strings.Count(f.Get("constraint.1.list"), "\n") != 10 || f.Get("constraint.1.operator") != "isnotoneof" {
		t.Errorf("the list is not kept: %v", f)
	}
	press(t, s, r, "save").Check(422).Contains("Not a number: AT.")
	r = press(t, s, r, "compare:1", "constraint.1.type", "1", "constraint.1.operator", "empty").Check(200)
	r = press(t, s, r, "compare:1", "constraint.1.type", "3").Check(200)
	if _, f := r.Form("segment"); f.Get("constraint.1.operator") != "notpresent" {
		t.Errorf("operator %s, want notpresent", f.Get("constraint.1.operator"))
	}
	r = press(t, s, s.Get(riskyPath), "edit:2").Check(200)
	r = press(t, s, r, "compare:2", "constraint.2.type", "1").Check(200)
	press(t, s, r, "done:2").Check(422).Contains("A property is needed.")
}

// TestPaste: lists are pasted in many forms, without duplicates, in order, and stay as they were
// entered if they are wrong.
func TestPaste(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := press(t, s, s.Get(segmentsPath+"/nordics").Check(200), "edit:0").Check(200).Contains("Values 5 of at most 10,000")
	enter := func(do, text string) *webtest.Reply { return press(t, s, r, do, "constraint.0.list", text) }
	for text, want := range map[string]string{
		"SE, NO\nAX\tGL;SE":                      "SE\nNO\nAX\nGL",
		`["SE", "New York", 7, true, "SE"]`:      "SE\n\"New York\"\n7\ntrue",
		`"a \"b\"" a"b "c\nd" "" "[x" C:\new "x`: `"a \"b\""` + "\na\"b\n" + `"c\nd"` + "\n\"\"\n\"[x\"\n" + `C:\new` + "\n" + `"\"x"`,
	} {
		next := enter("compare:0", text).Check(200)
		_, f := next.Form("segment")
		if diff := cmp.Diff(want, f.Get("constraint.0.list")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		_, again := press(t, s, next, "look").Check(200).Lacks("dropped").Form("segment")
		if diff := cmp.Diff(f["constraint.0.value"], again["constraint.0.value"]); diff != "" {
			t.Errorf("%s is not the same list the second time:\n%s", text, diff)
		}
	}
	enter("compare:0", "SE NO SE SE").Check(200).Contains("Values 2 of", "2 duplicates dropped")
	for text, want := range map[string]string{
		`["SE", "New`: "This JSON list cannot be read", `[["SE"]]`: "This JSON list cannot be read", " ,\n": "Add at least one value.",
	} {
		if _, f := enter("save", text).Check(422).Contains(want).Form("segment"); strings.TrimSpace(text) != "," && f.Get("constraint.0.list") != text {
			t.Errorf("what was entered is lost: %q", f.Get("constraint.0.list"))
		}
	}
}

// TestDecimalComma: two numbers that may be meant as one with a decimal comma are shown before they are saved.
func TestDecimalComma(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := press(t, s, s.Get(segmentsPath+"/nordics").Check(200), "edit:0").Check(200)
	r = press(t, s, r, "compare:0", "constraint.0.type", "2", "constraint.0.list", "1").Check(200)
	for _, text := range []string{"12,5", "7 -12,5", "12,5\n3"} {
		shown := press(t, s, r, "save", "constraint.0.list", text).Check(422).Contains("is two values", "Save again if you mean both, or write")
		_, f := shown.Form("segment")
		if got := f.Get("constraint.0.list"); !strings.Contains(got, "12\n5") {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
	for _, text := range []string{"12, 5", "12,5,7", "[12,5]", "12;5", "12\n5"} {
		press(t, s, r, "review", "constraint.0.list", text).Check(200)
	}
	shown := press(t, s, r, "done:0", "constraint.0.list", "12,5").Check(422)
	press(t, s, press(t, s, shown, "done:0").Check(200), "save").Location()
	if got := stored(t, s, "nordics").Constraints[0].Value; got != "[12,5]" {
		t.Errorf("stored %s", got)
	}
}

// TestLongList: a list of 10,000 values is pasted, saved, shown in part and changed, and one
// with more is refused and kept.
func TestLongList(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	values := make([]string, 10_000)
	for i := range values {
		values[i] = fmt.Sprintf("user-%08d-6f2a-4c1e-9d0b-1f6f3a2b4c5d", i)
	}
	column := strings.Join(values, "\n")
	const path = segmentsPath + "/nordics"
	r := press(t, s, s.Get(path).Check(200), "edit:0").Check(200)
	more := press(t, s, r, "save", "constraint.0.list", column+"\none\ntwo").Check(422).Contains("10,000 values at most, these are 10,002.")
	_, f := more.Form("segment")
	if got := strings.Count(f.Get("constraint.0.list"), "\n"); got != 10_001 {
		t.Errorf("%d values are kept", got+1)
	}
	press(t, s, more, "review", "constraint.0.list", column).Check(200).Contains("1 unsaved change")
	press(t, s, more, "save", "constraint.0.list", column).Location()
	if got, want := stored(t, s, "nordics").Constraints[0].Value, `["`+strings.Join(values, `","`)+`"]`; got != want {
		t.Errorf("stored %d bytes, want %d", len(got), len(want))
	}
	shown := s.Get(path).Check(200).Contains("and 9,995 more", "9,900 more are not shown here.", values[99]).Lacks(values[100])
	r = press(t, s, shown, "edit:0").Check(200).Contains("Values 10,000 of at most 10,000")
	press(t, s, r, "save", "constraint.0.list", strings.Join(values[1:], "\n")).Location()
	s.Get(path).Check(200).Contains("and 9,994 more")
	s.Get(path + "/history").Check(200)
}

// TestNegation: a constraint is negated and not negated, which the page says, with what follows
// for missing values.
func TestNegation(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	const not = "constraint.0.not"
	r := press(t, s, s.Get(segmentsPath+"/germany").Check(200), "edit:0").Check(200).Contains("Not: holds if the comparison does not")
	draft := press(t, s, r, "done:0", not, "yes").Check(200).Contains("1 unsaved change")
	press(t, s, draft, "review").Check(200).Contains("Constraint 1 negated", "not: true")
	press(t, s, draft, "save").Location()
	if c := stored(t, s, "germany").Constraints[0]; !c.Negate || c.Operator != "eq" {
		t.Fatalf("stored %+v", c)
	}
	shown := s.Get(segmentsPath+"/germany").Check(200).Contains("not country is DE", "When country is missing, this matches.")
	s.Get(segmentsPath).Check(200).Contains("not (country is DE)")
	s.Get(segmentsPath + "/germany/history").Check(200).Contains("Constraint 1 negated")
	shown = press(t, s, shown, "check", "entity", "u-1").Check(200).Contains("In. As the segment is saved.", "Matches: not country is DE")
	shown = press(t, s, shown, "name").Check(200).Lacks("unsaved")
	open := press(t, s, shown, "edit:0").Check(200).Lacks("unsaved")
	copied := press(t, s, s.Get(newPath+"?copy=germany"), "create").Location()
	if key := strings.TrimSuffix(strings.TrimPrefix(copied[:strings.Index(copied, "?")], segmentsPath+"/"), "/"); !stored(t, s, key).Constraints[0].Negate {
		t.Error("the copy is not negated")
	}
	press(t, s, open, "compare:0", "constraint.0.operator", "empty").Check(200).Lacks("is missing, this matches")
	press(t, s, open, "save", not, "-").Location()
	if stored(t, s, "germany").Constraints[0].Negate {
		t.Error("it is still negated")
	}
	replace(t, s, "odd", &guidon.Segment{Name: "Odd", Constraints: []*guidon.Constraint{
		{Type: 2, Property: "n", Operator: "gt", Value: "many", Negate: true}, {Type: 1, Property: "c", Operator: "neq", Value: "DE", Negate: true},
	}})
	s.Get(segmentsPath+"/odd").Check(200).Contains("This always matches: the value is not a number.", "When c is missing, this matches.")
}

// TestZone: dates are entered in the time zone of the visitor, and shown in both.
func TestZone(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	replace(t, s, "sale", &guidon.Segment{Name: "Sale", Constraints: []*guidon.Constraint{{Type: 4, Property: "now", Operator: "gt", Value: "2026-07-01T16:00:00Z"}}})
	const cookie = "guidon_preferences=zone=Europe%2FBerlin"
	r := s.Get(segmentsPath+"/sale", "Cookie", cookie).Check(200).Contains("2026-07-01T16:00:00Z 1 Jul 2026, 18:00:00 CEST")
	_, f := r.Form("segment")
	r = s.Post(segmentsPath+"/sale", with(f, "edit:0"), "Cookie", cookie).Check(200).Lacks("unsaved")
	_, f = r.Form("segment")
	if f.Get("constraint.0.date") != "2026-07-01" || f.Get("constraint.0.clock") != "18:00:00" || f.Get("constraint.0.zone") != "Europe/Berlin" {
		t.Errorf("fields %v", f)
	}
	for _, test := range []struct{ date, clock, zone, want string }{
		{"2026-12-24", "18:00", "Europe/Berlin", "2026-12-24T17:00:00Z"},
		{"2026-12-24", "18:00:30", "UTC", "2026-12-24T18:00:30Z"},
		{"2026-12-24", "", "Europe/Berlin", "2026-12-24"},
	} {
		_, f := s.Post(segmentsPath+"/sale", with(f, "done:0", "constraint.0.date", test.date, "constraint.0.clock", test.clock, "constraint.0.zone", test.zone), "Cookie", cookie).Check(200).Form("segment")
		if got := f.Get("constraint.0.value"); got != test.want {
			t.Errorf("%v: got %s", test, got)
		}
	}
	for _, bad := range []string{"", "soon", "2026-13-01"} {
		s.Post(segmentsPath+"/sale", with(f, "save", "constraint.0.date", bad), "Cookie", cookie).Check(422).Contains("Write 2026-12-01 or 2026-12-01T18:00:00Z.")
	}
}

// TestWrong: each wrong field has a message, everything entered is kept, and nothing is saved.
func TestWrong(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	began := revision(t, s)
	r := press(t, s, press(t, s, s.Get(riskyPath).Check(200), "edit:0"), "name").Check(200)
	long := strings.Repeat("x", 260)
	typed := func(kind, field, text string) []string {
		operator := map[string]string{"1000": "eq", "1001": "eq", "1002": "anyof", "1003": "isoneof"}[kind]
		return []string{"constraint.0." + field, text, "constraint.0.type", kind, "constraint.0.operator", operator, "constraint.0.was", kind + " " + operator}
	}
	for _, test := range []struct {
		changes []string
		field   string
		want    string
	}{
		{[]string{"name", " "}, "name", "A name is needed."},
		{[]string{"name", long}, "name", "255 characters at most, this has 260."},
		{[]string{"constraint.0.property", ""}, "constraint.0.property", "A property is needed."},
		{[]string{"constraint.0.property", long}, "constraint.0.property", "255 characters at most, this has 260."},
		{[]string{"constraint.0.text", "12,5"}, "constraint.0.text", "Not a number: 12,5. Write 12.5."},
		{[]string{"constraint.0.text", "NaN"}, "constraint.0.text", "Not a number: NaN."},
		{[]string{"constraint.0.text", ""}, "constraint.0.text", "A number is needed."},
		{[]string{"constraint.0.type", "99"}, "constraint.0.type", "This type is not known."},
		{typed("1000", "text", "2.x"), "constraint.0.text", "Not a version: 2.x. Write 2.4.1."},
		{typed("1001", "text", "a(b"), "constraint.0.text", "missing closing )"},
		{typed("1001", "text", strings.Repeat("a", 513)), "constraint.0.text", "The pattern is too complex."},
		{typed("1002", "list", "[{}]"), "constraint.0.list", "This JSON list cannot be read"},
		{typed("1003", "list", "192.0.2.1\n::1/129"), "constraint.0.list", "Not an address: ::1/129."},
	} {
		wrong := press(t, s, r, "save", test.changes...).Check(422).Contains("1 thing to fix:", test.want)
		if _, f := wrong.Form("segment"); f.Get(test.changes[0]) != test.changes[1] && test.changes[1] != "99" {
			t.Errorf("%v: kept %q", test.changes, f.Get(test.changes[0]))
		}
		var linked bool
		for _, link := range wrong.Links() {
			linked = linked || link == "#"+test.field
		}
		if !linked {
			t.Errorf("%v: no link to %s", test.changes, test.field)
		}
	}
	for _, f := range []map[string]string{{"constraint.0.type": "x"}, {"revision": "-1"}, {"revision": "x"}} {
		for name, value := range f {
			press(t, s, r, "save", name, value).Check(400)
		}
	}
	press(t, s, r, "save", "revision", "-").Check(400)
	s.Post(riskyPath, map[string][]string{"do": {"save"}}).Check(400)
	if got := revision(t, s); got != began {
		t.Errorf("revision %d, want %d", got, began)
	}
}

// TestMessage: a message that the service refuses is kept where it was entered.
func TestMessage(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	const bad, want = "a\u202eb", "The message must not contain"
	named := press(t, s, press(t, s, s.Get(riskyPath), "name"), "review", "name", "Mine").Check(200)
	action, f := named.Form("")
	r := s.Post(action, with(f, "save", "message", bad)).Check(422).Contains("Review", want)
	if _, kept := r.Form(""); kept.Get("message") != bad || kept.Get("name") != "Mine" {
		t.Errorf("kept %v", kept)
	}
	press(t, s, s.Get(newPath), "create", "name", "N", "constraint.0.property", "p", "constraint.0.text", "v", "message", bad).Check(422).Contains(want)
	replace(t, s, "free", &guidon.Segment{Name: "Free"})
	action, f = s.Get(segmentsPath + "/free/delete").Form("")
	s.Post(action, with(f, "", "key", "free", "message", bad)).Check(422).Contains(want)
}

// TestLastConstraint: a segment becomes one for everyone only if that is confirmed.
func TestLastConstraint(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	path := segmentsPath + "/germany"
	asked := press(t, s, s.Get(path).Check(200), "remove:0").Check(200).Contains("Without a constraint, everyone is in this segment. 5 flags use it.", "Keep the constraint")
	press(t, s, asked, "look").Check(200).Contains("country is DE").Lacks("unsaved")
	cleared := press(t, s, asked, "clear").Check(200).Contains("unsaved change", "so everyone is in this segment")
	_, f := cleared.Form("segment")
	s.Post(path, with(f, "save", "everyone", "-")).Check(422).Contains("Without a constraint", "Save it for everyone")
	if len(stored(t, s, "germany").Constraints) != 1 {
		t.Fatal("the constraint is gone")
	}
	s.Post(path, with(f, "save")).Location()
	if len(stored(t, s, "germany").Constraints) != 0 {
		t.Error("the constraint is still there")
	}
}

// TestAsks: in a namespace that asks before changes, its key must be typed before constraints are
// saved, but not for a name.
func TestAsks(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	ask := true
	if _, _, err := s.Service.UpdateNamespace(t.Context(), service.Write{}, service.NamespaceInput{Key: "default", Name: "Default", ConfirmChanges: &ask}); err != nil {
		t.Fatal(err)
	}
	const question = "Type default to change this namespace"
	press(t, s, press(t, s, s.Get(riskyPath), "name"), "review", "name", "Mine").Check(200).Lacks(question)
	press(t, s, press(t, s, s.Get(riskyPath), "name"), "save", "name", "Mine").Location()

	began := revision(t, s)
	r := press(t, s, press(t, s, s.Get(riskyPath), "edit:0"), "save", "constraint.0.text", "0.9").Check(200).Contains("Review", question)
	action, f := r.Form("")
	s.Post(action, with(f, "save", "namespace", "Default")).Check(422).Contains("This is not the key of the namespace: default.")
	s.Post(action, with(f, "save")).Check(200).Contains(question)
	if got := revision(t, s); got != began {
		t.Errorf("revision %d was saved without the key", got)
	}
	s.Post(action, with(f, "save", "namespace", "default")).Location()

	r = press(t, s, s.Get(segmentsPath+"/germany"), "clear").Check(200)
	action, f = press(t, s, r, "save").Check(200).Contains(question).Form("")
	s.Post(action, with(f, "save", "namespace", "default")).Location()
	if left := stored(t, s, "germany").Constraints; len(left) > 0 {
		t.Errorf("%d constraints are left", len(left))
	}
}

// TestMember: the saved and the drafted segment say who is in them, and why.
func TestMember(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := s.Get(riskyPath).Check(200).CheckEnter("segment", "enter")
	press(t, s, r, "enter", "entity", "u-66613").Check(200).Contains("In. As the segment is saved.")
	press(t, s, r, "enter").Check(200).Lacks("As the segment is saved.")
	press(t, s, r, "check", "entity", "u-2207", "context", "country=SE\r\nfraud_score = 0.91").Check(200).Contains("In. As the segment is saved.", "It is 0.91.", "It is SE.", "It is u-2207.")
	press(t, s, r, "check", "entity", "u-1", "context", `{"country":"SE","fraud_score":0.5}`).Check(200).Contains("Not in.", "It is 0.5.")
	press(t, s, r, "check", "entity", "u-1", "context", "fraud_score=high").Check(200).Contains("It is high: the value is not a number.", "It is missing.")
	edited := press(t, s, press(t, s, r, "edit:0"), "check", "constraint.0.text", "0.1", "context", `{"country":"SE","fraud_score":0.5}`)
	edited.Check(200).Contains("In. With your unsaved changes.")
	press(t, s, r, "check", "context", "country").Check(422).Contains("Line 1: write a property and its value")
	press(t, s, r, "check", "context", `{"a"`).Check(422).Contains("This JSON object cannot be read")
	press(t, s, press(t, s, r, "add"), "check").Check(422).Contains("A property is needed.")
}

// TestKnown: known properties and values are offered, and other types of the same property
// are pointed out.
func TestKnown(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	replace(t, s, "typed", &guidon.Segment{Name: "T", Constraints: []*guidon.Constraint{{Type: 2, Property: "country", Operator: "eq", Value: "1"}}})
	r := s.Get(segmentsPath + "/typed").Check(200).Contains("constraints of other segments compare this property as Text.")
	if body := press(t, s, r, "edit:0").Check(200).Body; !strings.Contains(body, `<option value="fraud_score">`) || !strings.Contains(body, `<option value="DE">`) {
		t.Error("known properties or values are not offered")
	}
	s.Get(riskyPath).Check(200).Contains("1 constraint of other segments compares this property as Number.")
	replace(t, s, "own", &guidon.Segment{Name: "O", Constraints: []*guidon.Constraint{
		{Type: 1, Property: "only-here", Operator: "empty"}, {Type: 2, Property: "only-here", Operator: "present"},
	}})
	s.Get(segmentsPath + "/own").Check(200).Lacks("of other segments")
	replace(t, s, "entity", &guidon.Segment{Name: "E", Constraints: []*guidon.Constraint{{Type: 1, Property: "entityId", Operator: "eq", Value: "u-1"}}})
	s.Get(segmentsPath + "/entity").Check(200).Contains("not the id of the entity. For that, choose the type Entity.")
}

// TestLimit: the editor takes 200 constraints, and does not cut off more.
func TestLimit(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	g := &guidon.Segment{Name: "Large"}
	for i := range 200 {
		g.Constraints = append(g.Constraints, &guidon.Constraint{Type: 1, Property: fmt.Sprintf("p%d", i), Operator: "empty"})
	}
	replace(t, s, "large", g)
	press(t, s, s.Get(segmentsPath+"/large").Check(200), "add").Check(422).Contains("A segment has 200 constraints at most here.")
	g.Constraints = append(g.Constraints, g.Constraints[0])
	replace(t, s, "large", g)
	r := s.Get(segmentsPath + "/large").Check(200).Contains("This segment has 201 constraints, of which the first 200 are shown.")
	if r.Status != http.StatusOK || strings.Contains(r.Text(), "Add constraint") {
		t.Error("it can be edited")
	}
	value := `["` + strings.Repeat("x", 1<<20) + `"]`
	c := &guidon.Constraint{Type: 1, Property: "p", Operator: "isoneof", Value: value}
	replace(t, s, "heavy", &guidon.Segment{Name: "Heavy", Constraints: []*guidon.Constraint{c}})
	s.Get(segmentsPath + "/heavy").Check(200).Contains("Add constraint")
	replace(t, s, "heavy", &guidon.Segment{Name: "Heavy", Constraints: []*guidon.Constraint{c, c}})
	s.Get(segmentsPath + "/heavy").Check(200).Contains("This segment has too many values for a form.").Lacks("Add constraint")
}
