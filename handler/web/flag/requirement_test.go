package flag_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// requiring is flags that require others, themselves and in rules.
const requiring = `
version: guidon/1
flags:
  - {key: new-api, name: New API, type: BOOLEAN_FLAG_TYPE, enabled: true}
  - key: price
    name: Price test
    type: VARIANT_FLAG_TYPE
    enabled: true
    variants: [{key: a, default: true}, {key: b}, {key: c}]
    rules: [{segment: beta, distributions: [{variant: b, rollout: 100}]}]
  - key: invoices
    name: Invoices
    type: BOOLEAN_FLAG_TYPE
    requires: [{flag: new-api}, {flag: price, is: [c, b]}]
    rollouts:
      - segment: {value: true}
        everyone: true
        requires: [{flag: price, is: [b]}, {flag: new-api, is: ["false", "true"]}]
        portion: {percentage: 50, ramp: {start: 2026-11-28T00:00:00Z, over: 72h}}
      - threshold: {percentage: 10, value: true}
  - key: checkout
    name: Checkout
    type: VARIANT_FLAG_TYPE
    enabled: true
    requires: [{flag: price, is: [a]}]
    variants: [{key: classic, default: true}, {key: express}]
    rules:
      - segment: beta
        requires: [{flag: new-api}]
        distributions: [{variant: express, rollout: 100}]
      - everyone: true
        distributions: [{variant: express, rollout: 50}]
segments:
  - {key: beta, name: Beta testers, constraints: [{type: STRING_COMPARISON_TYPE, property: plan, operator: eq, value: beta}]}
`

// requirements returns the required flags of a flag and of its rules, as the API has them.
func requirements(t *testing.T, s *webtest.Server, key string) (all []string) {
	t.Helper()
	f := content(t, s, key)
	all = append(all, body(t, f["requires"]))
	for _, list := range []string{"rollouts", "rules"} {
		rules, _ := f[list].([]any)
		for _, r := range rules {
			all = append(all, body(t, r.(map[string]any)["requires"]))
		}
	}
	return all
}

// TestRequirementsUnchanged: no form of a flag changes the required flags, whatever else is edited.
func TestRequirementsUnchanged(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, requiring)
	for key, edits := range map[string][]struct {
		page   string
		fields []string
	}{
		"invoices": {
			{"?edit=1", []string{"rule.0.portion.share", "60"}}, {"?edit=1", []string{"rule.0.note", "slowly", "rule.0.value", "off"}},
			{"?edit=2", []string{"rule.1.share", "20"}}, {"?edit=else", []string{"else", "on"}}, {"/details", []string{"name", "Bills"}},
		},
		"checkout": {
			{"?edit=1", []string{"rule.0.share.express", "60"}}, {"?edit=2", []string{"rule.1.code", "1"}}, {"?edit=else", []string{"else", "express"}},
			{"/details", []string{"enabled", "off"}}, {"/details", []string{"enabled", "on"}}, {"/variants?edit=2", []string{"variant.1.key", "fast"}},
		},
	} {
		before := body(t, content(t, s, key))
		want := requirements(t, s, key)
		for i := range 4 {
			r := s.Get(fmt.Sprint(flags, key, "?edit=", i)).Check(200)
			r = press(t, s, press(t, s, r, "draft").Check(200), fmt.Sprint("done:", i-1)).Check(200).Lacks("unsaved change")
			press(t, s, r, "review").Check(200)
			if got := press(t, s, r, "save").Location(); !strings.HasSuffix(got, "?saved=none") {
				t.Errorf("%s, rule %d: saving nothing leads to %s", key, i, got)
			}
		}
		if after := body(t, content(t, s, key)); after != before {
			t.Errorf("%s changed (-before +after):\n%s", key, cmp.Diff(before, after))
		}
		for _, e := range edits {
			r := press(t, s, s.Get(flags+key+e.page).Check(200), "draft", e.fields...).Check(200)
			press(t, s, press(t, s, r, "review").Check(200), "save").Location()
			if diff := cmp.Diff(want, requirements(t, s, key)); diff != "" {
				t.Errorf("%s%s, %q (-before +after):\n%s", key, e.page, e.fields, diff)
			}
		}
		for _, verb := range []string{"turn-off", "turn-on"} {
			press(t, s, s.Get(flags+key+"/turn-off").Check(200), verb).Location()
		}
		if key == "checkout" { // a boolean flag that is turned off has no rules until it is turned on
			press(t, s, s.Get(flags+key+"/copy").Check(200), "copy", "key", "twin").Location()
		}
		for _, k := range []string{key, map[string]string{"checkout": "twin"}[key]} {
			if k != "" {
				if diff := cmp.Diff(want, requirements(t, s, k)); diff != "" {
					t.Errorf("%s after a switch or as a copy (-before +after):\n%s", k, diff)
				}
			}
		}
	}
}

