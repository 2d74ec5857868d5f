package flag_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// conditioned is two flags with every condition.
const conditioned = `
version: guidon/1
flags:
  - key: layout
    name: Layout
    type: VARIANT_FLAG_TYPE
    enabled: true
    variants: [{key: classic, default: true}, {key: express}]
    rules:
      - segment: beta
        if:
          - all:
              - {type: VERSION_COMPARISON_TYPE, property: app, operator: gte, value: "2.4"}
              - {type: STRING_COMPARISON_TYPE, property: "coun\ntry", operator: eq, value: SE, not: true}
          - any:
              - {type: DATETIME_COMPARISON_TYPE, property: since, operator: lt, value: "2036-12-01T18:00:00+01:00"}
              - {type: LIST_COMPARISON_TYPE, property: roles, operator: anyof, value: '["admin","owner"]'}
        except: [blocked]
        from: 2036-12-01T09:00:00Z
        until: 2099-12-24T00:00:01Z
        portion: {percentage: 10, start: 30, by: "acc\nount"}
        distributions: [{variant: express, rollout: 100}]
      - if: [{all: [{type: VERSION_COMPARISON_TYPE, property: app, operator: lt, value: "2"}]}]
        code_default: true
      - everyone: true
        split: {by: account, seed: price-test, hash: flipt-fine}
        distributions: [{variant: classic, rollout: 33.333}, {variant: express, rollout: 66.667}]
  - key: sweden
    name: Sweden
    type: BOOLEAN_FLAG_TYPE
    rollouts:
      - segment: {key: beta, value: true}
        except: [blocked]
        portion: {percentage: 10}
      - threshold: {percentage: 12.5, value: true, by: tenant, seed: layer, start: 20}
        until: 2099-12-24T00:00:00Z
segments:
  - {key: beta, name: Beta testers, constraints: [{type: STRING_COMPARISON_TYPE, property: plan, operator: eq, value: beta}]}
  - {key: blocked, name: Blocked, constraints: [{type: BOOLEAN_COMPARISON_TYPE, property: blocked, operator: "true"}]}
`

// TestConditionsInWords: a closed rule says whom it is for, and what it gives.
func TestConditionsInWords(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, conditioned)
	for key, want := range map[string][]string{
		"layout": {
			"In Beta testers if all of 2: app is at least 2.4, not (\"coun\\ntry\" is SE), and any of 2: since is before 2036-12-01T17:00:00Z, " +
				"roles has any of admin, owner, except blocked, 10% of them from 30% by \"acc\\nount\", " +
				"from 1 December 2036 09:00 UTC until 24 December 2099 00:00:01 UTC = express",
			"If app is less than 2 = The default in the code",
			"Everyone = classic 33.333% express 66.667% Divided by account, with the seed price-test, hashed by flipt-fine",
			"Everyone else = classic the default",
		},
		"sweden": {
			"In Beta testers except blocked, 10% of them = On", "12.5% of everyone who gets here from 20% by tenant, with the seed layer, until 24 December 2099 00:00 UTC = On",
			"Everyone else = Off",
		},
	} {
		if diff := cmp.Diff(want, ladder(s.Get(flags+key).Check(200))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
}

// TestConditionsUnchanged: a form keeps every condition as it is stored, whichever rule and constraint is open.
func TestConditionsUnchanged(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, conditioned)
	for key, constraints := range map[string][]string{
		"layout": {"edit:0:rule.0.if.0.", "edit:1:rule.0.if.0.", "edit:0:rule.0.if.1.", "edit:1:rule.0.if.1.", "edit:0:rule.1.if.0."}, "sweden": nil,
	} {
		before := body(t, content(t, s, key))
		for i := range 4 {
			r := s.Get(fmt.Sprint(flags, key, "?edit=", i)).Check(200)
			for _, do := range append([]string{"draft", "look"}, constraints...) {
				r = press(t, s, r, do).Check(200).Lacks("unsaved change")
			}
			if got := press(t, s, r, "save").Location(); !strings.HasSuffix(got, "?saved=none") {
				t.Errorf("%s, rule %d: saving nothing leads to %s", key, i, got)
			}
			press(t, s, r, "review").Check(200).Lacks("unsaved change")
		}
		if after := body(t, content(t, s, key)); after != before {
			t.Errorf("%s changed (-before +after):\n%s", key, cmp.Diff(before, after))
		}
	}
}

// act is a button of a draft, after fields are filled in.
type act struct {
	do     string
	fields []string
}

