package browser

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"go.yaml.in/yaml/v3"

	"github.com/guidonhq/guidon/integration/harness"
)

// page is a row of the table of all pages.
type page struct {
	name  string // of the subtest, and of the pictures
	path  string // in which placeholders stand for keys; see names
	title string // without " · Guidon"
	texts []string
	as    role // who opens it; "" is an admin
	bare  bool // it has no navigation, and so no link past it
	// status is the status of the response; 0 is 200.
	status int
	// private means that viewers get 403.
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
	{name: "sign-in-return", path: "/sign-in?return_to=/namespaces/{ns}/flags", title: "Sign in", texts: []string{"You will return to the flags of default"}, as: guest, bare: true},
	{name: "signed-in", path: "/sign-in", title: "Signed in", texts: []string{"You are signed in", "Sign out"}, bare: true, asks: true},
	{name: "flags", path: "/namespaces/{ns}/flags", title: "Flags · Default", texts: []string{"Checkout redesign", "checkout-redesign", "1–26 of 26"}},
	{name: "flags-filtered", path: "/namespaces/{ns}/flags?q=checkout&type=boolean", title: "Flags · Default", texts: []string{"Guest checkout", "Clear filters"}},
	{name: "flags-none", path: "/namespaces/{ns}/flags?q=chekout", title: "Flags · Default", texts: []string{"No flag matches “chekout”"}},
	{name: "flags-mine", path: "/namespaces/{ns}/flags?mine=favorites", title: "Flags · Default", texts: []string{"Mine: Favorites", "You have no favorites here"}},
	{name: "flags-empty", path: "/namespaces/empty/flags", title: "Flags · Empty", texts: []string{"No flags in Empty yet"}},
	{name: "new-flag", path: "/namespaces/{ns}/new-flag", title: "New flag · Default", texts: []string{"Create flag"}, private: true},
	{name: "new-flag-variant", path: "/namespaces/{ns}/new-flag?type=variant&name=Gift", title: "New flag · Default", texts: []string{"Add variant"}, private: true},
	{name: "boolean", path: "/namespaces/{ns}/flags/{boolean}", title: "Dark mode · Default", texts: []string{"Everyone else", "25%"}},
	{name: "boolean-edit", path: "/namespaces/{ns}/flags/{boolean}?edit=2", title: "Dark mode · Default", texts: []string{"Everyone else"}},
	{name: "variant", path: "/namespaces/{ns}/flags/{variant}", title: "Checkout redesign · Default", texts: []string{"Everyone else", "one-page"}},
	{name: "variant-edit", path: "/namespaces/{ns}/flags/{variant}?edit=3", title: "Checkout redesign · Default", texts: []string{"Everyone else"}},
	{name: "variants", path: "/namespaces/{ns}/flags/{variant}/variants", title: "Checkout redesign · Default", texts: []string{"express"}},
	{name: "variants-edit", path: "/namespaces/{ns}/flags/{variant}/variants?edit=3", title: "Checkout redesign · Default", texts: []string{"express"}},
	{name: "namespaces-of-flag", path: "/namespaces/{ns}/flags/{boolean}/namespaces", title: "Dark mode · Default", texts: []string{"This namespace"}},
	{name: "details", path: "/namespaces/{ns}/flags/{boolean}/details", title: "Dark mode · Default"},
	{name: "turn-off", path: "/namespaces/{ns}/flags/{boolean}/turn-off", title: "Turn off · Default", texts: []string{"Turn off “Dark mode” for everyone?", "Keep it as it is"}, private: true},
	{name: "copy-flag", path: "/namespaces/{ns}/flags/{boolean}/copy", title: "Copy · Default", private: true},
	{name: "delete-flag", path: "/namespaces/{ns}/flags/{boolean}/delete", title: "Delete · Default", texts: []string{"Delete “Dark mode”?", "Keep it"}, private: true},
	{name: "flag-history", path: "/namespaces/{ns}/flags/{variant}/history", title: "History of Checkout redesign · Default"},
	{name: "evaluations", path: "/namespaces/{ns}/flags/{variant}/evaluations", title: "Evaluations of Checkout redesign · Default", texts: []string{"Answers", "24 hours"}},
	{name: "segments", path: "/namespaces/{ns}/segments", title: "Segments · Default", texts: []string{"Germany", "Loyal customers"}},
	{name: "segments-none", path: "/namespaces/{ns}/segments?q=nowhere", title: "Segments · Default", texts: []string{"nowhere"}},
	{name: "segments-empty", path: "/namespaces/empty/segments", title: "Segments · Empty"},
	{name: "segment", path: "/namespaces/{ns}/segments/{segment}", title: "Germany · Default", texts: []string{"country"}, asks: true},
	{name: "segment-unused", path: "/namespaces/staging/segments/testers", title: "Testers · Staging", texts: []string{"everyone"}, asks: true},
	{name: "new-segment", path: "/namespaces/{ns}/new-segment", title: "New segment · Default", asks: true},
	{name: "used-by", path: "/namespaces/{ns}/segments/{segment}/used-by", title: "Used by · Germany · Default", texts: []string{"Checkout redesign"}},
	{name: "delete-segment", path: "/namespaces/{ns}/segments/{segment}/delete", title: "Delete · Germany · Default"},
	{name: "delete-segment-unused", path: "/namespaces/staging/segments/testers/delete", title: "Delete · Testers · Staging"},
	{name: "segment-history", path: "/namespaces/{ns}/segments/{segment}/history", title: "History of Germany · Default"},
	{name: "changes", path: "/namespaces/{ns}/changes", title: "Changes · Default"},
	{name: "changes-of-all", path: "/changes", title: "Changes of all namespaces"},
	{name: "change", path: "/namespaces/{ns}/changes/2", title: "Revision 2 · Default"},
	{name: "undo", path: "/namespaces/{ns}/changes/2/undo", title: "Undo revision 2 · Default"},
	{name: "playground", path: "/namespaces/{ns}/playground?flag={variant}", title: "Playground · Default", texts: []string{"Evaluate"}, asks: true},
	{name: "code", path: "/namespaces/{ns}/flags/{variant}/code", title: "Code for Checkout redesign · Default"},
	{name: "compare", path: "/namespaces/{ns}/compare", title: "Compare · Default"},
	{name: "compare-staging", path: "/namespaces/{ns}/compare?from=staging", title: "Compare · Default", asks: true},
	{name: "unused", path: "/namespaces/{ns}/unused", title: "Unused flags · Default", texts: []string{"Wishlist", "Review was due on 2 Jan 2026", "Flags created in the last 30 days are new"}},
	{name: "import", path: "/namespaces/{ns}/import", title: "Import · Default", asks: true},
	{name: "export", path: "/namespaces/{ns}/export", title: "Export · Default"},
	{name: "namespace-settings", path: "/namespaces/{ns}/settings", title: "Settings · Default", texts: []string{"Settings of Default"}},
	{name: "profile", path: "/settings/profile", title: "Profile", texts: []string{"Appearance"}, asks: true},
	{name: "sessions", path: "/settings/sessions", title: "Sessions", asks: true},
	{name: "namespaces", path: "/settings/namespaces", title: "Namespaces", texts: []string{"Default", "Staging"}},
	{name: "new-namespace", path: "/settings/new-namespace", title: "New namespace", private: true},
	{name: "tokens", path: "/settings/tokens", title: "Static Tokens", private: true},
	{name: "new-token", path: "/settings/new-token", title: "New token", private: true},
	{name: "access", path: "/settings/access", title: "Access", private: true},
	{name: "new-binding", path: "/settings/new-binding", title: "Give a role", private: true},
	{name: "webhooks", path: "/settings/webhooks", title: "Webhooks", texts: []string{"No webhooks"}, private: true},
	{name: "new-webhook", path: "/settings/new-webhook", title: "New webhook", private: true},
	{name: "webhooks-of-namespace", path: "/namespaces/{ns}/webhooks", title: "Webhooks · Default", texts: []string{"No webhooks"}, private: true},
	{name: "new-webhook-of-namespace", path: "/namespaces/{ns}/new-webhook", title: "New webhook · Default", private: true},
	{name: "records", path: "/settings/records", title: "Records", texts: []string{"Who created and deleted tokens", "Token viewer created: View everywhere", "Token initial_bootstrap_token created: the role of tokens without one everywhere"}, private: true},
	{name: "records-roles", path: "/settings/records?kind=binding", title: "Records", texts: []string{"There are no records."}, private: true},
	{name: "records-webhooks", path: "/settings/records?kind=webhook", title: "Records", texts: []string{"There are no records."}, private: true},
	{name: "transfer", path: "/settings/transfer", title: "Import and export", asks: true},
	{name: "server", path: "/settings/server", title: "Server"},
	{name: "shortcuts", path: "/shortcuts", title: "Keys"},
	{name: "search", path: "/search?q=checkout", title: "Search", texts: []string{"Checkout redesign", "team-checkout"}},
	{name: "search-none", path: "/search?q=nowhere", title: "Search", texts: []string{"New flag “nowhere”"}},
	{name: "sign-in-cli", path: "/sign-in/cli" + grantRequest, title: "Allow the command line", texts: []string{"laptop", "Deny", "Allow sign-in"}, bare: true, asks: true},
}

