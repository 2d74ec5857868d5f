//go:build linux

package docs

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/integration/harness"
)

// session is the terminal of the reader of a page: a bash in which the blocks run one after
// the other, in a directory with the program in bin and the examples.
type session struct {
	dir     string // working directory at the begin
	scratch string // scripts, outputs and logs
	stdin   io.Writer
	results *bufio.Reader // the exit code of each script, in a line
	ended   chan error
	scripts int
}

// patience limits every wait for the shell. It is long enough for a build.
const patience = 5 * time.Minute

// startServer runs the server of the page in a terminal of its own, which has none of the
// variables of the others, and stopServer ends it, by the id of its process group. A server is
// ready once it says that it is healthy.
const (
	startServer = `set -m
(cd "$PAGE"; exec env -i bash -euo pipefail -c 'source "$0"; source "$1"' "$SCRATCH/environment" %q) >>"$SCRATCH/server.log" 2>&1 </dev/null 3>&- &
SERVER=$!
set +m
until curl --disable --silent --fail --output "$SCRATCH/health" http://127.0.0.1:8080/health; do
  kill -0 "$SERVER"
  sleep 0.05
done
`
	stopServer = `if [ -n "$SERVER" ]; then
  kill -TERM -- "-$SERVER" || true
  wait "$SERVER" || true
  while kill -0 -- "-$SERVER"; do sleep 0.02; done
fi
SERVER=
`
)

// endsInServer matches shell blocks whose last command is a server, which a reader leaves
// running.
var endsInServer = regexp.MustCompile(`(?m)^([A-Z_]+=\S*( \\\n *| )|[A-Z_]+="[^"]*"( \\\n *| ))*(\./bin/)?(guidon server|make run)[^\n]*\n\z`)

// openSession starts the shell of a page. The test ends it.
func openSession(t *testing.T, root string) *session {
	t.Helper()
	s := &session{dir: t.TempDir(), scratch: t.TempDir(), ended: make(chan error, 1)}
	s.furnish(t, root)
	shell := sandboxed()
	shell.Dir, shell.Env = s.dir, s.environment(t, root)
	results, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	shell.ExtraFiles = []*os.File{write}
	stdin, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var output harness.Buffer // of the shell itself, such as "command not found"
	shell.Stdout, shell.Stderr = &output, &output
	if err := shell.Start(); err != nil {
		t.Fatalf("cannot start a shell in a network of its own: %v", err)
	}
	_ = write.Close()
	t.Cleanup(func() {
		_ = shell.Process.Kill()
		<-s.ended
		_ = results.Close()
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(s.scratch, "server.log"))
			t.Logf("the shell:\n%s\nthe servers:\n%s", output.String(), log)
		}
	})
	s.stdin, s.results = stdin, bufio.NewReader(results)
	go func() { s.ended <- shell.Wait(); close(s.ended) }()
	if _, _, err := s.run("declare -px >\"$SCRATCH/environment\"\n", 0); err != nil {
		t.Fatal(err)
	}
	return s
}

