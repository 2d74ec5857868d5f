package handler_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/service"
)

// backedUp makes the server serve backups of so many bytes.
func backedUp(size int) func(*handler.Config) {
	return func(c *handler.Config) {
		c.Backup = func(context.Context) (io.ReadCloser, int64, error) {
			return io.NopCloser(bytes.NewReader(make([]byte, size))), int64(size), nil
		}
	}
}

// TestBackupOrigins: pages of other origins cannot read a backup, which has all secrets, whether
// CORS lets them read responses or not. Clients that are no browsers can, if they need no
// credential or have one.
func TestBackupOrigins(t *testing.T) {
	const ours, trusted, listed = "https://flags.example", "https://admin.example", "https://a.example"
	cors := func(origins ...string) func(*handler.Config) {
		return func(c *handler.Config) {
			c.CORS, c.PublicOrigin, c.TrustedOrigins = &exchange.CORSConfig{AllowedOrigins: origins}, ours, []string{trusted}
		}
	}
	open := newInside(t, "it has a backup of the test", backedUp(10), cors("*", listed))
	closed := newInside(t, "it has a backup of the test", backedUp(10), cors("*", listed), required)
	admin := closed.grant(service.RoleAdmin)
	for _, test := range []struct {
		name    string
		s       *server
		headers []string
		want    int
	}{
		{"a command", open, nil, 200},
		{"its own page", open, []string{"Origin", ours, "Sec-Fetch-Site", "same-origin"}, 200},
		{"a typed address", open, []string{"Sec-Fetch-Site", "none"}, 200},
		{"a trusted page", open, []string{"Origin", trusted, "Sec-Fetch-Site", "cross-site"}, 200},
		{"any page", open, []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, 403},
		{"a listed page", open, []string{"Origin", listed, "Sec-Fetch-Site", "cross-site"}, 403},
		{"a page in an old browser", open, []string{"Origin", "https://evil.example"}, 403},
		{"a sandboxed page", open, []string{"Origin", "null"}, 403},
		{"two origins", open, []string{"Origin", ours, "Origin", "https://evil.example"}, 403},
		{"a link on a page", open, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"a token that is not checked", open, []string{"Origin", "https://evil.example", "Authorization", "Bearer x"}, 403},
		{"without a token", closed, nil, 401},
		{"with a token", closed, []string{"Authorization", "Bearer " + admin}, 200},
		{"a page with a token", closed, []string{"Authorization", "Bearer " + admin, "Origin", listed, "Sec-Fetch-Site", "cross-site"}, 200},
		{"a page without a token", closed, []string{"Origin", listed, "Sec-Fetch-Site", "cross-site"}, 403},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := *test.s
			s.t = t
			if r := s.do("GET", "/meta/backup", "", test.headers...); r.status != test.want || (r.status == 200) != (len(r.body) == 10) {
				t.Errorf("got %d %s, want %d", r.status, r.body, test.want)
			}
		})
	}
}

// slowClient takes as long to receive each piece.
type slowClient struct {
	*httptest.ResponseRecorder
	piece time.Duration
}

func (c slowClient) Write(b []byte) (int, error) {
	time.Sleep(c.piece)
	return c.ResponseRecorder.Write(b)
}

// TestBackupSlowly: a client that reads slowly gets the whole backup. One that reads so slowly
// that nobody else could make a backup for hours does not.
func TestBackupSlowly(t *testing.T) {
	const size = 64 << 20
	for name, test := range map[string]struct {
		piece time.Duration // for 32 KiB or more
		whole bool
	}{
		"1 Mbit/s":              {250 * time.Millisecond, true},
		"just not disconnected": {9 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				var config handler.Config
				backedUp(size)(&config)
				h, begun := handler.New(config), time.Now()
				r := httptest.NewRequest(http.MethodGet, "http://localhost/meta/backup", nil)
				w := slowClient{httptest.NewRecorder(), test.piece}
				h.ServeHTTP(w, r)
				if got := w.Body.Len() == size; got != test.whole {
					t.Errorf("got %d bytes of %d after %s", w.Body.Len(), size, time.Since(begun))
				}
				if took := time.Since(begun); took > time.Hour {
					t.Errorf("took %s", took)
				}
				again := httptest.NewRecorder()
				if h.ServeHTTP(again, r); again.Code != http.StatusOK || again.Body.Len() != size {
					t.Errorf("the next backup: got %d, %d bytes", again.Code, again.Body.Len())
				}
			})
		})
	}
}

// TestBackupOnce: a second backup at a time is refused at once.
func TestBackupOnce(t *testing.T) {
	var h *handler.Handler
	var second *httptest.ResponseRecorder
	h = handler.New(handler.Config{Backup: func(context.Context) (io.ReadCloser, int64, error) {
		if second == nil {
			second = serve(h, "GET", "/meta/backup", "")
		}
		return io.NopCloser(bytes.NewReader(nil)), 0, nil
	}})
	if first := serve(h, "GET", "/meta/backup", ""); first.Code != http.StatusOK {
		t.Errorf("the first backup: got %d %s", first.Code, first.Body)
	}
	if want := "another backup is being made; try again later"; second.Code != http.StatusServiceUnavailable || !strings.Contains(second.Body.String(), want) {
		t.Errorf("the second backup: got %d %s, want %s", second.Code, second.Body, want)
	}
}
