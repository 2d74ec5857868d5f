package handler_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/codec"
	observed "github.com/guidonhq/guidon/handler/evaluation"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
)

const (
	snapshots       = "/internal/v1/evaluation/snapshot/namespace/"
	defaultSnapshot = snapshots + "default"
	acceptVersion   = "X-Flipt-Accept-Server-Version"
)

// states is a read-only store with a fixed snapshot of each namespace.
type states struct {
	service.Store
	byKey map[string]*guidon.Snapshot
}

func (s *states) Snapshot(_ context.Context, namespace string, _ service.Demand) (*guidon.Snapshot, time.Duration, error) {
	if snapshot := s.byKey[namespace]; snapshot != nil {
		return snapshot, 0, nil
	}
	return nil, 0, guidon.NotFound
}

// over returns a handler over a store with only this snapshot.
func over(s *guidon.Snapshot) *handler.Handler {
	store := &states{byKey: map[string]*guidon.Snapshot{s.Namespace().Key: s}}
	return handler.New(handler.Config{Service: service.NewService(store, time.Now)})
}

// download sends a GET without a network. Headers are names and values in turn.
func download(t testing.TB, h http.Handler, path string, headers ...string) reply {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, request)
	return reply{recorder.Code, recorder.Header(), recorder.Body.String()}
}

// example returns a namespace with one object of each kind.
func example() *guidon.Snapshot {
	created, updated := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.UTC)
	return guidon.NewSnapshot(&guidon.Namespace{Key: "default", Name: "D"}, guidon.Revision{Number: 42, Stamp: -2},
		[]*guidon.Flag{
			{
				Key: "colour", Name: "Colour <&>", Description: "of \"it\"", Enabled: true, DefaultVariantID: "v1",
				Metadata: []byte(`{"team":"x"}`), CreatedAt: created, UpdatedAt: updated,
				Variants: []*guidon.Variant{
					{ID: "v1", Key: "red", Name: "Red", Attachment: `{"a":1}`},
					{ID: "v2", Key: "blue"},
				},
				Rules: []*guidon.Rule{{
					ID: "r1", SegmentKeys: []string{"staff", "all"}, SegmentOperator: guidon.AndSegments, Rank: 1,
					Distributions: []*guidon.Distribution{
						{ID: "d1", VariantID: "v1", Rollout: 33.33},
						{ID: "d2", VariantID: "v2", Rollout: 66},
					},
				}},
			},
			{
				Key: "beta", Name: "Beta", Type: guidon.BooleanFlag, CreatedAt: created, UpdatedAt: created,
				Rollouts: []*guidon.Rollout{
					{ID: "o1", Rank: 1, Segment: &guidon.RolloutSegment{SegmentKeys: []string{"all"}, Value: true}},
					{ID: "o2", Rank: 2, Threshold: &guidon.RolloutThreshold{Percentage: 12.5, Value: true}},
				},
			},
		},
		[]*guidon.Segment{
			{Key: "all", Name: "All", Description: "of them", MatchType: guidon.MatchAny, CreatedAt: created, UpdatedAt: created},
			{Key: "staff", Name: "Staff", Constraints: []*guidon.Constraint{
				{ID: "c1", Type: guidon.StringComparison, Property: "mail", Operator: "suffix", Value: "@x", Description: "d"},
				{ID: "c2", Type: guidon.NumberComparison, Property: "age", Operator: "gt", Value: "1"},
				{ID: "c3", Type: guidon.BooleanComparison, Property: "on", Operator: "true"},
				{ID: "c4", Type: guidon.DateTimeComparison, Property: "at", Operator: "lt", Value: "2026-01-01"},
				{ID: "c5", Type: guidon.EntityIDComparison, Property: "entityId", Operator: "isoneof", Value: `["a"]`},
			}},
		})
}

