package browser

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
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
			takePictures(t, v, p.name, func() { v.Visit(t, p.wanted().Path) })
		})
	}
	v := all.as(t, admin)
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			v.Resize(t, desktop)
			v.Visit(t, state.path)
			state.reach(t, all.shop, v)
			takePictures(t, v, state.name, func() {})
		})
	}
}

// takePictures takes the pictures of a page, which open opens for each look.
func takePictures(t *testing.T, v *visitor, name string, open func()) {
	t.Helper()
	for _, look := range []look{desktop, desktop.InTheDark(), phone, phone.InTheDark()} {
		v.Resize(t, look)
		open()
		file := filepath.Join(*screenshots, name+"-"+look.String()+".png")
		if err := os.WriteFile(file, v.Screenshot(t), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
