package flag_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// TestPages: every page of every example flag is complete.
func TestPages(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	for _, key := range exampleFlags(t, s) {
		s.Get(flags+key).Check(200).Contains("Everyone else", "Details", key)
		s.Get(flags + key + "?edit=1").Check(200)
		s.Get(flags + key + "?edit=else").Check(200)
		s.Get(flags + key + "/details").Check(200).Contains("Other metadata")
		s.Get(flags + key + "/turn-off").Check(200).Contains("You can undo this in Changes.")
		s.Get(flags + key + "/delete").Check(200).Contains("Type " + key + " to delete it")
		s.Get(flags + key + "/copy").Check(200).Contains("Copy flag")
		if content(t, s, key)["type"] == "VARIANT_FLAG_TYPE" {
			s.Get(flags+key+"/variants?edit=1").Check(200).Contains("Add variant", "Format")
		} else {
			s.Get(flags + key + "/variants").Check(404)
		}
	}
	if got, want := s.Get(flags+"one-click-buy/review").Location(), flags+"one-click-buy"; got != want {
		t.Errorf("a review without a draft leads to %s, want %s", got, want)
	}
	s.Get(flags+"one-click").Check(404).Contains("No flag one-click in Default", "Did you mean One-click buy")
}

// exampleFlags returns the keys of the flags of the example.
func exampleFlags(t *testing.T, s *webtest.Server) (keys []string) {
	t.Helper()
	view, err := s.Service.View(t.Context(), "default", service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range view.Snapshot.Flags() {
		keys = append(keys, f.Key)
	}
	return keys
}

// TestUnchanged: a form that nobody has changed changes nothing, whichever of its parts are
// open.
func TestUnchanged(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	for _, key := range exampleFlags(t, s) {
		before := body(t, content(t, s, key))
		paths := []string{"", "?edit=else", "/details"}
		for i := 1; i < 6; i++ {
			paths = append(paths, fmt.Sprint("?edit=", i))
			if content(t, s, key)["type"] == "VARIANT_FLAG_TYPE" {
				paths = append(paths, fmt.Sprint("/variants?edit=", i))
			}
		}
		for _, path := range paths {
			r := s.Get(flags + key + path).Check(200)
			press(t, s, r, "draft").Check(200).Lacks("unsaved change")
			if got := press(t, s, r, "save").Location(); !strings.HasSuffix(got, "?saved=none") {
				t.Errorf("%s%s: saving nothing leads to %s", key, path, got)
			}
		}
		if after := body(t, content(t, s, key)); after != before {
			t.Errorf("%s changed (-before +after):\n%s", key, cmp.Diff(before, after))
		}
	}
}

// TestSaveShare: a share is changed in an open rule, looked at, and saved as one change.
func TestSaveShare(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := s.Get(flags + "one-click-buy").Check(200)
	r.Contains("Partly on", "In effect 13%: shares of boolean flags count in whole percents.", "on 13%", "off 87%")
	r = press(t, s, r, "edit:2").Check(200)
	r.Contains("No changes yet", "on 13%")
	r = press(t, s, r, "draft", "rule.2.share", "25").Check(200)
	r.Contains("1 unsaved change", "12% of those in none of the segments go from off to on.", "Edited: share 12.5% → 25%", "on before 13%", "newly on 12%", "was 13%")
	r = press(t, s, r, "done:2").Check(200)
	r.Contains("1 unsaved change", "25% of everyone who gets here").Lacks("newly on")
	if got := body(t, content(t, s, "one-click-buy")); strings.Contains(got, "25") {
		t.Errorf("the draft was stored: %s", got)
	}
	r = press(t, s, r, "review").Check(200)
	r.Contains("Rule 3 share 12.5% → , now 25%", "12% of those in none of the segments go from off to on.", "percentage: 25", "percentage: 12.5")
	location := press(t, s, r, "save", "message", "more of them").Location()
	if want := flags + "one-click-buy?saved=3"; location != want {
		t.Errorf("leads to %s, want %s", location, want)
	}
	want := strings.Replace(body(t, content(t, webtest.New(t, webtest.Options{}), "one-click-buy")), `"percentage":12.5`, `"percentage":25`, 1)
	if diff := cmp.Diff(want, body(t, content(t, s, "one-click-buy"))); diff != "" {
		t.Errorf("saved (-want +got):\n%s", diff)
	}
	s.Get(location).Check(200).Contains("25% of everyone who gets here", "Changed just now by Mira")
}

// ladder returns the rules of a page in a line each: who and what.
func ladder(r *webtest.Reply) (rules []string) {
	for _, n := range r.All("li") {
		if class := webtest.Attribute(n, "class"); !strings.HasPrefix(class, "rule") {
			continue
		}
		line := ""
		for d := range n.Descendants() {
			switch class := webtest.Attribute(d, "class"); {
			case class == "who":
				line += webtest.TextOf(d)
			case class == "what":
				line += " = " + webtest.TextOf(d)
			}
		}
		rules = append(rules, line)
	}
	return rules
}

// TestButtons: each button changes the draft, keeps the rest, and stores nothing.
func TestButtons(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	const (
		loyal, risky, some, other = "In Loyal customers and Germany = On", "In Risky orders or Old apps = Off", "12.5% of everyone who gets here = On", "Everyone else = Off"
	)
	for _, test := range []struct {
		do   string
		want []string
	}{
		{"draft", []string{loyal, risky, some, other}},
		{"up:1", []string{risky, loyal, some, other}},
		{"down:0", []string{risky, loyal, some, other}},
		{"up:0", []string{loyal, risky, some, other}},
		{"down:2", []string{loyal, risky, some, other}},
		{"up:9", []string{loyal, risky, some, other}},
		{"remove:1", []string{loyal, some, other}},
		{"drop:0:1", []string{"In Loyal customers = On", risky, some, other}},
		{"edit:0", []string{"", risky, some, other}},
		{"duplicate:1", []string{loyal, risky, "", some, other}},
		{"add:segment", []string{loyal, risky, some, "", other}},
		{"add:share", []string{loyal, risky, some, "A share of everyone who gets here", other}},
		{"add:except", []string{loyal, risky, some, "", "Everyone else = On"}},
		{"no such thing", []string{loyal, risky, some, other}},
		{"edit:-1", []string{loyal, risky, some, other}},
	} {
		r := press(t, s, s.Get(flags+"one-click-buy"), test.do).Check(200)
		if diff := cmp.Diff(test.want, ladder(r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.do, diff)
		}
		press(t, s, r, "draft").Check(200)
	}
	if got := s.Get(flags + "one-click-buy").Check(200).Text(); !strings.Contains(got, "Revision 2") && strings.Contains(got, "Revision 3") {
		t.Errorf("something was stored: %s", got)
	}
}

// TestShares: the buttons of the shares of a rule.
func TestShares(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	open := s.Get(flags + "checkout-redesign?edit=3").Check(200)
	shares := func(r *webtest.Reply) string {
		_, form := r.Form("edit")
		var all []string
		for _, key := range []string{"classic", "one-page", "express"} {
			all = append(all, form.Get("rule.2.share."+key))
		}
		return strings.Join(all, " ")
	}
	for _, test := range []struct {
		name, do string
		changed  []string
		want     string
		says     []string
	}{
		{"as saved", "saved:2", []string{"rule.2.share.classic", "1"}, "80 10 10", []string{"100%"}},
		{"even", "even:2", nil, "33.34 33.33 33.33", []string{"100%"}},
		{"a rest", "draft", []string{"rule.2.share.classic", "70"}, "70 10 10", []string{"90%, 10% gets classic", "The other 10% get classic: later rules are not tried."}},
		{"give the rest", "rest:2:2", []string{"rule.2.share.classic", "60"}, "60 10 30", []string{"100%", "1 unsaved change", "10% of those who match rule 3 go from classic to one-page."}},
		{"tenths", "draft", []string{"rule.2.share.classic", "33.33", "rule.2.share.one-page", "33.33", "rule.2.share.express", "33.33"}, "33.33 33.33 33.33", []string{"99.99%, 0.01% gets classic", "The other 0.1% get classic"}},
		{"undo", "revert:2", []string{"rule.2.share.express", "1"}, "80 10 10", []string{"No changes yet"}},
	} {
		r := press(t, s, open, test.do, test.changed...).Check(200).Contains(test.says...)
		if got := shares(r); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

// TestRepeatedShares: a variant may have several shares of a rule. Those that nobody changes stay.
func TestRepeatedShares(t *testing.T) {
	for _, test := range []struct {
		name, do, wide string // the button, and the share of a variant
		want           string // "" if it is refused
	}{
		{"nothing", "draft", "30", "dense 20, wide 30, dense 40"},
		{"another share", "draft", "35", "dense 20, wide 35, dense 40"},
		{"too much", "draft", "50", ""},
		{"the rest", "rest:0:1", "30", "dense 30, wide 30, dense 40"},
		{"even", "even:0", "30", "dense 33.34, wide 33.33, plain 33.33"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := webtest.New(t, webtest.Options{})
			putFlag(t, s, `
flags:
  - key: layout
    name: Layout
    enabled: true
    variants: [{key: wide}, {key: dense}, {key: plain}]
    rules:
      - segment: all
        distributions: [{variant: dense, rollout: 20}, {variant: wide, rollout: 30}, {variant: dense, rollout: 40}]
segments:
  - {key: all, name: All, match_type: ALL_MATCH_TYPE}
`)
			r := press(t, s, s.Get(flags+"layout?edit=1").Check(200).Lacks("unsaved change"), test.do, "rule.0.share.wide", test.wide).Check(200)
			r = press(t, s, r, "save")
			if test.want == "" {
				r.Check(422).Contains("These are 110% together: take 10% away.")
				return
			}
			r.Location()
			var shares []string
			for _, d := range content(t, s, "layout")["rules"].([]any)[0].(map[string]any)["distributions"].([]any) {
				share := d.(map[string]any)
				shares = append(shares, fmt.Sprint(share["variant"], " ", share["rollout"]))
			}
			if got := strings.Join(shares, ", "); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestAnotherOrder: the page says when another order of the shares would move fewer.
func TestAnotherOrder(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	const rule = flags + "checkout-redesign?edit=3"
	press(t, s, s.Get(rule).Check(200), "save", "rule.2.share.classic", "50", "rule.2.share.one-page", "50", "rule.2.share.express", "").Location()
	const better = "In the order classic, express, one-page, these shares would move 20% instead of 40%."
	open := s.Get(rule).Check(200).Lacks("In the order")
	press(t, s, open, "draft", "rule.2.share.classic", "30", "rule.2.share.express", "20").Check(200).Contains(better)
	press(t, s, open, "draft", "rule.2.share.classic", "50", "rule.2.share.one-page", "30", "rule.2.share.express", "20").Check(200).Lacks("In the order")
}

// TestFaults: what is wrong stands beside its field, everything typed is kept, and nothing
// is stored.
func TestFaults(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	for _, test := range []struct {
		name, page, field, value string
		says                     []string
	}{
		{"not a number", "one-click-buy?edit=3", "rule.2.share", "some", []string{"A number from 0 to 100.", "1 thing to fix: Rule 3"}},
		{"a comma", "one-click-buy?edit=3", "rule.2.share", "12,5", []string{"Not a number: 12,5. Write 12.5."}},
		{"too much", "one-click-buy?edit=3", "rule.2.share", "100.1", []string{"A number from 0 to 100."}},
		{"negative", "one-click-buy?edit=3", "rule.2.share", "-1", []string{"A number from 0 to 100."}},
		{"not finite", "one-click-buy?edit=3", "rule.2.share", "NaN", []string{"A number from 0 to 100."}},
		{"hexadecimal", "one-click-buy?edit=3", "rule.2.share", "0x10", []string{"A number from 0 to 100."}},
		{"110% together", "checkout-redesign?edit=3", "rule.2.share.classic", "90", []string{"These are 110% together: take 10% away."}},
		{"unknown segment", "one-click-buy?edit=1", "rule.0.add", "germny", []string{"No segment “germny”. Germany (germany)?"}},
		{"a part of a name to save", "one-click-buy?edit=1", "rule.0.add", "germ", []string{"No segment “germ”."}},
		{"no segment near", "one-click-buy?edit=1", "rule.0.add", "xyzzy", []string{"No segment “xyzzy”."}},
	} {
		t.Run(test.name, func(t *testing.T) {
			open := s.Get(flags + test.page).Check(200)
			for _, do := range []string{"save", "review", "done:2", "done:0"} {
				r := press(t, s, open, do, test.field, test.value)
				if strings.HasPrefix(do, "done") && r.Status == 200 {
					continue // of another rule
				}
				r.Check(422).Contains(test.says...).Contains("Nothing was saved.")
				if _, form := r.Form("edit"); form.Get(test.field) != test.value {
					t.Errorf("%s: the field has %q, want %q", do, form.Get(test.field), test.value)
				}
			}
		})
	}
	press(t, s, press(t, s, s.Get(flags+"one-click-buy"), "add:segment"), "save").Check(422).Contains("Add a segment, or remove this rule.")
	if got := s.Get("/api/v1/namespaces/default/flags/one-click-buy/content").Header.Get("Guidon-Revision"); got != "2" {
		t.Errorf("the namespace is at revision %s, want 2", got)
	}
}

// TestForms: a form that no page has sent is refused.
func TestForms(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	many := url.Values{"revision": {"2"}, "do": {"save"}}
	for i := range 201 {
		many.Set(fmt.Sprintf("rule.%d.kind", i), "share")
	}
	s.Post(flags+"one-click-buy", many).Check(413)
	for _, revision := range []string{"", "x", "0", "-1"} {
		s.Post(flags+"one-click-buy", url.Values{"revision": {revision}, "do": {"save"}}).Check(400)
	}
	s.Post(flags+"one-click-buy/review", url.Values{"revision": {"2"}, "tab": {"none"}}).Check(400)
	s.Post(flags+"none", url.Values{"revision": {"2"}, "do": {"save"}}).Check(404)
	s.Get(flags + "one-click-buy?at=x").Check(400)
	s.Get(flags + "one-click-buy?at=99").Check(404)
}

// TestAddSegment: a segment is added by its key or its name, and once.
func TestAddSegment(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := press(t, s, s.Get(flags+"web-push").Check(200), "add:segment").Check(200)
	_, form := r.Form("edit")
	n := 0
	for form.Has(fmt.Sprintf("rule.%d.kind", n)) {
		n++
	}
	at := fmt.Sprintf("rule.%d.", n-1)
	r = press(t, s, r, fmt.Sprintf("segment:%d", n-1), at+"add", "staff").Check(200)
	r = press(t, s, r, fmt.Sprintf("segment:%d", n-1), at+"add", "germany ").Check(200)
	r = press(t, s, r, "draft", at+"add", "GERMANY").Check(200)
	r = press(t, s, r, "review", at+"operator", "and").Check(200).Contains("Rule 2 added (segments staff, germany: on)")
	press(t, s, r, "save").Location()
	if got := body(t, content(t, s, "web-push")); !strings.Contains(got, `"segmentKeys":["staff","germany"],"segmentOperator":"AND_SEGMENT_OPERATOR","value":true`) {
		t.Errorf("got %s", got)
	}
}

// TestRoles: viewers, and everyone on a read-only server, see no control that edits.
func TestRoles(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	viewer := s.As(s.SignIn(service.TokenInput{Name: "Vera", Role: service.RoleViewer}))
	closed := webtest.New(t, webtest.Options{ReadOnly: true})
	open := s.Get(flags + "one-click-buy?edit=1")
	for name, reader := range map[string]*webtest.Server{"viewer": viewer, "read-only": closed} {
		for _, path := range []string{"one-click-buy?edit=1", "checkout-redesign?edit=1", "checkout-redesign/variants?edit=1", "checkout-redesign/details"} {
			r := reader.Get(flags + path).Check(200).Contains("View only")
			for _, tag := range []string{"form", "input", "textarea", "select"} {
				for _, n := range r.All(tag) {
					if webtest.Attribute(n, "id") == "stars" || webtest.Attribute(n, "name") == "back" { // viewers have favorites, too
						continue
					}
					t.Errorf("%s, %s: has %s %s", name, path, tag, webtest.Attribute(n, "name"))
				}
			}
			r.Lacks("Turn off", "Add ", "Save")
		}
		for _, path := range []string{"turn-off", "delete"} {
			reader.Get(flags + "one-click-buy/" + path).Check(403)
		}
	}
	viewer.Get(flags + "one-click-buy").Contains("Your role in Default is View. Ask an administrator for Edit.")
	press(t, viewer, open, "save", "rule.0.value", "off").Check(403)
	if got := content(t, s, "one-click-buy"); !strings.Contains(body(t, got), `"value":true`) {
		t.Errorf("a viewer has changed it: %v", got)
	}
	s.Get(flags+"one-click-buy", "Cookie", "x=y").Check(200)
	webtest.New(t, webtest.Options{Open: true}).Get(flags + "one-click-buy").Check(200).Contains("Add rule")
}

// TestNotes: rules say what they can never do.
func TestNotes(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, `
flags:
  - key: bool
    name: Bool
    type: BOOLEAN_FLAG_TYPE
    enabled: true
    rollouts:
      - {threshold: {percentage: 50, value: true}}
      - {threshold: {percentage: 10, value: true}}
      - {threshold: {percentage: 0, value: true}}
      - {segment: {key: nobody, value: true}}
      - {segment: {key: all, value: true}}
  - key: var
    name: Var
    enabled: false
    variants: [{key: a, default: true}, {key: b}, {key: c}]
    rules:
      - {segment: staff, distributions: [{variant: a, rollout: 33.33}, {variant: b, rollout: 33.33}, {variant: b, rollout: 0.01}]}
      - {segment: all, distributions: [{variant: b, rollout: 100}]}
      - {segment: staff, distributions: [{variant: b, rollout: 100}]}
segments:
  - {key: all, name: All}
  - {key: staff, name: Staff, constraints: [{type: STRING_COMPARISON_TYPE, property: a, operator: eq, value: b}]}
  - {key: nobody, name: Nobody, match_type: ALL_MATCH_TYPE, constraints: [{type: STRING_COMPARISON_TYPE, property: a, operator: eq, value: b}, {type: STRING_COMPARISON_TYPE, property: a, operator: eq, value: c}]}
`)
	s.Get(flags+"bool").Check(200).Contains(
		"Never reached: rule 1 takes everybody who would get here.", "Never reached: its share is 0%.",
		"Never reached: nobody satisfies constraints 1 of segment nobody, 2 of segment nobody.",
		"Rule 5 takes everybody who would get here, so this is never used.", "Outside of the segments on 100%")
	s.Get(flags+"var").Check(200).Contains(
		"This flag is off: everyone gets a, whatever the rules say.", "get a: later rules are not tried.", "Nobody gets b: shares count in tenths of a percent.",
		"Never reached: rule 1 takes everybody who would get here.", "Rule 2 takes everybody who would get here, so the default is for the time when the flag is off.", "Nobody can get c",
		"Outside of the segments a 100%")
	s.Get(flags + "var/variants").Check(200).Contains("nobody gets it")
	// What a draft can never do is known before it is saved.
	press(t, s, s.Get(flags+"bool?edit=1"), "draft", "rule.0.share", "5").Check(200).Lacks("rule 1 takes")
}

// TestLarge: a flag with 100 rules of 100 segments each can be edited.
func TestLarge(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	var yaml strings.Builder
	yaml.WriteString("flags:\n  - key: large\n    name: Large\n    type: BOOLEAN_FLAG_TYPE\n    rollouts:\n")
	var keys []string
	for i := range 100 {
		keys = append(keys, fmt.Sprintf("segment-%d", i))
	}
	for range 100 {
		fmt.Fprintf(&yaml, "      - {segment: {keys: [%s], operator: AND_SEGMENT_OPERATOR, value: true}}\n", strings.Join(keys, ","))
	}
	yaml.WriteString("segments:\n")
	for _, key := range keys {
		fmt.Fprintf(&yaml, "  - {key: %s, name: %s, constraints: [{type: STRING_COMPARISON_TYPE, property: %s, operator: eq, value: b}]}\n", key, key, key)
	}
	putFlag(t, s, yaml.String())
	r := s.Get(flags + "large?edit=100").Check(200)
	r = press(t, s, r, "drop:99:5").Check(200).Contains("1 unsaved change")
	press(t, s, r, "save").Location()
	rollouts := content(t, s, "large")["rollouts"].([]any)
	for i, want := range map[int]int{0: 100, 98: 100, 99: 99} {
		if got := len(rollouts[i].(map[string]any)["segment"].(map[string]any)["segmentKeys"].([]any)); got != want {
			t.Errorf("rule %d has %d segments, want %d", i+1, got, want)
		}
	}
}

// TestTooLarge: a flag with more rules than a form can have is shown, but not edited.
func TestTooLarge(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, "flags:\n  - key: large\n    name: Large\n    type: BOOLEAN_FLAG_TYPE\n    rollouts:\n"+strings.Repeat("      - {threshold: {percentage: 5, value: true}}\n", 250))
	s.Get(flags+"large?edit=3").Check(200).Contains("too many rules to be edited here", "and 50 more rules before everyone else").Lacks("Add rule", "Save")
}

// TestFragment: a request for the region of the flag gets no frame.
func TestFragment(t *testing.T) {
	r := webtest.New(t, webtest.Options{}).Get(flags+"one-click-buy", "Guidon-Fragment", "flag").Check(200).Contains("Who gets it", "12.5%")
	if strings.Contains(r.Body, "<html") {
		t.Errorf("the region has a frame: %s", r.Body)
	}
}

// TestPrefix: below a path prefix, all addresses are below it.
func TestPrefix(t *testing.T) {
	s := webtest.New(t, webtest.Options{Open: true, Page: func(c *page.Config) { c.PublicPath = "/base" }})
	for _, path := range []string{"", "/variants", "/details", "/delete", "/copy", "/turn-off"} {
		for _, address := range s.Get(flags + "checkout-redesign" + path).Check(200).Links() {
			if !strings.HasPrefix(address, "/base/") && !strings.HasPrefix(address, "https://") {
				t.Errorf("%s: leads to %s", path, address)
			}
		}
	}
}

// TestSegmentBox: Enter takes the only segment that a part of a name fits. A rule without a fitting
// segment offers a new one, and the draft comes back with it.
func TestSegmentBox(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	draft := s.Get(flags + "one-click-buy?edit=1").Check(200).Contains("Add condition")
	if r := press(t, s, draft, "draft", "rule.0.add", "NORD").Check(200); !strings.Contains(r.Text(), "Remove Nordics") && !strings.Contains(r.Body, "Remove Nordics") {
		t.Errorf("got %s", r.Text())
	}
	press(t, s, draft, "draft", "rule.0.add", "e").Check(422).Contains("No segment “e”.")

	action, form := formOf(draft)
	form.Set("rule.0.add", "Night owls")
	form.Set("rule.0.note", "kept")
	form.Set("do", "begin")
	address := strings.TrimSuffix(action, "/flags/one-click-buy") + "/new-segment?flag=one-click-buy&rule=0"
	if !strings.Contains(draft.Body, strings.ReplaceAll(address, "&", "&amp;")) {
		t.Fatalf("no button leads to %s", address)
	}
	at, segment := s.Post(address, form).Check(200).Contains("New segment").Form("segment")
	if got := segment.Get("name"); got != "Night owls" || at != address {
		t.Errorf("the new segment is called %q, and sent to %s", got, at)
	}
	segment.Set("do", "create")
	_, segment = s.Post(at, segment).Check(422).Form("segment") // its constraint is empty
	segment.Set("constraint.0.property", "hour")
	segment.Set("constraint.0.text", "3")
	segment.Set("do", "create")
	made := s.Post(at, segment).Check(307)
	back := s.Post(made.Header.Get("Location"), segment).Check(200).Contains("2 unsaved changes")
	_, form = formOf(back)
	if form.Get("rule.0.note") != "kept" || form.Get("rule.0.add") != "" || !strings.Contains(back.Body, "Remove Night owls") {
		t.Errorf("the draft came back with %v", form)
	}
}
