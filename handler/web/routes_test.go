package web_test

import (
	"testing"

	"github.com/guidonhq/guidon/handler/web/webtest"
)

// TestStart: visitors come to the flags of the namespace that they visited last.
func TestStart(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	if got, want := s.Get("/").Location(), "/namespaces/default/flags"; got != want {
		t.Errorf("leads to %s, want %s", got, want)
	}
	if got, want := s.As("").Get("/").Location(), "/sign-in"; got != want {
		t.Errorf("a stranger is led to %s, want %s", got, want)
	}
	s.Get("/namespaces/none/flags/x/y/z").Check(404).Contains("no such page")
}
