package openapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/diagnostics"
	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/service/count"
	"github.com/guidonhq/guidon/store/cache"
	"github.com/guidonhq/guidon/store/storetest"
)

// shop is a server that the scenario is played on, whose clock stands still.
type shop struct {
	t       *testing.T
	db      *sql.DB
	url     string
	token   string
	older   bool              // requests take the older paths, where there are any
	saved   map[string]string // the ids of the scenario by name
	replace map[string]string // what stands for random texts in examples

	replaced [len(random)]int // how many texts of each kind
}

// delivered is what comes of a test of a webhook.
func delivered(_ context.Context, h *service.Webhook) service.WebhookDelivery {
	return service.WebhookDelivery{Webhook: h.ID, Attempt: 1, At: now, Took: 12 * time.Millisecond, Status: 204}
}

var now = time.Date(2026, 11, 20, 14, 3, 0, 0, time.UTC)

func newShop(t *testing.T, options ...func(*handler.Config)) *shop {
	t.Helper()
	db := storetest.NewSQLite(t)
	c, clock := cache.New(db), func() time.Time { return now }
	counter := count.NewCounter(db, count.Keep{Minutes: 48 * time.Hour}, clock)
	if err := counter.RollUp(t.Context()); err != nil { // counting begins
		t.Fatal(err)
	}
	config := handler.Config{
		Service: service.NewService(c, clock).Counting(counter).
			WithWebhooks(&service.Webhooks{Store: db, Send: delivered}), Now: clock, SignIn: fixedSignIn{},
		Authentication: call.AuthenticationConfig{Required: true, TokenMethod: true},
		Streams:        stream.NewHub(stream.Config{Subscribe: c.Subscribe, MaxOFREP: 1, MaxChanges: 1}),
		Info:           diagnostics.Info{Version: "1.0.0", Release: true},
		Configuration:  func() json.RawMessage { return json.RawMessage(`{"log":{"level":"info"},"cors":{"enabled":false}}`) },
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "guidon_requests_total 42\n")
		}),
	}
	for _, option := range options {
		option(&config)
	}
	token, created, err := config.Service.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: "deploy"})
	if err != nil {
		t.Fatal(err)
	}
	// The last admin could not be revoked.
	if _, _, err := config.Service.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: "reserve"}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler.New(config))
	t.Cleanup(server.Close)
	return &shop{t: t, db: db.SQL(), url: server.URL, token: token, saved: map[string]string{"token": created.ID}, replace: make(map[string]string)}
}

// play sends the requests of the scenario, and returns the examples.
func (s *shop) play() map[string]Example {
	s.t.Helper()
	routes := routesOf(s.older)
	examples := make(map[string]Example)
	for _, step := range scenario {
		message := s.fill(step.request)
		status, response := s.send(routes[step.operation], message)
		if status != http.StatusOK {
			s.t.Fatalf("%s %s: status %d: %s", step.operation, message, status, response)
		}
		if step.save != "" {
			s.saved[step.save] = idOf(s.t, response)
		}
		if _, done := examples[step.operation]; !done {
			examples[step.operation] = Example{Request: []byte(s.stable(message)), Response: []byte(s.stable(response))}
		}
	}
	return examples
}

// target is the route of an operation, and what its request is.
type target struct {
	call.Route
	name   string
	inBody bool
}

// routesOf returns the routes by operation: the older ones if there are any and older is
// true.
func routesOf(older bool) map[string]target {
	routes := map[string]target{
		"/health":  {Route: call.Route{Method: "GET", Pattern: "/health"}},
		"/metrics": {Route: call.Route{Method: "GET", Pattern: "/metrics"}},
	}
	for _, o := range handler.Operations() {
		route := o.Routes[0]
		if older {
			route = o.Routes[len(o.Routes)-1]
		}
		routes[o.Name] = target{route, o.Name, o.HasBody(route)}
	}
	for _, o := range handler.OperationsOverHTTP() {
		routes[o.Name] = target{o.Routes[0], o.Name, o.Routes[0].Method == http.MethodPost}
	}
	return routes
}

