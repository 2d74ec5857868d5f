package browser

import (
	"bytes"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLinks: links that lead nowhere are found, and those that lead out of the path of a
// site.
func TestLinks(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/site/page":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<!DOCTYPE html><title>Links</title><a href="/site/page?a=b#c">1</a><a href="other">2</a><a href="/site/missing">3</a><a href="/sites">4</a>
				<a href="https://elsewhere.example/">5</a><a href="#d">6</a><form action="/send"><button formaction="../below">7</button></form>`)
		case "/site/other":
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	v := newVisitor(t, server.URL+"/site")
	p := v.Visit(t, "/page")
	want := []finding{{"outside", `<a href="/sites">`}, {"outside", `<form action="/send">`}, {"outside", `<button formaction="../below">`}}
	if diff := cmp.Diff(want, v.outside(t, p)); diff != "" {
		t.Errorf("outside (-want +got):\n%s", diff)
	}
	known := make(map[string]bool)
	want = []finding{{"link", server.URL + "/site/missing has status 404"}, {"link", server.URL + "/sites has status 404"}}
	if diff := cmp.Diff(want, v.BrokenLinks(t, known)); diff != "" {
		t.Errorf("broken links (-want +got):\n%s", diff)
	}
	if got := v.BrokenLinks(t, known); got != nil {
		t.Errorf("the second time, got %v", got)
	}
}

// TestScreenshot: a picture has the whole page, and the visitor looks at it as before.
func TestScreenshot(t *testing.T) {
	server := httptest.NewServer(sample{css: "main { height: 3000px }"})
	t.Cleanup(server.Close)
	v := newVisitor(t, server.URL)
	v.Resize(t, phone)
	v.Visit(t, "/")
	config, err := png.DecodeConfig(bytes.NewReader(v.Screenshot(t)))
	if err != nil || config.Width != 390 || config.Height < 3000 {
		t.Errorf("got a picture of %d × %d, error %v", config.Width, config.Height, err)
	}
	if got := eval[int](t, v, "innerHeight"); got != 900 {
		t.Errorf("the window is %d px high, want 900", got)
	}
}