// TestRequirementConflict: a draft keeps required flags when another user changes the flag.
func TestRequirementConflict(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, requiring)
	jonas := s.As(s.SignIn(service.TokenInput{Name: "Jonas"}))
	for _, mine := range [][]string{{"rule.0.portion.share", "60"}, {"rule.0.portion.share", "70"}} {
		want := requirements(t, s, "invoices")
		r := s.Get(flags + "invoices?edit=1").Check(200)
		press(t, jonas, jonas.Get(flags+"invoices?edit=2"), "save", "rule.1.share", mine[1]).Location()
		r = press(t, s, r, "save", mine...).Check(409)
		press(t, s, press(t, s, r, "continue").Check(200), "save").Location()
		if diff := cmp.Diff(want, requirements(t, s, "invoices")); diff != "" {
			t.Errorf("the required flags changed (-before +after):\n%s", diff)
		}
	}
}

// TestRequirementsInWords: the page says what the flag and each of its rules need, to viewers too.
func TestRequirementsInWords(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, requiring)
	viewer := s.As(s.SignIn(service.TokenInput{Name: "Vera", Role: service.RoleViewer}))
	for key, want := range map[string][]string{
		"invoices": {
			"This flag needs new-api to be on and price to be c or b = otherwise it is off",
			"Everyone 50% of them, reached over 72h from 28 November 2026 00:00 UTC needs price to be b and new-api to be off or on = On",
			"10% of everyone who gets here = On", "Everyone else = Off",
		},
		"checkout": {
			"This flag needs price to be a = otherwise it is off",
			"In Beta testers needs new-api to be on = express", "Everyone = express 50% classic 50%", "Everyone else = classic the default",
		},
	} {
		for _, visitor := range []*webtest.Server{s, viewer} {
			r := visitor.Get(flags + key).Check(200)
			if diff := cmp.Diff(want, ladder(r)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", key, diff)
			}
			if diff := cmp.Diff(want, ladder(visitor.Get(flags+key+"?at=3").Check(200))); diff != "" {
				t.Errorf("%s at revision 3 (-want +got):\n%s", key, diff)
			}
			if want := `href="` + flags + `price"`; !strings.Contains(r.Body, want) {
				t.Errorf("%s lacks %s", key, want)
			}
		}
	}
}

