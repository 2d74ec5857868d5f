package playground_test

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

const address = "/namespaces/default/playground"

// with returns the fields with some replaced: names and values in turn.
func with(fields url.Values, replaced ...string) url.Values {
	all := url.Values{}
	for name, values := range fields {
		all[name] = values
	}
	for i := 0; i+1 < len(replaced); i += 2 {
		all.Set(replaced[i], replaced[i+1])
	}
	return all
}

// loyal is somebody in Berlin.
func loyal(flag string) url.Values {
	return url.Values{
		"flag": {flag}, "entity": {"u-8841"}, "do": {"ask"},
		"k": {"country", "orders", "return_rate", "email", ""}, "v": {"DE", "7", "0.1", "lea@mail.example", ""},
	}
}

// press returns the form of the page as a browser sends it after a button was pressed.
func press(r *webtest.Reply, do string) url.Values {
	_, fields := r.Form("ask")
	fields.Set("do", do)
	return fields
}

// TestAnswer: the answer comes with every rule, and with what would change it.
func TestAnswer(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	s.Post(address, loyal("checkout-redesign")).Check(200).Contains(
		"one-page rule 2", "The entity is in Loyal customers and in Germany, so rule 2 decides, by share. u-8841 falls into bucket 199 of 1000, and one-page has 0–499.",
		"Rule 1 In Staff", "would serve express", "Staff: any of none of 3", "Does not fit: staff is true is missing", "Does not fit: entity id is one of",
		"Fits: orders is at least 5 is 7", "Germany: all of 1 of 1", "bucket 199", "Rule 3 In All visitors not reached",
		"express for an entity in the buckets 500–999; then rule 2 decides", "classic if country were anything but DE", "express if staff were true, such as \"true\"; then rule 1 decides",
		"classic by default not for this entity: rule 3 always matches", `"layout"`, "This flag looks at")
	s.Post(address, loyal("free-shipping-threshold")).Check(200).Contains("low rule 2")
	s.Post(address, with(loyal("one-click-buy"), "entity", "u-1")).Check(200).Contains("Rule 1", "What would change the answer")
	s.Get(address+"?flag=checkout-redesign").Check(200).Contains("Who gets what?", "This flag looks at")
	s.Get("/namespaces/nope/playground").Check(404)
}

