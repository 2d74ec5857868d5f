package config_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/cmd/internal/config"
)

// TestUI: the web interface is on by default, and every key of it can be set.
func TestUI(t *testing.T) {
	for _, test := range []struct {
		name, file string
		variables  []string
		want       config.UI
	}{
		{"nothing", "", nil, config.UI{Enabled: true, DefaultTheme: "system"}},
		{"a file", `
ui:
  enabled: false
  default_theme: dark
  topbar: {color: "#1A2b3c", label: Production EU}
  default_namespace: web-shop,2
  message: "Maintenance on 3 May, 10:00–12:00 <b>"
`, nil, config.UI{DefaultTheme: "dark", Topbar: config.Topbar{Color: "#1A2b3c", Label: "Production EU"}, DefaultNamespace: "web-shop,2", Message: "Maintenance on 3 May, 10:00–12:00 <b>"}},
		{"variables", "", []string{"GUIDON_UI_DEFAULT_THEME=light", "GUIDON_UI_TOPBAR_COLOR=#abc", "GUIDON_UI_TOPBAR_LABEL=" + strings.Repeat("ä", 32), "GUIDON_UI_MESSAGE=" + strings.Repeat("x", 500)},
			config.UI{Enabled: true, DefaultTheme: "light", Topbar: config.Topbar{Color: "#abc", Label: strings.Repeat("ä", 32)}, Message: strings.Repeat("x", 500)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := load(t, test.file, test.variables...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, c.UI); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestUIProblems: what a page could not show is refused.
func TestUIProblems(t *testing.T) {
	for _, test := range []struct{ name, variable, want string }{
		{"a theme", "DEFAULT_THEME=solarized", `ui.default_theme (GUIDON_UI_DEFAULT_THEME): must be one of system, light, dark, not "solarized"`},
		{"a name of a color", "TOPBAR_COLOR=red", `ui.topbar.color (GUIDON_UI_TOPBAR_COLOR): must be a color such as #1a2b3c or #abc, not "red"`},
		{"a color of four digits", "TOPBAR_COLOR=#abcd", "ui.topbar.color"},
		{"a color with more behind it", "TOPBAR_COLOR=#abc;}", "ui.topbar.color"},
		{"a color with a line break", "TOPBAR_COLOR=#abc\n", "ui.topbar.color"},
		{"a long label", "TOPBAR_LABEL=" + strings.Repeat("ä", 32) + "x", "ui.topbar.label (GUIDON_UI_TOPBAR_LABEL): must have at most 64 bytes, not 65"},
		{"a label of two lines", "TOPBAR_LABEL=a\nb", "ui.topbar.label (GUIDON_UI_TOPBAR_LABEL): must consist of printable characters, on one line"},
		{"a label that reverses its text", "TOPBAR_LABEL=a\u202eb", "ui.topbar.label"},
		{"a label with a space at the end", "TOPBAR_LABEL=a ", "ui.topbar.label (GUIDON_UI_TOPBAR_LABEL): must not begin or end with a space"},
		{"a long message", "MESSAGE=" + strings.Repeat("x", 501), "ui.message (GUIDON_UI_MESSAGE): must have at most 500 bytes, not 501"},
		{"a message that is not UTF-8", "MESSAGE=\xff", "ui.message (GUIDON_UI_MESSAGE): must consist of printable characters"},
		{"a key with a space", "DEFAULT_NAMESPACE=a b", `ui.default_namespace (GUIDON_UI_DEFAULT_NAMESPACE): must be the key of a namespace, not "a b"`},
		{"a reference to a state", "DEFAULT_NAMESPACE=a@1", "ui.default_namespace"},
		{"a long key", "DEFAULT_NAMESPACE=" + strings.Repeat("a", 256), "ui.default_namespace"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := load(t, "", "GUIDON_UI_"+test.variable); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one with %q", err, test.want)
			}
		})
	}
}

// TestUIInJSON: /meta/config has the section as the reference has it.
func TestUIInJSON(t *testing.T) {
	c, err := load(t, "", "GUIDON_UI_TOPBAR_LABEL=EU")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		UI json.RawMessage `json:"ui"`
	}
	if err := json.Unmarshal(c.JSON(), &got); err != nil {
		t.Fatal(err)
	}
	const want = `{"defaultNamespace":"","defaultTheme":"system","enabled":true,"message":"","topbar":{"color":"","label":"EU"}}`
	if string(got.UI) != want {
		t.Errorf("got %s, want %s", got.UI, want)
	}
}
