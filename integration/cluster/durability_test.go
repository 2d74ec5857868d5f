package cluster

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/integration/harness"
)

const (
	kills   = 20
	writers = 4
)

// TestDurability repeatedly kills the server with SIGKILL in the middle of writes. After
// each restart all acknowledged writes exist, no write exists partly, and revisions and
// change records match the data.
func TestDurability(t *testing.T) {
	file := filepath.Join(t.TempDir(), "guidon.db")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))

	ledger := newLedger()
	for round := range kills {
		s := harness.Start(t, "file:"+file)
		ledger.check(t, s)
		writeUntilKilled(t, s, ledger, round, 5+random.IntN(60))
	}
	s := harness.Start(t, "file:"+file)
	ledger.check(t, s)
	if len(ledger.acknowledged) < kills {
		t.Errorf("only %d writes were acknowledged in %d rounds", len(ledger.acknowledged), kills)
	}
	s.Signal(t, syscall.SIGTERM)
	if code := s.Wait(t); code != 0 {
		t.Errorf("exit code %d after SIGTERM, want 0", code)
	}
}

// writeUntilKilled starts the writers and kills the server as soon as the given number of
// writes has been acknowledged, while others are in progress.
func writeUntilKilled(t *testing.T, s *harness.Server, ledger *ledger, round, after int) {
	t.Helper()
	var count atomic.Int64
	enough := make(chan struct{})
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for n := 0; ; n++ {
				if ledger.write(t, s, fmt.Sprintf("r%d-w%d-%d", round, w, n), n) != acknowledged {
					return
				}
				if count.Add(1) == int64(after) {
					close(enough)
				}
			}
		})
	}
	<-enough
	s.Signal(t, syscall.SIGKILL)
	writing.Wait()
	s.Wait(t)
}

// ledger records the outcomes of writes: objects that must exist, objects that must not,
// and those whose write has an unknown outcome, which may or may not exist.
type ledger struct {
	mu           sync.Mutex
	acknowledged map[string]written
	doubtful     map[string]written
	refused      map[string]written // the database was unavailable, and nothing is stored
}

// written is the content of one write: a single flag, or a group of flags created by one
// import.
type written struct {
	flags    map[string]string // name by key
	revision int64
}

func newLedger() *ledger {
	return &ledger{acknowledged: map[string]written{}, doubtful: map[string]written{}, refused: map[string]written{}}
}

// outcome is what the client knows after a write.
type outcome uint8

const (
	gone         outcome = iota // no response: the server has ended
	acknowledged                // stored
	refused                     // not stored
	doubtful                    // unknown to the server
)

// write makes one write, whose kind depends on n, and records its outcome. The response to
// a write that is not acknowledged must be 503 with Retry-After.
func (l *ledger) write(t *testing.T, s *harness.Server, id string, n int) outcome {
	w, send := l.plan(s, id, n)
	a, err := send(context.Background())
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		l.doubtful[id] = w
		return gone
	case a.Status == http.StatusOK:
		w.revision, _ = strconv.ParseInt(a.Header.Get("Guidon-Revision"), 10, 64)
		l.acknowledged[id] = w
		return acknowledged
	case a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "":
		t.Errorf("write %s: status %d, Retry-After %q: %s", id, a.Status, a.Header.Get("Retry-After"), a.Body)
	case !strings.Contains(string(a.Body), harness.OutcomeUnknown):
		l.refused[id] = w
		return refused
	}
	l.doubtful[id] = w
	return doubtful
}

func (l *ledger) plan(s *harness.Server, id string, n int) (written, func(context.Context) (harness.Answer, error)) {
	if n%4 == 3 { // a group, which must exist completely or not at all
		w := written{flags: map[string]string{}}
		var flags []any
		for i := range 5 {
			key := fmt.Sprintf("%s-%d", id, i)
			w.flags[key] = "group " + id
			flags = append(flags, map[string]any{"key": key, "name": w.flags[key], "enabled": true})
		}
		body := map[string]any{"document": map[string]any{"flags": flags}}
		return w, func(ctx context.Context) (harness.Answer, error) {
			return s.Call(ctx, "POST", "/api/v1/namespaces/default/import", body)
		}
	}
	w := written{flags: map[string]string{id: "flag " + id}}
	return w, func(ctx context.Context) (harness.Answer, error) {
		return s.Call(ctx, "POST", "/api/v1/namespaces/default/flags", map[string]any{"key": id, "name": w.flags[id]})
	}
}