// TestAgreesWithAPI: what the page says is what the operation says, for every flag.
func TestAgreesWithAPI(t *testing.T) {
	s := webtest.New(t, webtest.Options{Open: true})
	view, err := s.Service.View(t.Context(), "default", service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range view.Snapshot.Flags() {
		for entity := range 3 {
			fields := with(loyal(f.Key), "entity", "u-"+strconv.Itoa(entity))
			got := ""
			for _, n := range s.Post(address, fields).Check(200).All("p") {
				if webtest.Has(n, "data-answer") {
					got = webtest.Attribute(n, "data-answer")
				}
			}
			context := map[string]string{"country": "DE", "orders": "7", "return_rate": "0.1", "email": "lea@mail.example"}
			e, err := analysis.Decide(view.Snapshot, f.Key, "u-"+strconv.Itoa(entity), context)
			if err != nil {
				t.Fatal(err)
			}
			want := "Off"
			switch {
			case e.Variant != nil && e.Variant.VariantKey == "":
				want = "Nothing"
			case e.Variant != nil:
				want = e.Variant.VariantKey
			case e.Boolean.Enabled:
				want = "On"
			}
			if got != want {
				t.Errorf("%s for u-%d: got %q, want %q", f.Key, entity, got, want)
			}
		}
	}
}

// TestAllFlags: without a flag, the answer has all of them, in pages.
func TestAllFlags(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := s.Post(address, loyal("")).Check(200).Contains("Answers of all flags", "1–26 of 26", "Checkout redesign checkout-redesign one-page rule 2")
	s.Post(address, press(r, "flag:checkout-redesign")).Check(200).Contains("one-page rule 2", "Why").Lacks("Answers of all flags")

	var flags strings.Builder
	for i := range 60 {
		flags.WriteString("  - {key: flag-" + strconv.Itoa(100+i) + ", name: Flag " + strconv.Itoa(100+i) + ", type: BOOLEAN_FLAG_TYPE, enabled: false}\n")
	}
	s.Import("many", []byte("version: \"1.4\"\nnamespace: {key: many, name: Many}\nflags:\n"+flags.String()))
	many := s.Post("/namespaces/many/playground", loyal("")).Check(200).Contains("1–50 of 60", "Flag 149 flag-149", "Next").Lacks("Flag 150 flag-150", "Previous")
	s.Post("/namespaces/many/playground", press(many, "page:50")).Check(200).Contains("51–60 of 60", "Flag 150 flag-150", "Previous").Lacks("Flag 149 flag-149", "Next")
	s.Post("/namespaces/many/playground", press(many, "page:5000000")).Check(200).Contains("None of 60 flags")
}

// TestErrors: what is wrong is said beside its field, and nothing that was entered is lost.
func TestErrors(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	for _, test := range []struct {
		name, field, value, want string
	}{
		{"no entity", "entity", "", "An entity id is needed"},
		{"an entity that is too long", "entity", strings.Repeat("x", 5000), "4096 bytes at most"},
		{"an unknown flag", "flag", "checkout-redesing", "There is no flag checkout-redesing. Did you mean checkout-redesign?"},
		{"a flag that is no key", "flag", "\xff", "There is no such flag."},
		{"a revision to come", "at", "500", "There is no revision 500 yet. The latest is 2."},
		{"revision 0", "at", "0", "Write a revision, such as 12"},
		{"a time before the namespace", "at", "2001-01-01", `did not exist at 2001-01-01T00:00:00Z.`},
		{"no time", "at", "yesterday", "or a time, such as 2026-11-20 14:03."},
		{"an entity that cannot be", "entity", "a\x00", "This cannot be evaluated: "},
		{"a property twice", "k", "orders", "orders is there twice."},
		{"a value without a name", "k", "", "A property needs a name."},
	} {
		fields := loyal("checkout-redesign")
		fields[test.field] = append([]string{test.value}, fields[test.field][min(1, len(fields[test.field])):]...)
		r := s.Post(address, fields).Check(422).Contains(test.want).Lacks("Why")
		_, kept := r.Form("ask")
		kept.Set("do", "ask")
		if diff := cmp.Diff(fields["v"], kept["v"]); diff != "" && test.field != "k" {
			t.Errorf("%s: the values (-want +got):\n%s", test.name, diff)
		}
		if got, want := kept.Get(test.field), strings.ReplaceAll(strings.ToValidUTF8(test.value, "\ufffd"), "\x00", "\ufffd"); got != want {
			t.Errorf("%s: the field has %q, want %q", test.name, got, want)
		}
	}
}

// TestJSON: a context may be written as JSON, with values of any kind, and as rows.
func TestJSON(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	fields := loyal("checkout-redesign")
	fields["k"], fields["v"] = []string{"a", "n", "b", "l", "t", "e"}, []string{`x"y`, "1.5", "true", `[1,"2"]`, "01", ""}
	asJSON := s.Post(address, with(fields, "do", "json")).Check(200)
	_, sent := asJSON.Form("ask")
	want := "{\n  \"a\": \"x\\\"y\",\n  \"n\": 1.5,\n  \"b\": true,\n  \"l\": [1,\"2\"],\n  \"t\": \"01\",\n  \"e\": \"\"\n}"
	if diff := cmp.Diff(want, sent.Get("json")); diff != "" {
		t.Errorf("as JSON (-want +got):\n%s", diff)
	}
	_, back := s.Post(address, press(asJSON, "rows")).Check(200).Form("ask")
	if diff := cmp.Diff(append(fields["k"], ""), back["k"]); diff != "" {
		t.Errorf("properties as rows again (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(append(fields["v"], ""), back["v"]); diff != "" {
		t.Errorf("values as rows again (-want +got):\n%s", diff)
	}
	s.Post(address, with(sent, "json", `{"country": "DE", "orders": 7, "return_rate": 0.10, "no": null}`, "do", "ask")).Check(200).Contains("one-page rule 2", "orders is at least 5 is 7", "is 0.1")
	for _, test := range []struct{ json, want string }{
		{"{\n  \"a\": 1,\n  \"b\": tru\n}", "Line 3, column 11: This is not JSON"},
		{`{"a": [1, 2`, "Line 1, column 12: This list never ends: add ]}."},
		{`{"a": "x`, `This text never ends: add "}.`},
		{`[1]`, "A context is an object"},
		{`null`, "A context is an object"},
		{`{} {}`, "Line 1, column 4: This is not JSON: “{” cannot stand here."},
		{`{"a": "` + strings.Repeat("x", 257<<10) + `"}`, "256 KB at most"},
		{`{` + strings.TrimSuffix(strings.Repeat(`"a": 1, `, 1), ", ") + properties(1001) + `}`, "1000 properties at most"},
	} {
		r := s.Post(address, with(sent, "json", test.json, "do", "ask")).Check(422).Contains(test.want)
		if _, kept := r.Form("ask"); kept.Get("json") != test.json {
			t.Errorf("the JSON is %.100q, want %.100q", kept.Get("json"), test.json)
		}
	}
	s.Post(address, with(sent, "json", `{"a": 1`+properties(201)+`}`, "do", "rows")).Check(422).Contains("More than 200 can only be written as JSON.")
}

// properties returns more members of an object.
func properties(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`, "p` + strconv.Itoa(i) + `": 1`)
	}
	return b.String()
}

