package database

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// TestQueryInterrupted queries a frozen database for the current revision. The query ends
// when its context is canceled or when the statement timeout passes, and its connection is
// not reused.
func TestQueryInterrupted(t *testing.T) {
	const statementTimeout = 500 * time.Millisecond
	cases := []struct {
		name  string
		after time.Duration // when the context is canceled, unless it is zero
		want  func(err error) bool
	}{
		{"context canceled", statementTimeout / 10, func(err error) bool { return errors.Is(err, context.Canceled) }},
		{"statement timeout", 0, func(err error) bool { return guidon.CodeOf(err) == guidon.Unavailable }},
	}
	for _, s := range harness.PrivateServers {
		t.Run(s.Name, func(t *testing.T) {
			process, database := harness.OwnDatabase(t, s)
			db, err := store.Open(t.Context(), database, store.Options{StatementTimeout: statementTimeout})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			query := func(ctx context.Context) error {
				heads, err := db.Heads(ctx, []string{"default", service.AuthenticationsKey})
				if err == nil && heads["default"].Number == 0 {
					t.Errorf("got %v, want the revision of the default namespace", heads)
				}
				return err
			}
			wantResults := func(when string) {
				t.Helper()
				for range 3 { // the driver itself tests a connection that was idle for a second
					if err := query(t.Context()); err != nil {
						t.Errorf("%s: %v", when, err)
					}
				}
			}
			for _, c := range cases {
				wantResults("before " + c.name)
				process.Freeze()
				ctx, cancel := context.WithCancel(t.Context())
				if c.after != 0 {
					time.AfterFunc(c.after, cancel)
				}
				begin := time.Now()
				if err := query(ctx); !c.want(err) {
					t.Errorf("%s: got %v", c.name, err)
				}
				if took := time.Since(begin); took > statementTimeout+harness.Slack {
					t.Errorf("%s: took %v", c.name, took)
				}
				cancel()
				process.Thaw()
				wantResults("after " + c.name)
			}
		})
	}
}