// TestAddRequirements: required flags are added, changed and removed with buttons, and saved as one change.
func TestAddRequirements(t *testing.T) {
	for _, test := range []struct {
		name, key string
		acts      []act
		want      []string // of the flag and of its rules
	}{
		{"of a rule", "price", []act{
			{"add:everyone", nil}, {"with:0:needs", nil}, {"need:0", []string{"rule.0.requires-add", "New API"}}, {"save", nil},
		}, []string{"null", `[{"answers":[],"flagKey":"new-api"}]`}},
		{"of a rule, off", "price", []act{
			{"add:everyone", nil}, {"with:0:needs", nil}, {"draft", []string{"rule.0.requires-add", "api"}},
			{"done:0", []string{"rule.0.requires.0.is", "false"}}, {"edit:0", nil}, {"review", nil}, {"save", nil},
		}, []string{"null", `[{"answers":["false"],"flagKey":"new-api"}]`}},
		{"of the flag", "new-api", []act{
			{"needs:edit", nil}, {"need:flag", []string{"requires-add", "Price test"}}, {"needs:done", []string{"requires.0.is", "b"}}, {"review", nil}, {"save", nil},
		}, []string{`[{"answers":["b"],"flagKey":"price"}]`}},
		{"another of the flag, typed and saved", "layout", []act{{"needs:edit", nil}, {"save", []string{"requires-add", "new-api"}}}, []string{
			`[{"answers":["on"],"flagKey":"theme"},{"answers":[],"flagKey":"new-api"}]`, `[{"answers":[],"flagKey":"new-api"}]`,
		}},
		{"other answers", "layout", []act{{"needs:edit", nil}, {"edit:0", []string{"requires.0.is", "true"}}, {"save", []string{"rule.0.requires.0.is", "false"}}}, []string{
			`[{"answers":[],"flagKey":"theme"}]`, `[{"answers":["false"],"flagKey":"new-api"}]`,
		}},
		{"removed", "layout", []act{{"needs:edit", nil}, {"unneed:flag:0", nil}, {"edit:0", nil}, {"unneed:0:0", nil}, {"needs:done", nil}, {"save", nil}}, []string{"null", "null"}},
		{"removed with the box", "layout", []act{{"edit:0", nil}, {"without:0:needs", []string{"rule.0.requires-add", "x"}}, {"save", nil}}, []string{
			`[{"answers":["on"],"flagKey":"theme"}]`, "null",
		}},
		{"not twice", "layout", []act{{"edit:0", nil}, {"need:0", []string{"rule.0.requires-add", "new-api"}}, {"save", nil}}, []string{
			`[{"answers":["on"],"flagKey":"theme"}]`, `[{"answers":[],"flagKey":"new-api"}]`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := webtest.New(t, webtest.Options{})
			putFlag(t, s, named)
			r := s.Get(flags + test.key).Check(200)
			for _, a := range test.acts[:len(test.acts)-1] {
				r = press(t, s, r, a.do, a.fields...).Check(200)
			}
			last := test.acts[len(test.acts)-1]
			press(t, s, r, last.do, last.fields...).Location()
			got := requirements(t, s, test.key)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("required flags (-want +got):\n%s", diff)
			}
		})
	}
}

// named is a flag that requires one with variants that are named like the answers of boolean flags.
const named = `
version: guidon/1
flags:
  - {key: new-api, name: New API, type: BOOLEAN_FLAG_TYPE, enabled: true}
  - {key: price, name: Price test, type: VARIANT_FLAG_TYPE, enabled: true, variants: [{key: a, default: true}, {key: b}]}
  - {key: has, name: Has, type: BOOLEAN_FLAG_TYPE}
  - {key: theme, name: Theme, type: VARIANT_FLAG_TYPE, enabled: true, variants: [{key: "true"}, {key: "on"}]}
  - key: layout
    name: Layout
    type: BOOLEAN_FLAG_TYPE
    requires: [{flag: theme, is: ["on"]}]
    rollouts:
      - segment: {value: true}
        everyone: true
        requires: [{flag: new-api}]
`

