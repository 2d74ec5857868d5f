package browser

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/guidonhq/guidon/integration/harness"
)

// TestSentOnce: a form is sent once, however often its button is pressed.
func TestSentOnce(t *testing.T) {
	for name, as := range map[string]role{"authentication": admin, "no authentication": guest} {
		t.Run(name, func(t *testing.T) {
			var settings []string
			if as == guest {
				settings = []string{"GUIDON_AUTHENTICATION_REQUIRED=false"}
			}
			s := openShop(t, settings...)
			v := s.visitor(t, as)
			v.Visit(t, "/namespaces/default/new-flag")
			v.Do(t, fill(chromedp.ID("name"), "Once"))
			before := s.revision(t)
			p := v.Follow(t, doubleClick(css("button.primary")))
			posts := 0
			for _, r := range p.Requests {
				if strings.HasSuffix(r.URL, "/new-flag") {
					posts++
				}
			}
			if posts != 1 {
				t.Errorf("the form was sent %d times", posts)
			}
			s.savedOnce(t, before)
		})
	}
}

// unsent is the note about a form that was not sent.
const unsent = "[data-unsent][role=alert]"

var sendNow = named("button", "Send it now")

// TestUnsent: while the server does not say whether there is a session, the page says that the
// form was not sent. It is sent when the visitor wants it, or when the server answers, and once.
func TestUnsent(t *testing.T) {
	hold := make(chan struct{}, 1) // lets one question about the session pass
	hold <- struct{}{}
	server := harness.Start(t, harness.SQLiteURL(t), signInSettings...)
	proxy := proxyTo(t, server)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.URL.Path == "/sign-in" {
			select {
			case <-hold:
			case <-r.Context().Done():
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	s := stock(t, server, front.URL)
	v := s.visitor(t, admin)
	for name, goOn := range map[string]chromedp.Action[chromedp.Void]{
		"at once": click(sendNow),
		"when the server answers": chromedp.Func(func(context.Context, *chromedp.Target) error {
			hold <- struct{}{}
			return nil
		}),
	} {
		t.Run(name, func(t *testing.T) {
			v.Visit(t, booleanPath+"?edit=2")
			check := stays(t, v)
			retype(t, v, "rule-1-note", name)
			awaitText(t, v, ".savebar", "1 unsaved change")
			before := s.revision(t)
			v.Do(t, click(do("save")))
			awaitText(t, v, unsent, "This has not been sent yet.")
			check()
			report(t, v.Axe(t))
			v.Follow(t, goOn)
			awaitText(t, v, ".rule:nth-child(2)", name)
			s.savedOnce(t, before)
			quiet(t, v)
		})
	}
	t.Run("in a dialog", func(t *testing.T) {
		v.Visit(t, booleanPath)
		press(t, v, "t")
		awaitText(t, v, "dialog[open] h2", "Turn off")
		before := s.revision(t)
		v.Do(t, click(css("dialog button.danger")))
		v.Await(t, "document.querySelector('dialog "+unsent+"')")
		report(t, v.Axe(t))
		v.Follow(t, click(sendNow))
		s.savedOnce(t, before)
	})
}

// TestPrevented: a form that something else keeps from being sent does not fail in silence.
func TestPrevented(t *testing.T) {
	s := openShop(t, "GUIDON_AUTHENTICATION_REQUIRED=false")
	v := s.visitor(t, guest)
	v.Visit(t, "/settings/new-namespace")
	v.Do(t, fill(css("#name"), "Prevented"), fill(css("#key"), "prevented"))
	eval[chromedp.Void](t, v, `document.addEventListener('submit', window.prevent = event => {
		event.preventDefault();
		event.stopImmediatePropagation();
	}, true)`)
	v.Do(t, click(do("save")))
	awaitText(t, v, unsent, "This has not been sent yet.")
	v.Do(t, click(sendNow))
	v.Await(t, "!document.querySelector('[data-unsent]')") // it is tried again
	awaitText(t, v, unsent, "This has not been sent yet.")
	eval[chromedp.Void](t, v, "document.removeEventListener('submit', window.prevent, true)")
	v.Follow(t, click(sendNow))
	if got := s.revisionOf(t, "prevented"); got != 1 {
		t.Errorf("the namespace has revision %d", got)
	}
	quiet(t, v)
}

// TestServerGone: a form that cannot reach the server stays on its page, which says so, and is sent when
// the server is back.
func TestServerGone(t *testing.T) {
	var gone atomic.Int32 // 0, or the status with which a proxy says so, or 1 if nothing answers
	server := harness.Start(t, harness.SQLiteURL(t), signInSettings...)
	proxy := proxyTo(t, server)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch status := int(gone.Load()); status {
		case 0:
			proxy.ServeHTTP(w, r)
		case 1:
			panic(http.ErrAbortHandler)
		default:
			http.Error(w, "no server", status)
		}
	}))
	t.Cleanup(front.Close)
	s := stock(t, server, front.URL)
	v := s.visitor(t, admin)
	for _, test := range []struct {
		status int32
		button string // one leads to another page, the other does not
	}{{1, "save"}, {1, "done:1"}, {http.StatusBadGateway, "save"}, {http.StatusServiceUnavailable, "done:1"}} {
		v.Visit(t, booleanPath+"?edit=2")
		before := s.revision(t)
		retype(t, v, "rule-1-share", "40")
		awaitText(t, v, ".savebar", "1 unsaved change")
		gone.Store(test.status)
		v.Do(t, click(do(test.button)))
		awaitText(t, v, unsent, "This has not been sent yet.")
		eval[chromedp.Void](t, v, "document.querySelector('[data-unsent]').dataset.unsent = 'before'")
		v.Do(t, click(sendNow))
		awaitText(t, v, "[data-unsent=yes]", "This has not been sent yet.") // it was tried again
		gone.Store(0)
		if test.button == "save" {
			v.Follow(t, click(sendNow))
		} else {
			v.Do(t, click(sendNow))
			v.Await(t, "!document.querySelector('[data-unsent]')")
			v.Follow(t, click(do("save")))
		}
		s.savedOnce(t, before)
		v.Follow(t, click(css(".toast button")))
		v.Follow(t, click(css("#review button.primary")))
	}
}
