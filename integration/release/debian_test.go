package release

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

// testDebian installs the package, runs its service, upgrades, removes and purges it.
func testDebian(t *testing.T, release, next built) {
	r := newRoot(t, "dpkg", "deb-systemd-invoke", "systemctl")
	said := r.recordSystemctl(t)

	r.run(t, "dpkg", "--install", r.copyIn(t, release.path(".deb")))
	expectSaid(t, said(), "daemon-reload", "start guidon.service")
	expect(t, r.run(t, "sh", "-c", "ls /etc/systemd/system/multi-user.target.wants/guidon.service"), "/etc/systemd/system/multi-user.target.wants/guidon.service")
	expect(t, r.run(t, "stat", "-c", "%U:%G %a", "/var/lib/guidon"), "guidon:guidon 700")
	expect(t, r.run(t, "stat", "-c", "%U:%G %a", "/etc/guidon/environment"), "root:root 600")
	expect(t, r.run(t, "guidon", "config", "check"), "the configuration is valid")

	// Without these, two services of this machine could not run at the same time.
	ports := "\nGUIDON_SERVER_HTTP_PORT=0\nGUIDON_SERVER_GRPC_PORT=0\n"
	r.run(t, "sh", "-c", "echo '"+ports+"' >> /etc/guidon/environment")
	r.run(t, "sed", "-i", "s/encoding: json/&  # as the collector wants it/", "/etc/guidon/config/default.yml")
	service := r.readUnit(t)
	server := r.start(t, service)
	if !strings.HasPrefix(server.URL, "http://127.0.0.1:") {
		t.Errorf("the service listens at %s, want this machine only", server.URL)
	}
	server.Must(t, http.MethodPost, "/api/v1/namespaces/default/flags", map[string]any{"key": "kept", "name": "Kept", "type": "BOOLEAN_FLAG_TYPE", "enabled": true}, nil)
	expectKept(t, server)
	expect(t, r.run(t, "stat", "-c", "%U:%G %a", "/var/lib/guidon/guidon.db"), "guidon:guidon 600")
	stop(t, server)

	r.run(t, "dpkg", "--install", r.copyIn(t, next.path(".deb")))
	expectSaid(t, said(), "daemon-reload", "restart guidon.service")
	expect(t, strings.Fields(r.run(t, "guidon", "version"))[1], "v1.2.4")
	expect(t, r.run(t, "sh", "-c", "grep -c collector /etc/guidon/config/default.yml; grep -c PORT=0 /etc/guidon/environment"), "1\n2")
	server = r.start(t, service)
	expectKept(t, server)
	stop(t, server)

	r.run(t, "dpkg", "--remove", "guidon")
	expectSaid(t, said(), "stop guidon.service", "daemon-reload")
	r.lacks(t, "/usr/bin/guidon", unitPath)
	r.run(t, "ls", "/var/lib/guidon/guidon.db", "/etc/guidon/environment", "/etc/guidon/config/default.yml")

	r.run(t, "dpkg", "--purge", "guidon")
	r.lacks(t, "/var/lib/guidon", "/etc/guidon", "/etc/systemd/system/multi-user.target.wants/guidon.service", "/etc/systemd/system/guidon.service")
	r.run(t, "getent", "passwd", "guidon")
}

func expect(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// expectSaid checks that each command was given to systemd.
func expectSaid(t *testing.T, said string, commands ...string) {
	t.Helper()
	for _, command := range commands {
		if !strings.Contains(said, command) {
			t.Errorf("nobody said %q to systemd:\n%s", command, said)
		}
	}
}

// expectKept evaluates the flag.
func expectKept(t *testing.T, server *harness.Server) {
	t.Helper()
	var result struct{ Enabled bool }
	server.Must(t, http.MethodPost, "/evaluate/v1/boolean", map[string]any{"flagKey": "kept", "entityId": "e"}, &result)
	if !result.Enabled {
		t.Error("the flag is off, want on")
	}
}

func stop(t *testing.T, server *harness.Server) {
	t.Helper()
	server.Signal(t, syscall.SIGTERM)
	if code := server.Wait(t); code != 0 {
		t.Errorf("the service ended with %d, want 0", code)
	}
}