const (
	exampleAll   = `{"key":"all","name":"","description":"","matchType":"ANY_SEGMENT_MATCH_TYPE","constraints":[]}`
	exampleStaff = `{"key":"staff","name":"","description":"","matchType":"ALL_SEGMENT_MATCH_TYPE","constraints":[` +
		`{"id":"c1","type":"STRING_CONSTRAINT_COMPARISON_TYPE","property":"mail","operator":"suffix","value":"@x"},` +
		`{"id":"c2","type":"NUMBER_CONSTRAINT_COMPARISON_TYPE","property":"age","operator":"gt","value":"1"},` +
		`{"id":"c3","type":"BOOLEAN_CONSTRAINT_COMPARISON_TYPE","property":"on","operator":"true","value":""},` +
		`{"id":"c4","type":"DATETIME_CONSTRAINT_COMPARISON_TYPE","property":"at","operator":"lt","value":"2026-01-01T00:00:00Z"},` +
		`{"id":"c5","type":"ENTITY_ID_CONSTRAINT_COMPARISON_TYPE","property":"entityId","operator":"isoneof","value":"[\"a\"]"}]}`
	exampleDefault = `,"defaultVariant":{"id":"v1","key":"red","attachment":"{\"a\":1}"}`

	// exampleBody is the complete body of the example: a rule with several segments
	// appears once, and fields that are empty by contract 9.1 are empty.
	exampleBody = `{"namespace":{"key":"default"},"flags":[` +
		`{"key":"colour","name":"Colour <&>","description":"of \"it\"","enabled":true,"type":"VARIANT_FLAG_TYPE",` +
		`"createdAt":"2026-01-02T03:04:05Z","updatedAt":"2026-01-02T03:04:05.678900Z",` +
		`"rules":[{"id":"r1","segments":[` + exampleStaff + `,` + exampleAll + `],"rank":1,"segmentOperator":"AND_SEGMENT_OPERATOR","distributions":[` +
		`{"id":"","ruleId":"","variantId":"v1","variantKey":"red","variantAttachment":"{\"a\":1}","rollout":33.33},` +
		`{"id":"","ruleId":"","variantId":"v2","variantKey":"blue","variantAttachment":"","rollout":66}]}],` +
		`"rollouts":[]` + exampleDefault + `},` +
		`{"key":"beta","name":"Beta","description":"","enabled":false,"type":"BOOLEAN_FLAG_TYPE",` +
		`"createdAt":"2026-01-02T03:04:05Z","updatedAt":"2026-01-02T03:04:05Z","rules":[],"rollouts":[` +
		`{"type":"SEGMENT_ROLLOUT_TYPE","rank":1,"segment":{"value":true,"segmentOperator":"OR_SEGMENT_OPERATOR","segments":[` + exampleAll + `]}},` +
		`{"type":"THRESHOLD_ROLLOUT_TYPE","rank":2,"threshold":{"percentage":12.5,"value":true}}]}]}`
)

// TestSnapshotVersions tests contract 9.1 and 9.2, byte for byte.
func TestSnapshotVersions(t *testing.T) {
	withoutDefault := strings.Replace(exampleBody, exampleDefault, "", 1)
	withoutEntity := strings.Replace(withoutDefault, "ENTITY_ID_CONSTRAINT", "UNKNOWN_CONSTRAINT", 1)
	h := over(example())
	bodies := map[string]string{} // by ETag
	for _, test := range []struct{ version, want string }{
		{"1.47.0", exampleBody},
		{"v1.47.0", exampleBody},
		{"1.47", exampleBody},
		{" 2 ", exampleBody},
		{"1.47.0+build.1", exampleBody},
		{"1.48.0-rc.1", exampleBody},
		{"1.47.0-rc.1", withoutDefault},
		{"1.46.9", withoutDefault},
		{"v1.38", withoutDefault},
		{"1.38.0", withoutDefault},
		{"1.38.0-dev", withoutEntity},
		{"1.37.1", withoutEntity},
		{"0.99.99", withoutEntity},
		{"", withoutEntity},
		{"latest", withoutEntity},
		{"1.2.3.4", withoutEntity},
		{"2.-1", withoutEntity},
		{"2.0.0-", withoutEntity},
		{"99999999999999999999.0.0", withoutEntity},
	} {
		t.Run(test.version, func(t *testing.T) {
			r := download(t, h, defaultSnapshot, acceptVersion, test.version)
			if diff := cmp.Diff(test.want, r.body); r.status != http.StatusOK || diff != "" {
				t.Errorf("%d (-want +got):\n%s", r.status, diff)
			}
			// Different bodies must have different ETags.
			etag := r.header.Get("Etag")
			if body, seen := bodies[etag]; seen && body != r.body {
				t.Errorf("ETag %s is also that of another body", etag)
			}
			bodies[etag] = r.body
		})
	}
	if len(bodies) != 3 {
		t.Errorf("%d ETags for 3 bodies", len(bodies))
	}
}