// furnish puts into the directory what a reader has: the program, and the examples.
func (s *session) furnish(t *testing.T, root string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(s.dir, "bin"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(harness.Program(t), filepath.Join(s.dir, "bin", "guidon")); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{asBrowser, asForwarder} {
		if err := os.Symlink(self, filepath.Join(s.scratch, name)); err != nil {
			t.Fatal(err)
		}
	}
	copied := exec.Command("sh", "-c", `git ls-files -z --cached --others --exclude-standard examples | xargs -0 cp --parents --target-directory "$0"`, s.dir) // #nosec G204 -- our own
	copied.Dir = root
	if out, err := copied.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// An error of the server ends the block.
	if err := os.WriteFile(filepath.Join(s.scratch, ".curlrc"), []byte("fail-with-body\nsilent\nshow-error\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// environment returns the variables of the shell. Package managers use what they have
// downloaded already, because the shell reaches nothing.
func (s *session) environment(t *testing.T, root string) []string {
	t.Helper()
	return append(caches(t),
		"PATH="+filepath.Join(s.dir, "bin")+":"+s.scratch+":"+os.Getenv("PATH"), "HOME="+t.TempDir(), "CURL_HOME="+s.scratch,
		"SCRATCH="+s.scratch, "PAGE="+s.dir, "TMPDIR="+s.scratch,
		"LANG=C.UTF-8", "TERM=dumb", "PAGER=cat", "BROWSER=none", "SERVER=",
		// The repository is cloned from here.
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=url.file://"+root+".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/guidonhq/guidon",
		"GIT_CONFIG_KEY_1=safe.directory", "GIT_CONFIG_VALUE_1=*",
	)
}

// caches returns the settings of package managers.
func caches(t *testing.T) []string {
	t.Helper()
	settings := []string{"GOPROXY=off", "GOFLAGS=-mod=readonly", "GOTOOLCHAIN=local", "npm_config_offline=true", "npm_config_update_notifier=false"}
	for _, name := range []string{"GOMODCACHE", "GOCACHE", "GOPATH"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		settings = append(settings, name+"="+strings.TrimSpace(string(out)))
	}
	if out, err := exec.Command("npm", "config", "get", "cache").Output(); err == nil {
		settings = append(settings, "npm_config_cache="+strings.TrimSpace(string(out)))
	}
	return settings
}

// serve stops the server that is running, if any, and starts the command.
func (s *session) serve(command string) error {
	if err := s.stop(); err != nil {
		return err
	}
	file, err := s.write("server", command)
	if err != nil {
		return err
	}
	_, _, err = s.run(fmt.Sprintf(startServer, file), 0)
	return err
}

func (s *session) stop() error {
	_, _, err := s.run(stopServer, 0)
	return err
}

// background starts commands that go on until the shell ends, and waits until the URL responds.
func (s *session) background(commands, url string) error {
	file, err := s.write("background", commands)
	if err != nil {
		return err
	}
	_, _, err = s.run(fmt.Sprintf(`(tail -f /dev/null | (source %q)) >>"$SCRATCH/server.log" 2>&1 3>&- & # some end with their input
until curl --disable --silent --fail --output /dev/null %q; do
  kill -0 $!
  sleep 0.05
done
`, file, url), 0)
	return err
}

// run runs commands in the shell and returns what they print. They must end with the exit
// code. Unless it is 0, they cannot change the shell.
func (s *session) run(commands string, code int) (stdout, stderr string, err error) {
	s.scripts++
	name := fmt.Sprint(s.scripts)
	file, err := s.write(name, commands)
	if err != nil {
		return "", "", err
	}
	source := "set -euo pipefail; source %q >%[1]q.out 2>%[1]q.err </dev/null; echo $? >&3\n"
	if code != 0 { // a shell of its own, since it ends with the command that fails
		source = "set +e; (set -e; source %q) >%[1]q.out 2>%[1]q.err </dev/null; echo $? >&3\n"
	}
	fmt.Fprintf(s.stdin, source, file)
	failed := s.await(code)
	out, _ := os.ReadFile(file + ".out") // #nosec G304 -- our own
	errs, _ := os.ReadFile(file + ".err")
	if failed != nil {
		return "", "", fmt.Errorf("%w\n%s\n%s", failed, commands, brief(string(out)+string(errs)))
	}
	return string(out), string(errs), nil
}

// answer runs commands at a terminal that answers their question, and returns what is seen
// there.
func (s *session) answer(commands, answer string) (string, error) {
	file, err := s.write("asks", "source \"$SCRATCH/variables\"\nstty -echo\n"+commands)
	if err != nil {
		return "", err
	}
	out, _, err := s.run(fmt.Sprintf("declare -p | grep '^declare -- ' >\"$SCRATCH/variables\"\n"+
		"script --quiet --return --command 'bash -euo pipefail %s' /dev/null <<<%q\n", file, answer), 0)
	out = strings.ReplaceAll(out, "\r\n", "\n")
	return strings.Replace(out, "Type yes: ", "Type yes: "+answer+"\n", 1), err
}

func (s *session) write(name, text string) (string, error) {
	file := filepath.Join(s.scratch, name+".sh")
	return file, os.WriteFile(file, []byte(text), 0o600)
}

// await waits for the exit code of a script.
func (s *session) await(want int) error {
	line := make(chan string, 1)
	go func() {
		text, _ := s.results.ReadString('\n')
		line <- strings.TrimSpace(text)
	}()
	select {
	case got := <-line:
		if got != fmt.Sprint(want) {
			return fmt.Errorf("exit code %s, want %d", got, want)
		}
		return nil
	case err := <-s.ended:
		return fmt.Errorf("the shell ended: %v", err)
	case <-time.After(patience):
		return fmt.Errorf("no end after %s", patience)
	}
}