// TestAddConditions: conditions are added with buttons, and saved as one change.
func TestAddConditions(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, conditioned+"\n  - {key: unused, name: Unused}\n")
	const at = "rule.2.if.0.constraint.0."
	for _, test := range []struct {
		name, key string
		acts      []act
		want      string // of the last rule, in words
	}{
		{"a share of a country", "sweden", []act{
			{"add:if", nil}, {"with:2:portion", []string{at + "property", "country", at + "text", "SE"}}, {"save", []string{"rule.2.portion.share", "20"}},
		}, "If country is SE, 20% of them = On"},
		{"two groups and exceptions of a segment", "sweden", []act{
			{"add:segment", nil}, {"segment:2", []string{"rule.2.add", "beta"}}, {"with:2:if", nil},
			{"compare:0:rule.2.if.0.", []string{at + "type", "1000", at + "operator", "gte", at + "property", "app"}},
			{"add:0:rule.2.if.0.", []string{at + "text", "2.4", "rule.2.if.0.match", "any"}},
			{"with:2:if", []string{"rule.2.if.0.constraint.1.property", "plan", "rule.2.if.0.constraint.1.text", "pro"}},
			{"with:2:except", []string{"rule.2.if.1.constraint.0.property", "country", "rule.2.if.1.constraint.0.text", "SE"}},
			{"segment:2", []string{"rule.2.except-add", "Blocked"}}, {"done:2", nil}, {"edit:2", nil}, {"review", nil}, {"save", nil},
		}, "In Beta testers if any of 2: app is at least 2.4, plan is pro, and country is SE, except blocked = On"},
		{"a portion with all of it", "sweden", []act{
			{"add:everyone", nil}, {"with:2:portion", nil},
			{"save", []string{"rule.2.portion.share", "12.345", "rule.2.portion.by", "account", "rule.2.portion.seed", "layer", "rule.2.portion.start", "30", "rule.2.portion.hash", "flipt-fine"}},
		}, "Everyone 12.345% of them from 30% by account, with the seed layer, hashed by flipt-fine = On"},
		{"a share of everyone by a property", "sweden", []act{{"add:share", nil}, {"save", []string{"rule.2.divide.by", "account"}}}, "10% of everyone who gets here by account = On"},
		{"the default in the code", "layout", []act{{"add:everyone", nil}, {"save", []string{"rule.3.code", "1"}}}, "Everyone = The default in the code"},
		{"a division", "layout", []act{{"add:everyone", nil}, {"save", []string{"rule.3.divide.by", "account", "rule.3.divide.seed", "s"}}}, "Everyone = classic Divided by account, with the seed s"},
		{"from a time", "sweden", []act{
			{"add:everyone", nil}, {"with:2:times", nil}, {"review", []string{"rule.2.times.from", "2099-12-01T09:00"}}, {"save", nil},
		}, "Everyone from 1 December 2099 09:00 UTC = On"},
		{"a share of everyone until a time", "sweden", []act{
			{"add:share", nil}, {"with:2:times", nil}, {"done:2", []string{"rule.2.times.until", "2099-12-01T09:00:30"}}, {"save", nil},
		}, "10% of everyone who gets here until 1 December 2099 09:00:30 UTC = On"},
		{"between two times, as text", "layout", []act{
			{"add:everyone", nil}, {"with:3:times", nil}, {"save", []string{"rule.3.times.from", "2099-12-01 10:00", "rule.3.times.until", "2099-12-24T00:00:00+01:00"}},
		}, "Everyone from 1 December 2099 10:00 UTC until 23 December 2099 23:00 UTC = classic"},
		{"removed again", "sweden", []act{
			{"add:if", nil}, {"with:2:times", nil}, {"without:2:times", []string{"rule.2.times.from", "x"}}, {"with:2:portion", nil}, {"with:2:except", nil}, {"segment:2", []string{"rule.2.except-add", "blocked"}}, {"without:2:portion", nil},
			{"admit:2:0", nil}, {"without:2:except", nil}, {"remove:0:rule.2.if.0.", nil}, {"save", []string{"rule.2.everyone", "1"}},
		}, "Everyone = On"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := content(t, s, test.key)
			r := s.Get(flags + test.key).Check(200)
			for _, a := range test.acts[:len(test.acts)-1] {
				if r = press(t, s, r, a.do, a.fields...).Check(200); a.do != "review" {
					r.Contains("Discard")
				}
			}
			last := test.acts[len(test.acts)-1]
			saved := s.Get(press(t, s, r, last.do, last.fields...).Location()).Check(200)
			rules := ladder(saved)
			if got := rules[len(rules)-2]; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			press(t, s, s.Get(flags+test.key), fmt.Sprint("remove:", len(rules)-2))
			press(t, s, press(t, s, s.Get(flags+test.key), fmt.Sprint("remove:", len(rules)-2)), "save").Location()
			if diff := cmp.Diff(before["rules"], content(t, s, test.key)["rules"]); diff != "" {
				t.Errorf("the other rules changed (-before +after):\n%s", diff)
			}
		})
	}
}

