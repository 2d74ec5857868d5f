package instance

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// states is a store with one namespace, whose state the test sets.
type states struct {
	service.Store
	current *guidon.Snapshot
}

func (s *states) Snapshot(context.Context, string, service.Demand) (*guidon.Snapshot, time.Duration, error) {
	if s.current == nil {
		return nil, 0, guidon.Errorf(guidon.NotFound, "no namespace")
	}
	return s.current, 0, nil
}

// TestWatch: what is unreadable is logged once, not at every request, and counted as long as
// it is.
func TestWatch(t *testing.T) {
	var log strings.Builder
	s := &states{}
	w := Watch(s, slog.New(slog.NewTextHandler(&log, nil)))
	revision := int64(0)
	state := func(flags ...string) *guidon.Snapshot {
		revision++
		all := []*guidon.Flag{{Key: "fine", Type: guidon.BooleanFlag}}
		for _, key := range flags {
			all = append(all, guidon.ReadFlag(key, []byte("{}")))
		}
		return guidon.NewSnapshot(&guidon.Namespace{Key: "n"}, guidon.Revision{Number: revision}, all, []*guidon.Segment{{Key: "g"}})
	}
	for _, test := range []struct {
		name   string
		state  *guidon.Snapshot
		logged string // the key of what is logged
		flags  int
	}{
		{"nothing", state(), "", 0},
		{"a flag", state("a"), "key=a ", 1},
		{"the same flag at another revision", state("a"), "", 1},
		{"another flag", state("a", "b"), "key=b ", 2},
		{"one is deleted", state("b"), "", 1},
		{"it comes back", state("a", "b"), "key=a ", 2},
		{"all are fine", state(), "", 0},
		{"again", state("a"), "key=a ", 1},
		{"the namespace is deleted", nil, "", 0},
	} {
		log.Reset()
		s.current = test.state
		for range 3 {
			if got, _, _ := w.Snapshot(t.Context(), "n", service.Demand{}); got != test.state {
				t.Errorf("%s: got another state", test.name)
			}
		}
		want := 0
		if test.logged != "" {
			want = 1
		}
		if strings.Count(log.String(), "level=WARN") != want || !strings.Contains(log.String(), test.logged) {
			t.Errorf("%s: logged %q, want %q once", test.name, log.String(), test.logged)
		}
		if flags, segments := w.Count(); flags != test.flags || segments != 0 {
			t.Errorf("%s: got %d flags and %d segments, want %d and 0", test.name, flags, segments, test.flags)
		}
	}
}
