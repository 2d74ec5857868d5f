package handler_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// summaries returns the objects of records with their summaries.
func summaries(changes []loggedChange) []string {
	all := []string{}
	for _, c := range changes {
		all = append(all, c.Key+": "+c.Summary)
	}
	return all
}

// TestSummaries: each record in the list says in words what changed, also the latest ones,
// which have no objects. The stream has the same records (TestChangeStreamRecords).
func TestSummaries(t *testing.T) {
	s := newServer(t)
	const changes = "/api/v1/namespaces/default/changes"
	s.must("", "POST", "/api/v1/flags", `{"key":"f","name":"F","type":"BOOLEAN_FLAG_TYPE"}`)
	s.must("", "POST", "/api/v1/segments", `{"key":"g","name":"G","matchType":"ANY_MATCH_TYPE"}`)
	s.must("r", "POST", "/api/v1/namespaces/default/flags/f/rollouts", `{"rank":1,"threshold":{"percentage":10,"value":true}}`)
	s.must("", "PUT", "/api/v1/namespaces/default/flags/f/rollouts/{r}", `{"threshold":{"percentage":50,"value":true}}`)
	s.must("", "PUT", "/api/v1/flags/f", `{"name":"F","enabled":true}`)
	got, _ := s.changesAt(changes)
	want := []string{
		"f: default value off → on", "f: rule 1: share 10% → 50%", "f: rule 1 added (10%: on)",
		`g: created ("G")`, `f: created (boolean flag "F")`, `default: created ("Default")`,
	}
	if diff := cmp.Diff(want, summaries(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, _ = s.changesAt(changes + "/latest?kind=flag&keys=f")
	if diff := cmp.Diff(want[:1], summaries(got)); diff != "" {
		t.Errorf("latest (-want +got):\n%s", diff)
	}
	// The latest records of large objects are not read for their summaries.
	s.must("", "PUT", "/api/v1/flags/f", `{"name":"F","enabled":true,"description":"`+strings.Repeat("x", 20<<10)+`"}`)
	if got, _ = s.changesAt(changes + "/latest?kind=flag&keys=f"); got[0].Summary != "changed" || got[0].After != nil {
		t.Errorf("latest, large: got %q", got[0].Summary)
	}
	if got, _ = s.changesAt(changes + "?limit=1"); got[0].Summary != "description added" {
		t.Errorf("large: got %q", got[0].Summary)
	}
}

// TestSummariesOfTokens: the summaries of tokens have none of their metadata, and of course
// neither the token nor its hash.
func TestSummariesOfTokens(t *testing.T) {
	s := newServer(t, required)
	admin := "Bearer " + s.token("")
	token := s.must("", "POST", "/auth/v1/method/token",
		`{"name":"confidential","description":"confidential","namespaceKey":"shop","metadata":{"secret":"confidential"}}`, "Authorization", admin).field(t, "clientToken")
	s.must("", "PUT", "/auth/v1/self/expire?expiresAt=2999-01-02T03:04:05Z", "", "Authorization", admin)
	got, _ := s.changesAt("/api/v1/namespaces/default/changes?kind=authentication&limit=3", "Authorization", admin)
	if len(got) != 3 {
		t.Fatalf("got %d records", len(got))
	}
	for _, c := range got {
		for _, secret := range []string{"confidential", token, "hash"} {
			if strings.Contains(c.Summary, secret) || c.Summary == "" {
				t.Errorf("got the summary %q", c.Summary)
			}
		}
	}
	if want := "expiresAt added (2999-01-02T03:04:05Z)"; got[0].Summary != want {
		t.Errorf("got the summary %q, want %q", got[0].Summary, want)
	}
}
