package changes_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// listed returns the revisions in the list.
func listed(r *webtest.Reply) string {
	var revisions []string
	for _, n := range r.All("a") {
		if webtest.Attribute(n, "class") == "key" {
			revisions = append(revisions, strings.TrimPrefix(webtest.TextOf(n), "Revision "))
		}
	}
	return strings.Join(revisions, " ")
}

// TestList: the list says who changed what and why, and can be filtered.
func TestList(t *testing.T) {
	s := newSite(t, webtest.Options{})
	s.flag(by("50% off"), guidon.Flag{Key: "wish", Name: "Wishes"})                                                                                    // 3
	s.two("Desires", "Staff")                                                                                                                          // 4
	s.flag(service.Write{By: service.Caller{Actor: change.Actor{ID: "cli:root"}}}, guidon.Flag{Key: "other", Name: "Other", Type: guidon.BooleanFlag}) // 5
	s.confirm(undoOf(5)).Location()                                                                                                                    // 6
	r := s.Get(ns + "/changes").Check(200)
	r.Contains("Today", "Jonas Weber changed Wishes (Off)", `name "Wish list" → "Wishes"`, "50% off", "imported 1 flag, 1 segment", "root (command line) created Other", "Token Mira undid 5 on Other", "Guidon created Default")
	if got, want := strings.Count(r.Body, `class="pennant off"`), 3; got != want { // one each for the revisions 2, 3 and 4: other is deleted
		t.Errorf("got %d pennants, want %d", got, want)
	}
	if got, want := listed(r), "6 5 4 3 2 1"; got != want {
		t.Errorf("got the revisions %s, want %s", got, want)
	}
	if hasLink(r, "Older") {
		t.Error("there are older changes than all")
	}
	for want, pairs := range map[string][]string{
		"5":            {"actor", "cli:root"},
		"4 3 2":        {"key", "wish"},
		"4":            {"kind", "segment"},
		"3":            {"message", "50% OFF"},
		"4 ":           {"reason", "import"},
		"6":            {"reason", "undo", "actor", "", "since", "1h"},
		"6 5 4 3 2 1":  {"since", "2001-01-01", "until", "2999-01-01T10:00"},
		"":             {"key", "nope"},
		" ":            {"until", "7d"},
		"1":            {"kind", "namespace"},
		"6 5 4 3 2":    {"kind", "flag"},
		"6 5 4 3 2 1 ": {"since", time.Now().Add(-time.Hour).Format(time.RFC3339)},
	} {
		if got := listed(s.Get(query(pairs...)).Check(200)); got != strings.TrimSpace(want) {
			t.Errorf("%v: got %q, want %q", pairs, got, want)
		}
	}
	r = s.Get(query("kind", "flag", "actor", "oidc:google:jonas", "message", "off", "since", "24h", "key", "wish")).Check(200)
	r.Contains("Flags", "By Jonas Weber", "Message has “off”", "Since 24 hours ago", "Key wish", "Clear filters")
	if got, want := linkTo(t, r, "Remove the filter: By Jonas Weber"), query("kind", "flag", "message", "off", "since", "24h", "key", "wish"); got != want {
		t.Errorf("without the actor: %s, want %s", got, want)
	}
	s.Get(query("key", "nope")).Check(200).Contains("No change matches these filters.")
}

// TestDirection: a name does not turn the text around it.
func TestDirection(t *testing.T) {
	s := newSite(t, webtest.Options{})
	if _, _, err := s.Service.CreateNamespace(t.Context(), service.Write{}, service.NamespaceInput{Key: "turned", Name: "Shop\u202e"}); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"/namespaces/turned/changes", "/namespaces/turned/compare?from=default", "/settings/namespaces"} {
		if r := s.Get(address).Check(200); strings.Contains(r.Body, "\u202e") {
			t.Errorf("%s has the character", address)
		}
	}
}

// TestListFilters: what a filter does not understand is said beside its field.
func TestListFilters(t *testing.T) {
	s := newSite(t, webtest.Options{})
	for message, pairs := range map[string][]string{
		"flag, segment or namespace":                {"kind", "authentication"},
		"import, promotion, restore or undo":        {"reason", "whim"},
		"Write 2026-12-01 or 2026-12-01T18:00":      {"since", "yesterday"},
		"or how long ago: 36h, 7d.":                 {"until", "12m"},
		"1,000 characters at most, this has 1,001.": {"message", strings.Repeat("x", 1001)},
		"has characters that no change can have":    {"key", "a\x00b"},
		"This is too long, or has":                  {"actor", "\xff"},
		"This is not after the beginning":           {"since", "1h", "until", "2h"},
	} {
		r := s.Get(query(pairs...)).Check(422).Contains(message, "because a filter cannot be understood")
		if got := listed(r); got != "" {
			t.Errorf("%v: got the revisions %s", pairs, got)
		}
	}
	if r := s.Get(query("since", "yesterday")); !strings.Contains(r.Body, `value="yesterday"`) {
		t.Error("the value is lost")
	}
	s.Get(query("cursor", "nonsense")).Check(400)
}