// wanted returns what the page must be.
func (p page) wanted() wanted {
	return wanted{Path: p.at(names...), Title: p.title + " · Guidon", Texts: p.texts, Bare: p.bare, Status: p.status}
}

// at returns the path with names, which are placeholders and keys in turn.
func (p page) at(names ...string) string { return strings.NewReplacer(names...).Replace(p.path) }

// visitors are visitors of a shop by role, whom the subtests of a test share.
type visitors struct {
	shop   *shop
	byRole map[role]*visitor
}

// as returns the visitor with the role. t is the test, not the subtest: the visitor leaves
// when it ends.
func (v *visitors) as(t *testing.T, r role) *visitor {
	t.Helper()
	if r == "" {
		r = admin
	}
	if v.byRole[r] == nil {
		if v.byRole == nil {
			v.byRole = make(map[role]*visitor)
		}
		v.byRole[r] = v.shop.visitor(t, r)
	}
	return v.byRole[r]
}

// report reports findings as errors.
func report(t *testing.T, found []finding) {
	t.Helper()
	for _, f := range found {
		t.Error(f)
	}
}

// TestPages: every page passes every check of visitor.Audit, its links work, and its looks, of
// which each page tries one, do not depend on the order of the style sheet's files.
func TestPages(t *testing.T) {
	all := visitors{shop: openShop(t)}
	links, orders := make(map[string]bool), styleOrders(t)
	for i, p := range pages {
		v := all.as(t, p.as)
		t.Run(p.name, func(t *testing.T) {
			report(t, v.Audit(t, p.wanted()))
			report(t, v.BrokenLinks(t, links))
			v.Resize(t, []look{desktop, phone}[i%2])
			report(t, v.StyleOrder(t, orders))
		})
	}
}