// TestSnapshotHeaders tests contract 9.3: an unquoted ETag of 40 digits that includes the
// whole revision, with both statuses, and the headers that RFC 9110 15.4.5 requires in a
// 304.
func TestSnapshotHeaders(t *testing.T) {
	const etag = "000000000000002a" + "fffffffffffffffe" + "00000202"
	h := over(example())
	want := http.Header{
		"Cache-Control": {"private, no-cache"}, "Etag": {etag}, "Guidon-Revision": {"42"},
		"Vary": {acceptVersion, "Accept-Encoding"},
	}
	unchanged := download(t, h, defaultSnapshot, acceptVersion, "1.47.0", "If-None-Match", etag, "X-Request-Id", "r", "Accept-Encoding", "gzip")
	want["X-Request-Id"] = []string{"r"}
	if diff := cmp.Diff(want, unchanged.header); unchanged.status != http.StatusNotModified || unchanged.body != "" || diff != "" {
		t.Errorf("%d %q (-want +got):\n%s", unchanged.status, unchanged.body, diff)
	}
	full := download(t, h, defaultSnapshot, acceptVersion, "1.47.0", "X-Request-Id", "r")
	want["Content-Type"] = []string{"application/json"}
	want["Content-Length"] = []string{strconv.Itoa(len(exampleBody))}
	if diff := cmp.Diff(want, full.header); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSnapshotConditions checks that an ETag is recognized unquoted (contract 9.3) and in
// the forms of RFC 9110 13.1.2, and that no other is.
func TestSnapshotConditions(t *testing.T) {
	h := over(example())
	etag := download(t, h, defaultSnapshot).header.Get("Etag")
	for _, test := range []struct {
		values []string
		status int
	}{
		{[]string{etag}, 304},
		{[]string{`"` + etag + `"`}, 304},
		{[]string{`W/"` + etag + `"`}, 304},
		{[]string{`"x", W/"y" ,` + etag}, 304},
		{[]string{"x", etag}, 304},
		{[]string{"*"}, 304},
		{[]string{""}, 200},
		{[]string{"x"}, 200},
		{[]string{`""`}, 200},
		{[]string{etag[1:]}, 200},
		{[]string{etag + "0"}, 200},
		{[]string{strings.ToUpper(etag) + " x"}, 200},
	} {
		var headers []string
		for _, value := range test.values {
			headers = append(headers, "If-None-Match", value)
		}
		if r := download(t, h, defaultSnapshot, headers...); r.status != test.status || r.header.Get("Etag") != etag {
			t.Errorf("%q: %d with ETag %q, want %d", test.values, r.status, r.header.Get("Etag"), test.status)
		}
	}
}

// TestSnapshotUnknownNamespace checks that an unknown namespace is an empty one without
// an ETag (contract 9.1), whatever ETag the client sends.
func TestSnapshotUnknownNamespace(t *testing.T) {
	s := newServer(t)
	for _, condition := range []string{"", "*", "0000000000000000000000000000000000000100"} {
		r := s.do("GET", snapshots+"nope?reference=main&environmentKey=x", "", "If-None-Match", condition)
		r.check(t, 200, `{"namespace":{"key":"nope"},"flags":[]}`)
		if etag, ok := r.header["Etag"]; ok || r.header.Get("Guidon-Revision") != "" {
			t.Errorf("ETag %q at %q", etag, r.header.Get("Guidon-Revision"))
		}
	}
	// A namespace that was never written to has an ETag (contract 15).
	r := s.do("GET", defaultSnapshot, "")
	r.check(t, 200, `{"namespace":{"key":"default"},"flags":[]}`)
	if len(r.header.Get("Etag")) != 40 {
		t.Errorf("ETag %q", r.header.Get("Etag"))
	}
	s.do("GET", snapshots+"/", "").check(t, 200, `{"namespace":{"key":"default"},"flags":[]}`)
	s.do("HEAD", defaultSnapshot, "").check(t, 501, "")
	s.do("GET", defaultSnapshot+"?pretty", "").check(t, 200, "{\n  \"namespace\": {\n    \"key\": \"default\"\n  }\n}")
}

// TestSnapshotChanges checks that every write in the namespace changes its ETag (contract
// 9.3), and that a write elsewhere does not.
func TestSnapshotChanges(t *testing.T) {
	s := newShop(t)
	s.must("r2", "POST", "/api/v1/flags/f/rules", `{"segmentKey":"s","rank":2}`)
	etag := s.must("", "GET", defaultSnapshot, "").header.Get("Etag")
	seen := map[string]string{etag: "the initial state"}
	const n = "/api/v1/namespaces/default"
	for _, c := range []struct{ save, method, path, body string }{
		{"", "PUT", n, `{"name":"D"}`},
		{"", "PUT", n + "/flags/f", `{"name":"F","enabled":true,"metadata":{"a":1}}`},
		{"", "PUT", n + "/flags/f/variants/{v}", `{"key":"v","name":"V"}`},
		{"", "PUT", n + "/segments/s", `{"name":"S","description":"d"}`},
		{"c", "POST", n + "/segments/s/constraints", `{"type":1,"property":"p","operator":"eq","value":"x"}`},
		{"", "PUT", n + "/flags/f/rules/order", `{"ruleIds":["{r2}","{r}"]}`},
		{"", "PUT", n + "/flags/f/rules/{r}/distributions/{d}", `{"variantId":"{v}","rollout":50}`},
		{"", "PUT", n + "/flags/b/rollouts/{t}", `{"threshold":{"percentage":51,"value":true}}`},
		{"", "DELETE", n + "/segments/s/constraints/{c}", ""},
		{"", "DELETE", n + "/flags/f", ""},
	} {
		s.must(c.save, c.method, c.path, c.body)
		r := s.must("", "GET", defaultSnapshot, "", "If-None-Match", etag)
		etag = r.header.Get("Etag")
		if before, was := seen[etag]; was {
			t.Errorf("%s %s gives the same ETag as %s", c.method, c.path, before)
		}
		seen[etag] = c.method + " " + c.path
	}
	s.must("", "POST", "/api/v1/namespaces", `{"key":"other","name":"O"}`)
	s.do("GET", defaultSnapshot, "", "If-None-Match", etag).check(t, 304, "")
	s.do("GET", snapshots+"other", "", "If-None-Match", etag).check(t, 200, `{"namespace":{"key":"other"},"flags":[]}`)
}

// TestSnapshotRestored checks that states with the same revision number, before and after
// a database was restored, have different ETags.
func TestSnapshotRestored(t *testing.T) {
	etags := map[string]bool{}
	for _, stamp := range []int64{1, 2} {
		h := over(guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 7, Stamp: stamp}, nil, nil))
		etags[download(t, h, defaultSnapshot).header.Get("Etag")] = true
	}
	if len(etags) != 2 {
		t.Errorf("two states have the ETags %v", etags)
	}
}

