package config_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	yamlBlock   = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```")
	placeholder = regexp.MustCompile(`\$\{([A-Z0-9_]+)\}`)
)

// TestSignInPage: every configuration in docs/sign-in.md is valid, with the keys that the
// page says are always needed.
func TestSignInPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/sign-in.md")
	if err != nil {
		t.Fatal(err)
	}
	loaded := 0
	for _, m := range yamlBlock.FindAllStringSubmatch(string(page), -1) {
		block := m[1]
		if !strings.HasPrefix(block, "authentication:") && !strings.HasPrefix(block, "authorization:") && !strings.HasPrefix(block, "server:") {
			continue // of another program
		}
		loaded++
		variables := []string{public, required}
		for _, v := range placeholder.FindAllStringSubmatch(block, -1) {
			variables = append(variables, v[1]+"=secret")
		}
		if strings.HasPrefix(block, "authorization:") { // of every method
			variables = append(variables, "GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true")
		}
		if _, err := load(t, block, variables...); err != nil {
			t.Errorf("%v\nin\n%s", err, block)
		}
	}
	if loaded < 10 {
		t.Errorf("found %d configurations, want at least 10", loaded)
	}
}
