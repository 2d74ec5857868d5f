package handler_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/service"
)

const cataloged = `{"namespace":{"name":"Shop"},
	"flags":[
		{"key":"checkout","name":"Checkout","description":"The way to pay.","enabled":false,"metadata":"{\"owner\":\"team-pay\",\"tags\":[\"pay\",\"new\"],\"review\":\"2001-01-01\"}",
			"variants":[{"key":"classic","default":true},{"key":"one-page"}],"rules":[
			{"segmentKeys":["staff","everyone"],"distributions":[{"variant":"classic","rollout":66.66},{"variant":"one-page","rollout":33.34}]}]},
		{"key":"banner","name":"Banner","type":"BOOLEAN_FLAG_TYPE","metadata":"{\"owner\":\"team-web\"}","rollouts":[
			{"segment":{"segmentKeys":["staff"],"value":true}},
			{"threshold":{"percentage":12.5,"value":true}}]}],
	"segments":[
		{"key":"staff","name":"Staff","matchType":"ANY_MATCH_TYPE","constraints":[
			{"type":"STRING_COMPARISON_TYPE","property":"group","operator":"eq","value":"staff"},
			{"type":"NUMBER_COMPARISON_TYPE","property":"age","operator":"gt","value":"65"}]},
		{"key":"everyone","name":"Everyone"}]}`

// newCataloged starts a server with a namespace to list.
func newCataloged(t *testing.T) *server {
	t.Helper()
	s := newServer(t)
	s.loadInto("shop", cataloged)
	return s
}

// withoutUsage matches how flags were used, which earlier states do not have.
var withoutUsage = regexp.MustCompile(`,"usage":\{[^}]*\}`)

// withoutTimes removes the times of objects.
func withoutTimes(t *testing.T, body string) string {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(body), &value); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	var remove func(value any)
	remove = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			delete(value, "createdAt")
			delete(value, "updatedAt")
			for _, v := range value {
				remove(v)
			}
		case []any:
			for _, v := range value {
				remove(v)
			}
		}
	}
	remove(value)
	text, _ := json.MarshalIndent(value, "", " ")
	return string(text)
}