// TestSnapshotEncodings checks that a compressed body contains the body, and consists of
// the same bytes on every instance.
func TestSnapshotEncodings(t *testing.T) {
	one, two := over(example()), over(example())
	for _, test := range []struct{ accept, want string }{
		{"", ""},
		{"gzip", "gzip"},
		{"gzip, deflate, br", "gzip"},
		{"br;q=1.0, gzip;q=0.5, *;q=0.1", "gzip"},
		{"identity;q=0, *", "gzip"},
		{"gzip;q=0, deflate", "deflate"},
		{"gzip;q=0", ""},
		{"identity;q=0", ""},
	} {
		r := download(t, one, defaultSnapshot, "Accept-Encoding", test.accept, acceptVersion, "1.47.0")
		if got := r.header.Get("Content-Encoding"); got != test.want || decompress(t, r) != exampleBody {
			t.Errorf("%q: encoded as %q, want %q", test.accept, got, test.want)
		}
		if got := r.header.Get("Content-Length"); got != strconv.Itoa(len(r.body)) {
			t.Errorf("%q: Content-Length %s of %d bytes", test.accept, got, len(r.body))
		}
		again := download(t, two, defaultSnapshot, "Accept-Encoding", test.accept, acceptVersion, "1.47.0")
		if again.body != r.body || again.header.Get("Etag") != r.header.Get("Etag") {
			t.Errorf("%q: another instance returns other bytes", test.accept)
		}
	}
}

// TestSnapshotAuthentication tests contract 10.3 and operations 1.2, also if the client
// already has the snapshot.
func TestSnapshotAuthentication(t *testing.T) {
	s := newServer(t, required)
	all, shop := "Bearer "+s.token(""), "Bearer "+s.token("shop")
	etag := s.must("", "GET", defaultSnapshot, "", "Authorization", all).header.Get("Etag")
	s.do("GET", defaultSnapshot, "", "Authorization", all, "If-None-Match", etag).check(t, 304, "")
	s.must("", "GET", snapshots+"shop", "", "Authorization", shop)
	for _, path := range []string{defaultSnapshot, snapshots + "/"} {
		for _, headers := range [][]string{{}, {"Authorization", shop}, {"Authorization", "Bearer x"}} {
			s.do("GET", path, "", append(headers, "If-None-Match", etag)...).fails(t, 401, 16, unauthenticated)
		}
	}
	excluded := newServer(t, required, func(c *handler.Config) { c.Authentication.ExcludeEvaluation = true })
	excluded.must("", "GET", defaultSnapshot, "")
}

// TestSnapshotLeavesOut checks that parts that are never evaluated are omitted: clients
// must not evaluate them either. The rest of a rule whose segment no longer exists would
// match too often.
func TestSnapshotLeavesOut(t *testing.T) {
	segment := &guidon.RolloutSegment{SegmentKeys: []string{"s"}, Value: true}
	h := over(guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 1}, []*guidon.Flag{
		{
			Key: "v", DefaultVariantID: "gone",
			Variants: []*guidon.Variant{{ID: "v1", Key: "one"}},
			Rules: []*guidon.Rule{
				{ID: "no segment"},
				{ID: "gone", SegmentKeys: []string{"s", "gone"}},
				{ID: "stays", SegmentKeys: []string{"s"}, Distributions: []*guidon.Distribution{{VariantID: "gone"}, {VariantID: "v1"}}},
			},
			Rollouts: []*guidon.Rollout{{Segment: segment}},
		},
		{
			Key: "b", Type: guidon.BooleanFlag, DefaultVariantID: "v1",
			Variants: []*guidon.Variant{{ID: "v1", Key: "one"}},
			Rules:    []*guidon.Rule{{ID: "of a boolean flag", SegmentKeys: []string{"s"}}},
			Rollouts: []*guidon.Rollout{
				{Rank: 1},
				{Rank: 2, Segment: &guidon.RolloutSegment{SegmentKeys: []string{"gone", "s"}}},
				{Rank: 3, Segment: &guidon.RolloutSegment{}},
				{Rank: 4, Segment: segment},
			},
		},
	}, []*guidon.Segment{{Key: "s"}}))
	s := `[{"key":"s","name":"","description":"","matchType":"ALL_SEGMENT_MATCH_TYPE","constraints":[]}]`
	download(t, h, defaultSnapshot, acceptVersion, "1.47.0").check(t, 200, `{"namespace":{"key":"default"},"flags":[`+
		`{"key":"v","name":"","description":"","enabled":false,"type":"VARIANT_FLAG_TYPE","rules":[`+
		`{"id":"stays","segments":`+s+`,"rank":0,"segmentOperator":"OR_SEGMENT_OPERATOR","distributions":[`+
		`{"id":"","ruleId":"","variantId":"v1","variantKey":"one","variantAttachment":"","rollout":0}]}],"rollouts":[]},`+
		`{"key":"b","name":"","description":"","enabled":false,"type":"BOOLEAN_FLAG_TYPE","rules":[],"rollouts":[`+
		`{"type":"SEGMENT_ROLLOUT_TYPE","rank":4,"segment":{"value":true,"segmentOperator":"OR_SEGMENT_OPERATOR","segments":`+s+`}}]}]}`)
}

