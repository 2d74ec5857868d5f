//go:build linux

package docs

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/guidonhq/guidon/integration/harness"
)

// asBrowser is the name by which this program, in the shell of a page, opens a web page and
// prints its body.
const asBrowser = "browse"

// browse prints the body of the page at the URL, once it shows more than that it is loading.
func browse(url string) error {
	path, err := harness.LookChromium()
	if err != nil {
		return err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.Flag("headless", "new"), chromedp.NoSandbox, chromedp.DisableGPU)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	defer stop()
	ctx, closeTab := chromedp.NewContext(ctx)
	defer closeTab()
	if err := chromedp.Do(ctx, chromedp.Navigate(url)); err != nil {
		return err
	}
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`!document.body.innerText.includes("Loading")`)); err != nil {
		return err
	}
	body, err := chromedp.Run(ctx, chromedp.OuterHTML(chromedp.CSS("body")))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stdout, body)
	return err
}
