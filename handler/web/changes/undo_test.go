package changes_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// TestUndo: a change is looked at before it is undone; undoing the undo brings it back.
func TestUndo(t *testing.T) {
	s := newSite(t, webtest.Options{})
	revision := s.flag(by("a better name"), guidon.Flag{Key: "wish", Name: "Wishes", Enabled: true})
	r := s.Get(undoOf(revision)).Check(200)
	r.Contains("Undo revision 3", "Jonas Weber saved it just now", "“a better name”", `"Wishes" → , now "Wish list"`, "Default value on → , now off", `Flag "wish" goes off by default.`, "Everyone gets Off.", "Message")
	s.wantName("Wishes")
	reply := s.send(r, "apply", "message", "not yet")
	if got, want := reply.Location(), at(4)+"?saved=4"; got != want {
		t.Errorf("leads to %s, want %s", got, want)
	}
	s.wantName("Wish list")
	saved := s.Get(reply.Location()).Check(200).Contains("Token Mira undid 3 on Wish list", "not yet", "undo of 3")
	if got := toast(saved); got != "Saved as revision 4 Undo" {
		t.Errorf("the page says %q", got)
	}
	if got, want := s.confirm(undoOf(4)).Location(), at(5)+"?saved=5"; got != want {
		t.Errorf("leads to %s, want %s", got, want)
	}
	s.wantName("Wishes")
	// The first undo has nothing left to undo, and the second can be undone again.
	s.Get(undoOf(4)).Check(200).Contains("Nothing: everything already is as it would become")
	s.confirm(undoOf(5)).Location()
	s.wantName("Wish list")
}

// toast returns what the page says was saved.
func toast(r *webtest.Reply) string {
	for _, n := range r.All("div") {
		if webtest.Attribute(n, "class") == "toasts" && webtest.Attribute(n, "role") == "status" {
			return webtest.TextOf(n)
		}
	}
	return ""
}

// TestUndoConflicts: later changes are kept or taken back, as the visitor chooses.
func TestUndoConflicts(t *testing.T) {
	for _, test := range []struct {
		side, want string
		enabled    bool
	}{{"", "Latest", false}, {"current", "Latest", false}, {"earlier", "Wish list", false}} {
		s := newSite(t, webtest.Options{})
		revision := s.flag(by(""), guidon.Flag{Key: "wish", Name: "Wishes", Enabled: true})
		s.flag(by(""), guidon.Flag{Key: "wish", Name: "Latest", Enabled: true})
		r := s.Get(undoOf(revision)).Check(200)
		r.Contains("Changed again since", "Name of wish", `The change made it Wishes`, `Keep it as it is now Latest`, `Back to before the change Wish list`)
		_, form := r.Form("review")
		if got := form.Get("side.0"); got != "current" {
			t.Errorf("%q is selected, want current", got)
		}
		if test.side == "" {
			s.send(r, "apply").Location()
		} else {
			r = s.send(r, "review", "side.0", test.side).Check(200)
			s.wantName("Latest")
			s.send(r, "apply").Location()
		}
		s.wantName(test.want)
		if got := s.stored("wish").Enabled; got != test.enabled {
			t.Errorf("%s: enabled is %t", test.side, got)
		}
	}
}

// TestUndoChosenLate: choices that were not looked at are shown first.
func TestUndoChosenLate(t *testing.T) {
	s := newSite(t, webtest.Options{})
	revision := s.flag(by(""), guidon.Flag{Key: "wish", Name: "Wishes", Enabled: true})
	s.flag(by(""), guidon.Flag{Key: "wish", Name: "Latest", Enabled: true})
	r := s.send(s.Get(undoOf(revision)).Check(200), "apply", "side.0", "earlier", "message", "so be it").Check(409)
	r.Contains("This is what your choices lead to", `"Latest" → , now "Wish list"`)
	s.wantName("Latest")
	_, form := r.Form("review")
	if diff := cmp.Diff([]string{"so be it", "earlier"}, []string{form.Get("message"), form.Get("side.0")}); diff != "" {
		t.Errorf("the form (-want +got):\n%s", diff)
	}
	s.send(r, "apply").Location()
	s.wantName("Wish list")
}