// TestSnapshotOmits checks that flags that clients would evaluate differently are left out and
// named with the reason, and that those whose rules never get that far are not.
func TestSnapshotOmits(t *testing.T) {
	on := func(key string, segments ...string) *guidon.Flag {
		return flagtest.BooleanFlag(key, false, flagtest.Threshold(10, true), flagtest.SegmentRollout(true, guidon.AndSegments, segments...))
	}
	compared := func(kind guidon.ComparisonType) *guidon.Segment {
		return flagtest.Segment(kind.Name(), guidon.MatchAll, &guidon.Constraint{Type: kind, Property: "p", Operator: guidon.OpPresent})
	}
	segments := []*guidon.Segment{
		flagtest.Segment("plain", guidon.MatchAll),
		flagtest.Segment("not", guidon.MatchAny, &guidon.Constraint{Type: guidon.StringComparison, Property: "p", Operator: guidon.OpEQ, Negate: true}),
		flagtest.Segment("quoted", guidon.MatchAny, &guidon.Constraint{Type: guidon.StringComparison, Property: "p", Operator: guidon.OpIsOneOf, Value: `["a","\""]`}),
	}
	flags := []*guidon.Flag{on("sent", "plain"), on("never", "not", "gone"), on("negated", "plain", "not"), on("quoted", "quoted")}
	want := `{"key":"negated","reason":"rule 2 negates a constraint"},{"key":"quoted","reason":"rule 2 compares with a list of texts that JSON escapes"}`
	reasons := map[guidon.ComparisonType]string{
		guidon.VersionComparison: "a version", guidon.PatternComparison: "with a pattern",
		guidon.ListComparison: "a list", guidon.AddressComparison: "an address",
	}
	for _, kind := range slices.DeleteFunc(guidon.ComparisonTypes(), func(t guidon.ComparisonType) bool { return !t.Addition() }) {
		segments, flags = append(segments, compared(kind)), append(flags, on(kind.Name(), kind.Name()))
		want += `,{"key":"` + kind.Name() + `","reason":"rule 2 compares ` + reasons[kind] + `"}`
	}
	h := over(guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 1}, flags, segments))
	for _, path := range []string{defaultSnapshot, defaultSnapshot + "?pretty=true"} {
		got := new(evaluation.EvaluationNamespaceSnapshot)
		r := download(t, h, path)
		if err := protojson.Unmarshal([]byte(r.body), got); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(r.body, `],"omittedFlags":[`+want+`]}`) && path == defaultSnapshot {
			t.Errorf("got %s, want the omitted flags %s", r.body, want)
		}
		if len(got.GetFlags()) != 2 || got.GetFlags()[0].GetKey() != "sent" || got.GetFlags()[1].GetKey() != "never" || len(got.GetOmittedFlags()) != 6 {
			t.Errorf("%s: got %v", path, got)
		}
	}
}

// TestSnapshotValues: clients get the values of constraints in the form that their engines read, which
// means the same (contract 9.4).
func TestSnapshotValues(t *testing.T) {
	for _, test := range []struct {
		kind                  guidon.ComparisonType
		operator, value, want string
	}{
		{guidon.DateTimeComparison, guidon.OpLT, "2026-01-31", "2026-01-31T00:00:00Z"},
		{guidon.DateTimeComparison, guidon.OpLT, "2026-01-31T08:00:00Z", "2026-01-31T08:00:00Z"},
		{guidon.DateTimeComparison, guidon.OpIsOneOf, "2026-01-31", "2026-01-31"}, // never matches
		{guidon.StringComparison, guidon.OpIsNotOneOf, `["M\u00fcller","R\u0026D","a\/b"]`, `["Müller","R&D","a/b"]`},
		{guidon.StringComparison, guidon.OpIsOneOf, `["DE",null]`, `["DE",""]`},
		{guidon.EntityIDComparison, guidon.OpIsOneOf, `["\u0041"]`, `["A"]`},
		{guidon.StringComparison, guidon.OpEQ, `\u0041`, `\u0041`},
		{guidon.StringComparison, guidon.OpIsOneOf, `[ "DE" ]`, `[ "DE" ]`},
	} {
		c := &guidon.Constraint{Type: test.kind, Property: "p", Operator: test.operator, Value: test.value}
		s := flagtest.SnapshotOf(flagtest.BooleanFlag("f", false, flagtest.SegmentRollout(true, guidon.OrSegments, "s")), flagtest.Segment("s", guidon.MatchAll, c))
		for _, path := range []string{defaultSnapshot, defaultSnapshot + "?pretty=true"} {
			got := new(evaluation.EvaluationNamespaceSnapshot)
			if err := protojson.Unmarshal([]byte(download(t, over(s), path).body), got); err != nil || len(got.GetFlags()) != 1 {
				t.Fatalf("%s: got %v, %v", test.value, got, err)
			}
			value := got.GetFlags()[0].GetRollouts()[0].GetSegment().GetSegments()[0].GetConstraints()[0].GetValue()
			if value != test.want {
				t.Errorf("%s: %s: got %s, want %s", path, test.value, value, test.want)
			}
		}
		sent := *c
		sent.Value = test.want
		stored, _ := guidon.CompileConstraint(c)
		client, _ := guidon.CompileConstraint(&sent)
		for _, value := range []string{"", "a/b", "A", "DE", "Müller", "R&D", "2026-01-30", "2026-01-31", "2026-02-01"} {
			if stored.Accepts(value) != client.Accepts(value) {
				t.Errorf("%s and %s differ for %q", test.value, test.want, value)
			}
		}
	}
}

