package flag_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// ramped is flags with every kind of ramp.
const ramped = `
version: guidon/1
flags:
  - key: search
    name: Search
    type: BOOLEAN_FLAG_TYPE
    rollouts:
      - segment: {value: true}
        everyone: true
        portion: {percentage: 50, by: tenant, ramp: {start: 2026-11-27T12:00:00Z, from: 2.5, over: 90m, paused: 2026-11-27T12:30:00Z, delay: 30m}}
      - threshold:
          percentage: 100
          value: true
          ramp: {start: 2026-11-28T00:00:00Z, over: 72h, confirm: {every: 24h, lapse: BACK, last: 2026-11-28T11:00:00Z}}
      - threshold:
          percentage: 50
          value: false
          ramp: {start: 2026-12-01T09:00:00Z, steps: [{percentage: 5, for: 24h}, {percentage: 25.5, for: 36h}], confirm: {every: 12h}}
  - key: sale
    name: Sale
    type: BOOLEAN_FLAG_TYPE
    rollouts: [{threshold: {percentage: 100, value: true, ramp: {start: 2026-11-28T00:00:00Z, over: 72h}}}]
  - key: theme
    name: Theme
    type: VARIANT_FLAG_TYPE
    enabled: true
    variants: [{key: light, default: true}, {key: dark}]
    rules:
      - everyone: true
        portion: {percentage: 80, ramp: {start: 2026-11-27T00:00:00Z, from: 10, over: 48h, reversed: 2026-11-28T10:00:00Z}}
        distributions: [{variant: dark, rollout: 100}]
`

// ramps returns the ramps of the rules of a flag as the API has them.
func ramps(t *testing.T, s *webtest.Server, key string) (all []string) {
	t.Helper()
	f := content(t, s, key)
	for _, list := range []string{"rollouts", "rules"} {
		rules, _ := f[list].([]any)
		for _, r := range rules {
			rule := r.(map[string]any)
			for _, share := range []string{"portion", "threshold"} {
				if m, ok := rule[share].(map[string]any); ok {
					all = append(all, body(t, m["ramp"]))
				}
			}
		}
	}
	return all
}

// TestRampsUnchanged: a form keeps every ramp as it is stored, whatever else is edited.
func TestRampsUnchanged(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, ramped)
	for key, fields := range map[string][][]string{
		"search": {{"rule.0.portion.share", "55"}, {"rule.1.share", "90"}, {"rule.2.note", "slowly", "rule.2.value", "on"}},
		"theme":  {{"rule.0.share.dark", "60", "rule.0.portion.seed", "layer"}},
	} {
		before := ramps(t, s, key)
		for i := range len(before) {
			r := s.Get(fmt.Sprint(flags, key, "?edit=", i+1)).Check(200)
			r = press(t, s, press(t, s, r, "draft").Check(200), fmt.Sprint("done:", i)).Check(200).Lacks("unsaved change")
			if got := press(t, s, r, "save").Location(); !strings.HasSuffix(got, "?saved=none") {
				t.Errorf("%s, rule %d: saving nothing leads to %s", key, i+1, got)
			}
			r = press(t, s, s.Get(fmt.Sprint(flags, key, "?edit=", i+1)), "draft", fields[i]...).Check(200).Contains("unsaved change")
			press(t, s, press(t, s, r, fmt.Sprint("done:", i)).Check(200), "save").Location()
			if diff := cmp.Diff(before, ramps(t, s, key)); diff != "" {
				t.Errorf("%s: the ramps changed (-before +after):\n%s", key, diff)
			}
		}
	}
}

// noon is when the ramps of ramped are looked at.
var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

func atNoon() time.Time { return noon }

