package handler_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/diagnostics"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// provider is the URL of a server that starts services for the tests of this package:
// the real programs, each with its own database (TestSuite in integration/clients). A
// POST with the test's name and the settings starts a service. The response has the URL
// of the service in the header Service-Url, its database in Database-Url, and its log as
// the body, streamed; canceling the request ends the service. If provider is empty, which
// is the default, the tests run their servers in this process.
var provider = os.Getenv("TEST_PROVIDER")

// settings returns the environment variables for the configuration, or the name of a
// field that no environment variable can set.
func settings(c handler.Config, behind backends) (environ []string, beyond string) {
	set := func(key, value string) { environ = append(environ, "GUIDON_"+key+"="+value) }
	set("UI_ENABLED", "false") // handlers inside of this process have no pages
	turn := func(key string, on bool) { set(key, strconv.FormatBool(on)) }

	// The same log format as in this process.
	set("LOG_ENCODING", "json")
	set("LOG_LEVEL", "debug")
	set("LOG_KEYS_TIME", "time")
	set("LOG_KEYS_LEVEL", "level")
	set("LOG_KEYS_MESSAGE", "msg")
	turn("METRICS_ENABLED", false)

	a := c.Authentication
	turn("AUTHENTICATION_REQUIRED", a.Required)
	turn("AUTHENTICATION_EXCLUDE_MANAGEMENT", a.ExcludeManagement)
	turn("AUTHENTICATION_EXCLUDE_EVALUATION", a.ExcludeEvaluation)
	turn("AUTHENTICATION_EXCLUDE_OFREP", a.ExcludeOFREP)
	turn("AUTHENTICATION_METHODS_TOKEN_ENABLED", a.TokenMethod)
	c.Authentication = call.AuthenticationConfig{}

	turn("SERVER_READ_ONLY", c.ReadOnly)
	c.ReadOnly = false

	if c.UI.Theme != "" {
		set("UI_DEFAULT_THEME", c.UI.Theme)
	}
	set("UI_TOPBAR_COLOR", c.UI.TopbarColor)
	c.UI = diagnostics.UI{}

	turn("CORS_ENABLED", c.CORS != nil)
	if c.CORS != nil {
		set("CORS_ALLOWED_ORIGINS", strings.Join(c.CORS.AllowedOrigins, " "))
		set("CORS_ALLOWED_HEADERS", strings.Join(c.CORS.AllowedHeaders, " "))
		c.CORS = nil
	}

	set("SERVER_ALLOWED_HOSTS", strings.Join(c.AllowedHosts, " "))
	c.AllowedHosts = nil

	turn("STREAMS_ENABLED", behind.streams != nil)
	if streams := behind.streams; streams != nil {
		set("STREAMS_MAX_OFREP", strconv.Itoa(max(streams.MaxOFREP, 1)))
		set("STREAMS_MAX_CHANGES", strconv.Itoa(max(streams.MaxChanges, 1)))
		set("STREAMS_PUBLIC_URL", streams.PublicURL)
	}

	if freshness := behind.freshness; freshness != nil && freshness.MaxAge > 0 {
		set("CACHE_MODE", "bounded")
		set("CACHE_MAX_AGE", freshness.MaxAge.String())
	}

	for field, value := range reflect.ValueOf(c).Fields() {
		if !value.IsZero() {
			return nil, "Config." + field.Name
		}
	}
	return environ, ""
}

// startOutside returns a service that the provider runs.
func startOutside(t testing.TB, environ []string) *server {
	t.Helper()
	answer, end := postForm(t, url.Values{"test": {t.Name()}, "setting": environ})
	logs, read := newLogs(), make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			fmt.Fprintf(logs, "%s\n", lines.Bytes())
		}
	}()
	db, err := store.Open(t.Context(), answer.Header.Get("Database-Url"), store.Options{})
	if err != nil {
		end()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = db.Close()
		end()
		<-read
	})
	s := &server{
		t: t, url: answer.Header.Get("Service-Url"), service: service.NewService(db, time.Now), logs: logs, ids: map[string]string{},
	}
	s.dropTokens()
	return s
}

// dropTokens deletes the first token, which a server creates when it starts.
func (s *server) dropTokens() {
	s.t.Helper()
	all, _, err := s.service.ListAuthentications(s.t.Context(), service.Demand{}, service.AuthenticationFilter{Method: service.MethodToken}, 0, "")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, a := range all {
		if err := s.service.DeleteAuthentication(s.t.Context(), service.Write{}, a.ID); err != nil {
			s.t.Fatal(err)
		}
	}
}

// reportInside reports to the provider that the test has a server in this process, and
// why.
func reportInside(t testing.TB, why string) {
	t.Helper()
	answer, end := postForm(t, url.Values{"test": {t.Name()}, "inside": {why}})
	_ = answer.Body.Close()
	end()
}

// postForm posts the form to the provider. The caller must call end to end the request.
func postForm(t testing.TB, form url.Values) (answer *http.Response, end context.CancelFunc) {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, provider, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err = client.Do(request)
	if err != nil {
		end()
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		end()
		t.Fatalf("the provider returned %d %s", answer.StatusCode, text)
	}
	return answer, end
}
