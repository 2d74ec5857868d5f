package flag_test

import (
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// TestConflict: of two visitors who began at the same revision, the second one keeps what
// was entered, looks at what the first one did, and goes on over it.
func TestConflict(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	jonas := s.As(s.SignIn(service.TokenInput{Name: "Jonas"}))
	mine, theirs := s.Get(flags+"one-click-buy?edit=3"), jonas.Get(flags+"one-click-buy?edit=1")
	press(t, jonas, theirs, "save", "rule.0.note", "seen first").Location()

	// The draft goes on, with a note.
	press(t, s, mine, "draft", "rule.2.share", "25").Check(200).Contains("Jonas changed this flag just now", "1 unsaved change", "Edited: share 12.5% → 25%")
	r := press(t, s, mine, "save", "rule.2.share", "25").Check(409).CheckEnter("edit", "settle")
	r.Contains("Jonas changed this flag while you were editing", "Nothing is lost", "this flag is now at 3", "share", "12.5%", "25%")
	if got := body(t, content(t, s, "one-click-buy")); !strings.Contains(got, "12.5") {
		t.Errorf("a conflict was saved: %s", got)
	}
	press(t, s, r, "review").Check(200)
	press(t, s, r, "save").Check(409)
	r = press(t, s, r, "continue").Check(200).Contains("1 unsaved change", "seen first", "25% of everyone").Lacks("Jonas changed this flag just now, in revision")
	press(t, s, r, "save").Location()
	got := body(t, content(t, s, "one-click-buy"))
	for _, want := range []string{"seen first", `"percentage":25`} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
}

// TestConflictAgain: going on over a change that one has not seen is a conflict again.
func TestConflictAgain(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	mine := s.Get(flags + "one-click-buy?edit=3")
	press(t, s, s.Get(flags+"one-click-buy?edit=1"), "save", "rule.0.note", "one").Location()
	conflict := press(t, s, mine, "save", "rule.2.share", "25").Check(409)
	press(t, s, s.Get(flags+"one-click-buy?edit=1"), "save", "rule.0.note", "two").Location()
	r := press(t, s, conflict, "continue").Check(409)
	press(t, s, r, "continue").Check(200).Contains("two", "25%")
}

// TestNoConflict: a change of another flag, or of another part of the namespace, does not conflict.
func TestNoConflict(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	mine := s.Get(flags + "one-click-buy?edit=3")
	press(t, s, s.Get(flags+"dark-mode/details"), "save", "name", "Night mode").Location()
	press(t, s, mine, "save", "rule.2.share", "25").Location()
}

// TestConflictOfTabs: what another tab has changed is not overwritten by going on.
func TestConflictOfTabs(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	details, variants := s.Get(flags+"checkout-redesign/details"), s.Get(flags+"checkout-redesign/variants?edit=1")
	press(t, s, s.Get(flags+"checkout-redesign/details"), "save", "description", "Theirs", "owner", "somebody", "meta.0.value", "SHOP-1").Location()
	r := press(t, s, details, "save", "name", "Mine").Check(409)
	press(t, s, press(t, s, r, "continue").Check(200), "save").Location()
	press(t, s, s.Get(flags+"checkout-redesign/variants?edit=2"), "save", "variant.1.name", "Theirs too").Location()
	r = press(t, s, variants, "save", "variant.0.name", "Mine too").Check(409)
	press(t, s, press(t, s, r, "continue").Check(200), "save").Location()
	got := body(t, content(t, s, "checkout-redesign"))
	for _, want := range []string{`"name":"Mine"`, "Theirs", "somebody", "SHOP-1", "Mine too", "Theirs too"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
}

// TestMergedVariants: a merged draft of variants keeps its new keys, what it deletes, and where the shares
// of that go.
func TestMergedVariants(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	mine := press(t, s, s.Get(flags+"checkout-redesign/variants?edit=1"), "remove:2").Check(200)
	press(t, s, s.Get(flags+"checkout-redesign/variants?edit=2"), "save", "variant.1.name", "Theirs").Location()
	r := press(t, s, mine, "merge", "variant.0.key", "classical", "variant.2.goes", "0").Check(200)
	r.Contains("You now edit over revision 3", "Theirs", "express to be deleted")
	press(t, s, r, "save").Location()
	got := body(t, content(t, s, "checkout-redesign"))
	for _, want := range []string{`"name":"Theirs"`, `{"rollout":90,"variant":"classical"},{"rollout":10,"variant":"one-page"}`} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
	if strings.Contains(got, `"express"`) {
		t.Errorf("express is still there: %s", got)
	}
}

// TestDeletedMeanwhile: a flag that was deleted while somebody edited it can be created
// again with the edit.
func TestDeletedMeanwhile(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	mine := s.Get(flags + "one-click-buy?edit=3")
	press(t, s, s.Get(flags+"one-click-buy/delete"), "delete", "key", "one-click-buy").Location()
	s.Get(flags+"one-click-buy").Check(404).Contains("Deleted by Mira just now at revision 3.", "Bring it back")
	r := press(t, s, mine, "save", "rule.2.share", "25").Check(409).Contains("Mira deleted this flag while you were editing", "share 12.5%")
	press(t, s, r, "settle").Location()
	if got := body(t, content(t, s, "one-click-buy")); !strings.Contains(got, `"percentage":25`) {
		t.Errorf("got %s", got)
	}
}

// TestPast: the flag is shown as it was, and restored after a review.
func TestPast(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	before := body(t, content(t, s, "checkout-redesign"))
	press(t, s, s.Get(flags+"checkout-redesign?edit=3"), "save", "rule.2.share.classic", "70", "rule.2.share.one-page", "20").Location()
	press(t, s, s.Get(flags+"checkout-redesign/details"), "save", "name", "Other", "owner", "").Location()
	press(t, s, press(t, s, s.Get(flags+"checkout-redesign/variants"), "remove:2"), "save").Location()
	r := s.Get(flags + "checkout-redesign?at=2").Check(200)
	r.Contains("You see this flag as it was at revision 2.", "Restore", "classic 80%").Lacks("Add rule", "Turn off")
	s.As(s.SignIn(service.TokenInput{Name: "Vera", Role: service.RoleViewer})).Get(flags + "checkout-redesign?at=2").Check(200).Lacks("Restore")

	action, form := s.Get(flags+"checkout-redesign/history/2/restore").Check(200).
		Contains(`Name "Other" → , now "Checkout redesign"`, `Metadata "owner" added`, `Variant "express" added`, "share").Form("review")
	form.Set("do", "apply")
	if got, want := s.Post(action, form).Location(), flags+"checkout-redesign/history?saved=6"; got != want {
		t.Errorf("leads to %s, want %s", got, want)
	}
	if got := body(t, content(t, s, "checkout-redesign")); got != before {
		t.Errorf("restored %s, want %s", got, before)
	}
}
