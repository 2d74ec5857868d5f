package browser

import (
	"strings"
	"testing"

	"github.com/guidonhq/guidon/integration/harness/webtest"
)

// page is a row of the table of all pages.
type page struct {
	name  string // of the subtest, and of the pictures
	path  string // in which placeholders stand for keys; see names
	title string // without " · Guidon"
	texts []string
	as    role // who opens it; "" is an admin
	bare  bool // it has no navigation, and so no link past it
	// private means that those who may only read get 403.
	private bool
	// asks means that it has a form that viewers may send, because it changes nothing that
	// others see.
	asks bool
}

// names are what placeholders stand for, in turn.
var names = []string{"{ns}", "default", "{variant}", "checkout-redesign", "{boolean}", "dark-mode", "{segment}", "germany"}

const grantRequest = "?challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&name=laptop&port=49152&state=state-1"

// pages is the table of all pages.
var pages = []page{
	{name: "sign-in", path: "/sign-in", title: "Sign in", texts: []string{"Sign in to Guidon", "Token", "Sign in with token"}, as: guest, bare: true},
	{name: "sign-in-return", path: "/sign-in?return_to=/namespaces/{ns}/flags", title: "Sign in", texts: []string{"Afterwards you return to /namespaces/default/flags"}, as: guest, bare: true},
	{name: "signed-in", path: "/sign-in", title: "Signed in", texts: []string{"You are signed in", "Sign out"}, bare: true, asks: true},
	{name: "sign-in-cli", path: "/sign-in/cli" + grantRequest, title: "Allow the command line", texts: []string{"laptop", "Deny", "Allow sign-in"}, bare: true, asks: true},
}

// wanted returns what the page must be.
func (p page) wanted() webtest.Wanted {
	return webtest.Wanted{Path: p.at(names...), Title: p.title + " · Guidon", Texts: p.texts, Bare: p.bare}
}

// at returns the path with names, which are placeholders and keys in turn.
func (p page) at(names ...string) string { return strings.NewReplacer(names...).Replace(p.path) }

// visitors are visitors of a shop by role, whom the subtests of a test share.
type visitors struct {
	shop   *shop
	byRole map[role]*webtest.Visitor
}

// as returns the visitor with the role. t is the test, not the subtest: the visitor leaves
// when it ends.
func (v *visitors) as(t *testing.T, r role) *webtest.Visitor {
	t.Helper()
	if r == "" {
		r = admin
	}
	if v.byRole[r] == nil {
		if v.byRole == nil {
			v.byRole = make(map[role]*webtest.Visitor)
		}
		v.byRole[r] = v.shop.visitor(t, r)
	}
	return v.byRole[r]
}

// report reports findings as errors.
func report(t *testing.T, found []webtest.Finding) {
	t.Helper()
	for _, f := range found {
		t.Error(f)
	}
}

// TestPages: every page passes every check of webtest, and its links lead to pages.
func TestPages(t *testing.T) {
	all := visitors{shop: openShop(t)}
	links := make(map[string]bool)
	for _, p := range pages {
		v := all.as(t, p.as)
		t.Run(p.name, func(t *testing.T) {
			report(t, v.Audit(t, p.wanted()))
			report(t, v.BrokenLinks(t, links))
		})
	}
}

// TestBelowPath: pages are the same behind a proxy that serves them below a path.
func TestBelowPath(t *testing.T) { checkPages(t, openShopBelow(t, "/flags-ui")) }

// TestInstances: pages are the same from several servers on PostgreSQL, whichever answers.
func TestInstances(t *testing.T) { checkPages(t, openShopInstances(t)) }

// TestFunction: pages are the same from the function for AWS Lambda.
func TestFunction(t *testing.T) { checkPages(t, openShopFunction(t)) }

// checkPages runs the checks that may depend on where the shop is.
func checkPages(t *testing.T, s *shop) {
	all := visitors{shop: s}
	for _, p := range pages {
		v := all.as(t, p.as)
		t.Run(p.name, func(t *testing.T) { report(t, v.Check(t, p.wanted())) })
	}
}

// TestOpen: without authentication, everybody sees all pages, and need not sign in.
func TestOpen(t *testing.T) {
	v := openShop(t, "GUIDON_AUTHENTICATION_REQUIRED=false").visitor(t, guest)
	report(t, v.Audit(t, webtest.Wanted{Path: "/sign-in", Title: "No sign-in needed · Guidon", Texts: []string{"You don’t need to sign in"}, Bare: true}))
	for _, p := range pages {
		if !strings.HasPrefix(p.path, "/sign-in") {
			t.Run(p.name, func(t *testing.T) { report(t, v.Check(t, p.wanted())) })
		}
	}
}

// TestViewer: those who may only read see no form with which they could change anything,
// and no link that leads them nowhere.
func TestViewer(t *testing.T) {
	v := openShop(t).visitor(t, viewer)
	links := make(map[string]bool)
	for _, p := range pages {
		if p.as != "" && p.as != viewer {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			if p.private {
				if got := v.Visit(t, p.wanted().Path); got.Status != 403 {
					t.Errorf("got status %d, want 403", got.Status)
				}
				return
			}
			w := p.wanted()
			w.Texts = nil // an admin may see more
			report(t, v.Check(t, w))
			report(t, v.BrokenLinks(t, links))
			if forms := webtest.Eval[[]string](t, v, "[...document.querySelectorAll('main form[method=post]')].map(f => f.action)"); len(forms) > 0 && !p.asks {
				t.Errorf("a viewer can send %q", forms)
			}
		})
	}
}
