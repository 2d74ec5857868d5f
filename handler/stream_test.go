package handler_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/service"
)

const eventsPath = "/ofrep/v1/events"

// refetch returns the event for a revision of the journal.
func refetch(number, stamp string) string {
	return "id: " + number + "-" + stamp + "\nevent: message\ndata: {\"type\":\"refetchEvaluation\",\"etag\":\"" + number + "\"}\n\n"
}

// TestOFREPEvents tests OFREP 7: a client that has not seen the current revision is told
// to refetch, at the start and after each change. No other events are sent.
func TestOFREPEvents(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		j := newJournal()
		h, _ := streaming(j)
		first := listen(t, h, eventsPath)
		first.begun(refetch("1", "1"))
		for name, want := range map[string]string{
			"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no", "Content-Encoding": "", "Guidon-Revision": "1",
		} {
			if got := first.wire.Header().Get(name); got != want {
				t.Errorf("%s %q, want %q", name, got, want)
			}
		}
		current := listen(t, h, eventsPath, "Last-Event-ID", "1-1")
		current.begun("id: 1-1\n\n")
		restored := listen(t, h, eventsPath, "Last-Event-ID", "1-2")
		restored.begun(refetch("1", "1"))
		restored.cancel()
		synctest.Wait()
		nowhere := listen(t, h, eventsPath+"?namespace=nowhere")
		nowhere.begun(refetch("0", "0"))

		time.Sleep(time.Second)
		j.set(2, 0xabc)
		for _, l := range []*streamClient{first, current} {
			l.wants("a change", refetch("2", "abc"))
		}
		j.setTokens() // wakes all
		time.Sleep(time.Second)
		for _, l := range []*streamClient{first, current, nowhere} {
			l.wants("nothing new", "")
			l.cancel()
			if !l.ended() {
				t.Error("the stream continues after its client has disconnected")
			}
		}
		if j.waiting != 0 {
			t.Errorf("%d subscriptions are left", j.waiting)
		}
	})
}

// TestStreamsCoalesce checks that of several changes in quick succession the first is
// reported immediately, and the others together.
func TestStreamsCoalesce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		j := newJournal()
		h, _ := streaming(j)
		l := listen(t, h, eventsPath)
		l.begun(refetch("1", "1"))
		time.Sleep(time.Second)
		for range 50 {
			j.write(0)
			time.Sleep(time.Millisecond)
		}
		l.wants("immediately", refetch("2", "2"))
		time.Sleep(time.Second)
		l.wants("later", refetch("51", "33"))
		l.cancel()
		synctest.Wait()
	})
}

// TestStreamsHeartbeat checks that an idle stream sends heartbeats, so that no proxy
// closes it (OFREP 7).
func TestStreamsHeartbeat(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		j := newJournal()
		h, _ := streaming(j)
		l := listen(t, h, eventsPath)
		l.begun(refetch("1", "1"))
		for range 3 {
			time.Sleep(19 * time.Second)
			l.wants("after 19 s", "")
			time.Sleep(time.Second)
			l.wants("after 20 s", ": keep-alive\n\n")
		}
		time.Sleep(10 * time.Second)
		j.set(2, 2)
		l.wants("a change", refetch("2", "2"))
		time.Sleep(19 * time.Second)
		l.wants("19 s after the change", "")
		l.cancel()
		synctest.Wait()
	})
}

// TestStreamsPollAfresh checks that each poll counts as a new request, however long the
// stream has lasted: it has its own timeout, and must not be served from older data.
func TestStreamsPollAfresh(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		j := newJournal()
		h, _ := streaming(j, func(c *handler.Config) { c.Timeout = time.Minute })
		l := listen(t, h, eventsPath)
		l.begun(refetch("1", "1"))
		time.Sleep(time.Hour)
		l.next() // skip the heartbeats
		j.set(2, 2)
		l.wants("a change", refetch("2", "2"))
		if !j.arrived.Equal(time.Now()) {
			t.Errorf("the poll has the arrival time %v, want %v", j.arrived, time.Now())
		}
		l.cancel()
		synctest.Wait()
	})
}

var retryLine = regexp.MustCompile(`^retry: (\d+)\n\n`)

