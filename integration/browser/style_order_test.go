package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

// styleOrders returns the style sheet with its files in order, and in the opposite order after
// the one with the order of the layers.
func styleOrders(t *testing.T) [2]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(harness.ModuleDir(t), "handler/web/page/assets/styles/*.css"))
	if err != nil || len(files) < 2 {
		t.Fatalf("got the files %v, %v", files, err)
	}
	var parts []string
	for _, file := range files {
		css, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, string(css))
	}
	forward := strings.Join(parts, "\n")
	slices.Reverse(parts[1:])
	return [2]string{forward, strings.Join(parts, "\n")}
}

// StyleOrder returns the elements of the page that look otherwise if the files of the style
// sheet are in another order. The page keeps that.
func (v *visitor) StyleOrder(t testing.TB, orders [2]string) (found []finding) {
	t.Helper()
	sheets, err := json.Marshal(orders)
	if err != nil {
		t.Fatal(err)
	}
	changed := eval[[]string](t, v, `((sheets) => {
		document.querySelector('link[rel=stylesheet]').disabled = true;
		const elements = [...document.querySelectorAll('body *')];
		const looks = sheets.map(css => {
			const sheet = new CSSStyleSheet();
			sheet.replaceSync(css);
			document.adoptedStyleSheets = [sheet];
			scrollTo(0, 0);
			return elements.map(e => {
				const { x, y, width, height } = e.getBoundingClientRect();
				const { display, color, backgroundColor, borderTopColor, borderTopWidth, font, opacity, boxShadow, whiteSpace } = getComputedStyle(e);
				return [x, y, width, height, display, color, backgroundColor, borderTopColor, borderTopWidth, font, opacity, boxShadow, whiteSpace].join(' ');
			});
		});
		return elements.filter((_, i) => looks[0][i] !== looks[1][i]).map(e => e.cloneNode(false).outerHTML.slice(0, 100));
	})(`+string(sheets)+`)`)
	for _, element := range changed[:min(len(changed), 3)] {
		found = append(found, finding{"order", fmt.Sprintf("at %d px: %s looks otherwise if the style sheet's files are in another order", v.look.Width, element)})
	}
	return found
}
