package client_test

import (
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/client"
)

// TestNormalize: all spellings of an address have one form, and different servers have
// different ones.
func TestNormalize(t *testing.T) {
	for address, want := range map[string]string{
		"https://flags.example":          "https://flags.example",
		"HTTPS://Flags.Example:443/":     "https://flags.example",
		"https://flags.example:":         "https://flags.example",
		"https://flags.example//":        "https://flags.example",
		"https://flags.example/Base/":    "https://flags.example/Base",
		"https://flags.example/a%2Fb/":   "https://flags.example/a%2Fb",
		"https://flags.example/a%2F":     "https://flags.example/a%2F",
		"https://flags.example:80":       "https://flags.example:80",
		"http://flags.example:80":        "http://flags.example",
		"http://flags.example:8080/":     "http://flags.example:8080",
		"http://[::1]:80":                "http://[::1]",
		"http://[::1]:8080":              "http://[::1]:8080",
		"http://[FE80::1%25eth0]:80/a":   "http://[fe80::1%25eth0]/a",
		"grpc://flags.example:9000":      "grpc://flags.example",
		"grpcs://Flags.example":          "grpcs://flags.example",
		"grpcs://flags.example:443":      "grpcs://flags.example:443",
		"https://flags.example?":         "https://flags.example",
		"https://flags.example/a/../b":   "https://flags.example/a/../b",
		"https://flags.example:8443/x//": "https://flags.example:8443/x",
	} {
		got, err := client.Normalize(address)
		if err != nil || got != want {
			t.Errorf("%s: got %q and error %v, want %q", address, got, err, want)
		}
	}
	for _, address := range []string{"", "localhost:8080", "ftp://host", "grpc://host/path", "http://host?token=x", "http://user:x@host", "http://host#x"} {
		if got, err := client.Normalize(address); err == nil {
			t.Errorf("%q: got %q, want an error", address, got)
		}
	}
}

// FuzzNormalize: the form of the form is the form.
func FuzzNormalize(f *testing.F) {
	for _, seed := range []string{"https://Flags.example:443/Base//", "http://[::1%25a]:80/%2F", "grpc://host:9000", "http://:80"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		once, err := client.Normalize(address)
		if err != nil {
			return
		}
		if twice, err := client.Normalize(once); err != nil || twice != once {
			t.Errorf("%q: got %q, and of that %q with error %v", address, once, twice, err)
		}
	})
}
