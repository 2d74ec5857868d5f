package release

import (
	"archive/tar"
	"bufio"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/integration/harness"
)

// hardened are the flags of a container with minimal privileges.
var hardened = []string{
	"--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
	"--memory", "128m", "--pids-limit", "64", "--health-interval", "200ms",
}

// TestImage runs the image with an SQLite file in a volume and minimal privileges. It
// serves, its Docker health check succeeds, it shuts down gracefully, and its data
// survives a restart.
func TestImage(t *testing.T) {
	image := buildImage(t)
	volume := docker(t, "volume", "create")
	t.Cleanup(func() { docker(t, "volume", "rm", volume) })
	run := append(append([]string{"run", "-d", "-p", "127.0.0.1::8080", "-v", volume + ":/var/opt/guidon"}, hardened...), image)
	begin := time.Now()
	container := docker(t, run...)
	t.Cleanup(func() { docker(t, "rm", "-f", container) })

	awaitHealthy(t, container, begin)
	first := &harness.Server{URL: "http://" + docker(t, "port", container, "8080")}
	flag := map[string]any{"key": "kept", "name": "Kept", "type": "BOOLEAN_FLAG_TYPE"}
	first.Must(t, http.MethodPost, "/api/v1/namespaces/default/flags", flag, nil)
	docker(t, "exec", container, "/guidon", "health")

	docker(t, "stop", container)
	if code := docker(t, "inspect", "-f", "{{.State.ExitCode}}", container); code != "0" {
		t.Errorf("the container ended with %s, want 0:\n%s", code, docker(t, "logs", container))
	}
	begin = time.Now()
	docker(t, "start", container)
	awaitHealthy(t, container, begin)
	second := &harness.Server{URL: "http://" + docker(t, "port", container, "8080")}
	second.Must(t, http.MethodGet, "/api/v1/namespaces/default/flags/kept", nil, nil)
}

// TestImageContent: the image contains the program, certificates, licenses and an empty directory,
// and does not run as root.
func TestImageContent(t *testing.T) {
	image := buildImage(t)
	if user := docker(t, "image", "inspect", "-f", "{{.Config.User}}", image); user != "65532:65532" {
		t.Errorf("the user is %q, want 65532:65532", user)
	}
	container := docker(t, "create", image)
	defer docker(t, "rm", container)
	export := exec.Command("docker", "export", container)
	pipe, err := export.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := export.Start(); err != nil {
		t.Fatal(err)
	}
	var files []string
	for archive := tar.NewReader(pipe); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch name := header.Name; {
		case name == "var/opt/guidon/" && header.Uid != 65532:
			t.Errorf("%s belongs to %d", name, header.Uid)
		case header.Typeflag != tar.TypeReg || header.Size == 0: // files that Docker adds are empty
			continue
		case strings.HasSuffix(name, ".crt"):
			authorities, err := io.ReadAll(archive)
			if err != nil || !x509.NewCertPool().AppendCertsFromPEM(authorities) {
				t.Errorf("%s contains no certificates: %v", name, err)
			}
		}
		files = append(files, header.Name)
	}
	if err := export.Wait(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"etc/ssl/certs/ca-certificates.crt", "guidon", "licenses/LICENSE", "licenses/THIRD_PARTY_LICENSES.txt"}, files); diff != "" {
		t.Errorf("files of the image (-want +got):\n%s", diff)
	}
}

// buildImage builds the image. It is removed at the end of the test.
func buildImage(t *testing.T) string {
	t.Helper()
	if text, err := exec.Command("docker", "info").CombinedOutput(); err != nil {
		harness.Skip(t, "no docker: %v %s", err, text)
	}
	image := fmt.Sprintf("guidon-test-%d:%s", os.Getpid(), strings.ToLower(t.Name()))
	output(t, nil, "../../infra/docker/build.sh", image)
	t.Cleanup(func() { docker(t, "rmi", image) })
	return image
}

// awaitHealthy waits until Docker reports that the container, which was started after
// since, is healthy.
func awaitHealthy(t *testing.T, container string, since time.Time) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	events := exec.CommandContext(ctx, "docker", "events", "--since", since.Format(time.RFC3339Nano), "--format", "{{.Status}}",
		"--filter", "container="+container, "--filter", "event=health_status", "--filter", "event=die")
	pipe, err := events.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := events.Start(); err != nil {
		t.Fatal(err)
	}
	healthy := false
	for lines := bufio.NewScanner(pipe); !healthy && lines.Scan(); {
		if lines.Text() == "die" {
			break
		}
		healthy = lines.Text() == "health_status: healthy"
	}
	cancel()
	_ = events.Wait() // killed by cancel
	if !healthy {
		t.Fatalf("the container is not healthy:\n%s\n%s", docker(t, "inspect", "-f", "{{json .State}}", container), docker(t, "logs", container))
	}
}

// docker runs a Docker command and returns its output.
func docker(t *testing.T, args ...string) string {
	t.Helper()
	return output(t, nil, "docker", args...)
}

// output runs a program with additional environment variables and returns its trimmed
// output.
func output(t *testing.T, environ []string, name string, args ...string) string {
	t.Helper()
	var problems strings.Builder
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), environ...)
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, problems.String())
	}
	return strings.TrimSpace(string(out))
}
