package page

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// token matches the definition of a colour in the style sheet, which is one value or a pair
// for light and dark.
var token = regexp.MustCompile(`--([a-z0-9-]+): (?:light-dark\((#[0-9a-f]{3,8}), ?(#[0-9a-f]{3,8})\)|(#[0-9a-f]{3,8}));`)

// TestContrast: the colours of texts, lines and signs stand out from what is behind them, in
// light and dark.
func TestContrast(t *testing.T) {
	tokens := make(map[string][2]string)
	for _, m := range token.FindAllStringSubmatch(string(assets()[styleSheet]), -1) {
		if m[4] != "" {
			m[2], m[3] = m[4], m[4]
		}
		if _, twice := tokens[m[1]]; !twice { // the first one is that of the screen
			tokens[m[1]] = [2]string{m[2], m[3]}
		}
	}
	const text, sign = 4.5, 3
	for _, test := range []struct {
		front, back string
		need        float64
	}{
		{"ink", "surface", text}, {"ink-2", "sunken", text}, {"ink-3", "surface", text}, {"ink-3", "sunken", text},
		{"accent", "surface", text}, {"accent", "accent-soft", text}, {"on-fill", "accent-fill", text},
		{"on", "on-soft", text}, {"off", "off-soft", text}, {"danger", "danger-soft", text}, {"on-fill", "danger-fill", text},
		{"warn", "warn-soft", text}, {"add-ink", "add-soft", text}, {"del-ink", "del-soft", text},
		{"control-line", "surface", sign}, {"control-line", "canvas", sign}, {"focus", "canvas", sign}, {"on-bar", "surface", sign},
		{"v1", "surface", sign}, {"v2", "surface", sign}, {"v3", "surface", sign}, {"v4", "surface", sign},
		{"v5", "surface", sign}, {"v6", "surface", sign}, {"v7", "surface", sign}, {"v8", "surface", sign},
	} {
		for i, theme := range []string{"light", "dark"} {
			front, back := tokens[test.front][i], tokens[test.back][i]
			if front == "" || back == "" {
				t.Errorf("%s on %s: the style sheet has %q and %q", test.front, test.back, front, back)
				continue
			}
			if got := contrast(t, front, back); got < test.need {
				t.Errorf("%s on %s, %s: got a contrast of %.2f, want %.1f", test.front, test.back, theme, got, test.need)
			}
		}
	}
}

// TestContrastOf: the contrast is that of WCAG 2.2.
func TestContrastOf(t *testing.T) {
	for colors, want := range map[string]string{"#000 #fff": "21.00", "#777777 #ffffff": "4.48", "#fff #fff": "1.00"} {
		front, back, _ := strings.Cut(colors, " ")
		if got := fmt.Sprintf("%.2f", contrast(t, front, back)); got != want {
			t.Errorf("%s: got %s, want %s", colors, got, want)
		}
	}
}

// contrast returns the contrast of two colours, from 1 to 21.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance returns the relative luminance of a colour such as "#fff" or "#16181b".
func luminance(t *testing.T, color string) (sum float64) {
	t.Helper()
	digits := strings.TrimPrefix(color, "#")
	if len(digits) == 3 {
		digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	}
	if len(digits) != 6 {
		t.Fatalf("%s is not opaque", color)
	}
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(digits[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
