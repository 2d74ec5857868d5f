package integration

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/migrate/fliptdb/fliptdbtest"
)

// TestSwitchFromFlipt migrates with the binary from Flipt's PostgreSQL to an SQLite file,
// and from the file to a database server. The first attempt of the latter is killed.
// Clients keep their tokens and get the same results as from Flipt.
func TestSwitchFromFlipt(t *testing.T) {
	postgresServer.need(t)
	data := fliptdbtest.Generate(3)
	flipt := postgresServer.empty(t)
	theirs, err := openSQL(flipt)
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	if err := data.Store(t.Context(), theirs, "postgres"); err != nil {
		t.Fatal(err)
	}

	file := sqliteURL(t)
	command(t, file, "migrate", "up").ends(t, true, "applied 1")
	command(t, file, "import", "--from-flipt-database", flipt, "--dry-run").ends(t, true, "default: flags 40")
	command(t, file, "import", "--from-flipt-database", flipt).ends(t, true, "authentications: 6")

	target := postgresServer.empty(t)
	killedCopy(t, file, target)
	before := openStore(t, target)
	if all, err := before.Namespaces(t.Context()); err != nil || len(all) != 1 || all[0].Key != guidon.DefaultNamespace {
		t.Errorf("a killed copy left namespaces %v, %v, want only the seed", all, err)
	}
	command(t, file, "copy-database", "--to", target).ends(t, true, "copied and verified")
	command(t, file, "copy-database", "--to", target).ends(t, false, "not empty")

	s := start(t, target, "GUIDON_AUTHENTICATION_REQUIRED=true", "GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true")
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
		s.must(t, "POST", "/evaluate/v1/"+kind, body, &got, "Authorization: Bearer "+fliptdbtest.Token)
		want := data.Evaluate(row.Namespace, row.Key, "user-1", map[string]string{"name": "bar", "age": "5"})
		if got.VariantKey != want.Variant || (got.Match || got.Enabled) != want.Match {
			t.Errorf("%s/%s: got %+v, want %+v", row.Namespace, row.Key, got, want)
		}
	}
}

// killedCopy kills the command in the middle of its transaction.
func killedCopy(t *testing.T, from, to string) {
	t.Helper()
	proxy, url := newPGProxy(t, to)
	c := command(t, from, "copy-database", "--to", url)
	begun := make(chan struct{})
	// The statement waits here until the process has been killed, and is then dropped.
	decide, inflicted := once(cutBefore, func(r request) bool {
		return len(r.sql) > 0 && strings.HasPrefix(r.sql[0], "INSERT INTO segments")
	})
	proxy.inflict(func(r request) fault {
		f := decide(r)
		if f == cutBefore {
			close(begun)
			<-c.ended
		}
		return f
	})
	c.begin(t)
	select {
	case <-begun:
		_ = c.cmd.Process.Kill()
		<-c.ended
	case <-c.ended:
		t.Fatalf("the copy ended by itself: %s", c.output.String())
	}
	<-inflicted
}

// commandRun is one run of the binary on a database.
type commandRun struct {
	cmd    *exec.Cmd
	output strings.Builder
	ended  chan struct{}
	err    error // set when ended is closed
}

func command(t *testing.T, database string, args ...string) *commandRun {
	t.Helper()
	c := &commandRun{cmd: exec.CommandContext(t.Context(), binary, args...), ended: make(chan struct{})}
	c.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GUIDON_DB_URL=" + database}
	c.cmd.Stdout, c.cmd.Stderr = &c.output, &c.output
	return c
}

func (c *commandRun) begin(t *testing.T) {
	t.Helper()
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.ended)
	}()
}

// ends runs the command to its end, and checks its success and that its output contains the
// text.
func (c *commandRun) ends(t *testing.T, success bool, text string) {
	t.Helper()
	c.begin(t)
	<-c.ended
	if got := c.output.String(); (c.err == nil) != success || !strings.Contains(got, text) {
		t.Fatalf("%q: got %v and %q, want success %t and %q", c.cmd.Args[1:], c.err, got, success, text)
	}
}
