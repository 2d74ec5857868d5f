package changes_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

const ns = "/namespaces/default"

// jonas is somebody else than the visitor.
var jonas = service.Caller{Actor: change.Actor{ID: "oidc:google:jonas", Name: "Jonas Weber", Method: "METHOD_OIDC"}}

// by returns a write of Jonas with a message, which may be empty.
func by(message string) service.Write { return service.Write{By: jonas, Message: message} }

// site is a server with a few flags of its own.
type site struct {
	*webtest.Server
	t testing.TB
}

// newSite returns a server whose namespace has the flag wish, in revision 2, that is called
// "Wish list" and off.
func newSite(t testing.TB, options webtest.Options) *site {
	t.Helper()
	options.Empty = true
	s := &site{webtest.New(t, options), t}
	if got := s.flag(by("first"), guidon.Flag{Key: "wish", Name: "Wish list", Type: guidon.BooleanFlag}); got != 2 {
		t.Fatalf("the flag is from revision %d, want 2", got)
	}
	return s
}

// flag creates or updates a flag, and returns the revision.
func (s *site) flag(w service.Write, in guidon.Flag) int64 {
	s.t.Helper()
	_, revision, err := s.Service.UpdateFlag(s.t.Context(), w, "default", in)
	if guidon.CodeOf(err) == guidon.NotFound {
		_, revision, err = s.Service.CreateFlag(s.t.Context(), w, "default", in)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return revision
}

func (s *site) deleteFlag(key string) int64 {
	s.t.Helper()
	revision, err := s.Service.DeleteFlag(s.t.Context(), by(""), "default", key)
	if err != nil {
		s.t.Fatal(err)
	}
	return revision
}

// stored returns the flag as it is now, or nil.
func (s *site) stored(key string) *guidon.Flag {
	s.t.Helper()
	view, err := s.Service.View(s.t.Context(), "default", service.Demand{})
	if err != nil {
		s.t.Fatal(err)
	}
	return view.Snapshot.Flag(key)
}

// wantName checks the name of the flag wish; "" means no flag.
func (s *site) wantName(want string) {
	s.t.Helper()
	got := ""
	if f := s.stored("wish"); f != nil {
		got = f.Name
	}
	if got != want {
		s.t.Errorf("the flag has the name %q, want %q", got, want)
	}
}

// confirm gets a review and confirms it after set has changed the form.
func (s *site) confirm(target string, set ...string) *webtest.Reply {
	s.t.Helper()
	return s.send(s.Get(target).Check(200), "apply", set...)
}

// send sends the form of a review with the button. set are names and values of fields.
func (s *site) send(review *webtest.Reply, button string, set ...string) *webtest.Reply {
	s.t.Helper()
	action, form := review.Form("review")
	form.Set("do", button)
	for i := 0; i < len(set); i += 2 {
		form.Set(set[i], set[i+1])
	}
	return s.Post(action, form)
}

func undoOf(revision int64) string { return at(revision) + "/undo" }

func at(revision int64) string { return ns + "/changes/" + strconv.FormatInt(revision, 10) }

// query returns the address of the list with a filter.
func query(pairs ...string) string {
	values := make(url.Values)
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return ns + "/changes?" + values.Encode()
}

// linkTo returns the address of the first link whose text contains the text.
func linkTo(t testing.TB, r *webtest.Reply, text string) string {
	t.Helper()
	for _, a := range r.All("a") {
		if strings.Contains(webtest.TextOf(a), text) {
			return webtest.Attribute(a, "href")
		}
	}
	t.Fatalf("there is no link %q: %s", text, r.Text())
	return ""
}

// hasLink reports whether there is a link whose text contains the text.
func hasLink(r *webtest.Reply, text string) bool {
	for _, a := range r.All("a") {
		if strings.Contains(webtest.TextOf(a), text) {
			return true
		}
	}
	return false
}