// TestRampsInWords: a closed rule says what its ramp does, with what can be done with it, and the
// rail says what is coming up.
func TestRampsInWords(t *testing.T) {
	s := webtest.New(t, webtest.Options{Now: atNoon})
	putFlag(t, s, ramped)
	s.Get(flags+"search").Check(200).Contains(
		"Everyone 50% of them by tenant, reached over 1h30m from 27 November 2026 12:00 UTC, starting at 2.5%, delayed by 30m, paused on",
		"2.5% now, paused Resume the ramp of Rule 1 Reverse the ramp of Rule 1 Stop here the ramp of Rule 1 Finish the ramp of Rule 1",
		"100% of everyone who gets here reached over 72h from 28 November 2026 00:00 UTC, confirmed every 24h or taken back",
		"16% now, 100% on 1 December 2026 00:00 UTC, if it is confirmed by 29 November 2026 11:00 UTC Confirm the ramp of Rule 2 Pause",
		"0% now, starting on 1 December 2026 09:00 UTC, 50% on 3 December 2026 21:00 UTC, if it is confirmed by 1 December 2026 21:00 UTC Pause the ramp of Rule 3 Stop here",
		"For nobody now: its share is 0%.", "Coming up 28 November 2026 12:15 UTC Rule 2 is for 17%", "and 29 more",
	).Lacks("In effect", "Never reached")
	s.Get(flags + "theme").Check(200).Contains("56.2% now, back to 10% on 29 November 2026 20:00 UTC Stop here the ramp of Rule 1 Finish").Lacks("Reverse the")
	s.Get(flags+"search?edit=2").Check(200).Contains("28 November 2026 00:00 UTC: 0% 28 November 2026 18:00 UTC: 25%", "1 December 2026 00:00 UTC: 100%",
		"Unless somebody confirms it by 29 November 2026 11:00 UTC, it goes back to 0%.")
	s.Get(flags + "search?edit=1").Check(200).Contains("go back to the first one 2.5% now, paused More")
	viewer := s.As(s.SignIn(service.TokenInput{Name: "Vera", Role: service.RoleViewer}))
	viewer.Get(flags+"search").Check(200).Contains("2.5% now, paused").Lacks("Resume", "Finish")
	viewer.Get(flags + "search/ramp?rule=1&action=Resume").Check(403)
	s.Get("/namespaces/default/flags?q=key:theme").Check(200).Contains("Theme", "light 43.8%", "dark 56.2%")
	s.Get("/namespaces/default/flags?q=key:sale").Check(200).Contains("Partly on", "16%").Lacks("100%")
	s.Post("/namespaces/default/playground", url.Values{"flag": {"search"}, "entity": {"u-1"}, "do": {"ask"}, "k": {"tenant"}, "v": {"t-1"}}).Check(200).
		Contains("Only 2.5% of them", "16% of everyone", "0% of everyone").Lacks("100% of everyone", "50% of everyone")
}

// TestRampActs: each act asks with its effect, and is one change.
func TestRampActs(t *testing.T) {
	for _, test := range []struct{ act, rule, question, effect, want string }{
		{"Resume", "1", "Resume the ramp of rule 1? The share goes on from where it is, later by the pause.", "From 28 November 2026 12:01 UTC:", "2.5% now, 50% on"},
		{"Pause", "2", "Pause the ramp of rule 2?", "From 28 November 2026 18:00 UTC: 9% of the others go from on to off.", "16% now, paused"},
		{"Reverse", "2", "Reverse the ramp of rule 2? The share goes back", "", "16% now, back to 0% on 29 November 2026 00:00 UTC"},
		{"Confirm", "2", "Confirm the ramp of rule 2?", "", "if it is confirmed by 29 November 2026 12:00 UTC"},
		{"Stop", "2", "Stop the ramp of rule 2?", "", "16% of everyone who gets here On"},
		{"Finish", "2", "Finish the ramp of rule 2?", "Everyone gets On.", "100% of everyone who gets here On"},
	} {
		t.Run(test.act, func(t *testing.T) {
			s := webtest.New(t, webtest.Options{Now: atNoon})
			putFlag(t, s, ramped)
			ask := s.Get(flags+"search/ramp?action="+test.act+"&rule="+test.rule).Check(200).Contains(test.question, test.effect)
			to := press(t, s, ask, test.act, "message", "as planned").Location()
			s.Get(to).Check(200).Contains(test.want)
			s.Get("/namespaces/default/changes").Check(200).Contains("as planned")
		})
	}
}