// TestRows: the buttons of the form change it, and ask nothing.
func TestRows(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := s.Post(address, with(loyal("checkout-redesign"), "do", "remove:1")).Check(200).Lacks("Why")
	_, fields := r.Form("ask")
	if diff := cmp.Diff([]string{"country", "return_rate", "email", ""}, fields["k"]); diff != "" {
		t.Errorf("after removing a row (-want +got):\n%s", diff)
	}
	_, more := s.Post(address, press(r, "add")).Check(200).Form("ask")
	if diff := cmp.Diff([]string{"country", "return_rate", "email", "", ""}, more["k"]); diff != "" {
		t.Errorf("after adding a row (-want +got):\n%s", diff)
	}
	_, random := s.Post(address, press(r, "random")).Check(200).Form("ask")
	if got := random.Get("entity"); got == "u-8841" || got == "" {
		t.Errorf("another random id is %q", got)
	}
	many := loyal("")
	for i := range 300 {
		many["k"], many["v"] = append(many["k"], "p"+strconv.Itoa(i)), append(many["v"], "1")
	}
	if _, kept := s.Post(address, with(many, "do", "add")).Check(200).Form("ask"); len(kept["k"]) > 201 {
		t.Errorf("the form has %d rows", len(kept["k"]))
	}
}

// TestMoment: a flag can be asked about as it was.
func TestMoment(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	if _, err := s.Service.DeleteFlag(t.Context(), service.Write{}, "default", "checkout-redesign"); err != nil {
		t.Fatal(err)
	}
	s.Post(address, loyal("checkout-redesign")).Check(422).Contains("There is no flag checkout-redesign.")
	s.Post(address, with(loyal("checkout-redesign"), "at", "2")).Check(200).Contains("one-page rule 2", "revision 2 ")
	s.Post(address, with(loyal(""), "at", "2")).Check(200).Contains("1–26 of 26 · revision 2")
	s.Post(address, with(loyal("nope"), "at", "2")).Check(422).Contains("There is no flag nope at that moment.")
}

// TestLink: a link has what was asked in its fragment only, and nothing of it is logged.
func TestLink(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := s.Post(address, with(loyal("checkout-redesign"), "entity", "secret-person")).Check(200)
	var link *url.URL
	for _, text := range r.Links() {
		if at, err := url.Parse(text); err == nil && at.Fragment != "" && at.Path == address {
			link = at
		}
	}
	if link == nil || link.RawQuery != "" {
		t.Fatalf("the link is %v", link)
	}
	values, err := url.ParseQuery(link.EscapedFragment())
	if err != nil {
		t.Fatal(err)
	}
	want := url.Values{"flag": {"checkout-redesign"}, "entity": {"secret-person"}, "context": {`{"country":"DE","orders":7,"return_rate":0.1,"email":"lea@mail.example"}`}}
	if diff := cmp.Diff(want, values); diff != "" {
		t.Errorf("the fragment (-want +got):\n%s", diff)
	}
	for _, secret := range []string{"secret-person", "lea@mail.example", "feature_flag.evaluation"} {
		if strings.Contains(s.Log.String(), secret) {
			t.Errorf("the log has %s: %s", secret, s.Log)
		}
	}
}

