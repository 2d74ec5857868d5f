package changes_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// revs returns the revisions in the list of a history, the selected one in brackets.
func revs(r *webtest.Reply) string {
	var revisions []string
	for _, list := range r.All("ol") {
		if webtest.Attribute(list, "class") != "revs" {
			continue
		}
		for n := range list.Descendants() {
			if n.Data != "a" {
				continue
			}
			text := webtest.TextOf(n)
			text = text[strings.LastIndex(text, " ")+1:]
			if webtest.Attribute(n, "aria-current") == "true" {
				text = "[" + text + "]"
			}
			revisions = append(revisions, text)
		}
	}
	return strings.Join(revisions, " ")
}

// TestWords: changes are told in the words of the interface, wherever they are listed.
func TestWords(t *testing.T) {
	s := newSite(t, webtest.Options{})
	rollout := func(percentage float32) service.RolloutInput {
		return service.RolloutInput{FlagKey: "wish", Rollout: guidon.Rollout{Rank: 1, Threshold: &guidon.RolloutThreshold{Percentage: percentage, Value: true}}}
	}
	made, _, err := s.Service.CreateRollout(t.Context(), by(""), "default", rollout(10))
	if err != nil {
		t.Fatal(err)
	}
	in := rollout(25)
	in.ID = made.ID
	if _, _, err := s.Service.UpdateRollout(t.Context(), by(""), "default", in); err != nil {
		t.Fatal(err)
	}
	s.Get(ns+"/changes").Check(200).Contains("rule 1: share 10% → 25%", "rule 1 added (10%: on)").Lacks("rollout", "percentage")
	s.Get(ns+"/flags/wish/history").Check(200).Contains("Rule 1: share 10% → 25% Jonas", "Rule 1 added (10%: on) Jonas", "Rule 1 share 10% → , now 25%", "15% of all entities go from off to on.").Lacks("rollout 1", "percentage 10")
	s.Get(at(4)).Check(200).Contains("Rule 1 share 10% → , now 25%")
	s.Get(undoOf(4)).Check(200).Contains("Rule 1 share 25% → , now 10%", "15% of all entities go from on to off.")
	s.Get(ns + "/changes?format=csv").Check(200)
	in = rollout(50)
	in.ID = made.ID
	if _, _, err := s.Service.UpdateRollout(t.Context(), by(""), "default", in); err != nil {
		t.Fatal(err)
	}
	s.Get(undoOf(4)).Check(200).Contains("Rule 1: share of wish").Lacks("rollout 1: percentage")
}

// TestHistory: a history has the changes of one object, and one of them in detail.
func TestHistory(t *testing.T) {
	s := newSite(t, webtest.Options{})
	s.two("Wishes", "Staff")
	s.flag(by(""), guidon.Flag{Key: "other", Name: "Other", Type: guidon.BooleanFlag})
	s.flag(by("now or never"), guidon.Flag{Key: "wish", Name: "Desires", Enabled: true})
	for address, want := range map[string]string{
		"/flags/wish/history":            "[5] 3 2",
		"/flags/wish/history/3":          "5 [3] 2",
		"/flags/wish/history/4":          "5 [3] 2", // the state at that revision
		"/flags/wish/history/99":         "[5] 3 2",
		"/segments/staff/history":        "[3]",
		"/flags/wish/history/3?before=5": "[3] 2",
	} {
		if got := revs(s.Get(ns + address).Check(200)); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
	r := s.Get(ns + "/flags/wish/history").Check(200)
	r.Contains("Desires", "Targeting", "Details", "now or never", "Name", `"Wishes" → , now "Desires"`, "Before and after", "For people", "Everyone gets On.", `Turned on; name "Wishes" → "Desires" now or never Jonas Weber`, `Imported: name "Wish list" → "Wishes" both`).Lacks("Variants")
	var lines []string
	for _, n := range r.All("tr") {
		lines = append(lines, webtest.Attribute(n, "class")+": "+webtest.TextOf(n))
	}
	if diff := cmp.Diff("del: 3 − removed name: Wishes", find(lines, "Wishes")); diff != "" {
		t.Errorf("a removed line (-want +got):\n%s\n%s", diff, strings.Join(lines, "\n"))
	}
	if got, want := linkTo(t, r, "See the flag before it"), ns+"/flags/wish?at=4"; got != want {
		t.Errorf("before it: %s, want %s", got, want)
	}
	if hasLink(s.Get(ns+"/flags/wish/history/2").Check(200), "See the flag before it") {
		t.Error("there was a flag before its creation")
	}
	for _, address := range []string{"/flags/nope/history", "/segments/wish/history", "/flags/wish/history/1", "/flags/wish/history/x"} {
		s.Get(ns + address).Check(404)
	}
}

// find returns the line that contains the text.
func find(lines []string, text string) string {
	for _, line := range lines {
		if strings.Contains(line, text) {
			return line
		}
	}
	return ""
}

// TestHistoryPages: a long history has pages, which a link to a revision finds.
func TestHistoryPages(t *testing.T) {
	s := newSite(t, webtest.Options{})
	for i := range 60 {
		s.flag(by(""), guidon.Flag{Key: "wish", Name: fmt.Sprint("Wish ", i)})
	}
	r := s.Get(ns + "/flags/wish/history").Check(200)
	if got := revs(r); !strings.HasPrefix(got, "[62] 61 ") || !strings.HasSuffix(got, " 13") || hasLink(r, "Newest") {
		t.Errorf("the first page: %s", got)
	}
	r = s.Get(linkTo(t, r, "Older")).Check(200)
	if got := revs(r); !strings.HasPrefix(got, "[12] 11 ") || !strings.HasSuffix(got, " 2") || !hasLink(r, "Newest") || hasLink(r, "Older") {
		t.Errorf("the second page: %s", got)
	}
	if got := revs(s.Get(ns + "/flags/wish/history/5").Check(200)); got != "[5] 4 3 2" {
		t.Errorf("an old revision: %s", got)
	}
}

// TestPruned: what was removed is said.
func TestPruned(t *testing.T) {
	s := newSite(t, webtest.Options{Page: func(c *page.Config) { c.Retention = 90 * 24 * time.Hour }})
	s.flag(by(""), guidon.Flag{Key: "wish", Name: "Wishes"})
	s.Get(ns + "/flags/wish/history").Check(200).Lacks("were removed")
	s.Get(ns + "/changes").Check(200).Lacks("were removed")
	if _, err := s.DB.DeleteChanges(t.Context(), time.Now().Add(time.Hour), 100); err != nil {
		t.Fatal(err)
	}
	s.Get(ns + "/flags/wish/history").Check(200).Contains("Older changes were removed after 90 days.")
	s.Get(ns + "/changes").Check(200).Contains("Older changes were removed after 90 days.")
	s.Get(at(2)).Check(404).Contains("The records of this revision are gone", "after 90 days")
	s.Get(undoOf(2)).Check(404)
}
