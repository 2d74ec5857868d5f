package browser

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Visitors press by real mouse and key events. A script that clicks a button or submits a form
// runs it at another moment of the browser's work, and so hides faults that people meet.

// click presses the left mouse button in the middle of the first visible element that the
// selector matches. It waits until that is what people hit there: the element, a part of it, or
// its label.
func click[S chromedp.Selectable](sel S) chromedp.Action[chromedp.Void] { return clickTimes(sel, 1) }

// doubleClick is Click with two presses in the same place.
func doubleClick[S chromedp.Selectable](sel S) chromedp.Action[chromedp.Void] {
	return clickTimes(sel, 2)
}

func clickTimes[S chromedp.Selectable](sel S, times int) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		x, y, err := aim(ctx, tab, sel)
		if err != nil {
			return err
		}
		steps := []chromedp.Action[chromedp.Void]{chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y)}
		for i := range times {
			steps = append(steps, chromedp.MouseClickXY(x, y, chromedp.ClickCount(i+1)))
		}
		return chromedp.Do(ctx, steps...)
	})
}

// reach moves the focus to an element by the key Tab, like a user without a mouse.
func reach(sel chromedp.CSS) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		for range maxTabs {
			isThere, err := chromedp.Evaluate[bool](fmt.Sprintf("document.activeElement.matches(%q)", sel))(ctx, tab)
			if err != nil || isThere {
				return err
			}
			if _, err := chromedp.KeyEvent(kb.Tab)(ctx, tab); err != nil {
				return err
			}
		}
		return fmt.Errorf("the key Tab does not reach %s", sel)
	})
}

// maxTabs is more than the controls of any page that visitors go through by Tab.
const maxTabs = 300

// target is the middle of an element in the window, and what covers it there, if anything.
type target struct {
	X, Y    float64
	Covered string
}

// findTarget returns the target of an element, which it scrolls into view.
const findTarget = `function(center) {
	if (center) this.scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'});
	else this.scrollIntoViewIfNeeded();
	const box = this.getClientRects()[0];
	if (!box) return {x: 0, y: 0, covered: 'nothing, for it is not shown'};
	const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
	const hit = document.elementFromPoint(x, y);
	const isHit = hit && (this.contains(hit) || hit.closest('label')?.control === this);
	return {x, y, covered: isHit ? '' : hit?.cloneNode(false).outerHTML ?? 'the edge of the window'};
}`

// aim returns the middle of an element once nothing covers it.
func aim[S chromedp.Selectable](ctx context.Context, tab *chromedp.Target, sel S) (x, y float64, err error) {
	last := errors.New("it is not there")
	for attempt := 0; ; attempt++ {
		found, err := chromedp.QueryAfter(sel, func(ctx context.Context, tab *chromedp.Target, nodes []*chromedp.Node) (target, error) {
			return callOn[target](ctx, tab, nodes[0], findTarget, attempt > 0)
		}, chromedp.NodeVisible)(ctx, tab)
		switch {
		case ctx.Err() != nil:
			return 0, 0, fmt.Errorf("%v cannot be pressed: %w", sel, last)
		case err != nil:
			last = err
		case found.Covered != "":
			last = errors.New("what is there is " + found.Covered)
		default:
			return found.X, found.Y, nil
		}
		// The next frame may have it, or no longer what covers it. There is none if the page was left.
		_, _ = chromedp.Evaluate[float64](`new Promise(requestAnimationFrame)`, chromedp.EvalAwaitPromise)(ctx, tab)
	}
}

// callOn calls a JavaScript function whose this is the node.
func callOn[T any](ctx context.Context, tab *chromedp.Target, node *chromedp.Node, function string, args ...any) (none T, err error) {
	resolved, err := cdp.Call(ctx, tab, dom.ResolveNode, dom.ResolveNodeParams{NodeID: node.NodeID})
	if err != nil {
		return none, err
	}
	return chromedp.CallFunctionOn[T](function, func(p *runtime.CallFunctionOnParams) { p.ObjectID = resolved.Object.ObjectID }, args...)(ctx, tab)
}

// fill replaces the text of a field like a user who pastes it. A date is typed.
func fill[S chromedp.Selectable](sel S, text string) chromedp.Action[chromedp.Void] {
	return chromedp.QueryAfter(sel, func(ctx context.Context, tab *chromedp.Target, nodes []*chromedp.Node) (none chromedp.Void, err error) {
		kind, err := callOn[string](ctx, tab, nodes[0], "function() { this.focus(); this.select(); return this.type; }")
		switch {
		case err != nil:
			return none, err
		case kind == "date":
			year, day, _ := strings.Cut(text, "-")
			return chromedp.KeyEvent(strings.ReplaceAll(day, "-", "")+year)(ctx, tab)
		case text == "":
			return chromedp.KeyEvent(kb.Delete)(ctx, tab)
		}
		_, err = cdp.Call(ctx, tab, input.InsertText, input.InsertTextParams{Text: text})
		return none, err
	}, chromedp.NodeVisible)
}

// paste replaces the text of a field from the clipboard, which is faster than fill for a long text.
func paste[S chromedp.Selectable](sel S, text string) chromedp.Action[chromedp.Void] {
	return chromedp.QueryAfter(sel, func(ctx context.Context, tab *chromedp.Target, nodes []*chromedp.Node) (none chromedp.Void, err error) {
		if _, err = callOn[int](ctx, tab, nodes[0], `function(text) {
			window.clip = document.body.appendChild(document.createElement("textarea"));
			window.clip.value = text;
			window.clip.select();
			return 0;
		}`, text); err != nil {
			return none, err
		}
		if err = pressFor(ctx, tab, "copy"); err != nil {
			return none, err
		}
		if _, err = callOn[int](ctx, tab, nodes[0], "function() { window.clip.remove(); this.select(); return 0; }"); err != nil {
			return none, err
		}
		return none, pressFor(ctx, tab, "paste")
	}, chromedp.NodeVisible)
}

// pressFor presses a key that has the browser do something with what is selected.
func pressFor(ctx context.Context, tab *chromedp.Target, name string) error {
	_, err := cdp.Call(ctx, tab, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Commands: []string{name}})
	return err
}

// choose opens a list of options and chooses the one with the value, by keys.
func choose[S chromedp.Selectable](sel S, value string) chromedp.Action[chromedp.Void] {
	return chromedp.QueryAfter(sel, func(ctx context.Context, tab *chromedp.Target, nodes []*chromedp.Node) (none chromedp.Void, err error) {
		steps, err := callOn[int](ctx, tab, nodes[0], `function(value) {
			const to = [...this.options].findIndex(o => o.value === value);
			if (to < 0) throw new Error('there is no option ' + value);
			this.focus();
			return to - this.selectedIndex;
		}`, value)
		if err != nil || steps == 0 {
			return none, err
		}
		keys := " " // opens it
		for ; steps > 0; steps-- {
			keys += kb.ArrowDown
		}
		for ; steps < 0; steps++ {
			keys += kb.ArrowUp
		}
		return chromedp.KeyEvent(keys+kb.Enter)(ctx, tab)
	}, chromedp.NodeVisible)
}