// TestRequirementProblems: what is wrong with required flags is said at their fields, also if only the service knows it.
func TestRequirementProblems(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, named)
	var many []string
	for i := range 11 {
		at := fmt.Sprintf("requires.%d.", i)
		many = append(many, at+"flag", "price", at+"is", "a")
	}
	for _, test := range []struct {
		name, page  string
		acts        []act
		field, want string
	}{
		{"no answer", "layout", []act{{"needs:edit", nil}, {"need:flag", []string{"requires-add", "price"}}, {"save", nil}}, "requires-1", "Choose what price must be."},
		{"no answer of a rule", "layout?edit=1", []act{{"need:0", []string{"rule.0.requires-add", "price"}}, {"done:0", nil}, {"save", nil}}, "rule-0-requires-1", "Choose what price must be."},
		{"unknown", "layout?edit=1", []act{{"save", []string{"rule.0.requires-add", "new-apo"}}}, "rule-0-requires-add", "No flag “new-apo”. New API (new-api)?"},
		{"unknown to the flag", "layout", []act{{"needs:edit", nil}, {"save", []string{"requires-add", "xyzzy"}}}, "requires-add", "No flag “xyzzy”."},
		{"itself", "layout?edit=1", []act{{"save", []string{"rule.0.requires-add", "layout"}}}, "rule-0-requires-1", `Flag "layout" requires itself: layout → layout. Nothing was saved.`},
		{"a cycle", "new-api", []act{{"needs:edit", nil}, {"save", []string{"requires-add", "layout"}}}, "requires-0", `requires itself: `},
		{"a flag that is gone", "layout?edit=1", []act{{"save", []string{"rule.0.requires.0.flag", "gone"}}}, "rule-0-requires-0", `Flag "default/gone" not found, which flag "layout" requires. Nothing was saved.`},
		{"a variant that is gone", "layout", []act{{"needs:edit", nil}, {"save", []string{"requires.0.is", "dark"}}}, "requires-0", `Flag "theme" has no variant "dark". Nothing was saved.`},
		{"a word of the problem", "layout", []act{{"needs:edit", nil}, {"save", []string{
			"requires.0.flag", "has", "requires.0.is", "true", "requires.1.flag", "theme", "requires.1.is", "dark",
		}}}, "requires-1", `Flag "theme" has no variant "dark". Nothing was saved.`},
		{"too many", "new-api", []act{{"needs:edit", nil}, {"save", many}}, "requires-add", "10 flags at most, these are 11."},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := body(t, content(t, s, "layout")) + body(t, content(t, s, "new-api"))
			r := s.Get(flags + test.page).Check(200)
			for _, a := range test.acts {
				r = press(t, s, r, a.do, a.fields...)
			}
			r.Check(422).Contains(test.want)
			for _, want := range []string{`id="` + test.field + `-error"`, `href="#` + test.field + `"`, `id="` + test.field + `"`} {
				if !strings.Contains(r.Body, want) {
					t.Errorf("the page lacks %s", want)
				}
			}
			if after := body(t, content(t, s, "layout")) + body(t, content(t, s, "new-api")); after != before {
				t.Error("something was saved")
			}
		})
	}
}

// TestRequireUnreadable: a flag that this release cannot read is a problem at the box it was typed into.
func TestRequireUnreadable(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, named)
	const newer = `UPDATE flags SET body = REPLACE(body, 'BOOLEAN_FLAG_TYPE', 'NEWER_FLAG_TYPE') WHERE flag_key = 'has'`
	if _, err := s.DB.SQL().ExecContext(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	s = webtest.New(t, webtest.Options{DB: s.DB})
	r := press(t, s, s.Get(flags+"layout").Check(200), "needs:edit").Check(200)
	r = press(t, s, r, "need:flag", "requires-add", "has").Check(422).Contains("This release cannot read flag “has”.")
	if want := `id="requires-add-error"`; !strings.Contains(r.Body, want) {
		t.Errorf("the page lacks %s", want)
	}
}

// TestRequirementsDiffer: what the flag itself requires is a change that is not saved, and in the review.
func TestRequirementsDiffer(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, named)
	r := press(t, s, s.Get(flags+"price").Check(200), "needs:edit").Check(200)
	r = press(t, s, r, "need:flag", "requires-add", "has").Check(200).Contains("1 unsaved change")
	press(t, s, r, "review").Check(200).Contains("Required flags nothing → , now has is true")
}

// TestUnchosenAnswer: a draft does not say that a variant flag must be true while its answer is to be chosen.
func TestUnchosenAnswer(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, named)
	r := press(t, s, s.Get(flags+"layout?edit=1").Check(200), "need:0", "rule.0.requires-add", "price").Check(200)
	r.Contains("Edited: required flags new-api is true → new-api is true and price is ?", "1 unsaved change")
	r = press(t, s, s.Get(flags+"layout").Check(200), "needs:edit").Check(200)
	press(t, s, r, "need:flag", "requires-add", "price").Check(200).Contains("1 unsaved change")
}

