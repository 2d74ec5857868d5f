package rediscache

import (
	"testing"
	"time"

	"github.com/guidonhq/guidon"
)

func TestRevisionIn(t *testing.T) {
	now := time.UnixMilli(10_000)
	for name, test := range map[string]struct {
		life, since, asked, revision any
		known                        bool
	}{
		"known":                     {"abc", "9000", "9500", "12:-34", true},
		"read just now":             {"abc", "10000", "10000", "12:-34", true},
		"the lease is over":         {"abc", "1000", "9000", "12:-34", false},
		"read in the future":        {"abc", "1000", "10001", "12:-34", false},
		"state begun in the future": {"abc", "10001", "9500", "12:-34", false},
		"of another life":           {"abd", "1000", "9500", "12:-34", false},
		"a write in progress":       {"abc", "1000", nil, nil, false},
		"no state":                  {nil, nil, nil, nil, false},
		"no revision":               {"abc", "1000", "9500", nil, false},
		"a malformed revision":      {"abc", "1000", "9500", "12", false},
		"a malformed time":          {"abc", "1000", "soon", "12:-34", false},
	} {
		t.Run(name, func(t *testing.T) {
			fields := []any{test.life, test.since, test.asked, test.revision}
			got, known := revisionIn(fields, "abc", now)
			if want := (guidon.Revision{Number: 12, Stamp: -34}); known != test.known || known && got != want {
				t.Errorf("got %v, %t, want %v, %t", got, known, want, test.known)
			}
			if _, known := revisionIn(fields, "", now); known {
				t.Error("known although the server does not report its life")
			}
		})
	}
}

func TestRunID(t *testing.T) {
	for info, want := range map[string]string{
		"# Server\r\nredis_version:8.0.0\r\nrun_id:0a1b\r\ntcp_port:6379\r\n": "0a1b",
		"# Server\r\nrun_id:0a1b": "0a1b",
		"# Server\r\n":            "",
	} {
		if got := runID(info); got != want {
			t.Errorf("of %q: got %q, want %q", info, got, want)
		}
	}
}
