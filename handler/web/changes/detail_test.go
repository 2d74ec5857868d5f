package changes_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/webtest"
)

// sidesOf returns the rows of the diff side by side: number, sign and text of both sides.
func sidesOf(r *webtest.Reply) (rows []string) {
	for _, table := range r.All("div") {
		if webtest.Attribute(table, "class") != "diff sides" {
			continue
		}
		for row := range table.Descendants() {
			if row.Data != "tr" {
				continue
			}
			var cells []string
			for cell := range row.Descendants() {
				if cell.Data == "td" {
					cells = append(cells, webtest.TextOf(cell))
				}
			}
			if cells != nil {
				rows = append(rows, strings.Join(cells, "|"))
			}
		}
	}
	return rows
}

// TestSideBySide: a diff is shown side by side where the visitor wants it, which the browser
// remembers; the unified form stays for narrow screens.
func TestSideBySide(t *testing.T) {
	s := newSite(t, webtest.Options{})
	s.flag(by(""), guidon.Flag{Key: "wish", Name: "Desires", Description: "All of them", Enabled: true})
	for _, address := range []string{ns + "/flags/wish/history", at(3)} {
		if rows := sidesOf(s.Get(address).Check(200)); rows != nil {
			t.Errorf("%s: got %q without being asked", address, rows)
		}
		chosen := linkTo(t, s.Get(address), "Side by side")
		r := s.Get(chosen).Check(200)
		rows := sidesOf(r)
		var changed []string
		for _, row := range rows {
			if strings.ContainsAny(row, "+−") {
				changed = append(changed, strings.Join(strings.Split(row, "|")[1:3], " ")+" | "+strings.Join(strings.Split(row, "|")[4:], " "))
			}
		}
		wantChanged := []string{
			"− removed name: Wish list | + added name: Desires", "− removed enabled: false | + added description: All of them", "  | + added enabled: true",
		}
		if diff := cmp.Diff(wantChanged, changed); diff != "" {
			t.Errorf("%s (-want +got):\n%s", address, diff)
		}
		cookie := r.Header.Get("Set-Cookie")
		if cookie, _, _ = strings.Cut(cookie, ";"); !strings.Contains(cookie, "diff=sides") {
			t.Fatalf("%s: got the cookie %q", address, cookie)
		}
		remembered := s.Get(address, "Cookie", cookie).Check(200)
		if diff := cmp.Diff(rows, sidesOf(remembered)); diff != "" {
			t.Errorf("%s, later (-want +got):\n%s", address, diff)
		}
		if again := s.Get(linkTo(t, remembered, "Unified"), "Cookie", cookie).Check(200); sidesOf(again) != nil || !strings.Contains(again.Header.Get("Set-Cookie"), "diff=unified") {
			t.Errorf("%s: the unified view is not taken back: %s", address, again.Header.Get("Set-Cookie"))
		}
		if r := s.Get(address + "?diff=upside-down").Check(200); sidesOf(r) != nil || strings.Contains(r.Header.Get("Set-Cookie"), "diff") {
			t.Errorf("%s: an unknown view is remembered: %s", address, r.Header.Get("Set-Cookie"))
		}
	}
	kept := s.Get(ns + "/flags/wish/history/3?before=4").Check(200)
	if got, want := linkTo(t, kept, "Side by side"), ns+"/flags/wish/history/3?before=4&diff=sides"; got != want {
		t.Errorf("got the address %s, want %s", got, want)
	}
	s.deleteFlag("wish")
	if rows := sidesOf(s.Get(ns + "/flags/wish/history?diff=sides").Check(200)); len(rows) < 3 || strings.Contains(strings.Join(rows, ""), "+") {
		t.Errorf("a deletion: got %q", rows)
	}
}
