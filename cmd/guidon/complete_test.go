package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestComplete: keys are completed from the server of the command line.
func TestComplete(t *testing.T) {
	s := newShell(t)
	server := s.serve()
	s = s.withoutDatabase()
	s.ok("import", s.file("shop.yaml", explainedShop), "--address", server.web)
	s.ok("namespace", "create", "small", "--name", "Small", "--address", server.web)
	s.ok("flag", "create", "only-here", "-n", "small", "--address", server.web)
	s.ok("context", "set", "local", "--address", server.web)
	for _, test := range []struct {
		words []string
		want  []string
	}{
		{[]string{"flag", "get", "ch"}, []string{"checkout\tCheckout"}},
		{[]string{"flag", "get", "checkout", ""}, nil},
		{[]string{"flag", "delete", "checkout", "ch"}, nil},
		{[]string{"flag", "list", "-q", "pay is:o"}, []string{"pay is:off", "pay is:on", "pay is:overdue"}},
		{[]string{"flag", "off", "-q", "typ"}, []string{"type:boolean", "type:variant"}},
		{[]string{"evaluate", "checkout", "-c", "pl"}, []string{"plan="}},
		{[]string{"segment", "create", "x", "--constraint", "pl"}, []string{"plan"}},
		{[]string{"segment", "create", "x", "--constraint", "not en"}, []string{"not entity:"}},
		{[]string{"segment", "create", "x", "--constraint", "not version:pl"}, []string{"not version:plan"}},
		{[]string{"segment", "create", "x", "--constraint", "list:roles a"}, []string{"list:roles anyof", "list:roles allof"}},
		{[]string{"flag", "rollout", "checkout", "10%", "--if", "pl"}, []string{"plan"}},
		{[]string{"flag", "rule", "add", "checkout", "--if", "plan eq x", "--or", "not version:app gt"}, []string{"not version:app gt", "not version:app gte"}},
		{[]string{"flag", "rollout", "checkout", "--except", "big"}, []string{"big-customers\tBig customers"}},
		{[]string{"flag", "rollout", "x", "--requires", "ch"}, []string{"checkout\tCheckout"}},
		{[]string{"flag", "update", "x", "--requires", "ch"}, []string{"checkout\tCheckout"}},
		{[]string{"flag", "usage", "ch"}, []string{"checkout\tCheckout"}},
		{[]string{"flag", "rollout", "checkout", "--by", "pl"}, []string{"plan"}},
		{[]string{"flag", "rule", "set", "checkout", "1", "--portion-by", "pl"}, []string{"plan"}},
		{[]string{"flag", "rollout", "x", "--seed", "ch"}, []string{"checkout\tCheckout"}},
		{[]string{"flag", "rollout", "checkout", "--hash", ""}, []string{"flipt", "flipt-fine", "murmur3", "unleash"}},
		{[]string{"flag", "rollout", "checkout", "--lapse", ""}, []string{"hold", "back"}},
		{[]string{"flag", "ramp", "ch"}, []string{"checkout\tCheckout"}},
		{[]string{"flag", "ramp", "checkout", ""}, []string{"pause", "resume", "reverse", "confirm", "stop", "finish"}},
		{[]string{"flag", "ramp", "checkout", "pause", ""}, nil},
		{[]string{"undo", "-n", "small", ""}, []string{"2\tanonymous: create flag only-here", "1\tanonymous: create namespace small"}},
		{[]string{"restore", "small@1"}, []string{"small@1\tanonymous: create namespace small"}},
		{[]string{"log", "-n", "small", "--revision", "2"}, []string{"2\tanonymous: create flag only-here"}},
		{[]string{"flag", "list", "--context", "lo"}, []string{"local\t" + server.web}},
		{[]string{"flag", "on", "-n", "small", ""}, []string{"only-here"}},
		{[]string{"evaluate", "--namespace=small", "on"}, []string{"only-here"}},
		{[]string{"segment", "usage", "big"}, []string{"big-customers\tBig customers"}},
		{[]string{"flag", "list", "-n", "sm"}, []string{"small\tSmall"}},
		{[]string{"namespace", "delete", "sm"}, []string{"small\tSmall"}},
		{[]string{"export", "--namespaces", "sm"}, []string{"small\tSmall"}},
		{[]string{"flag", "list", "--address", "lo"}, []string{"local\t" + server.web}},
		{[]string{"context", "use", ""}, []string{"local\t" + server.web}},
		{[]string{"context", "use", "local", ""}, nil},
		{[]string{"flag", "get", "ch", "--context", ""}, []string{"local\t" + server.web}},
		{[]string{"flag", "list", "-o", "y"}, []string{"table", "json", "yaml", "name"}},
		{[]string{"flag", "get", "--address", "http://127.0.0.1:1", "ch"}, nil},
		{[]string{"flag", "get", "--db", filepath.Join(t.TempDir(), "none.db"), "ch"}, nil},
	} {
		got := strings.Split(s.ok(append([]string{"__complete"}, test.words...)...), "\n")
		got = got[:len(got)-2] // the directive
		if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
			t.Errorf("%q: got %q, want %q", test.words, got, test.want)
		}
	}
}

// TestBashCompletion: the script completes in a shell that has nothing else.
func TestBashCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	s := newShell(t)
	dir := t.TempDir()
	const program = `#!/bin/sh
[ "$1 $2 $3" = "__complete flag get" ] && printf 'checkout\tCheckout page\nchat:eu\tChat\n:4\n' && exit
[ "$1 $2 $3 $4" = "__complete flag list --namespace=" ] && printf 'default\nshop\n:4\n'
`
	if err := os.WriteFile(filepath.Join(dir, "guidon"), []byte(program), 0o700); err != nil { // #nosec G306 -- it is executed
		t.Fatal(err)
	}
	for _, test := range []struct {
		line string
		word string // its number
		args string // as bash splits the line
		want string
	}{
		{"guidon flag get check", "3", "guidon flag get check", "checkout"},
		{"guidon flag get chat:e", "5", "guidon flag get chat : e", "eu"},
		{"guidon flag list --namespace=", "4", "guidon flag list --namespace =", "default shop"},
	} {
		script := s.ok("completion", "bash") + `
COMP_LINE='` + test.line + `' COMP_TYPE=9 COMP_KEY=9
COMP_WORDS=(` + test.args + `) COMP_CWORD=` + test.word + `
COMP_POINT=${#COMP_LINE}
__start_guidon
echo "${COMPREPLY[*]}"
`
		command := exec.Command(bash, "--norc", "--noprofile", "-c", script) // #nosec G204 -- our own
		command.Env = []string{"PATH=" + dir + ":/usr/bin:/bin"}
		got, err := command.Output()
		if words := strings.Join(strings.Fields(string(got)), " "); err != nil || words != test.want {
			t.Errorf("%s: got %q and error %v, want %q", test.line, words, err, test.want)
		}
	}
}

// TestCompletionHelp: the help of each shell says how to install its script.
func TestCompletionHelp(t *testing.T) {
	s := newShell(t)
	for shell, want := range map[string]string{"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/completions/guidon.fish", "powershell": "$PROFILE"} {
		if got := s.ok("completion", shell, "--help"); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want it to name %s", shell, got, want)
		}
		if s.ok("completion", shell) == "" {
			t.Errorf("%s: got no script", shell)
		}
	}
}