// TestUndoMoved: if something was saved since the review, the plan is shown again.
func TestUndoMoved(t *testing.T) {
	s := newSite(t, webtest.Options{})
	revision := s.flag(by(""), guidon.Flag{Key: "wish", Name: "Wishes", Enabled: true})
	r := s.Get(undoOf(revision)).Check(200)
	s.flag(by(""), guidon.Flag{Key: "wish", Name: "Wishes", Enabled: true, Description: "New"})
	r = s.send(r, "apply", "message", "kept").Check(409)
	r.Contains("Something was saved meanwhile", "different from what you saw")
	s.wantName("Wishes")
	s.send(r, "apply").Location()
	s.wantName("Wish list")
	if got := s.stored("wish").Description; got != "New" {
		t.Errorf("the later description became %q", got)
	}
	r = s.Get(undoOf(revision)).Check(200)
	_, form := r.Form("review")
	if form.Get("digest") == "" {
		t.Error("the form has no digest")
	}
	// Other objects may change meanwhile.
	revision = s.flag(by(""), guidon.Flag{Key: "wish", Name: "Third"})
	r = s.Get(undoOf(revision)).Check(200)
	s.flag(by(""), guidon.Flag{Key: "other", Name: "Other", Type: guidon.BooleanFlag})
	s.send(r, "apply").Location()
	s.wantName("Wish list")
}

// TestUndoRefused: what cannot be undone says why, and what is wrong with a form is said
// beside the field.
func TestUndoRefused(t *testing.T) {
	s := newSite(t, webtest.Options{})
	s.Get(ns+"/changes/99/undo").Check(404).Contains("There is no such revision", "is at revision 2")
	for _, revision := range []string{"0", "-1", "x", "9999999999999999999999", "1.5"} {
		s.Get(ns + "/changes/" + revision + "/undo").Check(404).Contains("There is no such revision")
		s.Get(ns + "/changes/" + revision).Check(404).Contains("There is no such revision")
	}
	s.Get(undoOf(1)).Check(200).Contains("This is not possible as it is")
	s.Get(undoOf(2)+"?flag=other").Check(200).Contains("This is not possible as it is", "was not changed in revision 2")
	for _, message := range []string{strings.Repeat("x", 1001), "two\nlines", "\u202ehidden"} {
		r := s.confirm(undoOf(2), "message", message).Check(422)
		r.Contains("1 thing to fix", "1,000 characters at most, on one line.")
		if _, form := r.Form("review"); strings.TrimSpace(form.Get("message")) == "" {
			t.Errorf("the message %q is lost", message)
		}
	}
	s.wantName("Wish list")
	// A segment that something has begun to use cannot go.
	if _, _, err := s.Service.CreateSegment(t.Context(), by(""), "default", guidon.Segment{Key: "staff", Name: "Staff", MatchType: guidon.MatchAny}); err != nil {
		t.Fatal(err)
	}
	before := s.Get(undoOf(3)).Check(200)
	doc := &guidon.Flag{Name: "Wish list", Type: guidon.BooleanFlag, Rollouts: []*guidon.Rollout{{Segment: &guidon.RolloutSegment{SegmentKeys: []string{"staff"}, Value: true}}}}
	if _, _, err := s.Service.ReplaceFlag(t.Context(), by(""), "default", "wish", doc, nil); err != nil {
		t.Fatal(err)
	}
	s.send(before, "apply").Check(422).Contains("This is not possible as it is", "staff")
	s.Get(undoOf(3)).Check(200).Contains("This is not possible as it is", "staff")
}

// TestUndoOfCreation: undoing a creation deletes the flag; its history stays.
func TestUndoOfCreation(t *testing.T) {
	s := newSite(t, webtest.Options{})
	r := s.confirm(undoOf(2) + "?flag=wish")
	if got, want := r.Location(), ns+"/flags/wish/history?saved=3"; got != want {
		t.Errorf("leads to %s, want %s", got, want)
	}
	s.wantName("")
	r = s.Get(r.Location()).Check(200).Contains("Wish list", "This flag was deleted at revision 3")
	s.confirm(linkTo(t, r, "Undo this change")).Location()
	s.wantName("Wish list")
}

