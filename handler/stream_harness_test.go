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
	"github.com/guidonhq/guidon/handler"
)

// journal is a store in memory whose clock may be that of a bubble: the states and
// change records of namespaces, the tokens, and who waits for changes.
type journal struct {
	guidon.Store

	mu      sync.Mutex
	states  map[string]guidon.Revision
	records []*guidon.Change
	tokens  []*guidon.Authentication
	changed chan struct{}
	waiting int
	reads   int       // of change records
	asked   time.Time // by when the answer to the last question must be true
	broken  error     // what every question fails with
}

func newJournal() *journal {
	return &journal{states: map[string]guidon.Revision{"default": {Number: 1, Stamp: 1}}, changed: make(chan struct{})}
}

// set makes the state of the default namespace another one.
func (j *journal) set(number, stamp int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.states["default"] = guidon.Revision{Number: number, Stamp: stamp}
	j.wake()
}

// write adds a revision of so many records.
func (j *journal) write(records int32) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.states["default"]
	r.Number, r.Stamp = r.Number+1, r.Stamp+1
	j.states["default"] = r
	for i := range records {
		j.records = append(j.records, &guidon.Change{
			Namespace: "default", Revision: r.Number, Sequence: i, Kind: guidon.KindFlag, Key: "f", Action: guidon.ActionUpdate,
			After: []byte(`{"name":"a\nb"}`),
		})
	}
	j.wake()
}

// setTokens replaces the tokens.
func (j *journal) setTokens(tokens ...*guidon.Authentication) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.tokens = tokens
	j.wake()
}

// fail makes every question fail, or not any more where err is nil.
func (j *journal) fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.broken = err
	j.wake()
}

// wake is called with the lock held.
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

func (j *journal) Snapshot(ctx context.Context, key string) (*guidon.Snapshot, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r, lives := j.states[key]
	j.asked = guidon.CallFrom(ctx).Begun
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case j.broken != nil:
		return nil, j.broken
	case !lives:
		return nil, guidon.NotFound
	}
	return guidon.NewSnapshot(&guidon.Namespace{Key: key}, r, nil, nil), nil
}

func (j *journal) Authentications(context.Context) (*guidon.AuthenticationSet, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return guidon.NewAuthenticationSet(guidon.Revision{}, j.tokens), j.broken
}

func (j *journal) Changes(_ context.Context, query guidon.ChangeQuery) ([]*guidon.Change, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.reads++
	records := slices.Clone(j.records)
	if query.After == (guidon.ChangeCursor{}) {
		slices.Reverse(records)
	}
	records = slices.DeleteFunc(records, func(c *guidon.Change) bool {
		after := query.After
		return c.Namespace != query.Namespace ||
			cmp.Or(cmp.Compare(c.Revision, after.Revision), cmp.Compare(c.Sequence, after.Sequence)) <= 0 && after != (guidon.ChangeCursor{})
	})
	return records[:min(len(records), query.Limit)], j.broken
}

// streaming returns a handler over the journal that streams, changed by the
// options.
func streaming(j *journal, options ...func(*handler.Config)) (*handler.Handler, *handler.Streams) {
	streams := handler.NewStreams(handler.StreamsConfig{Subscribe: j.Subscribe, MaxOFREP: 3, MaxChanges: 3})
	config := handler.Config{Service: guidon.NewService(j, time.Now), Streams: streams}
	for _, option := range options {
		option(&config)
	}
	return handler.New(config), streams
}

// wire is the client's end of a stream, in memory, as net/http has it.
type wire struct {
	*httptest.ResponseRecorder
	mu       sync.Mutex
	text     strings.Builder
	deadline time.Time
	full     bool // takes nothing any more
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

// listening is one who listens, within a bubble.
type listening struct {
	t      *testing.T
	wire   *wire
	cancel context.CancelFunc
	done   chan struct{} // closed when the stream has ended
	seen   int
}

// listen opens a stream. Headers are name and value in turn.
func listen(t *testing.T, h http.Handler, path string, headers ...string) *listening {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &listening{t: t, wire: &wire{ResponseRecorder: httptest.NewRecorder()}, cancel: cancel, done: make(chan struct{})}
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

// next returns what has come since the last call, as soon as nothing else happens.
func (l *listening) next() string {
	synctest.Wait()
	l.wire.mu.Lock()
	defer l.wire.mu.Unlock()
	text := l.wire.text.String()[l.seen:]
	l.seen += len(text)
	return text
}

// wants checks what has come since the last call.
func (l *listening) wants(what, want string) {
	l.t.Helper()
	if got := l.next(); got != want {
		l.t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// begun checks how the stream begins, when to come back aside.
func (l *listening) begun(want string) {
	l.t.Helper()
	text := l.next()
	retry, rest, _ := strings.Cut(text, "\n\n")
	if l.wire.Code != http.StatusOK || !strings.HasPrefix(retry, "retry: ") || rest != want {
		l.t.Errorf("got %d %q, want %q", l.wire.Code, text, want)
	}
}

// ended tells whether the stream has ended.
func (l *listening) ended() bool {
	synctest.Wait()
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}
