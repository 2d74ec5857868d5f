package handler_test

import (
	"testing"
)

// TestRevision checks that every response about a namespace has its revision, and that a
// write may require one.
func TestRevision(t *testing.T) {
	s := newServer(t)
	const flags = "/api/v1/namespaces/default/flags"
	created := s.must("", "POST", flags, `{"key":"f","name":"F"}`)
	for _, test := range []struct {
		name, method, path, body string
		ifMatch                  []string
		status                   int
		revision                 string
	}{
		{"a write", "POST", flags, `{"key":"g","name":"G"}`, nil, 200, "3"},
		{"a read", "GET", flags, "", nil, 200, "3"},
		{"a read of an unknown flag", "GET", flags + "/nope", "", nil, 404, "3"},
		{"evaluation", "POST", "/evaluate/v1/batch", `{"requests":[{"flagKey":"f"}]}`, nil, 200, "3"},
		{"evaluation in two namespaces", "POST", "/evaluate/v1/batch", `{"requests":[{"flagKey":"f"},{"namespaceKey":"x"}]}`, nil, 200, ""},
		{"the changes", "GET", "/api/v1/namespaces/default/changes", "", nil, 200, "3"},
		{"an explanation", "POST", flags + "/f/explain", `{}`, nil, 200, "3"},
		{"an explanation of an unknown flag", "POST", flags + "/nope/explain", `{}`, nil, 404, "3"},
		{"explanations of a batch", "POST", flags + "/f/explain/batch", `{}`, nil, 200, "3"},
		{"the export", "GET", "/api/v1/namespaces/default/export", "", nil, 200, "3"},
		{"no namespace", "GET", "/api/v1/namespaces", "", nil, 200, ""},
		{"a write that fails", "POST", flags, `{"key":"g","name":"G"}`, nil, 400, "3"},
		{"an invalid write", "POST", flags, `{}`, nil, 400, ""},
		{"a write that changes nothing", "DELETE", flags + "/nope", "", nil, 200, "3"},
		{"a stale condition", "PUT", flags + "/f", `{"name":"H"}`, []string{`"2"`}, 412, "3"},
		{"a condition that holds", "PUT", flags + "/f", `{"name":"H"}`, []string{`"3"`}, 200, "4"},
		{"without quotes", "PUT", flags + "/f", `{"name":"I"}`, []string{"4"}, 200, "5"},
		{"any revision", "PUT", flags + "/f", `{"name":"J"}`, []string{"*"}, 200, "6"},
		{"a condition on a read", "GET", flags, "", []string{"nonsense"}, 200, "6"},
		{"a condition on an evaluation", "POST", "/evaluate/v1/variant", `{"flagKey":"f"}`, []string{"1"}, 200, "6"},
		{"a weak condition", "PUT", flags + "/f", `{"name":"K"}`, []string{`W/"6"`}, 400, ""},
		{"half a quote", "PUT", flags + "/f", `{"name":"K"}`, []string{`"6`}, 400, ""},
		{"a list", "PUT", flags + "/f", `{"name":"K"}`, []string{`"6", "7"`}, 400, ""},
		{"two headers", "PUT", flags + "/f", `{"name":"K"}`, []string{"6", "7"}, 400, ""},
		{"a sign", "PUT", flags + "/f", `{"name":"K"}`, []string{"+6"}, 400, ""},
		{"empty quotes", "PUT", flags + "/f", `{"name":"K"}`, []string{`""`}, 400, ""},
		{"beyond 63 bits", "PUT", flags + "/f", `{"name":"K"}`, []string{"9223372036854775808"}, 400, ""},
		{"the failed writes have changed nothing", "GET", flags, "", nil, 200, "6"},
		{"an import with a stale condition", "POST", "/api/v1/namespaces/default/import", `{"document":{}}`, []string{"5"}, 412, "6"},
		{"a new namespace that must not exist yet", "POST", "/api/v1/namespaces", `{"key":"n","name":"N"}`, []string{"0"}, 200, "1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := *s
			s.t = t
			var headers []string
			for _, value := range test.ifMatch {
				headers = append(headers, "If-Match", value)
			}
			r := s.do(test.method, test.path, test.body, headers...)
			if got := r.header.Get("Guidon-Revision"); r.status != test.status || got != test.revision {
				t.Errorf("%d at revision %q, want %d at %q: %s", r.status, got, test.status, test.revision, r.body)
			}
		})
	}
	if got := created.header.Get("Guidon-Revision"); got != "2" {
		t.Errorf("the first write: revision %q, want 2", got)
	}
	s.do("PUT", flags+"/f", `{"name":"K"}`, "If-Match", "x").fails(t, 400, 3, "invalid header If-Match: must be a revision")
}

