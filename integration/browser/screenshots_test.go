package browser

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/guidonhq/guidon/integration/harness/webtest"
)

var screenshots = flag.String("screenshots", "", "`directory` into which TestScreenshots writes pictures of all pages")

// TestScreenshots takes pictures of all pages, in light and dark colors, on large and small
// screens.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("run make screenshots")
	}
	if err := os.MkdirAll(*screenshots, 0o750); err != nil {
		t.Fatal(err)
	}
	all := visitors{shop: openShop(t)}
	for _, p := range pages {
		v := all.as(t, p.as)
		t.Run(p.name, func(t *testing.T) {
			for _, look := range []webtest.Look{webtest.Desktop, webtest.Desktop.InTheDark(), webtest.Phone, webtest.Phone.InTheDark()} {
				v.Resize(t, look)
				v.Visit(t, p.wanted().Path)
				file := filepath.Join(*screenshots, p.name+"-"+look.String()+".png")
				if err := os.WriteFile(file, v.Screenshot(t), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