// TestStreamsEnd checks that clients get different reconnection delays when the server
// stops, and that new streams are rejected.
func TestStreamsEnd(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		j := newJournal()
		const clients = 200
		streams := stream.NewHub(stream.Config{Subscribe: j.Subscribe, MaxOFREP: clients, MaxChanges: 1})
		h := handler.New(handler.Config{Service: service.NewService(j, time.Now), Streams: streams})
		all := make([]*streamClient, clients)
		first := map[string]bool{}
		for i := range all {
			all[i] = listen(t, h, eventsPath)
			first[retryLine.FindString(all[i].next())] = true
		}
		streams.End()
		streams.End()
		least, most, last := 1<<30, 0, map[string]bool{}
		for _, l := range all {
			text := l.next()
			match := retryLine.FindStringSubmatch(text)
			if match == nil || !l.ended() {
				t.Fatalf("the stream ends with %q", text)
			}
			ms, _ := strconv.Atoi(match[1])
			least, most, last[text] = min(least, ms), max(most, ms), true
		}
		if len(first) < clients*9/10 || len(last) < clients*9/10 || least < 2000 || least > 4000 || most < 20_000 || most > 22_000 {
			t.Errorf("%d and %d different delays, from %d to %d ms", len(first), len(last), least, most)
		}
		late := listen(t, h, eventsPath)
		if got := late.wire.Body.String() + late.next(); late.wire.Code != http.StatusServiceUnavailable || !strings.Contains(got, "stopping") {
			t.Errorf("got %d %s", late.wire.Code, got)
		}
		want := []stream.Stats{
			{Kind: "ofrep", Refused: 1, Ended: map[string]uint64{"stopping": clients}}, {Kind: "changes", Ended: map[string]uint64{}},
		}
		if diff := cmp.Diff(want, streams.Stats()); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
	})
}

// TestStreamsSlowClient checks that a client that does not read is disconnected after the
// write deadline, and delays no other client until then.
func TestStreamsSlowClient(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		j := newJournal()
		h, streams := streaming(j)
		slow, other := listen(t, h, eventsPath), listen(t, h, eventsPath)
		slow.begun(refetch("1", "1"))
		other.begun(refetch("1", "1"))
		time.Sleep(time.Second)
		slow.wire.stall()
		j.set(2, 2)
		other.wants("a change", refetch("2", "2"))
		time.Sleep(9 * time.Second)
		if slow.ended() {
			t.Error("disconnected too early")
		}
		time.Sleep(time.Second)
		if !slow.ended() {
			t.Error("not disconnected")
		}
		other.cancel()
		synctest.Wait()
		if got := streams.Stats()[0].Ended; got["slow"] != 1 || got["client"] != 1 {
			t.Errorf("ended %v", got)
		}
	})
}

// TestStreamsEndWithToken checks that a stream ends when its token is deleted or expires,
// and a stream with a capability soon after the capability ends.
func TestStreamsEndWithToken(t *testing.T) {
	const secret = "secret"
	token := func() *service.Authentication {
		return &service.Authentication{ID: "id", Method: service.MethodToken, TokenHash: service.HashToken(secret)}
	}
	for _, test := range []struct {
		name       string
		capability bool
		during     func(j *journal, a *service.Authentication)
		lasts      time.Duration // at least
		ends       time.Duration // until it has ended
		reason     string
	}{
		{"deleted", false, func(j *journal, _ *service.Authentication) { j.setTokens() }, 0, 0, "refused"},
		{"deleted, of a capability", true, func(j *journal, _ *service.Authentication) { j.setTokens() }, 0, 0, "refused"},
		{"limited to another namespace", false, func(j *journal, _ *service.Authentication) {
			a := token()
			a.Metadata = map[string]string{service.MetadataTokenNamespace: "shop"}
			j.setTokens(a)
		}, 0, 0, "refused"},
		{"expires", false, func(j *journal, _ *service.Authentication) {
			a := token()
			a.ExpiresAt = time.Now().Add(time.Hour)
			j.setTokens(a)
		}, time.Hour, time.Hour, "refused"},
		{"the capability ends", true, func(*journal, *service.Authentication) {}, service.CapabilityWindow, 2*service.CapabilityWindow + 5*time.Minute, "expired"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				j, a := newJournal(), token()
				j.setTokens(a)
				h, streams := streaming(j, required)
				path, headers := eventsPath+"?namespace=default", []string{"Authorization", "Bearer " + secret}
				if test.capability {
					path, headers = path+"&capability="+a.Capability("default", service.CapabilityEnd(time.Now())), nil
				}
				l := listen(t, h, path, headers...)
				l.begun(refetch("1", "1"))
				time.Sleep(time.Second)
				test.during(j, a)
				if time.Sleep(test.lasts - 2*time.Second); test.lasts > 0 && l.ended() {
					t.Error("ended early")
				}
				if time.Sleep(test.ends - test.lasts + 3*time.Second); !l.ended() {
					t.Error("has not ended")
				}
				if got := streams.Stats()[0].Ended[test.reason]; got != 1 {
					t.Errorf("ended %v", streams.Stats()[0].Ended)
				}
			})
		})
	}
}