// TestListPages: every revision is on one page, also one with many objects.
func TestListPages(t *testing.T) {
	s := newSite(t, webtest.Options{})
	for i := range 30 {
		s.flag(by(""), guidon.Flag{Key: "wish", Name: fmt.Sprint("Wish ", i)})
	}
	d := &service.Document{}
	for i := range 150 {
		d.Flags = append(d.Flags, &guidon.Flag{Key: fmt.Sprint("bulk-", i), Name: "Bulk", Type: guidon.BooleanFlag})
	}
	if _, _, err := s.Service.Import(t.Context(), by("bulk"), "default", d, service.ImportUpdate, false); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		s.flag(by(""), guidon.Flag{Key: "wish", Name: fmt.Sprint("Last ", i)})
	}
	var got []string
	for address, pages := ns+"/changes", 0; ; pages++ {
		r := s.Get(address).Check(200)
		got = append(got, strings.Fields(listed(r))...)
		if announces, newest := strings.Contains(r.Body, "data-newer"), pages == 0; announces != newest {
			t.Errorf("page %d announces newer changes: %t", pages+1, announces)
		}
		if pages == 0 {
			r.Contains("imported 100 flags, and more", "All of revision 33")
		}
		if !hasLink(r, "Older") {
			if !hasLink(r, "Newest") || pages != 1 {
				t.Errorf("%d pages, or no way back", pages+1)
			}
			break
		}
		address = linkTo(t, r, "Older")
	}
	var want []string
	for i := 38; i > 0; i-- {
		want = append(want, fmt.Sprint(i))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.Get(at(33)).Check(200).Contains("This revision changed more objects than the 100 that are listed.")
}

// TestExport: the filtered list is a file. Spreadsheets run nothing in it.
func TestExport(t *testing.T) {
	s := newSite(t, webtest.Options{})
	s.flag(by(`=HYPERLINK("http://evil.example","a"), b`), guidon.Flag{Key: "wish", Name: "Wishes"})
	s.flag(by("-2+3"), guidon.Flag{Key: "wish", Name: "Third"})
	s.flag(by(""), guidon.Flag{Key: "other", Name: "Other", Type: guidon.BooleanFlag})
	r := s.Get(query("key", "wish", "format", "csv")).Check(200)
	if got, want := r.Header.Get("Content-Disposition"), `attachment; filename="changes-default.csv"`; got != want {
		t.Errorf("got the disposition %s", got)
	}
	rows, err := csv.NewReader(strings.NewReader(r.Body)).ReadAll()
	if err != nil || len(rows) != 4 || !strings.Contains(r.Body, "\r\n") {
		t.Fatalf("got %q, %v", rows, err)
	}
	got := [][]string{rows[0], rows[1][:1], rows[1][2:9], {rows[2][8]}, {rows[3][8]}}
	want := [][]string{
		{"revision", "time", "actor id", "actor", "action", "kind", "key", "summary", "message", "reason", "request id"},
		{"4"}, {"oidc:google:jonas", "Jonas Weber", "update", "flag", "wish", `name "Wishes" → "Third"`, "'-2+3"},
		{`'=HYPERLINK("http://evil.example","a"), b`}, {"first"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("CSV (-want +got):\n%s", diff)
	}
	var list struct {
		Namespace string
		Changes   []struct {
			Revision int64
			Message  string
		}
		More bool
	}
	r = s.Get(query("kind", "flag", "format", "json")).Check(200)
	if err := json.Unmarshal([]byte(r.Body), &list); err != nil || list.Namespace != "default" || len(list.Changes) != 4 || list.Changes[1].Message != "-2+3" || list.More {
		t.Errorf("got %s, %v", r.Body, err)
	}
	s.Get(query("kind", "nope", "format", "json")).Check(422)
}

// TestSaved: the author of a change reads for ten minutes that it was saved.
func TestSaved(t *testing.T) {
	var later time.Duration
	s := newSite(t, webtest.Options{Page: func(c *page.Config) { c.Now = func() time.Time { return time.Now().Add(later) } }})
	s.flag(by(""), guidon.Flag{Key: "wish", Name: "Wishes"})
	s.confirm(undoOf(3)).Location()
	for _, test := range []struct {
		address, want string
		later         time.Duration
	}{
		{ns + "/changes?saved=4", "Saved as revision 4 Undo", 0},
		{ns + "/flags/wish/history?saved=4", "Saved as revision 4 Undo", 9 * time.Minute},
		{ns + "/changes?saved=4", "", 11 * time.Minute},
		{ns + "/changes?saved=3", "", 0}, // of Jonas
		{ns + "/changes?saved=99", "", 0},
		{ns + "/changes?saved=-1", "", 0},
		{ns + "/changes?saved=x", "", 0},
		{ns + "/changes", "", 0},
	} {
		later = test.later
		if got := toast(s.Get(test.address).Check(200)); got != test.want {
			t.Errorf("%s after %s: got %q, want %q", test.address, later, got, test.want)
		}
	}
	later = 0
	other := s.As(s.SignIn(service.TokenInput{Name: "Olga"}))
	if got := toast(other.Get(ns + "/changes?saved=4").Check(200)); got != "" {
		t.Errorf("Olga reads %q", got)
	}
	// Without authentication, everybody is the same.
	open := newSite(t, webtest.Options{Open: true})
	open.flag(service.Write{}, guidon.Flag{Key: "wish", Name: "Wishes"})
	if got := toast(open.Get(ns + "/changes?saved=3").Check(200)); got != "Saved as revision 3 Undo" {
		t.Errorf("anonymous reads %q", got)
	}
}

// TestUnchanged: a page that has not changed is not sent again.
func TestUnchanged(t *testing.T) {
	s := newSite(t, webtest.Options{})
	for _, address := range []string{ns + "/changes", at(2), ns + "/flags/wish/history"} {
		tag := s.Get(address).Check(200).Header.Get("ETag")
		s.Get(address, "If-None-Match", tag).Check(304)
		s.flag(by(""), guidon.Flag{Key: "wish", Name: "After " + address[len(address)-4:]})
		s.Get(address, "If-None-Match", tag).Check(200)
	}
}
