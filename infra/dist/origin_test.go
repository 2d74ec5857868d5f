package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository is a git repository with one commit, made at 2026-11-23T12:00:00Z.
func repository(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, variable := range []string{"GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"} {
		t.Setenv(variable, "2026-11-23T13:00:00+01:00")
	}
	runGit(t, folder, "init", "--quiet")
	commitFile(t, folder, "a")
	return folder
}

func runGit(t *testing.T, folder string, args ...string) {
	t.Helper()
	all := append([]string{"-C", folder, "-c", "user.name=A", "-c", "user.email=a@example.com"}, args...)
	if out, err := exec.Command("git", all...).CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", args[0], err, out)
	}
}

func commitFile(t *testing.T, folder, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	runGit(t, folder, "add", "-A")
	runGit(t, folder, "commit", "--quiet", "-m", name)
}

// TestVersion: the version is the tag of the commit. Other commits, and changed files, get a
// version that sorts after the last release and before the next one.
func TestVersion(t *testing.T) {
	folder := repository(t)
	expect := func(prefix, suffix string) {
		t.Helper()
		o, err := findOrigin(folder, "", "", 0)
		if err != nil {
			t.Fatal(err)
		}
		want := prefix
		if prefix != suffix {
			want = prefix + o.commit[:12] + suffix
		}
		if o.version != want {
			t.Errorf("got %s, want %s", o.version, want)
		}
	}
	expect("v0.0.0-20261123120000-", "")
	runGit(t, folder, "tag", "nightly")
	expect("v0.0.0-20261123120000-", "")
	runGit(t, folder, "tag", "v1.2.3")
	expect("v1.2.3", "v1.2.3")
	commitFile(t, folder, "b")
	expect("v1.2.4-0.20261123120000-", "")
	runGit(t, folder, "tag", "v1.3.0-rc.1")
	expect("v1.3.0-rc.1", "v1.3.0-rc.1")
	if err := os.WriteFile(filepath.Join(folder, "c"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expect("v1.3.0-rc.1.0.20261123120000-", "-changed")
}

func TestGivenVersion(t *testing.T) {
	folder := repository(t)
	for version, want := range map[string]string{
		"v1.2.3": "", "v1.2.3-rc.1": "",
		"1.2.3": "must be like v1.2.3", "v1.2": "must be like v1.2.3", "v1.2.3+linux": "must be like v1.2.3", "latest": "must be like v1.2.3",
	} {
		_, err := findOrigin(folder, version, "", 0)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", version, err, want)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "changed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := findOrigin(folder, "v1.2.3", "", 0); err == nil || !strings.Contains(err.Error(), "?? changed") {
		t.Errorf("with changes: got %v, want an error that lists them", err)
	}
}

func TestWithoutGit(t *testing.T) {
	folder, commit := t.TempDir(), strings.Repeat("0a", 20)
	tests := []struct {
		version, commit string
		seconds         int64
		want            string
	}{
		{"v1.2.3", commit, 1790000000, ""},
		{"v1.2.3", "", 0, "needs -version, -commit and -time"},
		{"v1.2.3", commit, 0, "belong together"},
		{"", commit, 1790000000, "-version is missing"},
		{"v1.2.3", commit[:12], 1790000000, "must be the whole hash"},
		{"v1.2.3", commit, 1790000000000, "invalid -time"},
	}
	for _, test := range tests {
		_, err := findOrigin(folder, test.version, test.commit, test.seconds)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%+v: got %v", test, err)
		}
	}
}

// TestPackageVersion: the part after the first hyphen has no others.
func TestPackageVersion(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3": "v1.2.3", "v1.2.3-rc.1": "v1.2.3-rc.1", "v0.0.0-20261123120000-0a0a": "v0.0.0-20261123120000.0a0a",
	} {
		if got := (origin{version: version}).packageVersion(); got != want {
			t.Errorf("%s: got %s, want %s", version, got, want)
		}
	}
}