// TestCatalog covers the messages of each list.
func TestCatalog(t *testing.T) {
	s := newCataloged(t)
	const banner = `{"key":"banner","name":"Banner","description":"","type":"BOOLEAN_FLAG_TYPE","enabled":false,"state":"PARTLY_FLAG_STATE",
		"everyoneElse":[{"percentage":87,"enabled":false,"variantKey":"","byDefault":false,"fails":false,"variantIndex":0},{"percentage":13,"enabled":true,"variantKey":"","byDefault":false,"fails":false,"variantIndex":0}],
		"moreShares":0,"firstSegment":{"key":"staff","name":"Staff"},"segmentCount":1,"stepCount":2,"owner":"team-web","tags":[],"moreTags":0,"review":"","reviewPassed":false,"turnedOff":false,"variantCount":0}`
	const share = `{"percentage":100,"enabled":false,"variantKey":"classic","byDefault":true,"fails":false,"variantIndex":0}`
	const checkout = `{"key":"checkout","name":"Checkout","description":"The way to pay.","type":"VARIANT_FLAG_TYPE","enabled":false,"state":"OFF_FLAG_STATE",
		"everyoneElse":[` + share + `],"moreShares":0,"whileOff":` + share + `,"firstSegment":{"key":"staff","name":"Staff"},"segmentCount":2,"stepCount":1,
		"owner":"team-pay","tags":["pay","new"],"moreTags":0,"review":"2001-01-01","reviewPassed":true,"turnedOff":false,"variantCount":2}`
	for _, test := range []struct{ path, want string }{
		{"/catalog/flags?query=owner:team-web&sort=KEY_FLAG_SORT", `{"flags":[` + banner + `],"totalCount":1,"namespaceCount":2,"suggestions":[],"facets":{
			"states":[{"state":"ON_FLAG_STATE","count":0},{"state":"PARTLY_FLAG_STATE","count":1},{"state":"OFF_FLAG_STATE","count":0}],
			"types":[{"type":"BOOLEAN_FLAG_TYPE","count":1},{"type":"VARIANT_FLAG_TYPE","count":0}],
			"owners":[{"value":"team-pay","name":"","count":1},{"value":"team-web","name":"","count":1}],"moreOwners":0,"tags":[],"moreTags":0,
			"segments":[{"value":"staff","name":"Staff","count":1}],"moreSegments":0}}`},
		{"/catalog/flags?query=baner", `{"flags":[],"totalCount":0,"namespaceCount":2,"suggestions":[{"key":"banner","name":"Banner"}],"facets":{
			"states":[{"state":"ON_FLAG_STATE","count":0},{"state":"PARTLY_FLAG_STATE","count":0},{"state":"OFF_FLAG_STATE","count":0}],
			"types":[{"type":"BOOLEAN_FLAG_TYPE","count":0},{"type":"VARIANT_FLAG_TYPE","count":0}],
			"owners":[],"moreOwners":0,"tags":[],"moreTags":0,"segments":[],"moreSegments":0}}`},
		{"/catalog/unused", `{"flags":[{"flag":` + checkout + `,"reasons":[
			{"kind":"REVIEW_PASSED_UNUSED_REASON_KIND","text":"the review date 2001-01-01 has passed"}],
			"usage":{"verdict":"NEW_FLAG_VERDICT","evaluations":0,"downloads":0}}],"totalCount":1,"snoozedCount":0}`},
		{"/catalog/unused?reasons=ROUNDED_UNUSED_REASON_KIND", `{"flags":[],"totalCount":0,"snoozedCount":0}`},
		{"/catalog/segments?sort=USED_SEGMENT_SORT&descending=true&limit=1", `{"segments":[{"key":"staff","name":"Staff","description":"","matchType":"ANY_MATCH_TYPE",
			"conditions":"any of 2: group is staff, age is greater than 65","constraintCount":2,"everyone":false,"flagCount":2}],"totalCount":2,"namespaceCount":2,"nextOffset":1}`},
		{"/catalog/segments?query=every", `{"segments":[{"key":"everyone","name":"Everyone","description":"","matchType":"ALL_MATCH_TYPE",
			"conditions":"everyone","constraintCount":0,"everyone":true,"flagCount":1}],"totalCount":1,"namespaceCount":2}`},
		{"/catalog/properties?prefix=G", `{"properties":[{"name":"group","types":[{"type":"STRING_COMPARISON_TYPE","count":1}],"values":["staff"],"moreValues":false}],"totalCount":1}`},
		{"/catalog/counts", `{"flags":2,"segments":2,"unused":1}`},
	} {
		got := s.must("", "GET", "/api/v1/namespaces/shop"+test.path, "")
		if diff := cmp.Diff(withoutTimes(t, test.want), withoutTimes(t, got.body)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.path, diff)
		}
		past := s.must("", "GET", "/api/v1/namespaces/shop@1"+test.path, "")
		if past.body != withoutUsage.ReplaceAllString(got.body, "") || past.header.Get("ETag") == "" {
			t.Errorf("%s: of revision 1: ETag %q, %s", test.path, past.header.Get("ETag"), past.body)
		}
	}
	s.must("", "GET", "/api/v1/namespaces/none/catalog/counts", "").check(t, 200, `{"flags":0,"segments":0,"unused":0}`)
}