// TestConditionProblems: what is wrong with a condition is said at its field.
func TestConditionProblems(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, conditioned)
	long := strings.Repeat("x", 256)
	for _, test := range []struct {
		name, page, do string
		fields         []string
		field, want    string
	}{
		{"no value", "sweden", "add:if", []string{"rule.2.if.0.constraint.0.property", "country"}, "rule.2.if.0.constraint.0.text", "A value is needed."},
		{"no property", "sweden", "add:if", nil, "rule.2.if.0.constraint.0.property", "A property is needed."},
		{"no version", "layout?edit=1", "edit:0:rule.0.if.0.", []string{"rule.0.if.0.constraint.0.text", "two"}, "rule.0.if.0.constraint.0.text", "Not a version: two."},
		{"no share", "sweden?edit=1", "draft", []string{"rule.0.portion.share", "many"}, "rule-0-portion-share", "A number from 0 to 100."},
		{"beyond the end", "sweden?edit=1", "draft", []string{"rule.0.portion.start", "95"}, "rule-0-portion-start", "Start and share are more than 100% together."},
		{"beyond the end of everyone", "sweden?edit=2", "draft", []string{"rule.1.divide.start", "95"}, "rule-1-divide-start", "Start and share are more than 100% together."},
		{"long seed", "sweden?edit=1", "draft", []string{"rule.0.portion.seed", long}, "rule-0-portion-seed", "255 characters at most, this has 256."},
		{"long property", "layout?edit=3", "draft", []string{"rule.2.divide.by", long}, "rule-2-divide-by", "255 characters at most, this has 256."},
		{"unknown exception", "sweden?edit=1", "draft", []string{"rule.0.except-add", "xyzzy"}, "rule-0-except-add", "No segment “xyzzy”."},
		{"neither start nor end", "sweden?edit=1", "with:0:times", nil, "rule-0-times-from", "A start or an end is needed."},
		{"no time", "sweden?edit=2", "draft", []string{"rule.1.times.from", "soon"}, "rule-1-times-from", "Not a date and time: soon."},
		{"a time that was typed wrong", "layout?edit=1", "draft", []string{"rule.0.times.until", "2026-13-01T00:00"}, "rule-0-times-until", "Not a date and time: 2026-13-01T00:00."},
		{"too early", "sweden?edit=2", "draft", []string{"rule.1.times.from", "0001-01-02T00:00"}, "rule-1-times-from", "The year must be 2000 or later."},
		{"the end before the start", "layout?edit=1", "draft", []string{"rule.0.times.until", "2036-12-01T09:00"}, "rule-0-times-until", "The end must be after the start."},
		{"nobody", "sweden", "add:everyone", []string{"rule.2.everyone", ""}, "rule-2-add", "Add a segment, or remove this rule."},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := s.Get(flags + test.page).Check(200)
			if test.do != "draft" {
				r = press(t, s, r, test.do).Check(200)
			}
			before := body(t, content(t, s, "sweden")) + body(t, content(t, s, "layout"))
			r = press(t, s, r, "save", test.fields...).Check(422).Contains(test.want)
			if want := `id="` + test.field + `-error"`; !strings.Contains(r.Body, want) {
				t.Errorf("the page lacks %s", want)
			}
			if want := `href="#` + test.field + `"`; !strings.Contains(r.Body, want) || !strings.Contains(r.Body, `id="`+test.field+`"`) {
				t.Errorf("the page lacks the field, or %s", want)
			}
			if after := body(t, content(t, s, "sweden")) + body(t, content(t, s, "layout")); after != before {
				t.Error("something was saved")
			}
		})
	}
}

// TestProblemOrder: problems are in the order of their fields, each time.
func TestProblemOrder(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, conditioned)
	page, long := s.Get(flags+"sweden?edit=1").Check(200), strings.Repeat("x", 256)
	for range 30 {
		r := press(t, s, page, "save", "rule.0.portion.by", long, "rule.0.portion.seed", long).Check(422)
		if by, seed := strings.Index(r.Body, `href="#rule-0-portion-by"`), strings.Index(r.Body, `href="#rule-0-portion-seed"`); by < 0 || seed < by {
			t.Fatalf("the problems of by and seed are at %d and %d", by, seed)
		}
	}
}