// TestRequirementEffects: pages of a flag say what others do to it, and what it does to others.
func TestRequirementEffects(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, requiring)
	s.Get(flags + "invoices").Check(200).Contains("Invoices Partly on").Lacks("Outside of the segments")
	press(t, s, s.Get(flags+"new-api/turn-off").Check(200), "turn-off").Location()
	s.Get(flags+"invoices").Check(200).Contains("Invoices Off", "Not reached now: flag new-api gives nobody the answer that this needs.")
	s.Get(flags + "checkout").Check(200).Contains("Not reached now: flag new-api gives")
	s.Get(flags+"new-api/turn-off").Check(200).Contains("Flag checkout, which depends on it: ", "Flag invoices, which depends on it: ")
	press(t, s, s.Get(flags+"new-api/delete").Check(200), "delete", "key", "new-api").Check(422).Contains("Flag \"default/new-api\" is required by flag \"invoices\".", "Nothing was saved.")
	r := press(t, s, s.Get(flags+"price/variants").Check(200), "remove:1").Check(200)
	press(t, s, r, "save").Check(422).Contains("Variant \"b\" is required by flag \"invoices\". Nothing was saved.")
}

// TestSwitchUnmet: a flag that others keep off is turned off and on all the same.
func TestSwitchUnmet(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, strings.NewReplacer("price, is: [a]", "price, is: [c]", "price, is: [c, b]", "price, is: [c]").Replace(requiring))
	for key, name := range map[string]string{"checkout": "Checkout", "invoices": "Invoices"} {
		for _, tab := range []string{"", "/details", "/history"} {
			s.Get(flags+key+tab).Check(200).Contains(name+" Off", "Turn off").Lacks("Turn on")
		}
		s.Get("/search?q=" + key).Check(200).Contains("Turn off " + name).Lacks("Turn on")
		s.Get("/namespaces/default/flags?q="+key).Check(200).Contains(name+" "+key+" Off", "Turn off")
		question := s.Get(flags+key+"/turn-off").Check(200).Contains("Turn off “"+name+"” for everyone?", "Nobody gets anything else.")
		press(t, s, question, "turn-off").Location()
		s.Get(flags + key + "/details").Check(200).Contains(name + " Off").Lacks("Turn off")
		question = s.Get(flags + key + "/turn-off").Check(200).Contains("Turn on “" + name + "”?").Lacks("for everyone?")
		press(t, s, question, "turn-on").Location()
	}
}

// TestTooManyAnswers: what the service alone refuses about a required flag is said there.
func TestTooManyAnswers(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, named)
	for at, id := range map[string]string{"": "requires-0", "rule.0.": "rule-0-requires-0"} {
		_, form := s.Get(flags + "layout?edit=1").Check(200).Form("edit")
		for i := range 51 {
			form.Add(at+"requires.0.is", fmt.Sprint("v", i))
		}
		form.Set("do", "save")
		r := s.Post(flags+"layout", form).Check(422).Contains("must not contain more than 50 answers")
		if want := `id="` + id + `-error"`; !strings.Contains(r.Body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// TestRequiredBy: a flag has links to the flags that require it, at most ten, also as it was.
func TestRequiredBy(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, requiring)
	r := s.Get(flags + "new-api").Check(200).Contains("Required by 2 Checkout 1 rule Invoices")
	for _, want := range []string{`href="` + flags + `checkout"`, `href="` + flags + `invoices"`} {
		if !strings.Contains(r.Body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	s.Get(flags + "checkout").Check(200).Lacks("Required by")
	var many strings.Builder
	for i := range 11 {
		fmt.Fprintf(&many, "  - {key: f%02d, name: F%02d, type: BOOLEAN_FLAG_TYPE, requires: [{flag: new-api}]}\n", i, i)
	}
	putFlag(t, s, strings.Replace(requiring, "segments:\n", many.String()+"segments:\n", 1))
	s.Get(flags+"new-api").Check(200).Contains("Required by 13 Checkout 1 rule F00", "F08 and 3 more").Lacks("F09")
	s.Get(flags + "new-api?at=3").Check(200).Contains("Required by 2 Checkout 1 rule Invoices")
}