// TestCatalogConditions: what is said of an earlier state changes with the number of review
// dates that have passed, and so does its ETag.
func TestCatalogConditions(t *testing.T) {
	s := newCataloged(t)
	const path = "/api/v1/namespaces/shop@1/catalog/"
	whole := s.must("", "GET", path+"segments", "").header.Get("ETag")
	for _, list := range []string{"flags", "unused", "counts"} {
		tag := s.must("", "GET", path+list, "").header.Get("ETag")
		if want := strings.TrimSuffix(whole, `"`) + `-1"`; tag != want {
			t.Errorf("%s: got ETag %s, want %s", list, tag, want)
		}
		if got := s.do("GET", path+list, "", "If-None-Match", tag); got.status != 304 {
			t.Errorf("%s: got %d with the ETag", list, got.status)
		}
		if got := s.do("GET", path+list, "", "If-None-Match", whole); got.status != 200 {
			t.Errorf("%s: got %d with another ETag", list, got.status)
		}
	}
}

// TestCatalogPages follows the pages of a list.
func TestCatalogPages(t *testing.T) {
	s := newCataloged(t)
	var keys []string
	for path := "/api/v1/namespaces/shop/catalog/flags?limit=1&offset="; ; {
		var page struct {
			Flags      []struct{ Key string }
			NextOffset *int
		}
		if err := json.Unmarshal([]byte(s.must("", "GET", path+fmt.Sprint(len(keys)), "").body), &page); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, page.Flags[0].Key)
		if page.NextOffset == nil {
			break
		}
		if *page.NextOffset != len(keys) {
			t.Fatalf("got offset %d after %d flags", *page.NextOffset, len(keys))
		}
	}
	if got := strings.Join(keys, " "); got != "banner checkout" {
		t.Errorf("got %s", got)
	}
}

func TestCatalogErrors(t *testing.T) {
	s := newCataloged(t)
	for _, test := range []struct{ path, want string }{
		{"/namespaces/shop/catalog/flags?limit=201", "invalid field limit: must be between 0 and 200"},
		{"/namespaces/shop/catalog/flags?limit=-1", "invalid field limit: must be between 0 and 200"},
		{"/namespaces/shop/catalog/flags?offset=-1", "invalid field offset: must be greater than or equal to '0'"},
		{"/namespaces/shop/catalog/flags?sort=BEST", `parsing field "sort": "BEST" is not a valid value`},
		{"/namespaces/shop/catalog/flags?states=ODD", `parsing field "states": "ODD" is not a valid value`},
		{"/namespaces/shop/catalog/flags?types=2", `parsing field "types": "2" is not a valid value`},
		{"/namespaces/shop/catalog/flags?query=" + strings.Repeat("x", 1001), "invalid field query: must not be longer than 1000 bytes"},
		{"/namespaces/shop/catalog/segments?limit=201", "invalid field limit: must be between 0 and 200"},
		{"/namespaces/shop/catalog/segments?query=" + strings.Repeat("x", 1001), "invalid field query: must not be longer than 1000 bytes"},
		{"/namespaces/shop/catalog/unused?limit=201", "invalid field limit: must be between 0 and 200"},
		{"/namespaces/shop/catalog/unused?reasons=ODD", `parsing field "reasons": "ODD" is not a valid value`},
		{"/namespaces/shop/catalog/properties?limit=201", "invalid field limit: must be between 0 and 200"},
		{"/namespaces/shop/catalog/properties?prefix=" + strings.Repeat("x", 256), "invalid field prefix: must not be longer than 255 characters"},
		{"/search?limit=9", "invalid field limit: must be between 0 and 8"},
		{"/search?query=" + strings.Repeat("x", 201), "invalid field query: must not be longer than 200 bytes"},
	} {
		s.do("GET", "/api/v1"+test.path, "").fails(t, 400, 3, test.want)
	}
	t.Run("too many tags", func(t *testing.T) {
		s.do("GET", "/api/v1/namespaces/shop/catalog/flags?"+strings.Repeat("tags=x&", 101), "").fails(t, 400, 3, "invalid field tags: must not have more than 100 values")
	})
	s.do("GET", "/api/v1/search?query=x&namespaceKey=shop@1", "").
		fails(t, 400, 3, `invalid namespace "shop@1": must be a key; a reference to a state (key@revision or key@time) can only be read`)
}

