package machine_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/cmd/internal/machine"
)

func TestContextsUpdate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "guidon", "contexts.yml")
	file := machine.ContextsIn(path)
	if c, err := file.Read(); err != nil || len(c.Named) != 0 {
		t.Fatalf("without a file: got %v, %v, want no contexts", c, err)
	}
	staging := machine.Context{Address: "https://staging.example", Namespace: "shop", CAFile: "/etc/ca.pem"}
	err := file.Update(t.Context(), func(c *machine.Contexts) error {
		c.Named["staging"], c.Current = staging, "staging"
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	for name, fn := range map[string]func(c *machine.Contexts) error{
		"the change fails":      func(c *machine.Contexts) error { clear(c.Named); return refused },
		"an address is invalid": func(c *machine.Contexts) error { c.Named["x"] = machine.Context{Address: "host"}; return nil },
		"a name is invalid":     func(c *machine.Contexts) error { c.Named["a b"] = staging; return nil },
		"current is missing":    func(c *machine.Contexts) error { c.Current = "gone"; return nil },
	} {
		if err := file.Update(t.Context(), fn); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	c, err := file.Read()
	if err != nil {
		t.Fatal(err)
	}
	want := &machine.Contexts{Current: "staging", Named: map[string]machine.Context{"staging": staging}}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("after failed changes (-want +got):\n%s", diff)
	}
}

// TestConcurrentUpdates: none of several changes at once is lost.
func TestContextsConcurrentUpdates(t *testing.T) {
	file := machine.ContextsIn(filepath.Join(t.TempDir(), "contexts.yml"))
	var running sync.WaitGroup
	for i := range 8 {
		running.Go(func() {
			err := file.Update(t.Context(), func(c *machine.Contexts) error {
				c.Named[fmt.Sprint("c", i)] = machine.Context{Address: "http://localhost:8080"}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	c, err := file.Read()
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Named) != 8 {
		t.Errorf("got %q, want 8 contexts", c.Names())
	}
}

func TestContextsMalformedFile(t *testing.T) {
	tests := []struct{ content, want string }{
		{"contexts: {a: {adress: http://x}}", "field adress not found"},
		{"contexts: {a: {address: x}}", "contexts.a.address: invalid address"},
		{"contexts: {a/b: {address: http://x}}", `"a/b" must have at most 64 letters`},
		{"current: b", `there is no context "b"`},
		{"- a", "cannot unmarshal"},
	}
	for _, test := range tests {
		path := filepath.Join(t.TempDir(), "contexts.yml")
		if err := os.WriteFile(path, []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := machine.ContextsIn(path).Read()
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: got error %v, want %q and the path", test.content, err, test.want)
		}
	}
}

func TestContextAt(t *testing.T) {
	c := machine.Contexts{Named: map[string]machine.Context{
		"a": {Address: "https://flags.example"}, "b": {Address: "HTTPS://flags.example:443/"}, "c": {Address: "http://localhost:8080"},
	}}
	for _, test := range []struct{ current, address, want string }{
		{"", "https://flags.example", "a"},
		{"b", "https://flags.example", "b"},
		{"a", "http://localhost:8080", "c"},
		{"a", "http://localhost", ""},
	} {
		c.Current = test.current
		if got := c.At(test.address); got != test.want {
			t.Errorf("At(%s) with current %q: got %q, want %q", test.address, test.current, got, test.want)
		}
	}
}
