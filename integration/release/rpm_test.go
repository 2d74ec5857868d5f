package release

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testRPM installs the package, upgrades and removes it. rpm works on Debian, but finds none of
// what a package requires.
func testRPM(t *testing.T, release, next built) {
	r := newRoot(t, "rpm", "systemctl")
	said := r.recordSystemctl(t)
	file := r.copyIn(t, release.path(".rpm"))
	const modes = `[%{FILEMODES:perms} %{FILEUSERNAME} %{FILEFLAGS:fflags} %{FILENAMES}\n]`
	want := strings.Join([]string{
		"-rw-r--r-- root cn /etc/guidon/config/default.yml",
		"-rw------- root cn /etc/guidon/environment",
		"-rwxr-xr-x root  /usr/bin/guidon",
		"-rw-r--r-- root  /usr/lib/systemd/system/guidon.service",
		"-rw-r--r-- root  /usr/share/bash-completion/completions/guidon",
		"-rw-r--r-- root  /usr/share/fish/vendor_completions.d/guidon.fish",
		"-rw-r--r-- root  /usr/share/licenses/guidon/LICENSE",
		"-rw-r--r-- root  /usr/share/licenses/guidon/THIRD_PARTY_LICENSES.txt",
		"-rw-r--r-- root  /usr/share/zsh/site-functions/_guidon",
	}, "\n")
	if diff := cmp.Diff(want, r.run(t, "rpm", "-qp", "--qf", modes, file)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	expect(t, r.run(t, "rpm", "-qp", "--qf", "%{NAME} %{VERSION} %{RELEASE} %{BUILDHOST} %{BUILDTIME}", file), "guidon 1.2.3 1 localhost "+epoch)

	r.run(t, "rpm", "--install", "--nodeps", file)
	expectSaid(t, said(), "daemon-reload", "preset guidon.service")
	expect(t, r.run(t, "stat", "-c", "%U:%G %a", "/var/lib/guidon"), "guidon:guidon 700")
	expect(t, r.run(t, "guidon", "config", "check"), "the configuration is valid")
	r.run(t, "sh", "-c", "echo '# changed' >> /etc/guidon/environment; touch /var/lib/guidon/guidon.db")

	r.run(t, "rpm", "--upgrade", "--nodeps", r.copyIn(t, next.path(".rpm")))
	expectSaid(t, said(), "daemon-reload", "try-restart guidon.service")
	expect(t, strings.Fields(r.run(t, "guidon", "version"))[1], "v1.2.4")
	r.run(t, "grep", "-q", "changed", "/etc/guidon/environment")

	r.run(t, "rpm", "--erase", "guidon")
	expectSaid(t, said(), "disable --now guidon.service", "daemon-reload")
	r.lacks(t, "/usr/bin/guidon", unitPath)
	r.run(t, "ls", "/var/lib/guidon/guidon.db", "/etc/guidon/environment.rpmsave")
}
