package server

import (
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler/limit"
)

// TestHeaderMeter reads requests in pieces of every size, and checks that the header is
// counted and the body is not.
func TestHeaderMeter(t *testing.T) {
	for _, test := range []struct {
		name, text   string
		bytes, lines int
	}{
		{"a request", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27, 2},
		{"with a body of lines", "POST / HTTP/1.1\r\nHost: a\r\n\r\n\n\n\na\nb\n", 28, 2},
		{"bare line feeds", "POST / HTTP/1.1\nHost: a\n\n\n\n", 25, 2},
		{"empty lines before it", "\r\n\nPOST / HTTP/1.1\r\nHost: a\r\n\r\nbody\n", 31, 2},
		{"not ended", "GET / HTTP/1.1\r\nHost: a\r\nX", 26, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			for size := 1; size <= len(test.text); size++ {
				m := headerMeter{memory: limit.NewPool(1 << 20).NewReservation()}
				for rest := test.text; rest != ""; rest = rest[min(size, len(rest)):] {
					if err := m.count([]byte(rest[:min(size, len(rest))])); err != nil {
						t.Fatal(err)
					}
				}
				if m.bytes != test.bytes || m.lines != test.lines {
					t.Errorf("in pieces of %d: %d bytes and %d lines, want %d and %d", size, m.bytes, m.lines, test.bytes, test.lines)
				}
			}
		})
	}
	m := headerMeter{memory: limit.NewPool(1 << 20).NewReservation()}
	if err := m.count([]byte(strings.Repeat("a\n", maxHeaderLines+1))); err != errHeader {
		t.Errorf("too many lines: got %v", err)
	}
}