// TestRestore: a flag becomes what it was, also one that was deleted.
func TestRestore(t *testing.T) {
	s := newSite(t, webtest.Options{})
	s.flag(by(""), guidon.Flag{Key: "wish", Name: "Wishes", Enabled: true})
	latest := s.flag(by(""), guidon.Flag{Key: "wish", Name: "Latest", Enabled: true})
	if r := s.Get(ns + "/flags/wish/history").Check(200); hasLink(r, "Restore this state") {
		t.Error("the newest state can be restored")
	}
	address := linkTo(t, s.Get(ns+"/flags/wish/history/2").Check(200), "Restore this state")
	s.Get(address).Check(200).Contains("Restore wish as at revision 2", "becomes exactly what it was then", `"Latest" → , now "Wish list"`)
	if got, want := s.confirm(address).Location(), ns+"/flags/wish/history?saved=5"; got != want {
		t.Errorf("leads to %s, want %s", got, want)
	}
	s.wantName("Wish list")
	s.Get(at(5)).Check(200).Contains("restored Wish list as at revision 2")
	deleted := s.deleteFlag("wish")
	if r := s.Get(ns + "/flags/wish/history/" + strconv.FormatInt(deleted, 10)).Check(200); hasLink(r, "Restore this state") {
		t.Error("the state without the flag can be restored")
	}
	s.confirm(linkTo(t, s.Get(ns+"/flags/wish/history/"+strconv.FormatInt(latest, 10)).Check(200), "Restore this state")).Location()
	s.wantName("Latest")
	r := s.Get(ns + "/flags/wish/history/" + strconv.FormatInt(deleted, 10)).Check(200)
	if hasLink(r, "Restore this state") {
		t.Error("an earlier state without the flag can be restored")
	}
	r = s.Get(at(deleted)).Check(200)
	if got, want := linkTo(t, r, "As it was before"), ns+"/flags/wish?at=5"; got != want {
		t.Errorf("the deleted flag is at %s, want %s", got, want)
	}
	if got, want := linkTo(t, s.Get(at(2)).Check(200), "As it was then"), ns+"/flags/wish?at=2"; got != want {
		t.Errorf("the new flag is at %s, want %s", got, want)
	}
	// A state between two changes of the flag is as good.
	s.flag(by(""), guidon.Flag{Key: "other", Name: "Other", Type: guidon.BooleanFlag})
	s.Get(ns + "/flags/wish/history/8/restore").Check(200).Contains("Nothing: everything already is")
	s.Get(ns + "/flags/wish/history/99/restore").Check(404)
	s.Get(ns + "/flags/wish/history/1/restore").Check(200).Contains("This is not possible as it is")
	s.Get(ns + "/flags/nope/history/2/restore").Check(200).Contains("This is not possible as it is")
}

// two saves one revision with a flag and a segment.
func (s *site) two(flag, segment string) int64 {
	s.t.Helper()
	d := &service.Document{
		Flags:    []*guidon.Flag{{Key: "wish", Name: flag, Type: guidon.BooleanFlag}},
		Segments: []*guidon.Segment{{Key: "staff", Name: segment}},
	}
	_, revision, err := s.Service.Import(s.t.Context(), by("both"), "default", d, service.ImportUpdate, false)
	if err != nil {
		s.t.Fatal(err)
	}
	return revision
}

// TestUndoOfOneObject: of a change with two objects, one can be undone.
func TestUndoOfOneObject(t *testing.T) {
	s := newSite(t, webtest.Options{})
	s.two("Wishes", "Staff")
	revision := s.two("Desires", "People")
	s.Get(ns+"/changes").Check(200).Contains("Jonas Weber imported 1 flag, 1 segment", "wish", "staff", "both")
	s.Get(at(revision)).Check(200).Contains("Flag Desires (Off) changed", "Segment People changed", `"Wishes" → , now "Desires"`, `"Staff" → , now "People"`, "Before and after")
	r := s.Get(linkTo(t, s.Get(ns+"/segments/staff/history").Check(200), "Undo this change")).Check(200)
	r.Contains("Undo revision 4 of staff", "The change had other objects, too.").Lacks("Desires")
	if got, want := linkTo(t, r, "Undo all of it"), undoOf(revision); got != want {
		t.Errorf("all of it is at %s, want %s", got, want)
	}
	if got, want := s.send(r, "apply").Location(), ns+"/segments/staff/history?saved=5"; got != want {
		t.Errorf("leads to %s, want %s", got, want)
	}
	s.wantName("Desires")
	s.confirm(undoOf(revision)).Location()
	s.wantName("Wishes")
}

