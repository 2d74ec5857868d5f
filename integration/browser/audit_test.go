package browser

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// wanted has the properties that a page must have.
type wanted struct {
	Path   string
	Status int      // 0 is 200
	Title  string   // the whole title
	Texts  []string // all of them must be visible in <main>
	Bare   bool     // the page has no navigation, and so no link past it
}

// Audit opens a page as different visitors would, and returns what is wrong with it: on a
// large and a small screen, in light and dark colors, and without scripts. It leaves the
// visitor at the page on a large screen.
func (v *visitor) Audit(t testing.TB, w wanted) (found []finding) {
	t.Helper()
	v.Resize(t, phone.InTheDark())
	found = append(found, v.Check(t, w)...)
	v.Resize(t, narrow)
	found = append(found, slices.Concat(v.Overflow(t), v.Spills(t))...)

	v.Resize(t, desktop)
	v.WithoutScripts(t)
	found = append(found, v.Check(t, w)...)
	plain := v.contents(t)
	for _, text := range eval[[]string](t, v, "[...document.querySelectorAll('button[type=button]')].filter(e => e.checkVisibility()).map("+describe+")") {
		found = append(found, finding{"dead without scripts", text})
	}
	v.WithScripts(t)

	found = append(found, v.Check(t, w)...)
	found = append(found, missing(v.contents(t), plain)...)
	found = append(found, slices.Concat(v.Axe(t), v.Covered(t))...)
	v.Resize(t, phone)
	found = append(found, slices.Concat(v.Axe(t), v.Covered(t))...)
	v.Resize(t, phone.InTheDark())
	found = append(found, v.AxeColors(t)...)
	v.Resize(t, desktop.InTheDark())
	found = append(found, v.AxeColors(t)...)
	v.Resize(t, desktop)
	return compact(found)
}

// compact removes repeated findings.
func compact(found []finding) []finding {
	slices.SortFunc(found, func(a, b finding) int {
		return cmp.Or(strings.Compare(a.Check, b.Check), strings.Compare(a.Detail, b.Detail))
	})
	return slices.Compact(found)
}

// Check opens the page as the visitor looks at pages now, and returns what is wrong with
// it.
func (v *visitor) Check(t testing.TB, w wanted) []finding {
	t.Helper()
	p := v.Visit(t, w.Path)
	return slices.Concat(p.Findings(v.origin), markup(p.HTML, !w.Bare), v.outside(t, p), v.compare(t, p, w))
}

// compare compares a page that is open with what it must be.
func (v *visitor) compare(t testing.TB, p *openedPage, w wanted) (found []finding) {
	t.Helper()
	if want := cmp.Or(w.Status, http.StatusOK); p.Status != want {
		found = append(found, finding{"status", fmt.Sprintf("%s has status %d, want %d", p.URL, p.Status, want)})
	}
	if got := eval[string](t, v, "document.title"); got != w.Title {
		found = append(found, finding{"title", fmt.Sprintf("got %q, want %q", got, w.Title)})
	}
	main := v.Main(t)
	for _, text := range w.Texts {
		if !strings.Contains(main, text) {
			found = append(found, finding{"text", fmt.Sprintf("%q is missing in %q", text, main)})
		}
	}
	return found
}

// Main returns the text that is visible in <main>, with single spaces.
func (v *visitor) Main(t testing.TB) string {
	t.Helper()
	return strings.Join(strings.Fields(eval[string](t, v, "document.querySelector('main')?.innerText ?? ''")), " ")
}

// contents returns the texts of the headings, cells, labels and descriptions that are
// visible in <main>. Times are left out: they depend on when they are read.
func (v *visitor) contents(t testing.TB) []string {
	t.Helper()
	return eval[[]string](t, v, `[...document.querySelectorAll('main :is(h1, h2, h3, td, th, dt, dd, label, legend, caption)')]
		.filter(e => e.checkVisibility() && !e.querySelector('time'))
		.map(e => e.innerText.replace(/\s+/g, ' ').trim())`)
}

// missing returns what is part of a page only if scripts run.
func missing(with, without []string) (found []finding) {
	for _, text := range with {
		if !slices.Contains(without, text) {
			found = append(found, finding{"no scripts", fmt.Sprintf("%q is missing", text)})
		}
	}
	return found
}

// Overflow returns a finding if the page must be scrolled sideways.
func (v *visitor) Overflow(t testing.TB) []finding {
	t.Helper()
	v.settle(t)
	wide := eval[[]string](t, v, `(() => {
		const width = document.documentElement.clientWidth;
		if (Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) <= width) return [];
		return [...document.body.querySelectorAll('*')].filter(e => e.getBoundingClientRect().right > width + 0.5)
			.slice(0, 5).map(e => e.cloneNode(false).outerHTML).concat('scrollWidth ' + document.documentElement.scrollWidth);
	})()`)
	if len(wide) == 0 {
		return nil
	}
	return []finding{{"overflow", fmt.Sprintf("at %d px: %s", v.look.Width, strings.Join(wide, ", "))}}
}

// Covered returns the controls in <main> that a mouse does not reach in their middle, because
// something else lies over them.
func (v *visitor) Covered(t testing.TB) (found []finding) {
	t.Helper()
	for _, text := range eval[[]string](t, v, `[...document.querySelectorAll('main :is(a[href], button, summary, input, select, textarea)')]
		.filter(e => {
			const visible = e.checkVisibility({visibilityProperty: true}) && e.getBoundingClientRect().width > 1;
			if (!visible || !e.checkVisibility({opacityProperty: true}) || e.matches('.vh')) return false;
			e.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
			const {left, top, width, height} = e.getClientRects()[0];
			const hit = document.elementFromPoint(left + width / 2, top + height / 2);
			return hit && !e.contains(hit) && ![...(e.labels ?? [])].some(l => l.contains(hit));
		})
		.map(e => `+describe+`(e))`) {
		found = append(found, finding{"covered", text})
	}
	eval[bool](t, v, "(scrollTo(0, 0), true)")
	return found
}

// Spills returns the texts that leave one of the boxes in which they are on the right, and so
// are over what is beside it, or out of sight.
func (v *visitor) Spills(t testing.TB) (found []finding) {
	t.Helper()
	texts := eval[[]string](t, v, `(() => {
		const spills = [];
		const range = document.createRange();
		const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		for (let text; (text = walker.nextNode());) {
			if (!text.data.trim() || !text.parentElement.checkVisibility() || text.parentElement.closest('svg, .vh, select, textarea, datalist')) continue;
			range.selectNodeContents(text);
			const right = Math.max(...[...range.getClientRects()].map(r => r.right));
			for (let box = text.parentElement; box; box = box.parentElement) {
				const style = getComputedStyle(box);
				if (style.overflowX !== 'visible') break;
				const beyond = right - box.getBoundingClientRect().right;
				if (beyond > 1 && !['inline', 'contents'].includes(style.display)) {
					spills.push(text.data.trim().slice(0, 20) + ' by ' + beyond + ' px in ' + box.cloneNode(false).outerHTML.slice(0, 100));
					break;
				}
			}
		}
		return spills;
	})()`)
	for _, text := range texts[:min(len(texts), 5)] {
		found = append(found, finding{"spill", fmt.Sprintf("at %d px: %s", v.look.Width, text)})
	}
	return found
}
