package login

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/integration/harness"
)

// event returns the event of the log for the request of the response.
func (s *service) event(t testing.TB, r response) map[string]any {
	t.Helper()
	id := r.Header.Get("X-Request-Id")
	var event map[string]any
	eventually(t, "an event of request "+id, func() bool {
		for line := range strings.Lines(s.Log()) {
			if strings.Contains(line, id) && json.Unmarshal([]byte(line), &event) == nil && event["M"] == "request" {
				return true
			}
		}
		return false
	})
	return event
}

// eventually waits until the condition holds.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(harness.Patience); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("there is not %s", what)
		}
	}
}