// TestConditionConflict: a draft with conditions survives a change by another user.
func TestConditionConflict(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, conditioned)
	jonas := s.As(s.SignIn(service.TokenInput{Name: "Jonas"}))
	mine := press(t, s, s.Get(flags+"layout?edit=1"), "edit:0:rule.0.if.0.").Check(200)
	press(t, jonas, jonas.Get(flags+"layout?edit=3"), "save", "rule.2.divide.seed", "another").Location()
	r := press(t, s, mine, "save", "rule.0.if.0.constraint.0.text", "3.1", "rule.0.times.from", "2098-12-01T00:00").Check(409).Contains("Jonas changed this flag while you were editing", "Rule 1: conditions")
	r = press(t, s, r, "continue").Check(200).Contains("app is at least 3.1", "with the seed another")
	press(t, s, r, "save").Location()
	s.Get(flags+"layout").Check(200).Contains("app is at least 3.1", "from 1 December 2098 00:00 UTC", "with the seed another", "The default in the code")
}

// TestConditionDifferences: each edit of a condition is an unsaved change, and the review says which.
func TestConditionDifferences(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, conditioned)
	for _, test := range []struct{ page, field, value, want string }{
		{"layout?edit=1", "rule.0.if.0.match", "any", "Rule 1 conditions"},
		{"layout?edit=1", "rule.0.times.until", "2099-12-25T00:00:01", "Rule 1 end time 24 December 2099 00:00:01 UTC → , now 25 December 2099 00:00:01 UTC"},
		{"layout?edit=1", "rule.0.times.from", "", "Rule 1 start time 1 December 2036 09:00 UTC → , now nothing"},
		{"layout?edit=1", "rule.0.portion.share", "20", "Rule 1 portion 10% from 30%"},
		{"layout?edit=1", "rule.0.except", "", "Rule 1 exceptions blocked → , now none"},
		{"layout?edit=3", "rule.2.divide.seed", "another", "Rule 3 divided by: account"},
		{"layout?edit=3", "rule.2.code", "1", "Rule 3 default in the code no → , now yes"},
		{"sweden?edit=2", "rule.1.times.from", "2036-12-01T09:00", "Rule 2 start time nothing → , now 1 December 2036 09:00 UTC"},
	} {
		r := press(t, s, s.Get(flags+test.page), "draft", test.field, test.value).Check(200).Contains(" unsaved change", "Edited: ")
		press(t, s, r, "review").Check(200).Contains(test.want)
	}
}

// TestLargeConditions: large conditions are shown in short; those that a form can have are edited.
func TestLargeConditions(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	name := strings.Repeat("ü", 255)
	group := func(constraints, values int) string {
		list := strings.TrimSuffix(strings.Repeat(`"value-12345",`, values), ",")
		one := fmt.Sprintf("{type: STRING_COMPARISON_TYPE, property: %s, operator: isoneof, value: '[%s]'},", name, list)
		return "{all: [" + strings.Repeat(one, constraints) + "]}"
	}
	flag := func(key, groups string) string {
		return fmt.Sprintf("  - {key: %s, name: %s, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {value: true}, if: [%s]}]}\n", key, name, groups)
	}
	putFlag(t, s, "version: guidon/1\nflags:\n"+flag("wide", group(50, 1))+flag("deep", group(1, 10_000))+
		flag("many", strings.Repeat(group(50, 1)+",", 20))+flag("huge", strings.Repeat(group(2, 10_000)+",", 10)))
	for key, edited := range map[string]bool{"wide": true, "deep": true, "many": false, "huge": false} {
		r := s.Get(flags + key + "?edit=1").Check(200)
		closed := ladder(s.Get(flags + key).Check(200))[0]
		if len(closed) > 400 || !strings.HasPrefix(closed, "If ") {
			t.Errorf("%s: the closed rule has %d bytes: %.80s", key, len(closed), closed)
		}
		if !edited {
			r.Contains("too many rules to be edited here").Lacks("Add rule")
			continue
		}
		r = press(t, s, r, "edit:0:rule.0.if.0.").Check(200)
		press(t, s, press(t, s, r, "done:0").Check(200), "review").Check(200)
		press(t, s, r, "save", "rule.0.note", "kept").Location()
		if got := s.Get(flags + key).Check(200); !strings.Contains(got.Text(), "kept") {
			t.Errorf("%s was not saved", key)
		}
	}
}

// TestBrokenConditions: conditions in a form that no page has are refused.
func TestBrokenConditions(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, conditioned)
	for name, fields := range map[string]url.Values{
		"no JSON":     {"rule.0.conditions": {"{"}},
		"no type":     {"rule.0.if.0.match": {"all"}, "rule.0.if.0.constraint.0.type": {"x"}, "rule.0.conditions": {""}},
		"unknown act": {"rule.0.conditions": {""}, "do": {"edit:9:rule.0.if.7."}},
	} {
		action, form := s.Get(flags + "layout").Check(200).Form("edit")
		form.Set("do", "draft")
		for field, values := range fields {
			form[field] = values
		}
		want := 400
		if name == "unknown act" {
			want = 200
		}
		if got := s.Post(action, form).Status; got != want {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
	}
}
