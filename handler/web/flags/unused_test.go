package flags_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

const unusedPage = "/namespaces/default/unused"

// snoozeForm returns the form of the row of a flag.
func snoozeForm(t *testing.T, r *webtest.Reply, key string) (action string, form url.Values) {
	t.Helper()
	for _, f := range r.All("form") {
		form = url.Values{}
		for n := range f.Descendants() {
			if name := webtest.Attribute(n, "name"); n.Data == "input" && name != "" {
				form.Add(name, webtest.Attribute(n, "value"))
			}
		}
		if form.Get("key") == key {
			form.Set("do", "snooze")
			return webtest.Attribute(f, "action"), form
		}
	}
	t.Fatalf("%s has no form", key)
	return "", nil
}

// tabs returns the texts of the tabs, and which is chosen.
func tabs(r *webtest.Reply) (texts []string) {
	for _, n := range r.All("a") {
		if n.Parent.Data == "nav" && webtest.Attribute(n.Parent, "aria-label") == "Reason" {
			text := webtest.TextOf(n)
			if webtest.Attribute(n, "aria-current") == "page" {
				text = "[" + text + "]"
			}
			texts = append(texts, text)
		}
	}
	return texts
}

// later returns the time from which all flags are no longer new.
func later() time.Time { return time.Now().Add(service.NewFor) }

// TestUnused: the page lists the flags by reason, and says why in words.
func TestUnused(t *testing.T) {
	s := webtest.New(t, webtest.Options{Now: later})
	setMetadata(t, s, "guest-checkout", `{"review":"2026-03-01"}`)
	setMetadata(t, s, "maintenance-page", `{"review":"2199-01-01"}`)
	setMetadata(t, s, "checkout-redesign", `{}`) // whose date passes one day
	for _, test := range []struct {
		query string
		tabs  []string
		want  map[string]string
	}{
		{"", []string{"[All 5]", "One answer 4", "Rounded 1", "Review due 1"}, map[string]string{
			"wishlist":        "On for everyone",
			"homepage-layout": "Off, so everyone gets grid",
			"guest-checkout":  "Review was due on 1 Mar 2026",
			"ab-test-logging": "On for everyone A share just below 100% is everyone: shares of boolean flags count in whole percents",
		}},
		{"?reason=review-due", []string{"All 5", "One answer 4", "Rounded 1", "[Review due 1]"}, map[string]string{"guest-checkout": "Review was due on 1 Mar 2026"}},
		{"?reason=rounded&page=x", []string{"All 5", "One answer 4", "[Rounded 1]", "Review due 1"}, map[string]string{"ab-test-logging": "A share just below 100%"}},
		{"?reason=nonsense", []string{"[All 5]", "One answer 4", "Rounded 1", "Review due 1"}, nil},
	} {
		t.Run(test.query, func(t *testing.T) {
			r := s.Get(unusedPage+test.query).Check(200).Contains("Before you delete a flag", "Wait until no running version asks for it.")
			if diff := cmp.Diff(test.tabs, tabs(r)); diff != "" {
				t.Errorf("tabs (-want +got):\n%s", diff)
			}
			rows := map[string]string{}
			for _, tr := range r.All("tr") {
				if key := webtest.Attribute(tr, "data-row"); key != "" {
					rows[key] = webtest.TextOf(tr)
				}
			}
			for key, want := range test.want {
				if !strings.Contains(rows[key], want) {
					t.Errorf("%s: got %q, want %q", key, rows[key], want)
				}
			}
		})
	}
	r := s.Get(unusedPage).Check(200)
	if !slices.Contains(r.Links(), "/namespaces/default/flags/wishlist/delete") {
		t.Error("wishlist cannot be deleted")
	}
	s.Get(unusedPage + "?page=7").Check(200).Contains("There is no page 7")
}