type flag struct{ Key, Name, UpdatedAt string }

type record struct {
	Revision int64
	Sequence int
	Kind     string
	Key      string
	Action   string
	After    flag
}

// check compares the data of the server with the ledger and with its change records.
func (l *ledger) check(t *testing.T, s *harness.Server) {
	t.Helper()
	var list struct{ Flags []flag }
	revision := s.Must(t, "GET", "/api/v1/namespaces/default/flags", nil, &list).Header.Get("Guidon-Revision")
	stored := map[string]flag{}
	for _, f := range list.Flags {
		stored[f.Key] = f
	}
	changes := allChanges(t, s)

	for id, w := range l.acknowledged {
		if missing := w.missing(stored); len(missing) > 0 {
			t.Errorf("write %s was acknowledged at revision %d; missing: %v", id, w.revision, missing)
		}
		for key := range w.flags {
			if !slices.ContainsFunc(changes, func(c record) bool { return c.Key == key && c.Revision == w.revision }) {
				t.Errorf("no change record for %s at its revision %d", key, w.revision)
			}
		}
	}
	for id, w := range l.doubtful {
		if missing := w.missing(stored); len(missing) > 0 && len(missing) < len(w.flags) {
			t.Errorf("write %s was not acknowledged and exists partly; missing: %v", id, missing)
		}
	}
	for id, w := range l.refused {
		if missing := w.missing(stored); len(missing) < len(w.flags) {
			t.Errorf("write %s was reported as failed, but of its %d flags only %v are missing", id, len(w.flags), missing)
		}
	}
	checkRecords(t, changes, stored, revision)
	if t.Failed() {
		t.FailNow()
	}
}

func (w written) missing(stored map[string]flag) []string {
	var missing []string
	for key, name := range w.flags {
		if stored[key].Name != name {
			missing = append(missing, key)
		}
	}
	return missing
}

// checkRecords replays the change records, oldest first. Their revisions must have no gaps
// up to the current one, and the result must be the stored flags.
func checkRecords(t *testing.T, changes []record, stored map[string]flag, revision string) {
	t.Helper()
	replayed := map[string]flag{}
	last := int64(0)
	for _, c := range slices.Backward(changes) {
		if c.Revision != last && c.Revision != last+1 {
			t.Errorf("revision %d follows %d", c.Revision, last)
		}
		last = c.Revision
		if c.Kind != "flag" {
			continue
		}
		if c.Action == "delete" {
			delete(replayed, c.Key)
		} else {
			replayed[c.Key] = c.After
		}
	}
	if got := strconv.FormatInt(last, 10); got != revision {
		t.Errorf("the newest change record has revision %s, the namespace %s", got, revision)
	}
	if diff := cmp.Diff(instants(stored), instants(replayed)); diff != "" {
		t.Errorf("replayed change records differ from the data (-data +replayed):\n%s", diff)
	}
}

// instants gives all times the same spelling.
func instants(flags map[string]flag) map[string]flag {
	same := maps.Clone(flags)
	for key, f := range same {
		f.UpdatedAt = instant(f.UpdatedAt)
		same[key] = f
	}
	return same
}

// allChanges returns every change record of the default namespace, newest first.
func allChanges(t *testing.T, s *harness.Server) []record {
	t.Helper()
	var all []record
	for token := ""; ; {
		var page struct {
			Changes       []record
			NextPageToken string
		}
		s.Must(t, "GET", "/api/v1/namespaces/default/changes?limit=100&pageToken="+url.QueryEscape(token), nil, &page)
		all = append(all, page.Changes...)
		if token = page.NextPageToken; token == "" {
			return all
		}
	}
}

// instant returns an RFC 3339 time without the zeros at the end of its fraction.
func instant(text string) string {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return text
	}
	return t.UTC().Format(time.RFC3339Nano)
}
