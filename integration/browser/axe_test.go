package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/guidonhq/guidon/integration/harness"
)

// axe is the source of axe-core, the accessibility checker.
var axe struct {
	once sync.Once
	text string
}

// installAxe installs axe-core for the first test that needs it. The test is skipped if it
// cannot be had.
func installAxe(t testing.TB) string {
	t.Helper()
	axe.once.Do(func() {
		dir := filepath.Join(harness.ModuleDir(t), "integration", "browser", "node")
		harness.InstallNode(t, dir)
		text, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js")) // #nosec G304 -- our own
		if err != nil {
			t.Fatal(err)
		}
		axe.text = string(text)
	})
	if axe.text == "" {
		harness.Skip(t, "axe-core is not installed")
	}
	return axe.text
}

// The rules of axe-core: those of WCAG 2.2 AA with the best practices, and those of them that
// depend on colors.
const (
	allRules   = `['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']`
	colorRules = `{type: 'rule', values: ['color-contrast', 'link-in-text-block']}`
)

// runAxe runs rules and returns the violations. The page has no frames and its style sheets
// are read as they apply, so axe-core need not load anything.
const runAxe = `axe.run(document, {
	runOnly: %s, resultTypes: ['violations'], preload: false, iframes: false,
}).then(result => result.violations.map(v => ({
	rule: v.id, help: v.help, nodes: v.nodes.map(n => n.target.join(' ') + ' ' + n.html + ' ' + n.any.concat(n.all, n.none).map(c => c.message).join('; ')),
})))`

// Axe checks the accessibility of the open page in its current state. Its window is as high as
// the page then: a target that a sticky bar half covers can be scrolled.
func (v *visitor) Axe(t testing.TB) []finding {
	t.Helper()
	return v.runAxe(t, allRules)
}

// AxeColors is Axe for a look that differs from one that was checked in its colors alone.
func (v *visitor) AxeColors(t testing.TB) []finding {
	t.Helper()
	return v.runAxe(t, colorRules)
}

func (v *visitor) runAxe(t testing.TB, rules string) (found []finding) {
	t.Helper()
	v.showAll(t)
	defer v.resize(t, windowHeight)
	source := installAxe(t)
	if !eval[bool](t, v, "typeof axe === 'object'") {
		get(t, v, chromedp.Evaluate[chromedp.Void](source))
	}
	type violation struct {
		Rule, Help string
		Nodes      []string
	}
	for _, r := range eval[[]violation](t, v, fmt.Sprintf(runAxe, rules)) {
		found = append(found, finding{"axe", fmt.Sprintf("%s (%s): %s\n\t%s", r.Rule, v.look, r.Help, strings.Join(r.Nodes, "\n\t"))})
	}
	return found
}
