// Package webtest runs the pages of the web interface over a database of their own, and
// reads them as a browser does, for tests.
package webtest

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	_ "time/tzdata"

	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/examples"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/handler/web"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/service/count"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/cache"
	"github.com/guidonhq/guidon/store/storetest"
)

// Options configure a [Server]. The zero Options require authentication, with static tokens.
type Options struct {
	DB       *store.DB // that of another server, with its namespaces; nil means a new one
	Open     bool      // authentication is not required
	ReadOnly bool
	Page     func(*page.Config)    // changes the configuration of the pages; optional
	Handler  func(*handler.Config) // changes that of the service; optional
	Policy   service.Policy        // the accounts that may sign in, and their roles
	Empty    bool                  // the namespace default is empty, instead of having the example shop
	Fault    func() error          // of the store, asked before each use; nil means none
	Now      func() time.Time      // the clock of the service and its pages; nil means time.Now
	Counts   bool                  // evaluations are counted, from now on
	// Send sends tests to webhooks. It is optional.
	Send func(ctx context.Context, h *service.Webhook) service.WebhookDelivery
}

// Server is a service with its pages.
type Server struct {
	t       testing.TB
	Service *service.Service // to change the state that pages show
	Counter *count.Counter   // of evaluations, or nil
	DB      *store.DB
	handler http.Handler
	Log     *bytes.Buffer
	session string
}