// searched is the response of a search, in short.
func (s *server) searched(query, namespace string, headers ...string) (lines []string) {
	s.t.Helper()
	type hit struct {
		Kind, NamespaceKey, NamespaceName, Key, Name, Type, State string
		FlagCount                                                 int
	}
	type group struct {
		Hits       []hit
		TotalCount int
	}
	var r struct {
		Flags, Segments, Owners, Tags, Namespaces group
		SearchedNamespaces                        int
		Limited                                   bool
	}
	path := "/api/v1/search?limit=3&query=" + url.QueryEscape(query) + "&namespaceKey=" + namespace
	if err := json.Unmarshal([]byte(s.must("", "GET", path, "", headers...).body), &r); err != nil {
		s.t.Fatal(err)
	}
	for _, g := range []group{r.Flags, r.Segments, r.Owners, r.Tags, r.Namespaces} {
		for _, h := range g.Hits {
			kind, _, _ := strings.Cut(h.Kind, "_")
			line := strings.ToLower(kind) + " " + h.NamespaceKey + "/" + h.Key
			if kind == "FLAG" {
				line += " " + h.Type + " " + h.State
			}
			if h.FlagCount > 0 {
				line += fmt.Sprint(" ", h.FlagCount)
			}
			lines = append(lines, line)
		}
		if more := g.TotalCount - len(g.Hits); more > 0 {
			lines = append(lines, fmt.Sprintf("and %d", more))
		}
	}
	return append(lines, fmt.Sprintf("%d searched, limited %t", r.SearchedNamespaces, r.Limited))
}

// TestSearch covers ranks, groups and namespaces.
func TestSearch(t *testing.T) {
	s := newCataloged(t)
	flag := func(key, name string) string {
		return `{"key":"` + key + `","name":"` + name + `","type":"BOOLEAN_FLAG_TYPE","enabled":true,"metadata":"{\"owner\":\"pay-team\",\"tags\":[\"pay\"]}"}`
	}
	s.loadInto("staging", `{"flags":[`+strings.Join([]string{
		flag("pay", "Z"), flag("payment", "A"), flag("x1", "Pay later"), flag("x2", "A pay day"), flag("x3", "Repay"), flag("x4", "Nothing"), flag("checkout", "Checkout"),
	}, ",")+`]}`)
	const of = " BOOLEAN_FLAG_TYPE ON_FLAG_STATE"
	for _, test := range []struct {
		query, namespace string
		want             []string
	}{
		{"PAY", "", []string{
			"flag staging/pay" + of, "flag staging/payment" + of, "flag staging/x1" + of, "and 3", // one by its description
			"owner staging/pay-team 7", "owner shop/team-pay 1", "tag shop/pay 1", "tag staging/pay 7", "3 searched, limited false",
		}},
		{"checkout", "staging", []string{"flag staging/checkout" + of, "flag shop/checkout VARIANT_FLAG_TYPE OFF_FLAG_STATE", "3 searched, limited false"}},
		{"checkout", "shop", []string{"flag shop/checkout VARIANT_FLAG_TYPE OFF_FLAG_STATE", "flag staging/checkout" + of, "3 searched, limited false"}},
		{"sta", "shop", []string{"segment shop/staff", "namespace staging/staging", "3 searched, limited false"}},
		{" ", "", []string{"0 searched, limited false"}},
		{"nothing like that", "", []string{"3 searched, limited false"}},
	} {
		if diff := cmp.Diff(test.want, s.searched(test.query, test.namespace)); diff != "" {
			t.Errorf("%q in %q (-want +got):\n%s", test.query, test.namespace, diff)
		}
	}
}

