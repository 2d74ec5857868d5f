package clients

import (
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/integration/harness/dbtest"
	"github.com/guidonhq/guidon/migrate/fliptdb/fliptdbtest"
)

// TestSwitchFromFlipt migrates with the binary from Flipt's PostgreSQL to an SQLite file,
// and from the file to a database server. The first attempt of the latter is killed.
// Clients keep their tokens and get the same results as from Flipt.
func TestSwitchFromFlipt(t *testing.T) {
	harness.Postgres.Need(t)
	data := fliptdbtest.Generate(3)
	flipt := harness.Postgres.Empty(t)
	theirs, err := harness.OpenSQL(flipt)
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	if err := data.Store(t.Context(), theirs, "postgres"); err != nil {
		t.Fatal(err)
	}

	file := harness.SQLiteURL(t)
	harness.Ends(t, harness.Command(t, file, "migrate", "up"), true, "applied 1")
	harness.Ends(t, harness.Command(t, file, "import", "--from-flipt-database", flipt, "--dry-run"), true, "default: flags 40")
	harness.Ends(t, harness.Command(t, file, "import", "--from-flipt-database", flipt), true, "authentications: 6")

	target := harness.Postgres.Empty(t)
	killedCopy(t, file, target)
	before := harness.OpenStore(t, target)
	if all, err := before.Namespaces(t.Context()); err != nil || len(all) != 1 || all[0].Key != guidon.DefaultNamespace {
		t.Errorf("a killed copy left namespaces %v, %v, want only the seed", all, err)
	}
	harness.Ends(t, harness.Command(t, file, "copy-database", "--to", target), true, "copied and verified")
	harness.Ends(t, harness.Command(t, file, "copy-database", "--to", target), false, "not empty")

	s := harness.Start(t, target, "GUIDON_AUTHENTICATION_REQUIRED=true", "GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true")
	for _, row := range data.Flags {
		var got struct {
			VariantKey string
			Enabled    bool
			Match      bool
		}
		kind := "variant"
		if row.Type == 1 {
			kind = "boolean"
		}
		body := map[string]any{"namespaceKey": row.Namespace, "flagKey": row.Key, "entityId": "user-1", "context": map[string]string{"name": "bar", "age": "5"}}
		s.Must(t, "POST", "/evaluate/v1/"+kind, body, &got, "Authorization: Bearer "+fliptdbtest.Token)
		want := data.Evaluate(row.Namespace, row.Key, "user-1", map[string]string{"name": "bar", "age": "5"})
		if got.VariantKey != want.Variant || (got.Match || got.Enabled) != want.Match {
			t.Errorf("%s/%s: got %+v, want %+v", row.Namespace, row.Key, got, want)
		}
	}
}

// killedCopy kills the command in the middle of its transaction.
func killedCopy(t *testing.T, from, to string) {
	t.Helper()
	proxy, url := dbtest.NewProxy(t, to)
	c := harness.Command(t, from, "copy-database", "--to", url)
	var output strings.Builder
	c.Stdout, c.Stderr = &output, &output
	begun, ended := make(chan struct{}), make(chan struct{})
	// The statement waits here until the process has been killed, and is then dropped.
	decide, inflicted := dbtest.Once(dbtest.CutBefore, func(r dbtest.Request) bool {
		return len(r.Statements) > 0 && strings.HasPrefix(r.Statements[0], "INSERT INTO segments")
	})
	proxy.Inflict(func(r dbtest.Request) dbtest.Fault {
		f := decide(r)
		if f == dbtest.CutBefore {
			close(begun)
			<-ended
		}
		return f
	})
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = c.Wait()
		close(ended)
	}()
	select {
	case <-begun:
		_ = c.Process.Kill()
		<-ended
	case <-ended:
		t.Fatalf("the copy ended by itself: %s", output.String())
	}
	<-inflicted
}