// long returns a key of 255 characters, the most that there may be, without a place to break.
func long(first string) string { return first + strings.Repeat("m", 255-len(first)) }

// longNames maps placeholders in addresses to the keys that importLong creates.
var longNames = []string{"{ns}", long("n"), "{variant}", long("v"), "{boolean}", long("b"), "{segment}", long("g")}

// importLong makes a namespace with a flag of each type and a segment, whose keys and names
// have 255 characters.
func (s *shop) importLong(t *testing.T) {
	t.Helper()
	named := func(first string, more map[string]any) map[string]any {
		more["key"], more["name"], more["description"] = long(first), long(first), long(first)
		return more
	}
	both := []any{long("g"), long("h")}
	metadata := map[string]any{"owner": long("o"), "tags": []any{long("t")}, long("m"): long("m")}
	document, err := yaml.Marshal(map[string]any{
		"namespace": named("n", map[string]any{}),
		"flags": []any{
			named("v", map[string]any{
				"type": "VARIANT_FLAG_TYPE", "enabled": true, "metadata": metadata,
				"variants": []any{named("x", map[string]any{"default": true, "attachment": map[string]any{long("a"): long("a")}}), named("y", map[string]any{}), named("z", map[string]any{})},
				"rules": []any{
					map[string]any{"segment": map[string]any{"keys": both, "operator": "AND_SEGMENT_OPERATOR"}, "distributions": []any{map[string]any{"variant": long("x"), "rollout": 60}, map[string]any{"variant": long("y"), "rollout": 40}}},
					map[string]any{"segment": long("g"), "distributions": []any{map[string]any{"variant": long("y"), "rollout": 100}}},
				},
			}),
			named("b", map[string]any{
				"type": "BOOLEAN_FLAG_TYPE", "metadata": metadata,
				"rollouts": []any{map[string]any{"segment": map[string]any{"keys": both, "value": true}}, map[string]any{"threshold": map[string]any{"percentage": 25, "value": true}}},
			}),
			named("u", map[string]any{"type": "BOOLEAN_FLAG_TYPE", "enabled": true, "metadata": metadata}),
		},
		"segments": []any{
			named("g", map[string]any{"match_type": "ALL_MATCH_TYPE", "constraints": []any{
				map[string]any{"type": "STRING_COMPARISON_TYPE", "property": long("p"), "operator": "eq", "value": long("q")},
				map[string]any{"type": "STRING_COMPARISON_TYPE", "property": long("p"), "operator": "isoneof", "value": `["` + long("q") + `","` + long("r") + `"]`},
			}}),
			named("h", map[string]any{"match_type": "ANY_MATCH_TYPE"}),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	load := harness.Command(t, "", "import", "-", "--address", s.URL, "-m", long("m"))
	load.Env = append(load.Env, "GUIDON_TOKEN="+adminToken)
	load.Stdin = bytes.NewReader(document)
	harness.Ends(t, load, true, "")
	s.change(t, http.MethodPost, "/api/v1/webhooks", map[string]any{
		"namespaceKey": long("n"), "name": strings.Repeat("m", 100), "url": nowhere, "keys": []string{long("k")},
		"headers": map[string]string{long("h"): "x"},
	})
}

// TestLongNames: names and keys of 255 characters neither widen a page nor leave their place.
func TestLongNames(t *testing.T) {
	s := openShop(t)
	s.importLong(t)
	all := visitors{shop: s}
	for _, p := range pages {
		path := p.at(longNames...)
		if path == p.path { // it is about no object
			continue
		}
		v := all.as(t, p.as)
		t.Run(p.name, func(t *testing.T) {
			v.Resize(t, desktop)
			v.Visit(t, path)
			report(t, append(v.Overflow(t), v.Spills(t)...))
			v.Resize(t, phone)
			report(t, append(v.Overflow(t), v.Spills(t)...))
		})
	}
}

// TestBelowPath: pages are the same behind a proxy that serves them below a path.
func TestBelowPath(t *testing.T) { checkPages(t, openShopBelow(t, "/flags-ui")) }

// TestInstances: pages are the same from several servers on PostgreSQL, whichever answers.
func TestInstances(t *testing.T) { checkPages(t, openShopInstances(t)) }

// TestFunction: with FULL=1, pages are the same from the function for AWS Lambda as an API's
// default stage. [TestFunctionBelowStage] checks them with any other stage.
func TestFunction(t *testing.T) {
	if !harness.Full() {
		t.Skip("runs with FULL=1")
	}
	checkPages(t, openShopFunction(t, "$default"))
}

// TestFunctionBelowStage: the function may be below the stage of its API. Then all addresses
// are, those of links, assets and forms, and those to which it redirects.
func TestFunctionBelowStage(t *testing.T) {
	s := openShopFunction(t, "prod")
	all := visitors{shop: s}
	links := make(map[string]bool)
	for _, p := range pages {
		v := all.as(t, p.as)
		t.Run(p.name, func(t *testing.T) {
			report(t, v.Check(t, p.wanted()))
			report(t, v.BrokenLinks(t, links))
		})
	}
	v := all.as(t, admin)
	v.Visit(t, booleanPath+"?edit=2")
	retype(t, v, "rule-1-share", "37")
	awaitText(t, v, ".savebar", "1 unsaved change")
	if p := v.Follow(t, click(do("save"))); !strings.HasPrefix(p.URL, s.public+booleanPath+"?saved=") {
		t.Errorf("saving leads to %s", p.URL)
	}
	awaitText(t, v, ".rule:nth-child(2)", "37%")
	palette(t, v)
	v.Do(t, chromedp.KeyEvent("wishlist"))
	v.Await(t, "document.querySelector('dialog[open] [role=option]').dataset.href.endsWith('/flags/wishlist')")
	if p := v.Follow(t, chromedp.KeyEvent(kb.Enter)); p.URL != s.public+flagsPath+"/wishlist" {
		t.Errorf("the palette leads to %s", p.URL)
	}
	v.Visit(t, "/settings/profile")
	if p := v.Follow(t, click(named("button", "Sign out"))); p.URL != s.public+"/sign-in" {
		t.Errorf("signing out leads to %s", p.URL)
	}
	if p := v.Visit(t, flagsPath); !strings.HasPrefix(p.URL, s.public+"/sign-in?return_to=") {
		t.Errorf("without a session, the flags lead to %s", p.URL)
	}
}

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
	report(t, v.Audit(t, wanted{Path: "/sign-in", Title: "No sign-in needed · Guidon", Texts: []string{"You don’t need to sign in"}, Bare: true}))
	for _, p := range pages {
		if !strings.HasPrefix(p.path, "/sign-in") {
			t.Run(p.name, func(t *testing.T) { report(t, v.Check(t, p.wanted())) })
		}
	}
}

// TestViewer: viewers see no form with which they could change anything,
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
			if forms := eval[[]string](t, v, "[...document.querySelectorAll('main form[method=post]')].filter(f => [...f.elements].some(e => e.type === 'submit')).map(f => f.action)"); len(forms) > 0 && !p.asks {
				t.Errorf("a viewer can send %q", forms)
			}
		})
	}
}