// New returns a server with the namespaces default and warehouse of examples/shop.yaml,
// whose visitor is an administrator.
func New(t testing.TB, options Options) *Server {
	t.Helper()
	s := &Server{t: t, Log: new(bytes.Buffer), DB: options.DB}
	if s.DB == nil {
		s.DB = storetest.NewSQLite(t)
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	s.Service = service.NewService(faulty{cache.New(s.DB), options.Fault}, options.Now).WithPolicy(&options.Policy).
		WithWebhooks(&service.Webhooks{Store: s.DB, AllowHTTP: true, Send: options.Send})
	session := call.SessionCookie{Lifetime: time.Hour + time.Until(options.Now())}
	if options.Counts {
		keep := count.Keep{Minutes: 48 * time.Hour, Hours: 60 * 24 * time.Hour, Days: 730 * 24 * time.Hour}
		s.Counter = count.NewCounter(s.DB, keep, options.Now)
		s.Service = s.Service.Counting(s.Counter)
		if err := s.Counter.RollUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	config := page.Config{
		Counts:   options.Counts,
		Required: !options.Open, Session: session, CheckReturnTo: loginstate.CheckReturnTo, ReadOnly: options.ReadOnly, Version: "test",
		Favorites: s.DB, Now: options.Now,
	}
	if options.Page != nil {
		options.Page(&config)
	}
	site := web.New(config)
	all := handler.Config{
		Service: s.Service, Session: session, Pages: site.Mount, StepError: site.ErrorPage,
		Authentication: call.AuthenticationConfig{Required: !options.Open, TokenMethod: true},
		Logger:         slog.New(slog.NewJSONHandler(s.Log, nil)), ReadOnly: options.ReadOnly,
	}
	if options.Handler != nil {
		options.Handler(&all)
	}
	s.handler = handler.New(all)
	if !options.Empty && options.DB == nil {
		s.Import("", examples.Shop)
	}
	if !options.Open {
		s.session = s.SignIn(service.TokenInput{Name: "Mira"})
	}
	return s
}

// faulty is a store that fails as it is told.
type faulty struct {
	service.Store
	fault func() error
}

// Update implements [service.Store].
func (f faulty) Update(
	ctx context.Context, namespace string, w service.Write, fn func(ctx context.Context, tx service.Tx) error,
) (int64, error) {
	if f.fault != nil && namespace != "" {
		if err := f.fault(); err != nil {
			return 0, err
		}
	}
	return f.Store.Update(ctx, namespace, w, fn)
}

// Import imports YAML documents into their namespaces, and replaces what these have. A
// namespace, if given, gets the first document instead.
func (s *Server) Import(namespace string, yaml []byte) {
	s.t.Helper()
	documents, err := document.Decode(yaml, document.YAML, document.RejectUnknown)
	if err != nil {
		s.t.Fatal(err)
	}
	if namespace != "" {
		documents = documents[:1]
		documents[0].Namespace = service.DocumentNamespace{Key: namespace, Name: strings.ToUpper(namespace[:1]) + namespace[1:]}
	}
	for _, d := range documents {
		s.replace(d)
	}
}

// replace imports a document into its namespace, which it creates unless it is default.
func (s *Server) replace(d *service.Document) {
	s.t.Helper()
	key := d.Namespace.Key
	if key != "default" {
		in := service.NamespaceInput{Key: key, Name: d.Namespace.Name}
		if _, _, err := s.Service.CreateNamespace(s.t.Context(), service.Write{}, in); err != nil {
			s.t.Fatal(err)
		}
	}
	if _, _, err := s.Service.Import(s.t.Context(), service.Write{}, key, d, service.ImportReplace, false); err != nil {
		s.t.Fatal(err)
	}
}

// SignIn returns a new browser session of a new static token.
func (s *Server) SignIn(in service.TokenInput) string {
	s.t.Helper()
	token, _, err := s.Service.CreateToken(s.t.Context(), service.Write{}, in)
	if err != nil {
		s.t.Fatal(err)
	}
	r := s.send("POST", "/sign-in", "", url.Values{"token": {token}})
	for _, c := range r.Result.Cookies() {
		if c.Name == "service_client_token" {
			return c.Value
		}
	}
	s.t.Fatalf("signing in: %d %s", r.Status, r.Body)
	return ""
}

// As returns the same server visited with another session; "" means no session.
func (s *Server) As(session string) *Server {
	other := *s
	other.session = session
	return &other
}

// Handler returns the service with its pages.
func (s *Server) Handler() http.Handler { return s.handler }

// Get gets a page. Headers are names and values in turn.
func (s *Server) Get(target string, headers ...string) *Reply {
	s.t.Helper()
	return s.send("GET", target, s.session, nil, headers...)
}

// Post sends a form, as a page of the service does.
func (s *Server) Post(target string, form url.Values, headers ...string) *Reply {
	s.t.Helper()
	return s.send("POST", target, s.session, form, headers...)
}

// Upload sends a form as multipart/form-data, as a page does that takes files.
func (s *Server) Upload(target string, form url.Values) *Reply {
	s.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, values := range form {
		for _, value := range values {
			if err := w.WriteField(name, value); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		s.t.Fatal(err)
	}
	return s.sendBody("POST", target, s.session, &body, "Content-Type", w.FormDataContentType())
}

func (s *Server) send(method, target, session string, form url.Values, headers ...string) *Reply {
	s.t.Helper()
	return s.sendBody(method, target, session, strings.NewReader(form.Encode()), headers...)
}

func (s *Server) sendBody(method, target, session string, body io.Reader, headers ...string) *Reply {
	s.t.Helper()
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, s.request(method, target, session, body, headers...))
	return &Reply{t: s.t, Status: w.Code, Header: w.Header(), Body: w.Body.String(), Result: w.Result()}
}

// Request returns a request of the visitor for a page, which may be sent several times.
// Headers are names and values in turn.
func (s *Server) Request(target string, headers ...string) *http.Request {
	return s.request(http.MethodGet, target, s.session, nil, headers...)
}

func (s *Server) request(method, target, session string, body io.Reader, headers ...string) *http.Request {
	request := httptest.NewRequestWithContext(s.t.Context(), method, "http://flags.test"+target, body)
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if session != "" {
		request.AddCookie(&http.Cookie{Name: "service_client_token", Value: session}) // #nosec G124 -- of a request
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Cookie" { // besides that of the session
			request.Header.Add("Cookie", headers[i+1])
			continue
		}
		request.Header.Set(headers[i], headers[i+1])
	}
	return request
}

// Listen serves the service to programs until the test ends, and returns its address.
func (s *Server) Listen() string {
	server := httptest.NewServer(s.handler)
	s.t.Cleanup(server.Close)
	return server.URL
}