// TestSnapshotTargets: groups of constraints and everyone are segments of the rule, and portions
// of nobody and of everybody do not show. A flag whose rule clients do not understand is left out.
func TestSnapshotTargets(t *testing.T) {
	s := newServer(t)
	s.load(`
version: guidon/1
flags:
  - key: sent
    name: S
    type: BOOLEAN_FLAG_TYPE
    rollouts:
      - {segment: {key: beta, value: true}, portion: {percentage: 0.0004}}
      - {segment: {value: true}, portion: {percentage: 100, seed: s}, if: [{any: [{type: STRING_COMPARISON_TYPE, property: p, operator: eq, value: a, description: d}]}]}
      - {segment: {key: beta, value: true}, if: [{all: [{type: STRING_COMPARISON_TYPE, property: p, operator: eq, value: b}]}]}
      - {segment: {value: true}, everyone: true}
  - {key: left-out, name: L, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {key: beta, value: true}}, {segment: {value: true}, everyone: true, portion: {percentage: 10}}]}
  - {key: never-matches, name: N, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {value: true}, everyone: true, except: [beta], portion: {percentage: 0}}]}
segments: [{key: beta, name: B}]
`)
	segment := func(key, match, constraints string) string {
		return `{"key":"` + key + `","name":"","description":"","matchType":"` + match + `_SEGMENT_MATCH_TYPE","constraints":[` + constraints + `]}`
	}
	equal := func(value string) string {
		return `{"id":"","type":"STRING_CONSTRAINT_COMPARISON_TYPE","property":"p","operator":"eq","value":"` + value + `"}`
	}
	rollout := func(rank int, operator, segments string) string {
		return fmt.Sprintf(`{"type":"SEGMENT_ROLLOUT_TYPE","rank":%d,"segment":{"value":true,"segmentOperator":"%s_SEGMENT_OPERATOR","segments":[%s]}}`, rank, operator, segments)
	}
	flag := func(key, name, rollouts string) string {
		return `{"key":"` + key + `","name":"` + name + `","description":"","enabled":false,"type":"BOOLEAN_FLAG_TYPE","createdAt":"TIME","updatedAt":"TIME","rules":[],"rollouts":[` + rollouts + `]}`
	}
	s.do("GET", defaultSnapshot, "").check(t, 200, `{"namespace":{"key":"default"},"flags":[`+
		flag("sent", "S", rollout(2, "OR", segment("~1", "ANY", equal("a")))+`,`+
			rollout(3, "AND", segment("beta", "ALL", "")+`,`+segment("~1", "ALL", equal("b")))+`,`+rollout(4, "OR", segment("~1", "ALL", "")))+
		`,`+flag("never-matches", "N", "")+`],"omittedFlags":[{"key":"left-out","reason":"rule 2 is for a portion"}]}`)
}

// TestSnapshotTransportsAgree checks that the HTTP body is the JSON of the gRPC message,
// for every profile, byte for byte.
func TestSnapshotTransportsAgree(t *testing.T) {
	o := operation(t, "EvaluationSnapshotNamespace")
	request := call.Request{Message: &evaluation.EvaluationNamespaceSnapshotRequest{Key: "default"}}
	for seed := range uint64(200) {
		s := randomSnapshot(rand.New(rand.NewPCG(seed, 0)))
		switch {
		case seed == 0:
			s = example()
		case seed%2 == 1:
			s = conditionalSnapshot(rand.New(rand.NewPCG(seed, 0)))
		}
		h := over(s)
		for _, request.ClientVersion = range []string{"", "1.38.0", "1.47.0"} {
			response, err := h.Invoke(t.Context(), o, request)
			if err != nil {
				t.Fatal(err)
			}
			want, err := codec.Marshal(response.Message)
			if err != nil {
				t.Fatal(err)
			}
			r := download(t, h, defaultSnapshot, acceptVersion, request.ClientVersion)
			if diff := cmp.Diff(string(want), r.body); diff != "" || r.header.Get("Etag") != response.ETag {
				t.Fatalf("seed %d, version %q: ETags %s, %s (-gRPC +HTTP):\n%s", seed, request.ClientVersion, response.ETag, r.header.Get("Etag"), diff)
			}
		}
		request.ClientVersion = ""
	}
}

// conditionalSnapshot returns a namespace with a random flag whose rules have conditions.
func conditionalSnapshot(r *rand.Rand) *guidon.Snapshot {
	data := make([]byte, 300)
	for i := range data {
		data[i] = byte(r.Uint32()) // #nosec G115 -- the low byte is meant
	}
	input := flagtest.NewTargetedInput(data)
	flag := input.Flag()
	return flagtest.SnapshotOf(flag, input.Segments("a")...)
}

