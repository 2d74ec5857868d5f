package cluster

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/integration/harness"
)

// TestSlowReaders requests the largest responses on connections that do not read them. The
// server must not keep a copy for each, must close the connections, and must continue to
// serve other clients.
func TestSlowReaders(t *testing.T) {
	const (
		flags, attachments = 6, 8 // of 1 MB each
		readers            = 20   // of each path
		most               = 96 << 20
	)
	s := harness.Start(t, "file:"+filepath.Join(t.TempDir(), "guidon.db"), "GOGC=25") // with little garbage
	for i := range flags {
		var variants, distributions []map[string]any
		for j := range attachments {
			key := fmt.Sprintf("v%d", j)
			text := strings.Repeat(fmt.Sprintf("%d-%d.", i, j), 1<<18)[:1_000_000]
			variants = append(variants, map[string]any{"key": key, "attachment": `"` + text + `"`})
			distributions = append(distributions, map[string]any{"variant": key, "rollout": 100.0 / attachments})
		}
		s.Must(t, "POST", "/api/v1/namespaces/default/import", map[string]any{"document": map[string]any{
			"flags": []any{map[string]any{
				"key": fmt.Sprintf("f%d", i), "name": "F", "enabled": true, "variants": variants,
				"rules": []any{map[string]any{"segmentKeys": []string{fmt.Sprintf("s%d", i)}, "distributions": distributions}},
			}},
			"segments": []any{map[string]any{"key": fmt.Sprintf("s%d", i), "name": "S"}},
		}}, nil)
	}
	s.Must(t, "POST", "/api/v1/namespaces/default/flags", map[string]any{"key": "b", "name": "B", "type": "BOOLEAN_FLAG_TYPE"}, nil)
	paths := []string{
		"/api/v1/namespaces/default/flags",
		"/api/v1/namespaces/default/export",
		"/internal/v1/evaluation/snapshot/namespace/default",
		"/api/v1/namespaces/default/changes",
	}
	for _, path := range paths { // creates the data that is shared by all responses
		if path != paths[1] {
			s.Must(t, "GET", path, nil, nil)
		}
	}
	before := resident(t, s)

	var connections []net.Conn
	for range readers {
		for _, path := range paths {
			c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", path); err != nil {
				t.Fatal(err)
			}
			connections = append(connections, c)
		}
	}
	peak := 0
	for began := time.Now(); time.Since(began) < 15*time.Second; {
		answer, err := s.Call(t.Context(), "POST", "/evaluate/v1/boolean", map[string]any{"flagKey": "b", "entityId": "e"})
		if err != nil || answer.Status != 200 {
			t.Fatalf("an evaluation by another client: %d %s %v", answer.Status, answer.Body, err)
		}
		peak = max(peak, int(resident(t, s)))
	}
	t.Logf("%d MiB resident before, %d MiB at most with %d clients that do not read", before>>20, peak>>20, len(connections))
	if peak-int(before) > most {
		t.Errorf("%d MiB more are resident, want at most %d", (peak-int(before))>>20, most>>20)
	}
	whole := 0
	for _, c := range connections {
		_ = c.SetReadDeadline(time.Now().Add(harness.Patience))
		n, err := io.Copy(io.Discard, c)
		if err, ok := err.(net.Error); ok && err.Timeout() {
			t.Fatal("a connection that was not read from is still open")
		}
		if n > 8<<20 {
			whole++
		}
	}
	if whole > 0 {
		t.Errorf("%d clients that did not read for 15 s got the whole response", whole)
	}
}