// TestRampActRefused: an act that does not fit, or that a later change overtook, changes nothing.
func TestRampActRefused(t *testing.T) {
	s := webtest.New(t, webtest.Options{Now: atNoon})
	putFlag(t, s, ramped)
	jonas := s.As(s.SignIn(service.TokenInput{Name: "Jonas"}))
	before := ramps(t, s, "search")
	late := s.Get(flags + "search/ramp?action=Pause&rule=2").Check(200)
	paused := s.Get(flags + "search/ramp?action=Pause&rule=1").Check(200).Contains("The ramp is not running.")
	press(t, s, paused, "Pause").Check(409).Contains("The ramp is not running.")
	press(t, jonas, jonas.Get(flags+"search?edit=3"), "save", "rule.2.note", "mine").Location()
	press(t, s, late, "Pause").Check(409).Contains("Jonas changed this flag in the meantime.", "Pause the ramp of rule 2?")
	for _, query := range []string{"", "?action=Pause&rule=0", "?action=Fly&rule=1", "?action=Pause&rule=x"} {
		s.Get(flags + "search/ramp" + query).Check(400)
	}
	if diff := cmp.Diff(before, ramps(t, s, "search")); diff != "" {
		t.Errorf("the ramps changed (-before +after):\n%s", diff)
	}
	s.Get(flags + "theme/ramp?action=Pause&rule=2").Check(200).Contains("has no ramp.")
	if _, _, err := s.Service.UpdateNamespace(t.Context(), service.Write{}, service.NamespaceInput{Key: "default", Name: "Default", ConfirmChanges: new(true)}); err != nil {
		t.Fatal(err)
	}
	late = s.Get(flags + "search/ramp?action=Pause&rule=2").Check(200)
	press(t, s, late, "Pause", "namespace", "other").Check(422).Contains("Type the key of the namespace: default.")
	press(t, s, late, "Pause", "namespace", "default").Location()
}

