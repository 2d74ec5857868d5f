package handler_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/service/count"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/cache"
	"github.com/guidonhq/guidon/store/storetest"
)

// server is a service over its own database, behind a real listener.
type server struct {
	t       testing.TB
	url     string
	service *service.Service // on the same database, to bypass the HTTP interface
	handler *handler.Handler // nil if the service is another process
	counter *count.Counter   // of the service; nil if that is the test's own, or another process
	logs    *logs
	ids     map[string]string // saved by name, for {name} in paths and bodies
}

// newServer starts a server with the default configuration changed by the options. It is
// a process of its own if there is a provider (see outside_test.go), unless an option
// sets something that environment variables cannot.
func newServer(t testing.TB, options ...func(*handler.Config)) *server {
	t.Helper()
	return start(t, backends{}, options)
}

// newStreaming is newServer with event streams.
func newStreaming(t testing.TB, streams stream.Config, options ...func(*handler.Config)) *server {
	t.Helper()
	return start(t, backends{streams: &streams}, options)
}

// newSharing is newServer for a server that shares its database: the test's own service
// writes to it like another instance.
func newSharing(t testing.TB, freshness cache.Freshness, options ...func(*handler.Config)) *server {
	t.Helper()
	return start(t, backends{freshness: &freshness}, options)
}

// backends configures the dependencies of the handler; zero values mean the defaults.
type backends struct {
	streams   *stream.Config
	freshness *cache.Freshness
}

func start(t testing.TB, behind backends, options []func(*handler.Config)) *server {
	t.Helper()
	var config handler.Config
	for _, option := range options {
		option(&config)
	}
	if provider == "" {
		return startInside(t, config, behind)
	}
	environ, beyond := settings(config, behind)
	if beyond != "" {
		reportInside(t, beyond+" is the test's own")
		return startInside(t, config, behind)
	}
	return startOutside(t, environ)
}

// withoutRaceDetector skips a test that computes for long: with the tag simple, and against other
// processes, the tests of this package also run without the race detector.
func withoutRaceDetector(t *testing.T) {
	t.Helper()
	if bubble.RaceDetector {
		t.Skip("runs without the race detector")
	}
}

// newInside is newServer for a test that needs the server in this process, for the
// reason why.
func newInside(t testing.TB, why string, options ...func(*handler.Config)) *server {
	t.Helper()
	if provider != "" {
		reportInside(t, why)
	}
	var config handler.Config
	for _, option := range options {
		option(&config)
	}
	return startInside(t, config, backends{})
}

// startInside starts a server in this process.
func startInside(t testing.TB, config handler.Config, behind backends) *server {
	t.Helper()
	s := &server{t: t, logs: newLogs(), ids: map[string]string{}}
	switch {
	case config.Service != nil: // the test's own
		s.service = config.Service
	case behind.freshness != nil:
		db := newDB(t)
		shared := cache.NewShared(db, *behind.freshness)
		config.Service, config.Outage = service.NewService(shared, time.Now), shared.Outage
		s.service = service.NewService(db, time.Now)
	default:
		db := newDB(t)
		c := cache.New(db)
		s.counter = count.NewCounter(db, keepCounts, time.Now)
		s.service = service.NewService(c, time.Now).Counting(s.counter).
			WithWebhooks(&service.Webhooks{Store: db, Send: deliveredTest})
		config.Service = s.service
		if behind.streams != nil {
			behind.streams.Subscribe = c.Subscribe
			config.Streams = stream.NewHub(*behind.streams)
		}
	}
	config.Logger = slog.New(slog.NewJSONHandler(s.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s.handler = handler.New(config)
	listener := httptest.NewServer(behindFront(t, s.handler))
	t.Cleanup(listener.Close)
	s.url = listener.URL
	return s
}

var keepCounts = count.Keep{Minutes: 48 * time.Hour, Hours: 60 * 24 * time.Hour, Days: 730 * 24 * time.Hour}

// newService returns a service over a new SQLite file.
func newService(t testing.TB) *service.Service {
	t.Helper()
	return service.NewService(cache.New(newDB(t)), time.Now)
}

// newDB returns a new SQLite database with the current schema.
func newDB(t testing.TB) *store.DB {
	t.Helper()
	return storetest.NewSQLite(t)
}

// required makes authentication required and the token method available.
func required(config *handler.Config) {
	config.Authentication.Required = true
	config.Authentication.TokenMethod = true
}

// tokens makes the token method available.
func tokens(config *handler.Config) { config.Authentication.TokenMethod = true }

// reply is a response, read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

// do sends a request. Headers are names and values in turn.
func (s *server) do(method, path, body string, headers ...string) reply {
	s.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(s.fill(body))
	}
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.url+s.fill(path), reader)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	return s.send(request)
}

