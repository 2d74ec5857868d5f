package cluster

import (
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

var withTokens = []string{
	"GUIDON_AUTHENTICATION_REQUIRED=true",
	"GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true",
	"GUIDON_AUTHENTICATION_METHODS_TOKEN_CLEANUP_INTERVAL=10ms",
	"GUIDON_AUTHENTICATION_METHODS_TOKEN_CLEANUP_GRACE_PERIOD=1ms",
}

const bootstrapToken = "GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN="

var anyToken = regexp.MustCompile(`gdn_[-_A-Za-z0-9]+=*`)

// stopped stops the server and returns its log.
func stopped(t *testing.T, s *harness.Server) string {
	t.Helper()
	s.Signal(t, syscall.SIGTERM)
	s.Wait(t)
	return s.Log()
}

// TestBootstrapOnce: a bootstrap token that was deleted, or that expired and was cleaned
// up, is not created again. Servers that start concurrently create one. An operator who
// has lost all tokens can create one directly in the database.
func TestBootstrapOnce(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		bootstrapOnce(t, 1, func() string { return "file:" + filepath.Join(t.TempDir(), "guidon.db") })
	})
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		bootstrapOnce(t, 5, func() string { return s.Migrated(t) })
	})
}

func bootstrapOnce(t *testing.T, servers int, database func() string) {
	t.Run("deleted", func(t *testing.T) {
		url := database()
		starting := make([]*harness.Server, servers)
		for i := range starting {
			starting[i] = harness.Launch(t, url, withTokens...)
		}
		var tokens []string
		for _, s := range starting {
			s.AwaitServing(t)
			tokens = append(tokens, anyToken.FindAllString(s.Log(), -1)...)
		}
		if len(tokens) != 1 {
			t.Fatalf("%d servers created the tokens %q, want one", servers, tokens)
		}
		var self struct{ ID string }
		bearer := "Authorization: Bearer " + tokens[0]
		starting[0].Must(t, "GET", "/auth/v1/self", nil, &self, bearer)
		if a, err := starting[0].Call(t.Context(), "DELETE", "/auth/v1/tokens/"+self.ID, nil, bearer); err != nil || a.Status != 400 {
			t.Errorf("the only administrator deletes itself: got %d, error %v, want 400", a.Status, err)
		}
		for _, s := range starting {
			stopped(t, s)
		}
		harness.Ends(t, harness.Command(t, url, "token", "delete", self.ID), true, self.ID)
		again := harness.Start(t, url, withTokens...)
		if log := stopped(t, again); anyToken.MatchString(log) || !strings.Contains(log, "guidon token create") {
			t.Errorf("want no token and a warning in the log of a later start:\n%s", log)
		}
		token := anyToken.FindString(harness.Ends(t, harness.Command(t, url, "token", "create", "admin"), true, "created token"))
		harness.Start(t, url, withTokens...).Must(t, "GET", "/auth/v1/tokens", nil, nil, "Authorization: Bearer "+token)
	})
	t.Run("expired and cleaned up", func(t *testing.T) {
		const secret = "the-first-token"
		url := database()
		settings := append(withTokens[:len(withTokens):len(withTokens)], bootstrapToken+secret)
		s := harness.Start(t, url, append(settings, "GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_EXPIRATION=1ms")...)
		for deadline := time.Now().Add(harness.Patience); !strings.Contains(s.Log(), "expired tokens deleted"); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the expired token was not cleaned up")
			}
		}
		stopped(t, s)
		again := harness.Start(t, url, settings...)
		a, err := again.Call(t.Context(), "GET", "/auth/v1/self", nil, "Authorization: Bearer "+secret)
		if err != nil || a.Status != 401 {
			t.Errorf("got %d, error %v, want 401 for a token that has expired", a.Status, err)
		}
		if log := stopped(t, again); strings.Contains(log, secret) || !strings.Contains(log, "bootstrap token is not valid") {
			t.Errorf("want a warning that does not show the token:\n%s", log)
		}
	})
}

// TestBootstrapOfCopy: the copy of a database creates no bootstrap token, even if all
// tokens of the original were deleted.
func TestBootstrapOfCopy(t *testing.T) {
	from := "file:" + filepath.Join(t.TempDir(), "from.db")
	stopped(t, harness.Start(t, from, withTokens...))
	db := harness.OpenStore(t, from)
	deleteAll(t, db)
	to := "file:" + filepath.Join(t.TempDir(), "to.db")
	harness.Ends(t, harness.Command(t, from, "copy-database", "--from", from, "--to", to), true, "copied and verified")
	if log := harness.Start(t, to, withTokens...).Log(); anyToken.MatchString(log) {
		t.Errorf("the copy has created a bootstrap token:\n%s", log)
	}
}

// deleteAll deletes every token.
func deleteAll(t *testing.T, db *store.DB) {
	t.Helper()
	svc := service.NewService(db, time.Now)
	all, _, err := svc.ListAuthentications(t.Context(), service.Demand{}, service.AuthenticationFilter{Method: service.MethodToken}, 100, "")
	if err != nil || len(all) == 0 {
		t.Fatalf("got %d tokens, error %v", len(all), err)
	}
	for _, a := range all {
		if err := svc.DeleteAuthentication(t.Context(), service.Write{}, a.ID); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
