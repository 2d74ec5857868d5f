package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// look is how a visitor looks at pages.
type look struct {
	Width int64 // in CSS pixels
	Dark  bool  // prefers dark colors
}

// The looks that the checks use.
var (
	desktop = look{Width: 1440}
	phone   = look{Width: 390}
	narrow  = look{Width: 320}
)

// InTheDark returns the look with dark colors.
func (l look) InTheDark() look {
	l.Dark = true
	return l
}

// String implements [fmt.Stringer].
func (l look) String() string { return fmt.Sprintf("%s-%d", l.theme(), l.Width) }

func (l look) theme() string {
	if l.Dark {
		return "dark"
	}
	return "light"
}

// Resize makes the visitor look at pages in another way, also at the one that is open.
// Pages are told that the visitor prefers no motion.
func (v *visitor) Resize(t testing.TB, look look) {
	t.Helper()
	call(t, v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: look.theme()},
		{Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	v.look = look
	v.resize(t, windowHeight)
}

// windowHeight is the height of the window of a visitor, in CSS pixels.
const windowHeight = 900

func (v *visitor) resize(t testing.TB, height int64) {
	t.Helper()
	call(t, v, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: v.look.Width, Height: height, DeviceScaleFactor: 1, ScrollbarType: emulation.SetDeviceMetricsOverrideScrollbarTypeOverlay,
	})
}

// Screenshot returns a picture of the whole page that is open, as PNG. What sticks to the
// lower edge of the window is at the end of the page.
func (v *visitor) Screenshot(t testing.TB) []byte {
	t.Helper()
	v.showAll(t)
	picture := get(t, v, chromedp.CaptureScreenshot())
	v.Resize(t, v.look)
	return picture
}

// showAll makes the window as high as the page, until the next Resize: what sticks to its edges
// covers nothing then.
func (v *visitor) showAll(t testing.TB) {
	t.Helper()
	v.settle(t)
	height := eval[int64](t, v, "Math.max(document.documentElement.scrollHeight, innerHeight)")
	v.resize(t, min(height, maxPicture))
	v.settle(t)
}

// maxPicture is the largest height of a picture; the browser cannot paint much more.
const maxPicture = 15000
