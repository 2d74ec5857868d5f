package machine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/machine"
)

const (
	shop = "https://shop.example"
	bank = "https://bank.example/flags"
)

// in returns a file of credentials with the content.
func credentialsIn(t *testing.T, content string) *machine.CredentialsFile {
	t.Helper()
	path := filepath.Join(t.TempDir(), "credentials.json")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return machine.CredentialsIn(path)
}

func setCredential(t *testing.T, f *machine.CredentialsFile, address string, c machine.Credential) {
	t.Helper()
	if err := f.Set(t.Context(), address, c); err != nil {
		t.Fatal(err)
	}
}

// expect checks the credential for an address; the zero value means none.
func expectCredential(t *testing.T, f *machine.CredentialsFile, address string, want machine.Credential) {
	t.Helper()
	got, ok, err := f.Get(address)
	if err != nil || got != want || ok != (want != machine.Credential{}) {
		t.Errorf("%s: got %+v, %t and error %v, want %+v", address, got, ok, err, want)
	}
}

// TestFile follows the credentials for two servers.
func TestCredentialsFile(t *testing.T) {
	f := machine.CredentialsIn(filepath.Join(t.TempDir(), "new", "credentials.json"))
	expectCredential(t, f, shop, machine.Credential{})
	first, second := machine.Credential{Token: "gdn_1<&>", Session: true}, machine.Credential{Token: "gdn_2"}
	setCredential(t, f, shop, first)
	setCredential(t, f, bank, second)
	expectCredential(t, f, shop, first)
	expectCredential(t, f, bank, second)

	for path, want := range map[string]os.FileMode{f.Path(): 0o600, filepath.Dir(f.Path()): 0o700} {
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != want {
			t.Errorf("%s: got %v and error %v, want mode %04o", path, info.Mode(), err, want)
		}
	}

	if err := f.Remove(t.Context(), shop, "gdn_other"); err != nil {
		t.Fatal(err)
	}
	expectCredential(t, f, shop, first) // signed in again since
	if err := f.Remove(t.Context(), shop, first.Token); err != nil {
		t.Fatal(err)
	}
	expectCredential(t, f, shop, machine.Credential{})
	expectCredential(t, f, bank, second)
	setCredential(t, f, bank, machine.Credential{Token: "gdn_3", Session: true})
	expectCredential(t, f, bank, machine.Credential{Token: "gdn_3", Session: true})
}

// TestRejected: a file that cannot be used is an error that shows no token, for reading
// and for writing, and stays as it is.
func TestCredentialsRejected(t *testing.T) {
	tests := []struct{ name, content, want string }{
		{"no JSON", `gdn_secret`, "is not a JSON object"},
		{"null", `null`, "is not a JSON object"},
		{"a list", `["gdn_secret"]`, "is not a JSON object"},
		{"more than one value", `{} "gdn_secret"`, "is not a JSON object"},
		{"servers are a list", `{"servers":["gdn_secret"]}`, "servers must be an object"},
		{"an unknown member", `{"default":"gdn_secret","servers":{}}`, "is not a JSON object, in which servers must be an object"},
		{"servers are null", `{"servers":null}`, "servers must be an object"},
		{"too large", `{"servers":{},"x":"gdn_secret` + strings.Repeat(" ", 1<<20) + `"}`, "larger than 1 MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := credentialsIn(t, tt.content)
			_, _, getting := f.Get(shop)
			for what, err := range map[string]error{
				"get": getting, "set": f.Set(t.Context(), shop, machine.Credential{Token: "new"}),
				"remove": f.Remove(t.Context(), shop, "x"), "prepare": f.Prepare(t.Context()),
			} {
				if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), f.Path()) || strings.Contains(err.Error(), "gdn_secret") {
					t.Errorf("%s: got error %v, want one with %q, the path and no token", what, err, tt.want)
				}
			}
			if got, err := os.ReadFile(f.Path()); err != nil || string(got) != tt.content {
				t.Errorf("the file has changed (error %v)", err)
			}
		})
	}
}

// TestMalformedEntry: one malformed entry does not affect the others, and signing in
// again mends it.
func TestCredentialsMalformedEntry(t *testing.T) {
	for _, entry := range []string{`7`, `null`, `"gdn_secret"`, `{"token":["gdn_secret"]}`, `{"token":""}`, `{}`} {
		f := credentialsIn(t, `{"servers":{"https://shop.example":`+entry+`,"https://bank.example/flags":{"token":"gdn_1"}}}`)
		if _, _, err := f.Get(shop); err == nil || !strings.Contains(err.Error(), "malformed") || strings.Contains(err.Error(), "gdn_secret") {
			t.Errorf("%s: got error %v, want that it is malformed", entry, err)
		}
		expectCredential(t, f, bank, machine.Credential{Token: "gdn_1"})
		setCredential(t, f, shop, machine.Credential{Token: "gdn_2"})
		expectCredential(t, f, shop, machine.Credential{Token: "gdn_2"})
	}
}

// TestPermissions: a file that others can read or change is refused, with the command that
// mends it.
func TestCredentialsPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes")
	}
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604, 0o620, 0o602, 0o610} {
		f := credentialsIn(t, `{"servers":{"https://shop.example":{"token":"gdn_secret"}}}`)
		if err := os.Chmod(f.Path(), mode); err != nil {
			t.Fatal(err)
		}
		_, _, getting := f.Get(shop)
		for _, err := range []error{getting, f.Set(t.Context(), shop, machine.Credential{Token: "new"})} {
			if want := fmt.Sprintf("(mode %04o); run: chmod 600 %s", mode, f.Path()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v, want one with %q", err, want)
			}
		}
		if err := os.Chmod(f.Path(), 0o400); err != nil {
			t.Fatal(err)
		}
		expectCredential(t, f, shop, machine.Credential{Token: "gdn_secret"})
	}
	if _, _, err := machine.CredentialsIn(t.TempDir()).Get(shop); err == nil || !strings.Contains(err.Error(), "must be a regular file") {
		t.Errorf("a directory: got error %v", err)
	}
}

// TestSymbolicLink: the file that a link leads to is replaced, not the link.
func TestCredentialsSymbolicLink(t *testing.T) {
	target := credentialsIn(t, `{}`)
	link := filepath.Join(t.TempDir(), "credentials.json")
	if err := os.Symlink(target.Path(), link); err != nil {
		t.Skip(err)
	}
	setCredential(t, machine.CredentialsIn(link), shop, machine.Credential{Token: "gdn_1"})
	expectCredential(t, target, shop, machine.Credential{Token: "gdn_1"})
}

// TestConcurrent: no credential is lost when several commands sign in at once.
func TestCredentialsConcurrent(t *testing.T) {
	f := machine.CredentialsIn(filepath.Join(t.TempDir(), "credentials.json"))
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			other := machine.CredentialsIn(f.Path())
			if err := other.Set(t.Context(), fmt.Sprintf("https://%d.example", i), machine.Credential{Token: fmt.Sprint(i)}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for i := range 20 {
		expectCredential(t, f, fmt.Sprintf("https://%d.example", i), machine.Credential{Token: fmt.Sprint(i)})
	}
}
