package browser

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// named selects the first element of a kind by its visible text, such as a button or a
// link. The text must not contain double quotes.
func named(tag, text string) chromedp.Search {
	return chromedp.Search(fmt.Sprintf(`//%s[normalize-space(.)="%s"]`, tag, text))
}

// Await waits until a JavaScript expression is true in the page, or in the one that
// follows it.
func (v *visitor) Await(t testing.TB, condition string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, patience)
	defer cancel()
	for {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`new Promise((resolve, reject) => {
			const check = async () => {
				try {
					if (`+condition+`) resolve(true);
					else requestAnimationFrame(check);
				} catch (error) { reject(error); }
			};
			check();
		})`, chromedp.EvalAwaitPromise))
		var wrong *chromedp.ExceptionError
		switch {
		case err == nil:
			return
		case ctx.Err() != nil:
			t.Fatalf("%s: this does not become true: %s", v.location(), condition)
		case errors.As(err, &wrong):
			t.Fatalf("%s: %v in %s", v.location(), err, condition)
		} // otherwise the page was left
	}
}
