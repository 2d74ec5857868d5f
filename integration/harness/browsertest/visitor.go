package browsertest

import (
	"context"
	"net/url"
	"testing"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// Visitor is a user with a browser: cookies of their own, and a tab. It is not safe for
// concurrent use.
type Visitor struct {
	// Base is the address of the site, without a slash at the end. Requests must not leave
	// its origin.
	Base string

	ctx       context.Context // of the tab
	record    *record
	origin    string
	look      Look
	noScripts bool
}

// NewVisitor returns a visitor of the site at the address, who has not been there before.
// The test is skipped if there is no browser.
func NewVisitor(t testing.TB, base string) *Visitor {
	t.Helper()
	return open(t, startChromium(t), base, chromedp.WithNewBrowserContext())
}

// Tab returns the same visitor with another tab.
func (v *Visitor) Tab(t testing.TB) *Visitor {
	t.Helper()
	return open(t, v.ctx, v.Base)
}

// open opens a tab in a window of its own: pages in the background are not painted.
func open(t testing.TB, parent context.Context, base string, options ...chromedp.ContextOption) *Visitor {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	v := &Visitor{Base: base, origin: u.Scheme + "://" + u.Host}
	ctx, cancel := chromedp.NewContext(parent, append(options, chromedp.WithNewWindow(true))...)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // the tab lives as long as this context
		t.Fatal(err)
	}
	v.ctx = ctx
	v.record = newRecord(v)
	if err := chromedp.Listen(ctx, v.record.take); err != nil {
		t.Fatal(err)
	}
	Call(t, v, audits.Enable, cdp.Empty{})
	Call(t, v, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
	v.Resize(t, Desktop)
	return v
}

// Do runs actions of chromedp, which must succeed.
func (v *Visitor) Do(t testing.TB, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	for _, action := range actions {
		Get(t, v, action)
	}
}

// Get runs an action of chromedp, which must succeed, and returns its result.
func Get[T any](t testing.TB, v *Visitor, action chromedp.Action[T]) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, patience)
	defer cancel()
	result, err := chromedp.Run(ctx, action)
	if err != nil {
		t.Fatalf("%s: %v", v.location(), err)
	}
	return result
}

// Call runs a command of the DevTools protocol, which must succeed.
func Call[P, R any](t testing.TB, v *Visitor, command cdp.Command[P, R], params P) R {
	t.Helper()
	return Get(t, v, func(ctx context.Context, tab *chromedp.Target) (R, error) {
		return cdp.Call(ctx, tab, command, params)
	})
}

// Eval evaluates a JavaScript expression in the page, whose policy does not restrict it, and
// awaits its result.
func Eval[T any](t testing.TB, v *Visitor, expression string) T {
	t.Helper()
	return Get(t, v, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// location returns the address of the page for error messages.
func (v *Visitor) location() string {
	ctx, cancel := context.WithTimeout(v.ctx, patience)
	defer cancel()
	at, err := chromedp.Run(ctx, chromedp.Location())
	if err != nil {
		return "a page that does not answer"
	}
	return at
}

// WithoutScripts makes the pages that the visitor opens from now on run no scripts.
func (v *Visitor) WithoutScripts(t testing.TB) {
	t.Helper()
	v.scripts(t, false)
	v.noScripts = true
}

// WithScripts undoes WithoutScripts.
func (v *Visitor) WithScripts(t testing.TB) {
	t.Helper()
	v.scripts(t, true)
	v.noScripts = false
}

func (v *Visitor) scripts(t testing.TB, run bool) {
	t.Helper()
	Call(t, v, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !run})
}
