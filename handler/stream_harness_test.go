package handler_test

import (
	"cmp"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/service"
)

// journal is a store in memory that can be used in a synctest bubble. It has the
// revisions and change records of namespaces, the tokens, and the subscribers.
type journal struct {
	service.Store

	mu      sync.Mutex
	states  map[string]guidon.Revision
	flags   []*guidon.Flag // of every namespace
	records []*change.Record
	tokens  []*service.Authentication
	changed chan struct{}
	waiting int
	reads   int       // of change records
	arrived time.Time // the arrival time in the last snapshot query
	broken  error     // returned by every query, if not nil
}

func newJournal() *journal {
	return &journal{states: map[string]guidon.Revision{"default": {Number: 1, Stamp: 1}}, changed: make(chan struct{})}
}

// set changes the revision of the default namespace.
func (j *journal) set(number, stamp int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.states["default"] = guidon.Revision{Number: number, Stamp: stamp}
	j.wake()
}

// write adds a revision with that many change records.
func (j *journal) write(records int32) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.states["default"]
	r.Number, r.Stamp = r.Number+1, r.Stamp+1
	j.states["default"] = r
	for i := range records {
		j.records = append(j.records, &change.Record{
			Namespace: "default", Revision: r.Number, Sequence: i, Kind: change.KindFlag, Key: "f", Action: change.ActionUpdate,
			After: []byte(`{"name":"a\nb"}`),
		})
	}
	j.wake()
}

// setTokens replaces the tokens.
func (j *journal) setTokens(tokens ...*service.Authentication) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.tokens = tokens
	j.wake()
}

// fail makes every query fail with err, or succeed again if err is nil.
func (j *journal) fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.broken = err
	j.wake()
}

// wake notifies the subscribers. j.mu must be held.
func (j *journal) wake() {
	close(j.changed)
	j.changed = make(chan struct{})
}

func (j *journal) Subscribe(string) (func() <-chan struct{}, func()) {
	count := func(n int) {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.waiting += n
	}
	count(1)
	changed := func() <-chan struct{} {
		j.mu.Lock()
		defer j.mu.Unlock()
		return j.changed
	}
	return changed, func() { count(-1) }
}

func (j *journal) Snapshot(ctx context.Context, key string, d service.Demand) (*guidon.Snapshot, time.Duration, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r, exists := j.states[key]
	j.arrived = d.Begun
	switch {
	case ctx.Err() != nil:
		return nil, 0, ctx.Err()
	case j.broken != nil:
		return nil, 0, j.broken
	case !exists:
		return nil, 0, guidon.NotFound
	}
	return guidon.NewSnapshot(&guidon.Namespace{Key: key}, r, j.flags, nil), 0, nil
}

func (j *journal) Authentications(context.Context, service.Demand, string) (*service.AuthenticationSet, time.Duration, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return service.NewAuthenticationSet(guidon.Revision{}, j.tokens), 0, j.broken
}

func (j *journal) Changes(_ context.Context, query change.Query) ([]*change.Record, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.reads++
	records := slices.Clone(j.records)
	if query.After == (guidon.Position{}) {
		slices.Reverse(records)
	}
	records = slices.DeleteFunc(records, func(c *change.Record) bool {
		after := query.After
		return c.Namespace != query.Namespace ||
			cmp.Or(cmp.Compare(c.Revision, after.Revision), cmp.Compare(c.Sequence, after.Sequence)) <= 0 && after != (guidon.Position{})
	})
	return records[:min(len(records), query.Limit)], j.broken
}

// streaming returns a handler over the journal with event streams, changed by the
// options.
func streaming(j *journal, options ...func(*handler.Config)) (*handler.Handler, *stream.Hub) {
	streams := stream.NewHub(stream.Config{Subscribe: j.Subscribe, MaxOFREP: 3, MaxChanges: 3})
	config := handler.Config{Service: service.NewService(j, time.Now), Streams: streams}
	for _, option := range options {
		option(&config)
	}
	return handler.New(config), streams
}

// wire is the connection of a stream, in memory, with deadlines as in net/http.
type wire struct {
	*httptest.ResponseRecorder
	mu       sync.Mutex
	text     strings.Builder
	deadline time.Time
	full     bool // writes block until the deadline
}

func (w *wire) Write(b []byte) (int, error) {
	w.mu.Lock()
	full, wait := w.full, time.Until(w.deadline)
	w.mu.Unlock()
	if full {
		time.Sleep(wait)
		return 0, context.DeadlineExceeded
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

func (w *wire) SetWriteDeadline(deadline time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deadline = deadline
	return nil
}

func (w *wire) stall() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.full = true
}

// streamClient is a client of a stream in a synctest bubble.
type streamClient struct {
	t      *testing.T
	wire   *wire
	cancel context.CancelFunc
	done   chan struct{} // closed when the stream has ended
	seen   int
}

// listen opens a stream. Headers are names and values in turn.
func listen(t *testing.T, h http.Handler, path string, headers ...string) *streamClient {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &streamClient{t: t, wire: &wire{ResponseRecorder: httptest.NewRecorder()}, cancel: cancel, done: make(chan struct{})}
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, nil)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	go func() {
		defer close(l.done)
		h.ServeHTTP(l.wire, request)
	}()
	synctest.Wait()
	return l
}

// next returns the text received since the last call, once all goroutines are blocked.
func (l *streamClient) next() string {
	synctest.Wait()
	l.wire.mu.Lock()
	defer l.wire.mu.Unlock()
	text := l.wire.text.String()[l.seen:]
	l.seen += len(text)
	return text
}

// wants checks the text received since the last call.
func (l *streamClient) wants(what, want string) {
	l.t.Helper()
	if got := l.next(); got != want {
		l.t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// begun checks the start of the stream, except for the reconnection delay.
func (l *streamClient) begun(want string) {
	l.t.Helper()
	text := l.next()
	retry, rest, _ := strings.Cut(text, "\n\n")
	if l.wire.Code != http.StatusOK || !strings.HasPrefix(retry, "retry: ") || rest != want {
		l.t.Errorf("got %d %q, want %q", l.wire.Code, text, want)
	}
}

// ended reports whether the stream has ended.
func (l *streamClient) ended() bool {
	synctest.Wait()
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}