// TestSnooze: a flag with a review date to come is not listed, and everything else of it
// stays as it is.
func TestSnooze(t *testing.T) {
	s := webtest.New(t, webtest.Options{Now: later})
	setMetadata(t, s, "wishlist", `{"owner":"ann","review":7,"n":1.50}`)
	setMetadata(t, s, "checkout-redesign", `{}`) // whose date passes one day
	before := flagOf(t, s, "wishlist")
	start := at(t, s)
	action, form := snoozeForm(t, s.Get(unusedPage+"?reason=one-answer").Check(200), "wishlist")
	if got, want := form.Get("review"), later().UTC().AddDate(0, 0, 90).Format(time.DateOnly); got != want {
		t.Errorf("the date is %s, want %s", got, want)
	}
	for date, want := range map[string]string{
		"": "Write a date such as", "tomorrow": "Write a date such as", "2020-01-01": "Choose a date to come.", "2999-01-01": "Choose a date within ten years.",
	} {
		form.Set("review", date)
		r := s.Post(action, form).Check(422).Contains(want)
		if _, kept := snoozeForm(t, r, "wishlist"); kept.Get("review") != date {
			t.Errorf("%q: kept %q", date, kept.Get("review"))
		}
	}
	date := time.Now().UTC().AddDate(1, 0, 0).Format(time.DateOnly)
	form.Set("review", date)
	if got, want := s.Post(action, form).Location(), fmt.Sprintf("%s?reason=one-answer&saved=%d", unusedPage, start+1); got != want {
		t.Errorf("leads to %s, want %s", got, want)
	}
	after := flagOf(t, s, "wishlist")
	if got, want := string(after.Metadata), `{"owner":"ann","review":"`+date+`","n":1.50}`; got != want {
		t.Errorf("got the metadata %s, want %s", got, want)
	}
	if after.Name != before.Name || after.Enabled != before.Enabled || len(after.Rollouts) != len(before.Rollouts) {
		t.Errorf("got %+v, want %+v", after, before)
	}
	r := s.Get(unusedPage).Check(200).Contains("1 flag is snoozed until the review date.")
	if slices.Contains(keys(r), "wishlist") {
		t.Error("wishlist is still listed")
	}
	if got := keys(s.Get("/namespaces/default/flags?q=is:snoozed").Check(200)); !slices.Equal(got, []string{"wishlist"}) {
		t.Errorf("the link to snoozed flags has %v", got)
	}
}

// TestSnoozeRefused: a flag that has changed since is not overwritten.
func TestSnoozeRefused(t *testing.T) {
	s := webtest.New(t, webtest.Options{Now: later})
	action, form := snoozeForm(t, s.Get(unusedPage).Check(200), "wishlist")
	touch(t, s, "wishlist")
	start := at(t, s)
	r := s.Post(action, form).Check(409).Contains("wishlist was changed by Jonas in the meantime. Look at it, then snooze it again.")
	if _, kept := snoozeForm(t, r, "wishlist"); kept.Get("review") != form.Get("review") || kept.Get("revision") != fmt.Sprint(start) {
		t.Errorf("kept %v", kept)
	}
	viewer := s.As(s.SignIn(service.TokenInput{Name: "guest", Role: service.RoleViewer}))
	viewer.Get(unusedPage).Check(200).Contains("View only", "Wishlist").Lacks("Snooze")
	form.Set("revision", fmt.Sprint(start))
	viewer.Post(action, form).Check(403)
	webtest.New(t, webtest.Options{ReadOnly: true, Now: later}).Post(action, form).Check(403).Contains("This server is read-only")
	s.Post(action, url.Values{"key": {"wishlist"}, "review": {form.Get("review")}}).Check(400)
	s.Post(action, url.Values{"key": {"none"}, "review": {form.Get("review")}, "revision": {"1"}}).Check(404).Contains("This flag no longer exists")

	// The flag is no longer unused, so that its row is gone.
	f := flagOf(t, s, "wishlist")
	in := guidon.Flag{Key: f.Key, Name: f.Name, Type: f.Type, Enabled: f.Enabled}
	if _, _, err := s.Service.UpdateFlag(t.Context(), by, "default", in); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Service.CreateRollout(t.Context(), by, "default", service.RolloutInput{FlagKey: f.Key, Rollout: guidon.Rollout{Rank: 1, Threshold: &guidon.RolloutThreshold{Percentage: 50}}}); err != nil {
		t.Fatal(err)
	}
	s.Post(action, form).Check(409).Contains("wishlist was changed by Jonas in the meantime.", "Nothing was saved.")
	if got := at(t, s); got != start+2 {
		t.Errorf("got revision %d, want %d", got, start+2)
	}
}

// TestNoneUnused: an empty page says what it is for. New flags are listed only by their review.
func TestNoneUnused(t *testing.T) {
	shop := webtest.New(t, webtest.Options{})
	shop.Get(unusedPage).Check(200).Contains("Flags created in the last 30 days are new").Lacks("Wishlist")
	setMetadata(t, shop, "wishlist", `{"review":"2026-03-01"}`)
	shop.Get(unusedPage).Check(200).Contains("Wishlist", "Review was due on 1 Mar 2026").Lacks("On for everyone")
	s := webtest.New(t, webtest.Options{Empty: true})
	s.Get(unusedPage).Check(200).Contains("No unused flags in Default", "Before you delete a flag")
	s.Get(unusedPage + "?reason=rounded").Check(200).Contains("No flags for this reason")
}