// TestViewers: who may not edit sees what would happen, and no control.
func TestViewers(t *testing.T) {
	for name, options := range map[string]webtest.Options{"viewer": {}, "read-only": {ReadOnly: true}} {
		s := newSite(t, options)
		s.flag(by(""), guidon.Flag{Key: "wish", Name: "Wishes"})
		s.flag(by(""), guidon.Flag{Key: "wish", Name: "Latest"})
		if name == "viewer" {
			s.Server = s.As(s.SignIn(service.TokenInput{Name: "Olga", Role: service.RoleViewer}))
		}
		for _, address := range []string{at(3), ns + "/flags/wish/history", ns + "/flags/wish/history/2", undoOf(3), ns + "/flags/wish/history/2/restore"} {
			r := s.Get(address).Check(200).Contains("View only").Lacks("Undo this change", "Restore this state")
			for _, main := range r.All("main") {
				for n := range main.Descendants() {
					if n.Data == "button" && !webtest.Has(n, "data-copy") && webtest.Attribute(n, "form") != "stars" || n.Data == "form" || n.Data == "input" {
						t.Errorf("%s: %s has the control %s", name, address, n.Data)
					}
				}
			}
		}
		if name == "viewer" {
			s.Get(at(3)).Contains("Editing needs the role Edit in Default; you have View.")
			s.Post(undoOf(3), map[string][]string{"do": {"apply"}, "digest": {"x"}}).Check(403)
		}
		s.wantName("Latest")
	}
}

// TestUndoAway: if the database is away, the form is kept, and nothing is claimed.
func TestUndoAway(t *testing.T) {
	var fault error
	s := newSite(t, webtest.Options{Fault: func() error { return fault }})
	revision := s.flag(by(""), guidon.Flag{Key: "wish", Name: "Wishes"})
	r := s.Get(undoOf(revision)).Check(200)
	fault = guidon.Errorf(guidon.Unavailable, "the database is away")
	reply := s.send(r, "apply", "message", "try again").Check(503).Contains("It is not known whether this was saved")
	fault = nil
	if _, form := reply.Form(""); form.Get("message") != "try again" || form.Get("digest") == "" {
		t.Errorf("the form kept %v", form)
	}
	s.wantName("Wishes")
}

// TestUndoLarge: the page of an undo runs several operations, each of which takes much memory
// for a large flag. They do not add up, and the list of changes has no large objects.
func TestUndoLarge(t *testing.T) {
	s := newSite(t, webtest.Options{})
	text := strings.Repeat("x", 4<<20)
	s.flag(by(""), guidon.Flag{Key: "wish", Name: "Wishes", Description: text})
	revision := s.flag(by(""), guidon.Flag{Key: "wish", Name: "Many wishes", Description: text})
	s.Get(undoOf(revision)).Check(200).Contains("Undo revision 4", `"Many wishes" → "Wishes"`)
	s.Get(ns+"/changes").Check(200).Contains("Many wishes", "too large to describe")
	s.Get(ns+"/flags/wish/history").Check(200).Contains("Many wishes", "too large to describe")
	s.Get(at(revision)).Check(200).Contains("too large")
}

// TestUndoAsks: in a namespace that asks before changes, its key must be typed before
// anything is undone or restored.
func TestUndoAsks(t *testing.T) {
	s := newSite(t, webtest.Options{})
	revision := s.flag(by(""), guidon.Flag{Key: "wish", Name: "Wishes"})
	asks := true
	if _, _, err := s.Service.UpdateNamespace(t.Context(), service.Write{}, service.NamespaceInput{Key: "default", Name: "Default", ConfirmChanges: &asks}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ path, want string }{
		{undoOf(revision), "Wish list"},
		{"/namespaces/default/flags/wish/history/" + strconv.FormatInt(revision, 10) + "/restore", "Wishes"},
	} {
		r := s.Get(test.path).Check(200).Contains("Type default to change this namespace")
		for _, typed := range []string{"", "Default"} {
			s.send(r, "apply", "namespace", typed).Check(422).Contains("Type the key of the namespace: default.")
		}
		s.send(r, "apply", "namespace", "default").Location()
		s.wantName(test.want)
	}
}