// TestAddRamps: ramps are added, changed and removed with buttons, without scripts.
func TestAddRamps(t *testing.T) {
	for _, test := range []struct {
		name, key string
		acts      []act
		want      string
	}{
		{"over three days", "search", []act{{"add:share", nil}, {"with:3:ramp", []string{"rule.3.share", "100"}}, {"save", nil}},
			`{"initial":0,"over":"259200s","start":"2026-11-28T12:01:00Z","steps":[]}`},
		{"of a portion, confirmed", "theme", []act{
			{"add:everyone", nil}, {"with:1:portion", nil}, {"with:1:ramp", nil},
			{"done:1", []string{
				"rule.1.ramp.over", "36", "rule.1.ramp.over.unit", "hours", "rule.1.ramp.from", "5", "rule.1.ramp.start", "2026-12-01 09:00",
				"rule.1.ramp.every", "90", "rule.1.ramp.every.unit", "minutes", "rule.1.ramp.lapse", "back",
			}}, {"save", nil},
		}, `{"confirm":{"every":"5400s","lapse":"BACK_RAMP_LAPSE"},"initial":5,"over":"129600s","start":"2026-12-01T09:00:00Z","steps":[]}`},
		{"in steps", "search", []act{
			{"add:share", nil}, {"with:3:ramp", nil}, {"with:3:step", nil}, {"with:3:step", []string{"rule.3.ramp.step.0.share", "5"}},
			{"with:3:step", []string{"rule.3.ramp.step.1.share", "6", "rule.3.ramp.step.1.for.unit", "hours"}}, {"unstep:3:0", []string{"rule.3.ramp.step.2.share", "7"}}, {"save", nil},
		}, `{"initial":0,"start":"2026-11-28T12:01:00Z","steps":[{"duration":"3600s","percentage":6},{"duration":"3600s","percentage":7}]}`},
		{"another start begins it anew", "search", []act{{"edit:0", nil}, {"save", []string{"rule.0.ramp.start", "2026-11-29T12:00"}}},
			`{"initial":2.5,"over":"5400s","start":"2026-11-29T12:00:00Z","steps":[]}`},
		{"removed", "search", []act{{"edit:1", nil}, {"without:1:ramp", nil}, {"save", nil}}, "null"},
		{"removed with its portion", "theme", []act{{"edit:0", nil}, {"without:0:portion", nil}, {"with:0:portion", nil}, {"save", nil}}, "null"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := webtest.New(t, webtest.Options{Now: atNoon})
			putFlag(t, s, ramped)
			before := ramps(t, s, test.key)
			r := s.Get(flags + test.key).Check(200)
			for _, a := range test.acts[:len(test.acts)-1] {
				r = press(t, s, r, a.do, a.fields...).Check(200)
			}
			last := test.acts[len(test.acts)-1]
			press(t, s, r, last.do, last.fields...).Location()
			changed := slices.DeleteFunc(ramps(t, s, test.key), func(r string) bool { return slices.Contains(before, r) })
			if diff := cmp.Diff([]string{test.want}, changed); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestRampProblems: what is wrong with a ramp is said at its field.
func TestRampProblems(t *testing.T) {
	s := webtest.New(t, webtest.Options{Now: atNoon})
	putFlag(t, s, ramped)
	for _, test := range []struct{ name, rule, field, value, want string }{
		{"no length", "1", "over", "", "A whole number, for 1 minute to 366 days."},
		{"half a day", "2", "over", "0.5", "A whole number, for 1 minute to 366 days."},
		{"too long", "2", "over", "367", "A whole number, for 1 minute to 366 days."},
		{"as long as numbers go", "2", "over", "213504", "A whole number, for 1 minute to 366 days."},
		{"beyond numbers", "2", "over", "99999999999", "A whole number, for 1 minute to 366 days."},
		{"no percentage", "1", "from", "x", "A number from 0 to 100."},
		{"no start", "2", "start", "", "A start is needed."},
		{"no time", "2", "start", "soon", "Not a date and time: soon."},
		{"too early", "2", "start", "1999-01-01T00:00", "The year must be 2000 or later."},
		{"a second", "2", "start", "2026-12-01T09:30:01", "A whole minute, such as 09:30."},
		{"no confirmation", "2", "every", "-1", "A whole number, for 1 minute to 366 days."},
		{"a step without a percentage", "3", "step.1.share", "", "A number from 0 to 100."},
		{"an endless step", "3", "step.0.for", "0", "A whole number, for 1 minute to 366 days."},
		{"long steps", "3", "step.0.for", "366", "The steps take 366 days at most together."},
	} {
		t.Run(test.name, func(t *testing.T) {
			index := string(test.rule[0] - 1)
			r := press(t, s, s.Get(flags+"search?edit="+test.rule), "save", "rule."+index+".ramp."+test.field, test.value).Check(422).Contains(test.want)
			id := "rule-" + index + "-ramp-" + strings.ReplaceAll(test.field, ".", "-")
			if !strings.Contains(r.Body, `id="`+id+`-error"`) || !strings.Contains(r.Body, `href="#`+id+`"`) || !strings.Contains(r.Body, `id="`+id+`"`) {
				t.Errorf("the page does not say it at %s", id)
			}
		})
	}
}

// TestRampConflict: a draft with a ramp survives a change by another user.
func TestRampConflict(t *testing.T) {
	s := webtest.New(t, webtest.Options{Now: atNoon})
	putFlag(t, s, ramped)
	jonas := s.As(s.SignIn(service.TokenInput{Name: "Jonas"}))
	mine := s.Get(flags + "search?edit=2").Check(200)
	press(t, jonas, jonas.Get(flags+"search/ramp?action=Resume&rule=1"), "Resume").Location()
	r := press(t, s, mine, "save", "rule.1.ramp.over", "6").Check(409).Contains("Jonas changed this flag while you were editing")
	r = press(t, s, r, "continue").Check(200).Contains("reached over 144h")
	press(t, s, r, "review").Check(200).Contains("reached over 144h")
	press(t, s, r, "save").Location()
	s.Get(flags+"search").Check(200).Contains("reached over 144h", "2.5% now, 50% on")
}
