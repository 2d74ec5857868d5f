package handler_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/guidonhq/guidon"
)

// usSnapshot returns a boolean and a variant flag that match only in the US.
func usSnapshot() *guidon.Snapshot {
	return guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 1, Stamp: 1},
		[]*guidon.Flag{
			{Key: "b", Type: guidon.BooleanFlag, Rollouts: []*guidon.Rollout{
				{ID: "1", Rank: 1, Segment: &guidon.RolloutSegment{SegmentKeys: []string{"us"}, Value: true}},
			}},
			{Key: "v", Enabled: true, Variants: []*guidon.Variant{{ID: "x", Key: "x", Attachment: `{"a":1}`}}, Rules: []*guidon.Rule{
				{ID: "1", Rank: 1, SegmentKeys: []string{"us"}, Distributions: []*guidon.Distribution{{ID: "1", VariantID: "x", Rollout: 100}}},
			}},
		},
		[]*guidon.Segment{{Key: "us", Name: "US", MatchType: guidon.MatchAny, Constraints: []*guidon.Constraint{
			{ID: "1", Type: guidon.StringComparison, Property: "country", Operator: guidon.OpEQ, Value: "US"},
		}}})
}

// TestRequestsDoNotMix checks that a response depends only on its own request, whatever
// other requests came before or at the same time. The memory of requests and responses
// is pooled.
func TestRequestsDoNotMix(t *testing.T) {
	h := over(usSnapshot())
	many := new(strings.Builder)
	for i := range 500 {
		fmt.Fprintf(many, `,"p%d":"US"`, i)
	}
	type answer struct {
		status int
		match  bool
	}
	contexts := []struct {
		context string
		want    answer
	}{
		{`,"context":{"country":"US"}`, answer{http.StatusOK, true}},
		{`,"context":{"country":"US"` + many.String() + `}`, answer{http.StatusOK, true}},
		{`,"context":{"p":"\u0055S","country":"\u0055S"}`, answer{http.StatusOK, true}},
		{`,"context":{"country":"DE"}`, answer{http.StatusOK, false}},
		{`,"context":{"other":"US"}`, answer{http.StatusOK, false}},
		{`,"context":{}`, answer{http.StatusOK, false}},
		{``, answer{http.StatusOK, false}},
		{`,"context":{"country":"US"},"context":{}`, answer{http.StatusOK, false}},
		{`,"context":{"country":"US"},"unheard":"\u0041"`, answer{http.StatusOK, true}},
		{`,"context":{"country":"US","p":`, answer{http.StatusBadRequest, false}},
		{`,"context":{"country":"US"},`, answer{http.StatusBadRequest, false}},
		{`,"context":{"country":"US","p":"` + "\xff" + `"}`, answer{http.StatusBadRequest, false}},
	}
	kinds := []struct{ path, before, key string }{
		{"/evaluate/v1/boolean", `"flagKey":"b","entityId":"e"`, `"reason":"MATCH_EVALUATION_REASON"`},
		{"/evaluate/v1/variant", `"flagKey":"v","entityId":"e"`, `"match":true`},
		{ofrepPath + "/b", ``, `"reason":"TARGETING_MATCH"`},
		{ofrepPath + "/v", ``, `"reason":"TARGETING_MATCH"`},
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 500 {
				kind, c := kinds[rand.IntN(len(kinds))], contexts[rand.IntN(len(contexts))]
				body := "{" + strings.TrimPrefix(kind.before+c.context, ",") + "}"
				reply := serve(h, http.MethodPost, kind.path, body)
				got := answer{reply.Code, strings.Contains(reply.Body.String(), kind.key)}
				if got != c.want || !json.Valid(reply.Body.Bytes()) {
					t.Errorf("%s %.200q: got %+v, %s, want %+v", kind.path, body, got, reply.Body, c.want)
				}
			}
		})
	}
	wait.Wait()
}
