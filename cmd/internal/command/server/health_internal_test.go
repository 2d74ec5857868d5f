package server

import (
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/config"
)

// TestOwnAddress: a server that listens on all addresses is checked on the loopback
// address of the family that it certainly listens on.
func TestOwnAddress(t *testing.T) {
	tests := []struct{ host, want string }{
		{"0.0.0.0", "http://127.0.0.1:8080"},
		{"", "http://127.0.0.1:8080"},
		{"::", "http://[::1]:8080"},
		{"192.0.2.7", "http://192.0.2.7:8080"},
		{"flags.internal", "http://flags.internal:8080"},
	}
	for _, test := range tests {
		got, err := ownAddress(config.Server{Host: test.host, Protocol: "http", HTTPPort: 8080})
		if err != nil || got != test.want {
			t.Errorf("host %q: got %q, %v, want %q", test.host, got, err, test.want)
		}
	}
	if _, err := ownAddress(config.Server{}); err == nil || !strings.Contains(err.Error(), "--address") {
		t.Errorf("port 0: got %v, want an error with a hint", err)
	}
}
