package release

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

// root is a copy of this machine's files, in which packages are installed. Changes are kept in
// memory until the end of the test; the machine itself remains as it is.
type root struct {
	path   string // in its mount namespace
	holder string // id of the process that keeps the namespace
}

const mountRoot = `set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/changes" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/changes,workdir=$1/work" "$1/root"
mount --rbind /dev "$1/root/dev"
mount -t proc proc "$1/root/proc"
mount -t tmpfs tmpfs "$1/root/run"
rm -rf "$1/root/etc/guidon" "$1/root/var/lib/guidon" "$1/root/usr/sbin/policy-rc.d"
echo mounted
exec cat`

// newRoot requires the user root, and the programs.
func newRoot(t *testing.T, programs ...string) *root {
	t.Helper()
	for _, program := range append(programs, "unshare", "nsenter", "setpriv", "useradd") {
		if _, err := exec.LookPath(program); err != nil {
			harness.Skip(t, "%s is not installed", program)
		}
	}
	if os.Geteuid() != 0 {
		harness.Skip(t, "only root can install packages")
	}
	r := &root{path: t.TempDir()}
	holder := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-c", mountRoot, "sh", r.path) // #nosec G204 -- our own
	holder.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var problems strings.Builder
	holder.Stderr = &problems
	in, err := holder.StdinPipe() // its end, also by a crash of the test, ends the holder
	if err != nil {
		t.Fatal(err)
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = holder.Wait()
	})
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "mounted\n" {
		harness.Skip(t, "cannot mount an overlay: %s", problems.String())
	}
	r.path += "/root"
	r.holder = fmt.Sprint(holder.Process.Pid)
	return r
}

// command returns a command that runs in the root, with nothing from the environment.
func (r *root) command(args ...string) *exec.Cmd {
	words := append([]string{"--target", r.holder, "--mount", "chroot", r.path, "env", "-i",
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive"}, args...)
	return exec.Command("nsenter", words...) // #nosec G204 -- our own
}

// run runs a command to its successful end and returns its trimmed output.
func (r *root) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := r.command(args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// write writes a file, which is executable if it is a script.
func (r *root) write(t *testing.T, path, content string) {
	t.Helper()
	command := r.command("sh", "-c", `cat > "$1"; case $2 in "#!"*) chmod 755 "$1" ;; esac`, "sh", path, content[:2])
	command.Stdin = strings.NewReader(content)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("writing %s: %v\n%s", path, err, out)
	}
}

// copyIn copies a file of this machine into the root and returns its path there.
func (r *root) copyIn(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path) // #nosec G304 -- our own
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	target := "/package" + path[strings.LastIndexByte(path, '.'):]
	command := r.command("sh", "-c", `cat > "$1"`, "sh", target)
	command.Stdin = file
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("copying %s: %v\n%s", path, err, out)
	}
	return target
}

// lacks checks that there is nothing at the paths.
func (r *root) lacks(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if out, err := r.command("ls", "-ld", path).Output(); err == nil {
			t.Errorf("there is %s", out)
		}
	}
}

// systemctl writes what is said to systemd into a file, and answers what is in files.
const systemctl = `#!/bin/sh
echo "$@" >> /run/systemctl
case "$*" in
--root=*) exec systemctl.real "$@" ;;
*is-enabled*) exec systemctl.real --root=/ is-enabled guidon.service ;;
esac
`

// recordSystemctl makes the root look as if systemd ran in it. The returned function returns what
// was said to systemd since the last time.
func (r *root) recordSystemctl(t *testing.T) func() string {
	t.Helper()
	r.run(t, "mkdir", "-p", "/run/systemd/system")
	r.run(t, "mv", "/usr/bin/systemctl", "/usr/bin/systemctl.real")
	r.write(t, "/usr/bin/systemctl", systemctl)
	return func() string {
		said := r.run(t, "sh", "-c", "cat /run/systemctl 2>/dev/null || true")
		r.run(t, "rm", "-f", "/run/systemctl")
		return said
	}
}
