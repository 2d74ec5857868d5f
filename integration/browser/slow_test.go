package browser

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/integration/harness"
)

// dribble sends a document in small pieces, as over a slow connection.
type dribble struct{ http.ResponseWriter }

func (d dribble) Write(body []byte) (int, error) {
	if !strings.HasPrefix(d.Header().Get("Content-Type"), "text/html") {
		return d.ResponseWriter.Write(body)
	}
	piece := max(len(body)/20, 256)
	for rest := body; len(rest) > 0; {
		n := min(len(rest), piece)
		if _, err := d.ResponseWriter.Write(rest[:n]); err != nil {
			return 0, err
		}
		if err := http.NewResponseController(d.ResponseWriter).Flush(); err != nil {
			return 0, err
		}
		rest = rest[n:]
		time.Sleep(90 * time.Millisecond) // several frames
	}
	return len(body), nil
}

// TestSlowPage: nothing moves on a page that arrives slowly, although the browser could draw
// half of it.
func TestSlowPage(t *testing.T) {
	front := httptest.NewUnstartedServer(nil)
	public := "http://" + front.Listener.Addr().String()
	s := harness.Start(t, harness.SQLiteURL(t), with("GUIDON_SERVER_PUBLIC_URL="+public)...)
	proxy := proxyTo(t, s)
	front.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Accept-Encoding")
		proxy.ServeHTTP(dribble{w}, r)
	})
	front.Start()
	t.Cleanup(front.Close)
	all := visitors{shop: stock(t, s, public)}
	for _, p := range pages {
		switch p.name {
		case "boolean-edit", "variants", "changes", "sessions", "sign-in": // rows, tables and what is beside them; a page in the middle
			v := all.as(t, p.as)
			t.Run(p.name, func(t *testing.T) {
				for _, look := range []look{phone, desktop} {
					v.Resize(t, look)
					found := v.Visit(t, p.wanted().Path).Findings(s.URL)
					report(t, slices.DeleteFunc(found, func(f finding) bool { return f.Check != "shift" }))
				}
			})
		}
	}
}
