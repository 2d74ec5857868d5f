package handler_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestExplainEdited: an edited flag is explained as if it were saved, and is not saved.
func TestExplainEdited(t *testing.T) {
	s := newExplained(t)
	const path = "/api/v1/namespaces/default/flags/"
	saved := s.must("", "GET", path+"banner/content", "").body
	edited := func(name string) string {
		return `"flag":{"name":"` + name + `","type":"BOOLEAN_FLAG_TYPE","rollouts":[{"segment":{"segmentKeys":["staff"],"value":true}}]}`
	}
	for _, test := range []struct{ name, flag, body, want string }{
		{"the saved flag", "banner", `{"context":{"email":"a@guidon.example"}}`, `"decidedBy":0`},
		{"the edited flag", "banner", `{"context":{"email":"a@guidon.example"},` + edited("Banner") + `}`, `"decidedBy":1`},
		{"a flag that does not exist yet", "new", `{"context":{"email":"a@guidon.example"},` + edited("New") + `}`, `"decidedBy":1`},
		{"the other result", "banner", `{` + edited("Banner") + `}`, `if email ended with @guidon.example`},
	} {
		if got := s.must("", "POST", path+test.flag+"/explain", test.body).body; !strings.Contains(got, test.want) {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
	if diff := cmp.Diff(saved, s.must("", "GET", path+"banner/content", "").body); diff != "" {
		t.Errorf("the saved flag (-want +got):\n%s", diff)
	}
	s.do("GET", path+"new", "").fails(t, 404, 5, `flag "default/new" not found`)
	s.do("POST", path+"banner/explain", `{`+edited("")+`}`).fails(t, 400, 3, "flag: invalid field name: must not be empty")
	s.do("POST", path+"banner/explain", `{"flag":{"key":"other","name":"Other"}}`).fails(t, 400, 3,
		`invalid field key: the edited object has the key "other" instead of "banner"`)
}

// TestExplainFlags compares whole responses about all flags of a namespace.
func TestExplainFlags(t *testing.T) {
	s := newExplained(t)
	const path = "/api/v1/namespaces/default/explain"
	const banner = `{"flagKey":"banner","flagName":"Banner","flagType":"BOOLEAN_FLAG_TYPE","match":false,"variantKey":"","variantIndex":0,"enabled":true,` +
		`"reason":"MATCH_EVALUATION_REASON","segmentKeys":["big"],"decidedBy":1,"stepId":"ID","error":""}`
	const checkout = `{"flagKey":"checkout","flagName":"Checkout","flagType":"VARIANT_FLAG_TYPE","match":true,"variantKey":"one-page","variantIndex":1,"enabled":false,` +
		`"reason":"MATCH_EVALUATION_REASON","segmentKeys":["staff"],"decidedBy":1,"stepId":"ID","error":""}`
	const body = `"entityId":"a","context":{"email":"a@guidon.example","plan":"pro","seats":100}`
	s.do("POST", path, `{`+body+`}`).check(t, 200,
		`{"namespaceKey":"default","entityId":"a","results":[`+banner+`,`+checkout+`],"totalCount":2}`)
	s.do("POST", path, `{`+body+`,"limit":1}`).check(t, 200,
		`{"namespaceKey":"default","entityId":"a","results":[`+banner+`],"totalCount":2,"nextOffset":1}`)
	s.do("POST", path, `{`+body+`,"limit":1,"offset":1}`).check(t, 200,
		`{"namespaceKey":"default","entityId":"a","results":[`+checkout+`],"totalCount":2}`)
	s.do("POST", path, `{"offset":7}`).check(t, 200, `{"namespaceKey":"default","entityId":"","results":[],"totalCount":2}`)
	s.do("POST", path, `{"limit":201}`).fails(t, 400, 3, "invalid field limit: must be between 0 and 200")
	s.do("POST", path, `{"offset":-1}`).fails(t, 400, 3, "invalid field offset: must be greater than or equal to '0'")
	s.do("POST", path, `{"context":`+properties(1001)+`}`).fails(t, 400, 3, "invalid field context: must not have more than 1000 properties")
	s.do("POST", "/api/v1/namespaces/nope/explain", `{}`).check(t, 200, `{"namespaceKey":"nope","entityId":"","results":[],"totalCount":0}`)

	s.must("", "DELETE", "/api/v1/namespaces/default/flags/banner", "")
	past := s.must("", "POST", "/api/v1/namespaces/default@2/explain", `{}`)
	var got struct{ Results []struct{ FlagKey string } }
	if err := json.Unmarshal([]byte(past.body), &got); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, r := range got.Results {
		keys = append(keys, r.FlagKey)
	}
	if diff := cmp.Diff([]string{"banner", "checkout"}, keys); diff != "" {
		t.Errorf("flags of an earlier state (-want +got):\n%s", diff)
	}
}