// TestChanges checks the change records of a few writes.
func TestChanges(t *testing.T) {
	s := newServer(t, required)
	admin := "Bearer " + s.token("")
	self := s.must("", "GET", "/auth/v1/self", "", "Authorization", admin).field(t, "id")
	s.must("", "POST", "/api/v1/namespaces", `{"key":"n","name":"N"}`, "Authorization", admin, "X-Request-Id", "one")
	s.must("", "POST", "/api/v1/namespaces/n/flags", `{"key":"f","name":"F"}`, "Authorization", admin, "X-Request-Id", "two")
	s.must("", "DELETE", "/api/v1/namespaces/n/flags/f", "", "Authorization", admin, "X-Request-Id", "three")
	actor := `"actor":{"id":"token:ID","name":"t","method":"METHOD_TOKEN"},"at":"TIME"`
	flag := `{"createdAt":"TIME","enabled":false,"key":"f","name":"F","type":"VARIANT_FLAG_TYPE","updatedAt":"TIME"}`
	deleted := `{"namespaceKey":"n","revision":3,"sequence":0,"kind":"flag","key":"f","action":"delete",` + actor + `,"requestId":"three","before":` + flag + `,"summary":"deleted (variant flag \"F\")"}`
	created := `{"namespaceKey":"n","revision":2,"sequence":0,"kind":"flag","key":"f","action":"create",` + actor + `,"requestId":"two","after":` + flag + `,"summary":"created (variant flag \"F\")"}`
	const changes = "/api/v1/namespaces/n/changes"
	s.must("", "GET", changes+"?kind=flag", "", "Authorization", admin).check(t, 200, `{"changes":[`+deleted+`,`+created+`],"nextPageToken":""}`)
	first := s.must("", "GET", changes+"?limit=1&actor=token:"+self, "", "Authorization", admin)
	next := first.field(t, "nextPageToken")
	first.check(t, 200, `{"changes":[`+deleted+`],"nextPageToken":"`+next+`"}`)
	s.must("", "GET", changes+"?limit=1&key=f&pageToken="+next, "", "Authorization", admin).check(t, 200, `{"changes":[`+created+`],"nextPageToken":""}`)
	s.must("", "GET", changes+"?since=2999-01-01T00:00:00Z", "", "Authorization", admin).check(t, 200, `{"changes":[],"nextPageToken":""}`)
	s.must("", "GET", changes+"?until=2001-01-01T00:00:00Z", "", "Authorization", admin).check(t, 200, `{"changes":[],"nextPageToken":""}`)
}

// TestDocuments imports and exports a namespace.
func TestDocuments(t *testing.T) {
	s := newServer(t)
	const n = "/api/v1/namespaces/n"
	document := `{"namespace":{"key":"n","name":"N","description":"d","color":"blue","confirmChanges":true},"flags":[` +
		`{"key":"f","name":"F","type":"VARIANT_FLAG_TYPE","description":"d","enabled":true,"metadata":"{\"b\":1,\"a\":1e2}","variants":[{"default":true,"key":"v","name":"V","description":"d","attachment":"[1]"}],` +
		`"rules":[{"segmentKeys":["s"],"segmentOperator":"OR_SEGMENT_OPERATOR","rank":0,"distributions":[{"variant":"v","rollout":33.3}]}],"rollouts":[]},` +
		`{"key":"b","name":"B","type":"BOOLEAN_FLAG_TYPE","description":"","enabled":false,"metadata":"","variants":[],"rules":[],"rollouts":[` +
		`{"description":"r","segment":{"segmentKeys":["s","t"],"segmentOperator":"AND_SEGMENT_OPERATOR","value":true}},` +
		`{"description":"","threshold":{"percentage":5,"value":true}}]}],"segments":[` +
		`{"key":"s","name":"S","description":"","matchType":"ANY_MATCH_TYPE","constraints":[{"type":"STRING_COMPARISON_TYPE","property":"p","operator":"eq","value":"x","description":"c"}]},` +
		`{"key":"t","name":"T","description":"","matchType":"ALL_MATCH_TYPE","constraints":[]}]}`
	dry := s.must("", "POST", n+"/import", `{"document":`+document+`,"dryRun":true}`)
	s.do("GET", n, "").fails(t, 404, 5, `namespace "n" not found`)
	real := s.must("", "POST", n+"/import", `{"document":`+document+`}`)
	if dry.body == real.body || len(dry.body) < len(document) {
		t.Errorf("dry run: %s", dry.body)
	}
	s.must("", "GET", n+"/export", "").check(t, 200, document)
	s.must("", "POST", n+"/import", `{"document":`+document+`,"mode":"UPDATE_IMPORT_MODE"}`).check(t, 200,
		`{"namespaceKey":"n","revision":1,"dryRun":false,"changes":[],"unchanged":4,"skipped":[]}`)
	s.must("", "POST", n+"/import", `{"document":`+document+`,"mode":1}`).check(t, 200,
		`{"namespaceKey":"n","revision":1,"dryRun":false,"changes":[],"unchanged":0,"skipped":["segment/s","segment/t","flag/f","flag/b"]}`)
	s.do("POST", n+"/import", `{"document":`+document+`}`).fails(t, 400, 3, `flag "n/f" is not unique`)
	// Objects that are not in the document are deleted.
	replaced := s.must("", "POST", n+"/import", `{"document":{"segments":[{"key":"t","name":"T"}]},"mode":"REPLACE_IMPORT_MODE"}`)
	if got := replaced.header.Get("Guidon-Revision"); got != "2" {
		t.Errorf("replaced at revision %q, want 2", got)
	}
	s.must("", "GET", n+"/flags", "").check(t, 200, `{"flags":[],"nextPageToken":"","totalCount":0}`)
}
