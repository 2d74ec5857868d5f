package release

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

const unitPath = "/usr/lib/systemd/system/guidon.service"

// unit holds the lines of a systemd unit by their keys.
type unit map[string][]string

// readUnit reads the installed unit, after systemd has verified it, where that is installed.
func (r *root) readUnit(t *testing.T) unit {
	t.Helper()
	if _, err := exec.LookPath("systemd-analyze"); err == nil {
		if out := r.run(t, "systemd-analyze", "verify", "--recursive-errors=no", unitPath); out != "" {
			t.Errorf("systemd-analyze verify:\n%s", out)
		}
	}
	parsed := unit{}
	for line := range strings.Lines(r.run(t, "cat", unitPath)) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if ok && !strings.HasPrefix(key, "#") {
			parsed[key] = append(parsed[key], value)
		}
	}
	return parsed
}

func (u unit) one(t *testing.T, key string) string {
	t.Helper()
	if len(u[key]) != 1 {
		t.Fatalf("the unit has %s %q, want one", key, u[key])
	}
	return u[key][0]
}

// start starts the service as systemd would: with the unit's account, privileges and environment.
func (r *root) start(t *testing.T, u unit) *harness.Server {
	t.Helper()
	user, group := u.one(t, "User"), u.one(t, "Group")
	environment := append(strings.Fields(u.one(t, "Environment")), "USER="+user, "LOGNAME="+user,
		"HOME="+r.run(t, "sh", "-c", "getent passwd "+user+" | cut -d: -f6"))
	file := strings.TrimPrefix(u.one(t, "EnvironmentFile"), "-")
	for line := range strings.Lines(r.run(t, "cat", file)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			environment = append(environment, line)
		}
	}
	capabilities := strings.ToLower(strings.ReplaceAll(u.one(t, "CapabilityBoundingSet"), "CAP_", "+"))
	words := []string{"sh", "-c", `umask "$1"; cd /; shift; exec "$@"`, "sh", u.one(t, "UMask"),
		"setpriv", "--reuid", user, "--regid", group, "--init-groups", "--no-new-privs", "--inh-caps", "-all", "--bounding-set", "-all," + capabilities, "env"}
	words = append(append(words, environment...), strings.Fields(u.one(t, "ExecStart"))...)
	command := r.command(words...)
	command.Env = os.Environ()
	server := harness.LaunchCommand(t, command)
	server.AwaitServing(t)
	return server
}