// TestDraft: a draft of a flag can be tried, and is not saved.
func TestDraft(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	draft := func(name string) string {
		text, err := json.Marshal(map[string]any{"key": "one-click-buy", "name": name, "type": "BOOLEAN_FLAG_TYPE", "enabled": true})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	begin := s.Post(address, url.Values{"draft": {draft("Drafted")}, "do": {"try"}}).Check(200).Contains("Draft, not saved").Lacks("An entity id is needed")
	fields := press(begin, "ask")
	fields.Set("entity", "u-1")
	answered := s.Post(address, fields).Check(200).Contains("On Draft, not saved", "No rule fits, so the entity gets what everyone else gets.")
	s.Post(address, press(answered, "saved")).Check(200).Lacks("Draft, not saved")
	s.Post(address, with(fields, "flag", "dark-mode")).Check(422).Contains("The draft is one of one-click-buy.")
	s.Post(address, with(fields, "draft", draft(""))).Check(422).Contains("This cannot be evaluated: flag: invalid field name: must not be empty.")
	s.Post(address, with(fields, "draft", "{")).Check(422).Contains("The draft cannot be read")
	s.Post(address, with(fields, "draft", `{"key":"`+strings.Repeat("x", 2<<20)+`"}`)).Check(422).Contains("The draft has more than 2 MB.")
	f := s.Get("/namespaces/default/flags/one-click-buy/code").Check(200)
	f.Lacks("Drafted")
}

// TestNegated: a constraint that is negated is shown so, with why its value could not be compared.
func TestNegated(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	s.Import("apps", []byte(`version: guidon/1
namespace: {key: apps, name: Apps}
flags:
- {key: upgrade, name: Upgrade, type: BOOLEAN_FLAG_TYPE, enabled: false, rollouts: [{segment: {key: old, value: true}}]}
segments:
- key: old
  name: Old
  constraints:
  - {type: VERSION_COMPARISON_TYPE, property: app, operator: gte, value: "2.4", not: true}
  - {type: PATTERN_COMPARISON_TYPE, property: email, operator: eq, value: "^lea@", not: true}
`))
	s.Post("/namespaces/apps/playground", url.Values{
		"flag": {"upgrade"}, "entity": {"u-1"}, "do": {"ask"}, "k": {"app", "email"}, "v": {"beta", "lea@mail.example"},
	}).Check(200).Contains("Fits: not ( app is at least 2.4 ) is beta the value is not a version", "Does not fit: not ( email matches ^lea@ ) is lea@mail.example",
		"if email did not match the pattern ^lea@")
}

// TestVisitors: to ask takes the right to view, also where nothing may be changed.
func TestVisitors(t *testing.T) {
	s := webtest.New(t, webtest.Options{ReadOnly: true})
	s.Post(address, loyal("checkout-redesign")).Check(200).Contains("one-page rule 2")
	viewer := s.As(s.SignIn(service.TokenInput{Name: "guest", Role: service.RoleViewer, Namespaces: []string{"warehouse"}}))
	viewer.Post(address, loyal("checkout-redesign")).Check(403)
	viewer.Post("/namespaces/warehouse/playground", loyal("batch-size")).Check(200)
	s.As("").Post(address, loyal("checkout-redesign")).Check(401).Contains("Your session has ended")
	region := s.Post(address, loyal("checkout-redesign"), "Guidon-Fragment", "lab")
	if strings.Contains(region.Body, "<html") || !strings.Contains(region.Body, `data-region="lab"`) {
		t.Errorf("the region is %.200s", region.Body)
	}
}

// TestBelow: behind a path prefix, everything stays below it.
func TestBelow(t *testing.T) {
	s := webtest.New(t, webtest.Options{Page: func(c *page.Config) { c.PublicPath, c.PublicURL = "/flags-ui", "https://x.example/flags-ui" }})
	r := s.Post(address, loyal("checkout-redesign")).Check(200)
	if action, _ := r.Form("ask"); action != "/flags-ui"+address {
		t.Errorf("the form leads to %s", action)
	}
	if !strings.Contains(r.Body, "https://x.example/flags-ui/ofrep/v1/evaluate/flags/checkout-redesign") {
		t.Error("the command does not ask at the public address")
	}
}

// TestTimes: a rule that does not hold does not fit, and a time to come can be asked about.
func TestTimes(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	s.Import("default", []byte(`version: guidon/1
namespace: {key: default, name: Default}
flags:
  - key: season
    name: Season
    type: BOOLEAN_FLAG_TYPE
    rollouts: [{segment: {value: true}, everyone: true, from: 2099-12-01T09:00:00Z, until: 2099-12-24T00:00:00Z}]
`))
	s.Post(address, loyal("season")).Check(200).Contains("Answer revision", "Off", "not in force: it holds from 1 December 2099 09:00 UTC", "On not now: rule 1 is not in force").Lacks("would serve")
	s.Post(address, with(loyal("season"), "at", "2099-12-01 09:00")).Check(200).Contains("at 1 December 2099 09:00 UTC", "On rule 1")
	s.Post(address, with(loyal(""), "at", "2099-12-01 09:00")).Check(200).Contains("Season season On rule 1")
	s.Post(address, with(loyal("season"), "at", "2099-12-24 00:00")).Check(200).Contains("Off", "not in force")
}