// TestStreamsSurviveOutage checks that temporary unavailability does not end a stream,
// and that the client gets the changes that it missed.
func TestStreamsSurviveOutage(t *testing.T) {
	for _, path := range []string{eventsPath, changesPath} {
		bubble.Test(t, func(t *testing.T) {
			j := newJournal()
			h, _ := streaming(j)
			l := listen(t, h, path)
			l.next()
			time.Sleep(time.Second)
			j.fail(guidon.Errorf(guidon.Unavailable, "away"))
			time.Sleep(time.Minute)
			if got := l.next(); strings.ReplaceAll(got, ": keep-alive\n\n", "") != "" || strings.Count(got, "keep-alive") < 2 {
				t.Errorf("during the outage: got %q", got)
			}
			j.write(1)
			synctest.Wait() // until the poll has failed
			j.mu.Lock()
			j.broken = nil // without notifying subscribers
			j.mu.Unlock()
			time.Sleep(2 * time.Second)
			if got := l.next(); strings.Count(got, "id: 2") != 1 {
				t.Errorf("after the outage: got %q", got)
			}
			l.cancel()
			synctest.Wait()
		})
	}
}

// TestStreamsFail checks that an unexpected error ends a stream, and is in the log with
// the actor.
func TestStreamsFail(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		j := newJournal()
		j.setTokens(&service.Authentication{ID: "id", Method: service.MethodToken, TokenHash: service.HashToken("secret")})
		h, streams := streaming(j, required, func(c *handler.Config) { c.Logger = slog.New(slog.NewJSONHandler(&log, nil)) })
		l := listen(t, h, eventsPath, "Authorization", "Bearer secret")
		l.next()
		time.Sleep(time.Second)
		j.fail(errors.New("unheard of"))
		if !l.ended() || streams.Stats()[0].Ended["failed"] != 1 {
			t.Errorf("ended %v", streams.Stats()[0].Ended)
		}
		for _, want := range []string{`"level":"ERROR"`, `"actor":"token:id"`, `"ended":"failed"`, `"code":"internal error"`, "unheard of"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s is not in the log: %s", want, log.String())
			}
		}
	})
}

