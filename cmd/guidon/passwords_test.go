package main

import (
	"net/url"
	"strings"
	"testing"
)

// TestPasswordsAreNotShown: no command shows any part of a password, whatever
// characters it contains, whether the URL is rejected or its server is unavailable.
func TestPasswordsAreNotShown(t *testing.T) {
	for _, password := range []string{"hunter2", "pass@hunter2", "12@hunter2/x", "12/hunter2", "12?hunter2", "12#hunter2", "hunter2%zz", "hunter2:12", "[hunter2"} {
		for _, written := range []string{password, url.QueryEscape(password)} {
			for _, database := range []string{
				"postgres://u:" + written + "@127.0.0.1:1/flags", "mysql://u:" + written + "@127.0.0.1:1/flags",
				"u:" + written + "@tcp(127.0.0.1:1)/flags", "u:" + written + "@127.0.0.1/flags", "file://u:" + written + "@127.0.0.1/flags",
			} {
				s := newEmptyShell(t, "GUIDON_DB_URL="+database, "GUIDON_DB_START_TIMEOUT=1ms", "GUIDON_DB_CONNECT_TIMEOUT=1s")
				for _, args := range [][]string{
					{"server"}, {"migrate", "status"}, {"export"}, {"config", "check"}, {"copy-database", "--to", database},
					{"import", "--from-flipt-database", database, "--dry-run"}, {"export", "--db", database},
					{"export", "--address", "http://u:" + written + "@127.0.0.1:1"},
				} {
					r := s.run(args...)
					if said := r.out + r.err; strings.Contains(said, "hunter2") {
						t.Errorf("guidon %s with %s shows the password: %s", strings.Join(args, " "), database, said)
					}
				}
			}
		}
	}
}