// TestHundredThousandFlags imports and exports a document with 100,000 flags, through a
// server and directly, in both formats. No process may use much memory for it.
func TestHundredThousandFlags(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the memory of a process is read from /proc")
	}
	const flags, most, serverMost = 100_000, 600 << 20, 560 << 20
	dir := t.TempDir()
	written := filepath.Join(dir, "written.json")
	writeFlags(t, written, flags)
	s := harness.Start(t, "file:"+filepath.Join(dir, "server.db"), "GOGC=25") // with little garbage
	guidon := func(args ...string) {
		t.Helper()
		command := exec.Command(harness.Program(t), args...)
		command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
		var out bytes.Buffer
		command.Stdout, command.Stderr = &out, &out
		began := time.Now()
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- command.Wait() }()
		took := 0
		for running := true; running; {
			select {
			case err := <-ended:
				if running = false; err != nil {
					t.Fatalf("guidon %v: %v\n%s", args, err, out.Bytes())
				}
			case <-time.After(10 * time.Millisecond):
				took = max(took, peakOf(command.Process.Pid))
			}
		}
		t.Logf("guidon %s: %v, %d MiB; the server %d MiB", args[0], time.Since(began).Round(time.Millisecond), took>>20, peak(t, s)>>20)
		if took == 0 || took > most {
			t.Errorf("guidon %v used %d MiB, want at most %d", args, took>>20, most>>20)
		}
	}
	file := "file:" + filepath.Join(dir, "direct.db")
	remote, direct := filepath.Join(dir, "remote.yaml"), filepath.Join(dir, "direct.yaml")
	guidon("import", written, "--address", s.URL)
	guidon("export", "--namespaces", "big", "--out", remote, "--address", s.URL)
	guidon("import", remote, "--db", file, "--local")
	guidon("export", "--namespaces", "big", "--out", direct, "--db", file)
	guidon("export", "--namespaces", "big", "--out", filepath.Join(dir, "direct.json"), "--db", file)
	if got := peak(t, s); got > serverMost {
		t.Errorf("the server used %d MiB, want at most %d", got>>20, serverMost>>20)
	}
	sameFiles(t, remote, direct)
	sameFiles(t, written, filepath.Join(dir, "direct.json"))
}

// writeFlags writes a document in the same form as `guidon export`.
func writeFlags(t *testing.T, path string, flags int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	fmt.Fprint(out, `{"version":"1.4","namespace":{"key":"big","name":"Big"},"flags":[`)
	for i := range flags {
		if i > 0 {
			fmt.Fprint(out, ",")
		}
		fmt.Fprintf(out, `{"key":"flag-%d","name":"Flag %d","type":"VARIANT_FLAG_TYPE","description":"What this flag does, in one sentence","enabled":true,`+
			`"variants":[{"key":"on","name":"On","attachment":{"color":"blue","size":%d}},{"key":"off","name":"Off"}],`+
			`"rules":[{"segment":"segment-%d","distributions":[{"variant":"on","rollout":50},{"variant":"off","rollout":50}]}]}`, i, i, i, i%100)
	}
	fmt.Fprint(out, `],"segments":[`)
	for i := range 100 {
		if i > 0 {
			fmt.Fprint(out, ",")
		}
		fmt.Fprintf(out, `{"key":"segment-%d","name":"Segment %d","constraints":[{"type":"STRING_COMPARISON_TYPE","property":"country","operator":"eq","value":"de"}],"match_type":"ALL_MATCH_TYPE"}`, i, i)
	}
	fmt.Fprintln(out, `]}`)
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
}

func sameFiles(t *testing.T, one, other string) {
	t.Helper()
	var texts [2][]byte
	for i, path := range []string{one, other} {
		var err error
		if texts[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if len(texts[0]) == 0 || !bytes.Equal(texts[0], texts[1]) {
		t.Errorf("%s of %d bytes and %s of %d differ", one, len(texts[0]), other, len(texts[1]))
	}
}

// peak returns the peak resident memory of the server, in bytes.
func peak(t *testing.T, s *harness.Server) int {
	t.Helper()
	peak := peakOf(s.PID())
	if peak == 0 {
		t.Fatal("the memory of the server is not known")
	}
	return peak
}

// peakOf returns the peak resident memory of a process, in bytes, or 0 if it is unknown.
func peakOf(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var kilobytes int
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		return 0
	}
	return kilobytes << 10
}
