package instance

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/handler/diagnostics"
	"github.com/guidonhq/guidon/handler/web/page"
)

// TestPages: pages get what the configuration says about them.
func TestPages(t *testing.T) {
	const database = "GUIDON_DB_URL=file:/tmp/guidon.db" // which is not opened
	c, err := config.Load(t.Context(), "", []string{
		database,
		"GUIDON_SERVER_PUBLIC_URL=https://flags.example/base", "GUIDON_SERVER_READ_ONLY=true", "GUIDON_UI_ENABLED=false", "GUIDON_UI_DEFAULT_THEME=dark",
		"GUIDON_UI_TOPBAR_COLOR=#c0ffee", "GUIDON_UI_TOPBAR_LABEL=Production EU", "GUIDON_UI_DEFAULT_NAMESPACE=shop", "GUIDON_UI_MESSAGE=Maintenance on Friday", "GUIDON_ANALYTICS_ENABLED=false",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := pages(c, diagnostics.Info{Version: "v1.2.3"}, Runtime{Streams: true})
	want := page.Interface{
		Disabled: true, DefaultTheme: page.ThemeDark, TopbarColor: "#c0ffee", TopbarLabel: "Production EU", DefaultNamespace: "shop", Message: "Maintenance on Friday",
	}
	if diff := cmp.Diff(want, got.Interface); diff != "" {
		t.Errorf("the interface (-want +got):\n%s", diff)
	}
	if got.PublicURL != "https://flags.example/base" || got.PublicPath != "/base" || !got.ReadOnly || got.Version != "v1.2.3" || !got.Streams || got.Counts || got.Required {
		t.Errorf("got %+v", got)
	}
	plain, err := config.Load(t.Context(), "", []string{database}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got = pages(plain, diagnostics.Info{}, Runtime{})
	if diff := cmp.Diff(page.Interface{DefaultTheme: page.ThemeSystem}, got.Interface); diff != "" || got.ReadOnly || got.Streams || !got.Counts || got.PublicURL != "" {
		t.Errorf("got %+v (-want +got):\n%s", got, diff)
	}
}
