package review_test

import (
	"testing"

	"github.com/guidonhq/guidon/handler/web/webtest"
)

// TestMergeNow: a draft takes in what somebody else has saved meanwhile, and goes on over that.
// Nothing is saved before the visitor says so.
func TestMergeNow(t *testing.T) {
	for _, test := range []struct {
		name, path, id, content string
		theirs, mine            []string // the button that opens the fields, and what is entered
		shown, saved            []string
	}{
		{
			name: "rules", path: flags + "one-click-buy", id: "edit", content: "flags/one-click-buy",
			theirs: []string{"edit:0", "rule.0.note", "theirs"}, mine: []string{"edit:2", "rule.2.share", "25"},
			shown: []string{"what Jonas changed", "1 unsaved change", "theirs", "Edited: share 12.5% → 25%"}, saved: []string{"theirs", `"percentage":25`},
		}, {
			name: "details", path: flags + "checkout-redesign/details", id: "edit", content: "flags/checkout-redesign",
			theirs: []string{"draft", "description", "Theirs"}, mine: []string{"draft", "name", "Mine"},
			shown: []string{"what Jonas changed", "1 unsaved change", "Theirs"}, saved: []string{`"name":"Mine"`, `"description":"Theirs"`},
		}, {
			name: "variants", path: flags + "checkout-redesign/variants", id: "edit", content: "flags/checkout-redesign",
			theirs: []string{"edit:1", "variant.1.name", "Theirs"}, mine: []string{"edit:0", "variant.0.name", "Mine"},
			shown: []string{"what Jonas changed", "1 unsaved change", "Theirs"}, saved: []string{`"name":"Mine"`, `"name":"Theirs"`},
		}, {
			name: "constraints", path: segments + "risky-orders", id: "segment", content: "segments/risky-orders",
			theirs: []string{"name", "name", "Theirs"}, mine: []string{"edit:0", "constraint.0.text", "0.9"},
			shown: []string{"what Jonas changed", "1 unsaved change", "Theirs"}, saved: []string{`"name":"Theirs"`, `"value":"0.9"`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, jonas := visitors(t)
			open := func(s *webtest.Server, what []string) *webtest.Reply {
				return press(t, s, s.Get(test.path).Check(200), test.id, what[0]).Check(200)
			}
			mine := open(s, test.mine)
			press(t, jonas, open(jonas, test.theirs), test.id, "save", test.theirs[1:]...).Location()
			theirs := content(t, s, test.content)

			r := press(t, s, mine, test.id, "draft", test.mine[1:]...).Check(200).Contains("Jonas changed this", "See it", "Merge now")
			r = press(t, s, r, test.id, "merge").Check(200).Contains(test.shown...).Contains("You now edit over revision 3. Nothing is saved yet.").Lacks("Merge now")
			if _, form := r.Form(test.id); form.Get("revision") != "3" || form.Get(test.mine[1]) != test.mine[2] {
				t.Errorf("the draft has %s at revision %s, want the open field with %s at 3", form.Get(test.mine[1]), form.Get("revision"), test.mine[2])
			}
			if got := content(t, s, test.content); got != theirs {
				t.Errorf("merging saved %s", got)
			}
			press(t, s, r, test.id, "save").Location()
			has(t, content(t, s, test.content), test.saved...)
		})
	}
}

// TestMergeConflict: what both have changed is asked, and so is everything else that merging
// alone cannot decide.
func TestMergeConflict(t *testing.T) {
	t.Run("flag", func(t *testing.T) {
		s, jonas := visitors(t)
		mine := s.Get(flags + "one-click-buy?edit=3")
		press(t, jonas, jonas.Get(flags+"one-click-buy?edit=3"), "edit", "save", "rule.2.share", "20").Location()
		r := press(t, s, mine, "edit", "merge", "rule.2.share", "25").Check(409).Contains("Both of you changed this", "20%", "25%")
		r = press(t, s, r, "edit", "continue").Check(200).Contains("1 unsaved change", "You now edit over revision 3").Lacks("now includes")
		press(t, s, r, "edit", "save").Location()
		has(t, content(t, s, "flags/one-click-buy"), `"percentage":25`)
	})
	t.Run("segment", func(t *testing.T) {
		s, jonas := visitors(t)
		mine := s.Get(segments + "risky-orders?edit=1")
		press(t, jonas, jonas.Get(segments+"risky-orders?edit=1"), "segment", "save", "constraint.0.text", "0.8").Location()
		press(t, s, mine, "segment", "merge", "constraint.0.text", "0.9").Check(409).Contains("Both of you changed this", "0.8", "0.9")
	})
	t.Run("not valid", func(t *testing.T) {
		s, jonas := visitors(t)
		flag, segment := s.Get(flags+"one-click-buy?edit=3"), s.Get(segments+"risky-orders?edit=1")
		edits(t, jonas, "one-click-buy/details", "name", "Theirs").Location()
		press(t, s, flag, "edit", "merge", "rule.2.share", "120").Check(422).Contains("1 thing to fix")
		press(t, s, segment, "segment", "merge", "constraint.0.text", "much").Check(422).Contains("1 thing to fix")
	})
	t.Run("nobody else", func(t *testing.T) {
		s, _ := visitors(t)
		press(t, s, s.Get(flags+"one-click-buy?edit=3"), "edit", "merge", "rule.2.share", "25").Check(200).Contains("1 unsaved change").Lacks("now includes")
	})
	t.Run("deleted", func(t *testing.T) {
		s, _ := visitors(t)
		mine := s.Get(flags + "one-click-buy?edit=3")
		press(t, s, s.Get(flags+"one-click-buy/delete"), "", "delete", "key", "one-click-buy").Location()
		press(t, s, mine, "edit", "merge", "rule.2.share", "25").Check(409).Contains("Mira deleted this flag")
	})
}
