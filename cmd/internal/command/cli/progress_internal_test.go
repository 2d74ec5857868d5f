package cli

import (
	"bytes"
	"testing"
	"time"

	"github.com/guidonhq/guidon/internal/bubble"
)

// TestProgress: a long command shows its progress, at a terminal as a line that is erased
// before anything else is printed. A short one shows none.
func TestProgress(t *testing.T) {
	const erase = "\r\x1b[K"
	for _, test := range []struct {
		name        string
		terminal    bool
		variable    string
		total, done int
		takes       time.Duration
		want        string
	}{
		{"short", true, "", 50, 20, 900 * time.Millisecond, ""},
		{"with a total", true, "", 50, 20, 1100 * time.Millisecond, "importing: 20 of 50 objects (40%), 20/s, 2s left" + erase},
		{"twice", true, "", 50, 20, 1300 * time.Millisecond, "importing: 20 of 50 objects (40%), 20/s, 2s left" + erase + "importing: 20 of 50 objects (40%), 16.7/s, 2s left" + erase},
		{"nothing done", true, "", 50, 0, 1100 * time.Millisecond, "importing: 50 objects, 1s so far" + erase},
		{"everything done", true, "", 50, 50, 1100 * time.Millisecond, "importing: 50 of 50 objects (100%), 50/s" + erase},
		{"without a total", true, "", 0, 20, 1100 * time.Millisecond, "importing: 20 objects so far, 20/s" + erase},
		{"without a total or anything done", true, "", 0, 0, 1100 * time.Millisecond, "importing: 1s so far" + erase},
		{"short, without a terminal", false, "", 50, 20, 4900 * time.Millisecond, ""},
		{"long, without a terminal", false, "", 50, 20, 16 * time.Second, "importing: 20 of 50 objects (40%), 4/s, 8s left\nimporting: 20 of 50 objects (40%), 1.33/s, 23s left\n"},
		{"a terminal that cannot erase", true, "TERM=dumb", 50, 20, 6 * time.Second, "importing: 20 of 50 objects (40%), 4/s, 8s left\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				p := &Program{Err: &out, Environ: []string{test.variable}, Terminal: func(any) bool { return test.terminal }}
				progress := p.StartProgress("importing", "objects", test.total)
				progress.Add(test.done)
				time.Sleep(test.takes) // the fake time of synctest
				progress.Hide(func() { out.WriteString("result\n") })
				progress.Stop()
				if got := out.String(); got != test.want+"result\n" {
					t.Errorf("got  %q\nwant %q", got, test.want+"result\n")
				}
			})
		})
	}
}

// TestProgressStep: the line says what is done now.
func TestProgressStep(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := &Program{Err: &out, Terminal: func(any) bool { return false }}
		progress := p.StartProgress("migrating", "steps", 0)
		progress.Expect(4)
		progress.At(1, "applying 2 indexes")
		time.Sleep(6 * time.Second)
		progress.Stop()
		if got, want := out.String(), "applying 2 indexes: 1 of 4 steps (25%), 0.2/s, 15s left\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestCut(t *testing.T) {
	for _, test := range []struct {
		text string
		n    int
		want string
	}{{"täxt", 4, "täxt"}, {"täxt", 2, "tä"}, {"täxt", 0, ""}} {
		if got := cut(test.text, test.n); got != test.want {
			t.Errorf("%q to %d: got %q, want %q", test.text, test.n, got, test.want)
		}
	}
}
