package browser

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// Visit opens the page at a path below Base, and returns it when it is complete. What the
// page before does when it is left is no part of it.
func (v *visitor) Visit(t testing.TB, path string) *openedPage {
	t.Helper()
	if strings.Contains(path, "#") { // otherwise the page might be the one that is open
		v.Do(t, chromedp.Navigate("about:blank"))
	}
	return v.arrive(t, true, chromedp.Navigate(v.Base+path))
}

// Follow runs actions that open another page, such as a click on a link, and returns
// that page when it is complete. Messages of the page before are among those of the page.
func (v *visitor) Follow(t testing.TB, actions ...chromedp.Action[chromedp.Void]) *openedPage {
	t.Helper()
	return v.arrive(t, false, actions...)
}

// arrive runs the actions. anew means that messages of the page before are forgotten.
func (v *visitor) arrive(t testing.TB, anew bool, actions ...chromedp.Action[chromedp.Void]) *openedPage {
	t.Helper()
	v.load(t, anew, actions...)
	p := v.Page(t)
	if p.Status == 0 {
		t.Fatalf("%s: there is no response", p.URL)
	}
	return p
}

// load runs the actions, and waits until the page to which they lead is loaded.
func (v *visitor) load(t testing.TB, anew bool, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	v.record.begin(anew)
	get(t, v, func(ctx context.Context, _ *chromedp.Target) (*network.Response, error) {
		return chromedp.RunResponse(ctx, actions...)
	})
	v.record.awaitRequests(t)
}

// openedPage waits until the page that is open has nothing left to do, and returns it with all
// that has happened since it was opened.
func (v *visitor) Page(t testing.TB) *openedPage {
	t.Helper()
	if v.noScripts { // what waits is a script; those of the page are gone
		v.scripts(t, true)
		defer v.scripts(t, false)
	}
	v.settle(t)
	v.record.awaitRequests(t) // of what has happened since
	shifts := eval[[]shift](t, v, layoutShifts)
	p, id := v.record.copy()
	if !v.noScripts { // otherwise what depends on scripts has just appeared
		p.Shifts = shifts
	}
	if id != "" && p.Status != 0 && p.Status != http.StatusNoContent {
		body := call(t, v, network.GetResponseBody, network.GetResponseBodyParams{RequestID: id})
		p.HTML = string(body.Body)
	}
	return p
}

// settle waits until fonts are loaded, animations have ended, and all is painted.
func (v *visitor) settle(t testing.TB) {
	t.Helper()
	eval[chromedp.Void](t, v, `(async () => {
		const frame = () => new Promise(requestAnimationFrame);
		await document.fonts.ready;
		await frame();
		const ends = a => a.effect && a.effect.getComputedTiming().endTime !== Infinity;
		await Promise.allSettled(document.getAnimations().filter(ends).map(a => a.finished));
		await frame();
	})()`)
}

// layoutShifts returns the shifts of the layout since the page was opened. The browser
// reports those of the past in a task of its own, so it waits for two frames.
const layoutShifts = `new Promise(resolve => {
	const shifts = [];
	const describe = n => n && n.nodeType === 1 ? n.localName + (n.id && '#' + n.id) + (n.className && '.' + n.className) : 'text';
	const take = entries => {
		for (const e of entries) {
			if (!e.hadRecentInput) shifts.push({value: e.value, nodes: e.sources.map(s => describe(s.node)).join(', ')});
		}
	};
	const observer = new PerformanceObserver(list => take(list.getEntries()));
	observer.observe({type: 'layout-shift', buffered: true});
	requestAnimationFrame(() => requestAnimationFrame(() => {
		take(observer.takeRecords());
		resolve(shifts);
	}));
})`
