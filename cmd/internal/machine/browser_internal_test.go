package machine

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommands(t *testing.T) {
	const url = "https://flags.example/sign-in/cli?a=b&c=$(d)%s"
	const list = string(filepath.ListSeparator)
	tests := []struct {
		system, browser string
		want            [][]string
	}{
		{"linux", "", [][]string{{"xdg-open", url}}},
		{"freebsd", "", [][]string{{"xdg-open", url}}},
		{"darwin", "", [][]string{{"open", url}}},
		{"windows", "", [][]string{{"rundll32", "url.dll,FileProtocolHandler", url}}},
		{"plan9", "", nil},
		{"linux", "firefox", [][]string{{"firefox", url}}},
		{"windows", "firefox  --new-window", [][]string{{"firefox", "--new-window", url}}},
		{"darwin", "w --url=%s -x", [][]string{{"w", "--url=" + url, "-x"}}},
		{"linux", "a" + list + list + " " + list + "b %s", [][]string{{"a", url}, {"b", url}}},
		{"linux", " ", nil},
	}
	for _, tt := range tests {
		got := browserCommands(tt.system, []string{"BROWSER=first", "BROWSER=" + tt.browser}, url)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s with %q (-want +got):\n%s", tt.system, tt.browser, diff)
		}
	}
}

// reportTo is the variable with the address that the test binary reports to when it is
// started as a browser.
const reportTo = "TEST_BINARY_IS_BROWSER"

func TestMain(m *testing.M) {
	if address := os.Getenv(reportTo); address != "" {
		os.Exit(report(address))
	}
	os.Exit(m.Run())
}

// report sends the arguments and the environment of the process.
func report(address string) int {
	conn, err := net.Dial("tcp", address)
	if err == nil {
		_, err = fmt.Fprintln(conn, strings.Join(append(os.Args[1:], os.Environ()...), "\n"))
		err = errors.Join(err, conn.Close())
	}
	if err != nil {
		return 1
	}
	return 0
}

// TestOpen: the first command that can be started gets the URL, and no secrets of this
// program.
func TestOpen(t *testing.T) {
	reports, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer reports.Close()
	missing := filepath.Join(t.TempDir(), "missing")
	environ := []string{
		"GUIDON_TOKEN=gdn_secret", "LANG=C", reportTo + "=" + reports.Addr().String(), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"),
		"BROWSER=" + missing + string(filepath.ListSeparator) + os.Args[0],
	}
	if err := OpenBrowser(environ, "https://flags.example/?a=b c"); err != nil {
		t.Fatal(err)
	}
	conn, err := reports.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	got, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(got), "https://flags.example/?a=b c\n") || !strings.Contains(string(got), "LANG=C") || strings.Contains(string(got), "gdn_secret") {
		t.Errorf("the browser got %q, error %v", got, err)
	}

	if err := OpenBrowser([]string{"BROWSER=" + missing}, "https://flags.example"); err == nil {
		t.Error("a browser that does not exist: got no error")
	}
	if err := OpenBrowser([]string{"BROWSER= "}, "https://flags.example"); err == nil {
		t.Error("no browser: got no error")
	}
}
