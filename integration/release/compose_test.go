package release

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/integration/harness"
)

// TestCompose starts the unmodified stack of infra/docker/compose.yaml. A change through
// one instance is visible to the next request to any other, and Redis is in use.
func TestCompose(t *testing.T) {
	compose := composeProgram(t)
	image := buildImage(t)
	environ := []string{"GUIDON_IMAGE=" + image, "GUIDON_PORTS=127.0.0.1:", "POSTGRES_PASSWORD=not-a-secret"}
	in := func(args ...string) string {
		t.Helper()
		all := slices.Concat(compose, []string{"-p", fmt.Sprint("guidon-test-", os.Getpid()), "-f", "../../infra/docker/compose.yaml"}, args)
		return output(t, environ, all[0], all[1:]...)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(in("logs"))
		}
		in("down", "-v", "-t", "20")
	})
	begin := time.Now()
	in("up", "-d")

	instances := make([]*harness.Server, 3)
	for i := range instances {
		instances[i] = &harness.Server{URL: "http://" + in("port", "--index="+strconv.Itoa(i+1), "guidon", "8080")}
	}
	for _, id := range strings.Fields(in("ps", "-q", "guidon")) {
		awaitHealthy(t, id, begin)
	}
	for i, writer := range instances {
		key := fmt.Sprint("flag-", i)
		writer.Must(t, http.MethodPost, "/api/v1/namespaces/default/flags", map[string]any{"key": key, "name": key, "type": "BOOLEAN_FLAG_TYPE"}, nil)
		for _, reader := range instances {
			reader.Must(t, http.MethodPost, "/evaluate/v1/boolean", map[string]any{"flagKey": key, "entityId": "e"}, nil)
		}
	}
	if keys := in("exec", "-T", "redis", "redis-cli", "--scan", "--pattern", "guidon*"); keys == "" {
		t.Error("Redis has no keys")
	}
}

// composeProgram returns the installed command of Docker Compose.
func composeProgram(t *testing.T) []string {
	t.Helper()
	for _, program := range []string{"docker compose", "docker-compose"} {
		words := strings.Fields(program)
		if exec.Command(words[0], append(words[1:], "version")...).Run() == nil {
			return words
		}
	}
	harness.Skip(t, "no docker compose")
	return nil
}