// randomSnapshot returns a namespace with random objects, some with dangling references.
func randomSnapshot(r *rand.Rand) *guidon.Snapshot {
	text := func() string {
		return []string{"", "a", "é€😀", "<\"\\/\n\x01>", "\xff", "[1,2]", "longer than the others"}[r.IntN(7)]
	}
	key := func() string { return strconv.Itoa(r.IntN(6)) }
	keys := func() (all []string) {
		for range r.IntN(3) {
			all = append(all, key())
		}
		return all
	}
	at := func() time.Time { return time.UnixMicro(r.Int64N(4e15)).UTC() }
	var segments []*guidon.Segment
	for i := range r.IntN(6) {
		g := &guidon.Segment{Key: strconv.Itoa(i), MatchType: guidon.MatchType(r.IntN(2))}
		for range r.IntN(4) {
			g.Constraints = append(g.Constraints, &guidon.Constraint{
				ID: text(), Type: guidon.ComparisonType(r.IntN(6)), Property: text(), Operator: text(), Value: text(), Negate: r.IntN(20) == 0,
			})
		}
		segments = append(segments, g)
	}
	var flags []*guidon.Flag
	for i := range r.IntN(6) {
		f := &guidon.Flag{
			Key: strconv.Itoa(i), Name: text(), Description: text(), Enabled: r.IntN(2) == 0, Type: guidon.FlagType(r.IntN(2)),
			DefaultVariantID: key(), CreatedAt: at(), UpdatedAt: at(),
		}
		for v := range r.IntN(4) {
			f.Variants = append(f.Variants, &guidon.Variant{ID: strconv.Itoa(v), Key: text(), Attachment: text()})
		}
		for range r.IntN(4) {
			rule := &guidon.Rule{ID: text(), SegmentKeys: keys(), SegmentOperator: guidon.SegmentOperator(r.IntN(2)), Rank: r.Int32()}
			for range r.IntN(4) {
				rule.Distributions = append(rule.Distributions, &guidon.Distribution{VariantID: key(), Rollout: r.Float32() * 100})
			}
			f.Rules = append(f.Rules, rule)
			rollout := &guidon.Rollout{Rank: r.Int32()}
			switch r.IntN(3) {
			case 0:
				rollout.Threshold = &guidon.RolloutThreshold{Percentage: r.Float32() * 100, Value: r.IntN(2) == 0}
			case 1:
				rollout.Segment = &guidon.RolloutSegment{SegmentKeys: keys(), SegmentOperator: guidon.SegmentOperator(r.IntN(2)), Value: r.IntN(2) == 0}
			}
			f.Rollouts = append(f.Rollouts, rollout)
		}
		flags = append(flags, f)
	}
	return guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 1, Stamp: r.Int64()}, flags, segments)
}

// TestSnapshotTooLarge checks that a snapshot that repeats a stored object too often is
// rejected before it fills the memory, over either transport.
func TestSnapshotTooLarge(t *testing.T) {
	big := strings.Repeat("x", 1_000_000)
	attachments := &guidon.Flag{Key: "f", Variants: []*guidon.Variant{{ID: "v", Attachment: big}}, Rules: []*guidon.Rule{{SegmentKeys: []string{"s"}}}}
	for range 200 {
		attachments.Rules[0].Distributions = append(attachments.Rules[0].Distributions, &guidon.Distribution{VariantID: "v"})
	}
	segments := &guidon.Flag{Key: "f"}
	for range 200 {
		segments.Rules = append(segments.Rules, &guidon.Rule{SegmentKeys: []string{"big"}})
	}
	const message = "the snapshot exceeds 134217728 bytes, because segments or attachments are repeated wherever they are used; evaluate on the server instead"
	for _, f := range []*guidon.Flag{attachments, segments} {
		h := over(guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 1}, []*guidon.Flag{f}, []*guidon.Segment{
			{Key: "s"}, {Key: "big", Constraints: []*guidon.Constraint{{Value: big}}},
		}))
		r := download(t, h, defaultSnapshot)
		r.fails(t, 413, 8, message)
		if r.header.Get("Etag") != "" {
			t.Error("an error has an ETag")
		}
		_, err := h.Invoke(t.Context(), operation(t, "EvaluationSnapshotNamespace"),
			call.Request{Message: &evaluation.EvaluationNamespaceSnapshotRequest{}})
		if guidon.PublicMessage(err) != message {
			t.Errorf("over gRPC: %v", err)
		}
	}
}

// TestSnapshotConcurrently sends many first requests concurrently, for the race detector.
func TestSnapshotConcurrently(t *testing.T) {
	h := over(example())
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			r := download(t, h, defaultSnapshot, acceptVersion, "1.47.0", "Accept-Encoding", "gzip")
			if r.status != http.StatusOK || decompress(t, r) != exampleBody {
				t.Errorf("%d, %d bytes", r.status, len(r.body))
			}
		})
	}
	wg.Wait()
}