// client neither follows redirects nor requests compression.
var client = &http.Client{
	Transport:     &http.Transport{DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (s *server) send(request *http.Request) reply {
	s.t.Helper()
	response, err := client.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if vary := response.Header["Vary"]; len(vary) > 1 {
		response.Header["Vary"] = []string{strings.Join(vary, ", ")} // the same to a client (RFC 9110 5.3)
	}
	r := reply{response.StatusCode, response.Header, string(body)}
	checkDeclared(s.t, request, r)
	return r
}

// must sends a request that must succeed, and saves the id in the response.
func (s *server) must(save, method, path, body string, headers ...string) reply {
	s.t.Helper()
	r := s.do(method, path, body, headers...)
	if r.status != http.StatusOK {
		s.t.Fatalf("%s %s: %d %s", method, path, r.status, r.body)
	}
	if save != "" {
		s.ids[save] = r.field(s.t, "id")
	}
	return r
}

// fill replaces names in braces by the saved ids.
func (s *server) fill(text string) string {
	for name, id := range s.ids {
		text = strings.ReplaceAll(text, "{"+name+"}", id)
	}
	return text
}

// field returns a string member of the body.
func (r reply) field(t testing.TB, name string) string {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal([]byte(r.body), &members); err != nil {
		t.Fatalf("%s: %v", r.body, err)
	}
	value, _ := members[name].(string)
	return value
}

// check compares the status and the stable form of the body.
func (r reply) check(t testing.TB, wantStatus int, wantBody string) {
	t.Helper()
	if r.status != wantStatus {
		t.Errorf("status %d, want %d: %s", r.status, wantStatus, r.body)
	}
	if diff := cmp.Diff(wantBody, stable(r.body)); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

// fails checks that the response is the error, in the format of contract 5.1.
func (r reply) fails(t testing.TB, wantStatus, wantCode int, wantMessage string) {
	t.Helper()
	text, err := json.Marshal(wantMessage)
	if err != nil {
		t.Fatal(err)
	}
	number, _ := json.Marshal(wantCode)
	r.check(t, wantStatus, `{"code":`+string(number)+`,"message":`+string(text)+`,"details":[]}`)
	if got := r.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
}

var unstable = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`), "ID"},
	{regexp.MustCompile(`"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z"`), `"TIME"`},
	{regexp.MustCompile(`"requestDurationMillis":[0-9.e+-]+`), `"requestDurationMillis":MS`},
	{regexp.MustCompile(`gdn_[A-Za-z0-9_=-]{49}`), "TOKEN"},
}

// stable replaces the parts that differ from run to run.
func stable(body string) string {
	for _, u := range unstable {
		body = u.pattern.ReplaceAllString(body, u.with)
	}
	return body
}

// logs collects the log.
type logs struct {
	mu      sync.Mutex
	written *sync.Cond
	text    bytes.Buffer
}

func newLogs() *logs {
	l := &logs{}
	l.written = sync.NewCond(&l.mu)
	return l
}

func (l *logs) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.written.Broadcast()
	return l.text.Write(line)
}

// find returns the events with the request id, and the whole log so far. Events are
// written after the response, so it waits until there are as many as wanted.
func (l *logs) find(t testing.TB, requestID string, want int) (events []map[string]any, all string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		events = nil
		for line := range strings.Lines(l.text.String()) {
			var e map[string]any
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if e["request_id"] == requestID {
				events = append(events, e)
			}
		}
		if len(events) >= want {
			return events, l.text.String()
		}
		l.written.Wait()
	}
}

// event returns the only event with the request id.
func (l *logs) event(t testing.TB, requestID string) map[string]any {
	t.Helper()
	events, _ := l.find(t, requestID, 1)
	if len(events) != 1 {
		t.Fatalf("%d events of %s", len(events), requestID)
	}
	return events[0]
}

// deliveredTest is what comes of a test of a webhook.
func deliveredTest(_ context.Context, h *service.Webhook) service.WebhookDelivery {
	return service.WebhookDelivery{Webhook: h.ID, Attempt: 1, At: time.Now(), Took: 12 * time.Millisecond, Status: 204}
}