// TestSearchAccess: only what the caller may view is found, or counted.
func TestSearchAccess(t *testing.T) {
	s := newServer(t, required)
	admin := []string{"Authorization", "Bearer " + s.token("")}
	for _, key := range []string{"shop", "pay-eu", "secret"} {
		s.must("", "POST", "/api/v1/namespaces", `{"key":"`+key+`","name":"`+key+`"}`, admin...)
		s.must("", "POST", "/api/v1/namespaces/"+key+"/flags", `{"key":"checkout","name":"Checkout"}`, admin...)
	}
	const of = " VARIANT_FLAG_TYPE OFF_FLAG_STATE"
	for _, test := range []struct {
		name, token, namespace string
		want                   []string
	}{
		{"viewer of some", s.grant(service.RoleViewer, "pay-*", "shop"), "secret", []string{"flag pay-eu/checkout" + of, "flag shop/checkout" + of, "2 searched, limited false"}},
		{"viewer of none that exists", s.grant(service.RoleViewer, "nope"), "", []string{"0 searched, limited false"}},
		{"limited token", s.token("secret"), "secret", []string{"flag secret/checkout" + of, "1 searched, limited false"}},
		{"everybody", s.grant(service.RoleAdmin), "shop", []string{"flag shop/checkout" + of, "flag pay-eu/checkout" + of, "flag secret/checkout" + of, "4 searched, limited false"}},
	} {
		if diff := cmp.Diff(test.want, s.searched("checkout", test.namespace, "Authorization", "Bearer "+test.token)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	s.do("GET", "/api/v1/search?query=x", "", "Authorization", "Bearer "+s.grant(service.RoleClient)).
		fails(t, 403, 7, `permission denied: needs viewer on namespace "*"`)
	limited := "Bearer " + s.token("shop")
	for _, path := range []string{"/search?query=x", "/search?query=x&namespaceKey=secret", "/namespaces/secret/catalog/flags"} {
		if got := s.do("GET", "/api/v1"+path, "", "Authorization", limited); got.status != 401 {
			t.Errorf("%s with a token that is limited to shop: got %d %s", path, got.status, got.body)
		}
	}
	s.must("", "GET", "/api/v1/namespaces/shop/catalog/flags", "", "Authorization", limited)
}

// TestSearchLimit: no more than 100 namespaces are looked at, the requested one first.
func TestSearchLimit(t *testing.T) {
	s := newServer(t)
	for i := range 100 {
		s.must("", "POST", "/api/v1/namespaces", fmt.Sprintf(`{"key":"n%d","name":"N"}`, i))
	}
	s.must("", "POST", "/api/v1/namespaces/n99/flags", `{"key":"checkout","name":"Checkout"}`)
	if diff := cmp.Diff([]string{"100 searched, limited true"}, s.searched("checkout", "")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want := []string{"flag n99/checkout VARIANT_FLAG_TYPE OFF_FLAG_STATE", "100 searched, limited true"}
	if diff := cmp.Diff(want, s.searched("checkout", "n99")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// everywhere is the response about a flag in all namespaces, in short.
func (s *server) everywhere(query string, headers ...string) (lines []string, next string) {
	s.t.Helper()
	var r struct {
		Namespaces []struct {
			NamespaceKey string
			Revision     int64
			Flag         *struct{ Key, State string }
			Same         bool
			Unavailable  string
		}
		NextPageToken string
		TotalCount    int
	}
	if err := json.Unmarshal([]byte(s.must("", "GET", "/api/v1/flags/checkout/namespaces"+query, "", headers...).body), &r); err != nil {
		s.t.Fatal(err)
	}
	for _, in := range r.Namespaces {
		line := fmt.Sprintf("%s@%d", in.NamespaceKey, in.Revision)
		if in.Flag != nil {
			line += " " + in.Flag.Key + " " + in.Flag.State
		}
		if in.Same {
			line += " same"
		}
		lines = append(lines, line)
	}
	return append(lines, fmt.Sprint(r.TotalCount)), r.NextPageToken
}

// TestFlagNamespaces: a flag is compared with that of the reference, with the segments that it
// refers to.
func TestFlagNamespaces(t *testing.T) {
	s := newCataloged(t)
	s.loadInto("copy", cataloged)
	s.loadInto("other", strings.Replace(cataloged, `"value":"65"`, `"value":"66"`, 1)) // a segment of the flag
	s.loadInto("renamed", strings.Replace(cataloged, `"name":"Checkout"`, `"name":"Pay"`, 1))
	const off = " checkout OFF_FLAG_STATE"
	for _, test := range []struct {
		query string
		want  []string
	}{
		{"", []string{"default@1", "shop@1" + off, "copy@1" + off, "other@1" + off, "renamed@1" + off, "5"}},
		{"?reference=shop", []string{"shop@1" + off + " same", "default@1", "copy@1" + off + " same", "other@1" + off, "renamed@1" + off, "5"}},
		{"?reference=default", []string{"default@1", "shop@1" + off, "copy@1" + off, "other@1" + off, "renamed@1" + off, "5"}},
		{"?reference=copy&limit=2", []string{"copy@1" + off + " same", "default@1", "5"}},
	} {
		got, _ := s.everywhere(test.query)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.query, diff)
		}
	}
	_, next := s.everywhere("?reference=shop&limit=3")
	if got, _ := s.everywhere("?reference=shop&pageToken=" + url.QueryEscape(next)); !cmp.Equal(got, []string{"other@1" + off, "renamed@1" + off, "5"}) {
		t.Errorf("the second page has %q", got)
	}
	for path, want := range map[string]string{
		"?limit=-1":         "invalid field limit: must be greater than or equal to '0'",
		"?pageToken=x":      `pageToken is not valid: "x"`,
		"?reference=shop@1": `invalid namespace "shop@1": must be a key; a reference to a state (key@revision or key@time) can only be read`,
	} {
		s.do("GET", "/api/v1/flags/checkout/namespaces"+path, "").fails(t, 400, 3, want)
	}
	s.do("GET", "/api/v1/flags/checkout/namespaces?reference=nope", "").fails(t, 404, 5, `namespace "nope" not found`)
}

// TestFlagNamespacesAccess: only namespaces that the caller may view are listed or counted.
func TestFlagNamespacesAccess(t *testing.T) {
	s := newServer(t, required)
	admin := []string{"Authorization", "Bearer " + s.token("")}
	for _, key := range []string{"shop", "pay-eu", "secret"} {
		s.must("", "POST", "/api/v1/namespaces", `{"key":"`+key+`","name":"`+key+`"}`, admin...)
		s.must("", "POST", "/api/v1/namespaces/"+key+"/flags", `{"key":"checkout","name":"Checkout"}`, admin...)
	}
	const off = " checkout OFF_FLAG_STATE"
	for _, test := range []struct {
		name, token, query string
		want               []string
	}{
		{"viewer of some", s.grant(service.RoleViewer, "pay-*", "shop"), "?reference=shop", []string{"shop@2" + off + " same", "pay-eu@2" + off + " same", "2"}},
		{"limited token", s.token("secret"), "?reference=secret", []string{"secret@2" + off + " same", "1"}},
	} {
		got, _ := s.everywhere(test.query, "Authorization", "Bearer "+test.token)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	const path = "/api/v1/flags/checkout/namespaces"
	s.do("GET", path+"?reference=secret", "", "Authorization", "Bearer "+s.grant(service.RoleViewer, "shop")).
		fails(t, 403, 7, `permission denied: needs viewer on namespace "secret"`)
	s.do("GET", path, "", "Authorization", "Bearer "+s.grant(service.RoleClient)).fails(t, 403, 7, `permission denied: needs viewer on namespace "*"`)
	limited := "Bearer " + s.token("shop")
	for _, query := range []string{"", "?reference=secret"} {
		if got := s.do("GET", path+query, "", "Authorization", limited); got.status != 401 {
			t.Errorf("%s with a token that is limited to shop: got %d %s", query, got.status, got.body)
		}
	}
}