// send sends a message by the route, and returns the status and the body of the response. Of
// a stream it returns the first event.
func (s *shop) send(to target, message string, headers ...string) (status int, body string) {
	s.t.Helper()
	request := s.request(to, message)
	request.Header.Set("Authorization", "Bearer "+s.token)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	if response.Header.Get("Content-Type") == "text/event-stream" {
		return response.StatusCode, firstEvent(s.t, response.Body)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// request puts the members of the message into the path, and the rest into the body or the
// query.
func (s *shop) request(to target, message string) *http.Request {
	s.t.Helper()
	members := make(map[string]json.RawMessage)
	if message != "" {
		if err := json.Unmarshal([]byte(message), &members); err != nil {
			s.t.Fatalf("%s: %v", message, err)
		}
	}
	path := variable.ReplaceAllStringFunc(to.Pattern, func(variable string) string {
		switch {
		case to.name == "/ofrep/v1/evaluate/flags/{key}":
			return "new-checkout"
		case strings.HasSuffix(to.name, "/changes/stream"):
			return "default"
		}
		name := camelCase(strings.Trim(variable, "{}"))
		value := plainText(members[name])
		delete(members, name)
		return url.PathEscape(value)
	})
	var body io.Reader
	switch {
	case strings.HasSuffix(to.name, "OIDCService/Revoke"): // a provider sends a form
		body = strings.NewReader(queryOf(members).Encode())
	case to.inBody:
		text, err := json.Marshal(members)
		if err != nil {
			s.t.Fatal(err)
		}
		body = bytes.NewReader(text)
	case strings.HasSuffix(to.name, "/changes/stream"):
		path += "?from=1"
	case len(members) > 0:
		path += "?" + queryOf(members).Encode()
	}
	request, err := http.NewRequestWithContext(s.t.Context(), to.Method, s.url+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	return request
}

func camelCase(name string) string {
	return regexp.MustCompile(`_[a-z]`).ReplaceAllStringFunc(name, func(s string) string { return strings.ToUpper(s[1:]) })
}

// plainText returns a member as it is in a path or query.
func plainText(value json.RawMessage) string {
	if text, err := strconv.Unquote(string(value)); err == nil {
		return text
	}
	return string(value)
}

func queryOf(members map[string]json.RawMessage) url.Values {
	query := make(url.Values)
	for name, value := range members {
		list := []json.RawMessage{value}
		if value[0] == '[' {
			_ = json.Unmarshal(value, &list)
		}
		for _, item := range list {
			query.Add(name, plainText(item))
		}
	}
	return query
}

// firstEvent returns the first event of a stream that has data.
func firstEvent(t *testing.T, stream io.Reader) string {
	t.Helper()
	var text []byte
	for !bytes.Contains(text, []byte("data:")) || !bytes.HasSuffix(text, []byte("\n\n")) {
		one := make([]byte, 1)
		if _, err := stream.Read(one); err != nil {
			t.Fatalf("the stream ended after %q: %v", text, err)
		}
		text = append(text, one...)
	}
	return string(text)
}

// idOf returns what later requests need of a response.
func idOf(t *testing.T, response string) string {
	t.Helper()
	var body struct {
		ID, Digest     string
		Authentication struct{ ID string }
	}
	if err := json.Unmarshal([]byte(response), &body); err != nil {
		t.Fatalf("%s: %v", response, err)
	}
	return slices.MaxFunc([]string{body.ID, body.Digest, body.Authentication.ID}, func(a, b string) int { return len(a) - len(b) })
}

// fill replaces names in braces by the saved ids.
func (s *shop) fill(text string) string {
	for name, id := range s.saved {
		text = strings.ReplaceAll(text, "{"+name+"}", id)
	}
	return text
}

var random = [...]struct {
	pattern *regexp.Regexp
	stable  func(n int) string // what stands for the nth text
}{
	{regexp.MustCompile(`"20[23][0-9]-[0-9-]{5}T[0-9:.]+Z"`), func(int) string { return `"2026-11-20T14:03:00Z"` }}, // those of requests are later
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`), func(n int) string {
		h := fmt.Sprintf("%x", sha256.Sum256([]byte("guidon "+strconv.Itoa(n))))
		return h[:8] + "-" + h[8:12] + "-4" + h[12:15] + "-a" + h[15:18] + "-" + h[18:30]
	}},
	{regexp.MustCompile(`gdn_[A-Za-z0-9_=-]{49}`), func(int) string { return "gdn_" + strings.Repeat("x", 49) }},
	{regexp.MustCompile(`whsec_[A-Za-z0-9+/=]{44}`), func(int) string { return "whsec_" + strings.Repeat("x", 43) + "=" }},
	{regexp.MustCompile(`"goVersion":"[^"]*","os":"[^"]*","arch":"[^"]*"`), func(int) string { return `"goVersion":"go1.26.0","os":"linux","arch":"amd64"` }},
	{regexp.MustCompile(`capability=[A-Za-z0-9_.%-]+`), func(int) string { return "capability=xxxx" }},
	{regexp.MustCompile(`retry: [0-9]+`), func(int) string { return "retry: 5000" }},
	{regexp.MustCompile(`id: [0-9]+-[0-9a-f]+`), func(int) string { return "id: 30-5f1c0e9d27a83b46" }},
	{regexp.MustCompile(`"etag":"[^"]*"`), func(int) string { return `"etag":"30-5f1c0e9d27a83b46"` }},
}

// stable replaces random texts, always by the same ones. What stands for a text does not
// change.
func (s *shop) stable(text string) string {
	for i, r := range random {
		text = r.pattern.ReplaceAllStringFunc(text, func(found string) string {
			if _, known := s.replace[found]; !known {
				s.replace[found] = r.stable(s.replaced[i])
				s.replaced[i]++
			}
			return s.replace[found]
		})
	}
	return text
}