// TestStreamErrors checks that a stream that cannot start gets an ordinary error
// response.
func TestStreamErrors(t *testing.T) {
	a := &service.Authentication{ID: "id", Method: service.MethodToken, TokenHash: service.HashToken("secret"),
		Metadata: map[string]string{service.MetadataTokenNamespace: "default"}}
	j := newJournal()
	j.setTokens(a)
	h, streams := streaming(j, required)
	good := a.Capability("default", service.CapabilityEnd(time.Now()))
	const unauthenticated = `{"errorCode":"GENERAL","errorDetails":"request was not authenticated"}`
	for _, test := range []struct {
		name, path, token string
		status            int
		body              string
	}{
		{"no credential", eventsPath, "", 401, unauthenticated},
		{"a capability for another namespace", eventsPath + "?namespace=shop&capability=" + good, "", 401, unauthenticated},
		{"an expired capability", eventsPath + "?capability=" + a.Capability("default", time.Now()), "", 401, unauthenticated},
		{"an invalid capability with a valid token", eventsPath + "?capability=x", "secret", 401, unauthenticated},
		{"a capability on another path", changesPath + "?capability=" + good, "", 401, `{"code":16,"message":"request was not authenticated","details":[]}`},
		{"another than the token's namespace", eventsPath + "?namespace=shop", "secret", 403,
			`{"errorCode":"GENERAL","errorDetails":"permission denied: the token is limited to another namespace"}`},
		{"another than the token's namespace, of changes", "/api/v1/namespaces/shop/changes/stream", "secret", 401, `{"code":16,"message":"request was not authenticated","details":[]}`},
		{"an invalid start", changesPath + "?from=x", "secret", 400, `{"code":3,"message":"invalid field from: must be a revision, or the id of an event","details":[]}`},
		{"a malformed namespace", eventsPath + "?namespace=x;y", "secret", 400, `{"errorCode":"GENERAL","errorDetails":"the query string is malformed"}`},
		{"a malformed query", changesPath + "?from=%zz", "secret", 400, `{"code":3,"message":"the query string is malformed","details":[]}`},
		{"a connection without deadlines", eventsPath, "secret", 501, `{"errorCode":"GENERAL","errorDetails":"this server does not support streaming"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			headers := []string{}
			if test.token != "" {
				headers = []string{"Authorization", "Bearer " + test.token}
			}
			r := download(t, h, test.path, headers...) // its recorder has no deadlines
			r.check(t, test.status, test.body)
		})
	}
	for _, s := range streams.Stats() {
		if s.Open != 0 || len(s.Ended) != 0 {
			t.Errorf("counts %v", s)
		}
	}
	if r := serve(h, "POST", eventsPath, ""); r.Code != http.StatusMethodNotAllowed || r.Header().Get("Allow") != "GET" {
		t.Errorf("POST: %d, Allow %q", r.Code, r.Header().Get("Allow"))
	}

	without := handler.New(handler.Config{Service: service.NewService(j, time.Now)})
	for _, path := range []string{eventsPath, changesPath} {
		if r := download(t, without, path); r.status != http.StatusNotFound {
			t.Errorf("without Streams, %s is %d", path, r.status)
		}
	}
}

// TestStreamsLog checks that a stream is logged as one event when it has ended, without
// the secrets in its URL.
func TestStreamsLog(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		a := &service.Authentication{ID: "id", Method: service.MethodToken, TokenHash: service.HashToken("secret")}
		j := newJournal()
		j.setTokens(a)
		o := newObserver()
		h, _ := streaming(j, required, func(c *handler.Config) {
			c.Logger, c.Observer = slog.New(slog.NewJSONHandler(&log, nil)), o
		})
		l := listen(t, h, eventsPath+"?namespace=default&capability="+a.Capability("default", service.CapabilityEnd(time.Now())))
		time.Sleep(time.Minute)
		if log.Len() > 0 {
			t.Errorf("logged before the end: %s", log.String())
		}
		l.cancel()
		synctest.Wait()
		var got map[string]any
		if err := json.Unmarshal(log.Bytes(), &got); err != nil {
			t.Fatalf("%v: %s", err, log.String())
		}
		for _, name := range []string{"time", "request_id", "bytes"} {
			delete(got, name)
		}
		want := map[string]any{
			"level": "INFO", "msg": "request", "operation": eventsPath, "transport": "http", "method": "GET", "route": eventsPath, "status": 200.0,
			"actor": "token:id", "namespace": "default", "revision": 1.0, "ended": "client", "code": "ok", "duration": float64(time.Minute),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
		if len(o.finished) != 0 {
			t.Errorf("its duration was reported like that of a request: %v", <-o.finished)
		}
	})
}

// TestStreamsOverHTTP checks on a real connection that the timeouts of other requests do
// not apply, and that pages of other origins may listen.
func TestStreamsOverHTTP(t *testing.T) {
	j := newJournal()
	h, streams := streaming(j, func(c *handler.Config) { c.CORS = &exchange.CORSConfig{} })
	listener := httptest.NewUnstartedServer(h)
	listener.Config.ReadTimeout, listener.Config.WriteTimeout = 30*time.Millisecond, 30*time.Millisecond
	listener.Start()
	defer listener.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, listener.URL+eventsPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Origin", "https://a.example")
	request.Header.Set("Accept-Encoding", "gzip")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if got := response.Header.Get("Access-Control-Allow-Origin"); got != "*" {
		t.Errorf("Access-Control-Allow-Origin %q", got)
	}
	ids := eventIDs(t, response.Body)
	number := int64(1)
	for end := time.Now().Add(200 * time.Millisecond); time.Now().Before(end) || number < 3; number++ {
		want := strconv.FormatInt(number, 10) + "-1"
		if got := <-ids; got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		j.set(number+1, 1)
	}
	streams.End()
	for range ids {
	}
}
