package browser

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

// visitor is a user with a browser: cookies of their own, and a tab. It is not safe for
// concurrent use.
type visitor struct {
	// Base is the address of the site, without a slash at the end. Requests must not leave
	// its origin.
	Base string

	ctx       context.Context // of the tab
	record    *record
	origin    string
	look      look
	noScripts bool
}

// newVisitor returns a visitor of the site at the address, who has not been there before.
// The test is skipped if there is no browser.
func newVisitor(t testing.TB, base string) *visitor {
	t.Helper()
	return open(t, startChromium(t), base, chromedp.WithNewBrowserContext())
}

// Tab returns the same visitor with another tab.
func (v *visitor) Tab(t testing.TB) *visitor {
	t.Helper()
	return open(t, v.ctx, v.Base)
}

// open opens a tab in a window of its own: pages in the background are not painted.
func open(t testing.TB, parent context.Context, base string, options ...chromedp.ContextOption) *visitor {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{Base: base, origin: u.Scheme + "://" + u.Host}
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
	call(t, v, audits.Enable, cdp.Empty{})
	call(t, v, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
	v.Resize(t, desktop)
	return v
}

// Do runs actions of chromedp, which must succeed.
func (v *visitor) Do(t testing.TB, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	for _, action := range actions {
		get(t, v, action)
	}
}

// get runs an action of chromedp, which must succeed, and returns its result.
func get[T any](t testing.TB, v *visitor, action chromedp.Action[T]) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, patience)
	defer cancel()
	result, err := chromedp.Run(ctx, action)
	if err != nil {
		t.Fatalf("%s: %v", v.location(), err)
	}
	return result
}

// call runs a command of the DevTools protocol, which must succeed.
func call[P, R any](t testing.TB, v *visitor, command cdp.Command[P, R], params P) R {
	t.Helper()
	return get(t, v, func(ctx context.Context, tab *chromedp.Target) (R, error) {
		return cdp.Call(ctx, tab, command, params)
	})
}

// eval evaluates a JavaScript expression in the page, whose policy does not restrict it, and
// awaits its result.
func eval[T any](t testing.TB, v *visitor, expression string) T {
	t.Helper()
	return get(t, v, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// location returns the address of the page for error messages.
func (v *visitor) location() string {
	ctx, cancel := context.WithTimeout(v.ctx, patience)
	defer cancel()
	at, err := chromedp.Run(ctx, chromedp.Location())
	if err != nil {
		return "a page that does not answer"
	}
	return at
}

// WithoutScripts makes the pages that the visitor opens from now on run no scripts.
func (v *visitor) WithoutScripts(t testing.TB) {
	t.Helper()
	v.scripts(t, false)
	v.noScripts = true
}

// WithScripts undoes WithoutScripts.
func (v *visitor) WithScripts(t testing.TB) {
	t.Helper()
	v.scripts(t, true)
	v.noScripts = false
}

func (v *visitor) scripts(t testing.TB, run bool) {
	t.Helper()
	call(t, v, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !run})
}
