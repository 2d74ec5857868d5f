// Package metricstest reads metrics in tests.
package metricstest

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/runtimes/server/metrics"
)

// Scrape returns the lines of the metrics that begin with the prefix.
func Scrape(t testing.TB, m *metrics.Registry, prefix string) []string {
	t.Helper()
	recorder := httptest.NewRecorder()
	m.Handler().ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
	var lines []string
	for line := range strings.Lines(recorder.Body.String()) {
		if strings.HasPrefix(line, prefix) {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}
