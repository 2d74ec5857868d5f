package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/guidonhq/guidon/integration/harness"
)

// patience limits every wait for a page. It is reached only if something is broken.
const patience = 20 * time.Second

// chromium is the browser that the tests of a package share.
var chromium struct {
	once sync.Once
	err  error
	tab  context.Context // its first tab, which stays empty
	dir  string          // profile and home directory
}

// errNotInstalled is the error without a browser.
var errNotInstalled = errors.New("chromium is not installed")

func TestMain(m *testing.M) {
	code := harness.Run(m)
	if err := endChromium(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// startChromium starts the browser unless it runs already, and returns the context of its
// first tab. The test is skipped if it is not installed.
func startChromium(t testing.TB) context.Context {
	t.Helper()
	chromium.once.Do(func() { chromium.err = launchChromium() })
	if errors.Is(chromium.err, errNotInstalled) {
		harness.Skip(t, "%v", chromium.err)
	}
	if chromium.err != nil {
		t.Fatal(chromium.err)
	}
	return chromium.tab
}

func launchChromium() error {
	path, err := harness.LookChromium()
	if err != nil {
		return errNotInstalled
	}
	if chromium.dir, err = os.MkdirTemp("", "guidon-chromium-"); err != nil {
		return err
	}
	// The allocator's defaults turn off most of what is not the page's doing.
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(chromium.dir), chromedp.Env("HOME="+chromium.dir),
		chromedp.Flag("headless", "new"), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
	)
	allocator, _ := chromedp.NewExecAllocator(context.Background(), options...)
	chromium.tab, _ = chromedp.NewContext(allocator) // endChromium cancels both
	if err := chromedp.Do(chromium.tab); err != nil {
		return fmt.Errorf("starting chromium: %w", err)
	}
	return nil
}

// endChromium closes the browser, if it was started.
func endChromium() error {
	if chromium.dir == "" {
		return nil
	}
	var errs []error
	if chromium.tab != nil {
		ctx, cancel := context.WithTimeout(chromium.tab, patience)
		defer cancel()
		errs = append(errs, chromedp.Cancel(ctx))
	}
	return errors.Join(append(errs, os.RemoveAll(chromium.dir))...)
}
