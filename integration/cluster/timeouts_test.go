package cluster

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/guidonhq/guidon/integration/harness"
)

// TestTimeoutIsAnswered: a request that exceeds server.request_timeout because the database
// does not respond gets a 503, whatever the other timeouts are and however long its body
// took.
func TestTimeoutIsAnswered(t *testing.T) {
	process, database := harness.OwnDatabase(t, harness.Postgres)
	tests := []struct {
		name    string
		write   time.Duration // server.write_timeout
		slow    time.Duration // delay of the rest of the body
		expects string        // an additional header
		server  *harness.Server
	}{
		{name: "equal", write: time.Second},
		{name: "shorter", write: 200 * time.Millisecond},
		{name: "shorter, and a slow body", write: 200 * time.Millisecond, slow: 500 * time.Millisecond},
		{name: "equal, and a slow body", write: time.Second, slow: 500 * time.Millisecond},
		{name: "equal, and 100 Continue", write: time.Second, slow: 500 * time.Millisecond, expects: "Expect: 100-continue\r\n"},
	}
	for i, test := range tests {
		tests[i].server = harness.Start(t, database, "GUIDON_SERVER_REQUEST_TIMEOUT=1s", "GUIDON_SERVER_WRITE_TIMEOUT="+test.write.String())
	}
	process.Freeze()
	defer process.Thaw()
	var requests sync.WaitGroup
	for _, test := range tests {
		requests.Go(func() {
			status, err := createSlowly(test.server, test.slow, test.expects)
			if err != nil || status != http.StatusServiceUnavailable {
				t.Errorf("%s: got status %d, %v; want 503", test.name, status, err)
			}
		})
	}
	requests.Wait()
}

// createSlowly sends a request to create a flag with a pause in its body, and returns
// the status of the response.
func createSlowly(s *harness.Server, pause time.Duration, header string) (status int, err error) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(harness.Patience)); err != nil {
		return 0, err
	}
	const body = `{"key":"f","name":"f"}`
	_, err = fmt.Fprintf(conn, "POST /api/v1/namespaces/default/flags HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n%s",
		header, len(body), body[:1])
	if err != nil {
		return 0, err
	}
	time.Sleep(pause) // the slow client
	if _, err := io.WriteString(conn, body[1:]); err != nil {
		return 0, err
	}
	responses := bufio.NewReader(conn)
	response, err := http.ReadResponse(responses, nil)
	if err == nil && response.StatusCode == http.StatusContinue {
		response, err = http.ReadResponse(responses, nil)
	}
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}