// largeSnapshot returns a namespace with n flags, half of each type, and 100 segments.
func largeSnapshot(n int) *guidon.Snapshot {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_000, time.UTC)
	var segments []*guidon.Segment
	for i := range 100 {
		segments = append(segments, &guidon.Segment{Key: fmt.Sprintf("segment-%d", i), Constraints: []*guidon.Constraint{
			{ID: service.NewID(), Type: guidon.StringComparison, Property: "country", Operator: "isoneof", Value: `["de","fr","it"]`},
			{ID: service.NewID(), Type: guidon.NumberComparison, Property: "age", Operator: "gt", Value: strconv.Itoa(i)},
		}})
	}
	flags := make([]*guidon.Flag, n)
	for i := range flags {
		f := &guidon.Flag{Key: fmt.Sprintf("flag-%d", i), Name: fmt.Sprintf("Flag %d", i), Enabled: true, CreatedAt: at, UpdatedAt: at}
		keys := []string{fmt.Sprintf("segment-%d", i%100)}
		if i%2 == 0 {
			f.Type = guidon.BooleanFlag
			f.Rollouts = []*guidon.Rollout{
				{Rank: 1, Segment: &guidon.RolloutSegment{SegmentKeys: keys, Value: true}},
				{Rank: 2, Threshold: &guidon.RolloutThreshold{Percentage: 50, Value: true}},
			}
		} else {
			a, b := &guidon.Variant{ID: service.NewID(), Key: "a", Attachment: `{"x":1}`}, &guidon.Variant{ID: service.NewID(), Key: "b"}
			f.Variants, f.DefaultVariantID = []*guidon.Variant{a, b}, a.ID
			f.Rules = []*guidon.Rule{{ID: service.NewID(), SegmentKeys: keys, Rank: 1, Distributions: []*guidon.Distribution{
				{VariantID: a.ID, Rollout: 50}, {VariantID: b.ID, Rollout: 50},
			}}}
		}
		flags[i] = f
	}
	return guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 1, Stamp: 1}, flags, segments)
}

// BenchmarkSnapshot measures the download of 10,000 flags, without the network.
func BenchmarkSnapshot(b *testing.B) {
	s := largeSnapshot(10_000)
	h := over(s)
	for _, encoding := range []string{"identity", "gzip"} {
		headers := []string{acceptVersion, "1.47.0", "Accept-Encoding", encoding}
		body := download(b, h, defaultSnapshot, headers...)
		b.Run("first/"+encoding, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body.body)))
			for b.Loop() {
				b.StopTimer()
				h := over(s.Apply(guidon.SnapshotDelta{Revision: guidon.Revision{Number: 2, Stamp: 2}}))
				b.StartTimer()
				get(b, h, http.StatusOK, headers...)
			}
		})
		b.Run("repeated/"+encoding, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body.body)))
			for b.Loop() {
				get(b, h, http.StatusOK, headers...)
			}
		})
		headers = append(headers, "If-None-Match", body.header.Get("Etag"))
		b.Run("unchanged/"+encoding, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				get(b, h, http.StatusNotModified, headers...)
			}
		})
	}
	b.Run("grpc", func(b *testing.B) {
		o := operation(b, "EvaluationSnapshotNamespace")
		for b.Loop() {
			if _, err := h.Invoke(b.Context(), o, call.Request{Message: &evaluation.EvaluationNamespaceSnapshotRequest{}}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// discarded is a ResponseWriter that discards the body.
type discarded struct {
	header http.Header
	status int
}

func (d *discarded) Header() http.Header            { return d.header }
func (d *discarded) Write(body []byte) (int, error) { return len(body), nil }
func (d *discarded) WriteHeader(status int)         { d.status = status }

func get(b *testing.B, h http.Handler, want int, headers ...string) {
	b.Helper()
	request := httptest.NewRequestWithContext(b.Context(), http.MethodGet, defaultSnapshot, nil)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	w := &discarded{header: http.Header{}}
	h.ServeHTTP(w, request)
	if w.status != want {
		b.Fatalf("%d, want %d", w.status, want)
	}
}

// omissions records what an observer is told about snapshots.
type omissions []string

func (*omissions) Evaluated([]observed.Event) {}
func (o *omissions) SnapshotRequested(namespace string, omitted int) {
	*o = append(*o, fmt.Sprint(namespace, " ", omitted))
}

// TestSnapshotObserved: the observer is told about a snapshot that the client has already, too:
// after a restart, clients that poll get nothing else.
func TestSnapshotObserved(t *testing.T) {
	seen := new(omissions)
	s := newServer(t, func(c *handler.Config) { c.Evaluations = seen })
	s.must("", "POST", "/api/v1/flags", `{"key":"f","name":"F","type":"BOOLEAN_FLAG_TYPE"}`)
	s.must("", "POST", "/api/v1/segments", `{"key":"s","name":"S"}`)
	s.must("", "POST", "/api/v1/namespaces/default/segments/s/constraints", `{"type":"STRING_COMPARISON_TYPE","property":"p","operator":"eq","value":"a","negate":true}`)
	s.must("", "POST", "/api/v1/namespaces/default/flags/f/rollouts", `{"rank":1,"segment":{"segmentKey":"s","value":true}}`)
	tag := s.must("", "GET", defaultSnapshot, "").header.Get("Etag")
	if r := s.do("GET", defaultSnapshot, "", "If-None-Match", tag); r.status != 304 {
		t.Errorf("got status %d, want 304", r.status)
	}
	s.must("", "GET", snapshots+"unknown", "")
	if diff := cmp.Diff(&omissions{"default 1", "default 1", "unknown 0"}, seen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
