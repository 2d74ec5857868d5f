package unleash_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/document/unleash"
	"github.com/guidonhq/guidon/service"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func read(t *testing.T, text string) *unleash.Environment {
	t.Helper()
	all, err := unleash.Read([]byte(text))
	if err != nil || len(all) != 1 {
		t.Fatalf("got %d environments, %v", len(all), err)
	}
	return all[0]
}

func sample(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/features.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func encoded(t *testing.T, d *service.Document) string {
	t.Helper()
	var out strings.Builder
	if err := document.Encode(&out, document.YAML, []*service.Document{d}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestDocument: features of all kinds become the flags of a file, in which every generated user
// keeps the answer.
func TestDocument(t *testing.T) {
	e := read(t, sample(t))
	d, omissions := e.Document()
	want, err := os.ReadFile("testdata/features.yaml")
	if diff := cmp.Diff(string(want), encoded(t, d)); err != nil || diff != "" || len(omissions) > 0 {
		t.Errorf("omissions %v, error %v (-want +got):\n%s", omissions, err, diff)
	}
	verified := 0
	v, err := e.Verify(t.Context(), d, 20_000, now, func(users int) { verified += users })
	if err != nil || v.Different > 0 || v.Evaluations != 20_000*len(d.Flags) || verified != v.Evaluations {
		t.Errorf("got %+v, progress %d, %v", v, verified, err)
	}
}

// TestVerifyEnds: it ends with its context, also within a flag.
func TestVerifyEnds(t *testing.T) {
	e := read(t, sample(t))
	d, _ := e.Document()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if v, err := e.Verify(ctx, d, 1_000_000_000, now, func(int) {}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %+v, %v, want that it ends", v, err)
	}
}

// TestVerifyFindsMistakes: a document that differs in anything from what Unleash says is found out.
func TestVerifyFindsMistakes(t *testing.T) {
	e := read(t, sample(t))
	d, _ := e.Document()
	text := encoded(t, d)
	tried := 0
	for _, mistake := range [][2]string{
		{"percentage: 37", "percentage: 38"}, {"percentage: 12\n", "percentage: 13\n"}, {"percentage: 60", "percentage: 59"},
		{"seed: 'gradual:'", "seed: 'gradual'"}, {"seed: 'users:'", "seed: 'user:'"}, {"by: sessionId", "by: userId"},
		{"rollout: 33.3\n", "rollout: 33.2\n"}, {"rollout: 50.1", "rollout: 48"},
		{`'["SE","NO","fi"]'`, `'["SE","NO"]'`}, {"not: true", "not: false"}, {"operator: contains", "operator: prefix"},
		{"operator: gte", "operator: gt"}, {"operator: lt\n", "operator: lte\n"}, {"operator: gt\n", "operator: gte\n"}, {"value: 2.4.0", "value: 2.4.1"},
		{"192.0.2.0/24", "192.0.2.0/25"}, {"(?i)", ""}, {"kiss-", "kis"}, {"2030-01-01", "2030-01-02"}, {"2031-01-01", "2030-12-31"},
		{"^[0-9.]+$", "."}, {`^[0-9]+\.[0-9]+\.[0-9]+([-+]|$)`, "^[0-9]+"}, {"variant: red", "variant: blue"}, {`'["eco"]'`, `'["ECO"]'`}, {"- any:", "- all:"},
	} {
		for at := 0; ; tried++ {
			i := strings.Index(text[at:], mistake[0])
			if i < 0 {
				break
			}
			at += i
			wrong, err := document.Decode([]byte(text[:at]+mistake[1]+text[at+len(mistake[0]):]), document.YAML, document.RejectUnknown)
			if err != nil {
				t.Fatalf("%v: %v", mistake, err)
			}
			at += len(mistake[0])
			if cmp.Equal(d.Segments, wrong[0].Segments) { // only the flag with the mistake
				wrong[0].Flags = slices.DeleteFunc(wrong[0].Flags, func(f *guidon.Flag) bool {
					return slices.ContainsFunc(d.Flags, func(right *guidon.Flag) bool { return cmp.Equal(right, f) })
				})
			}
			v, err := e.Verify(t.Context(), wrong[0], 20_000, now, func(int) {})
			if err == nil && (v.Different == 0 || len(v.Differences) != min(v.Different, 20)) {
				t.Errorf("%v at %q: %+v, %v", mistake, text[max(0, at-200):at], v, err)
			}
		}
	}
	if tried < 50 {
		t.Errorf("tried only %d mistakes", tried)
	}
}

// feature is a client response with one feature that has the members.
func feature(members string) string {
	return `{"version": 2, "features": [{"name": "f", "enabled": true, ` + members + `}],
		"segments": [{"id": 1, "name": "dated", "constraints": [{"contextName": "t", "operator": "DATE_AFTER", "value": "2030-01-01T00:00:00Z"}]}, {"id": 2, "name": "only a name"}]}`
}

// TestOmissions: what Guidon cannot say exactly is left out, with the reason.
func TestOmissions(t *testing.T) {
	constraint := func(members string) string {
		return feature(`"strategies": [{"name": "default"}, {"name": "default", "constraints": [{"contextName": "p", ` + members + `}]}]`)
	}
	strategy := func(members string) string { return feature(`"strategies": [{` + members + `}]`) }
	variants := func(members string) string {
		return feature(`"strategies": [{"name": "default"}], "variants": [` + members + `]`)
	}
	const second, first = "strategy 2 (default): ", "strategy 1 (flexibleRollout): "
	for _, tt := range []struct{ input, want string }{
		{feature(`"archived": true`), "it is archived"},
		{feature(`"dependencies": [{"feature": "g"}]`), `it depends on "g", which is not in the input`},
		{feature(`"strategies": [{"name": "default", "disabled": true}]`), "all its strategies are disabled: for whom it is on depends on the release of Unleash"},
		{`{"features": [{"name": "f.g"}]}`, `flags[0] "f.g": invalid field key: contains invalid characters`},
		{strategy(`"name": "gradualRolloutRandom", "parameters": {"percentage": "10"}`), "strategy 1 (gradualRolloutRandom): it decides by chance"},
		{strategy(`"name": "applicationHostname"`), "strategy 1 (applicationHostname): it compares the host of the client, which Guidon does not know"},
		{strategy(`"name": "ours"`), "strategy 1 (ours): it is a strategy of your own"},
		{feature(`"strategies": [null]`), "strategy 1 (): it is a strategy of your own"},
		{strategy(`"name": "remoteAddress", "parameters": {"IPs": "192.0.2.1, 2001:db8::1"}`), `strategy 1 (remoteAddress): "2001:db8::1" is not an IPv4 address or block`},
		{strategy(`"name": "remoteAddress", "parameters": {"IPs": "10.0.0.0/33"}`), `strategy 1 (remoteAddress): "10.0.0.0/33" is not an IPv4 address or block`},
		{strategy(`"name": "flexibleRollout", "parameters": {"rollout": "50", "stickiness": "random", "groupId": "g"}`), first + "it is divided by chance (stickiness random)"},
		{strategy(`"name": "flexibleRollout", "parameters": {"rollout": "50", "stickiness": "default"}`), first + "it has no groupId, for which SDKs take different ones"},
		{strategy(`"name": "flexibleRollout", "parameters": {"rollout": "50", "groupId": "grün"}`), first + "its groupId has characters outside ASCII, which SDKs hash in different ways"},
		{strategy(`"name": "flexibleRollout", "parameters": {"rollout": "many"}`), first + `"many" is not a percentage`},
		{strategy(`"name": "default", "segments": [9]`), "strategy 1 (default): segment 9: it is not in the input"},
		{strategy(`"name": "default", "segments": [2]`), "strategy 1 (default): segment 2: the export has only its name; import from the API, or an export of the state"},
		{strategy(`"name": "default", "segments": [1]`), `strategy 1 (default): segment 1: DATE_AFTER of "t": SDKs compare the current time instead`},
		{constraint(`"operator": "REGEX", "value": "a"`), second + `the operator "REGEX" is not taken over`},
		{constraint(`"operator": "NUM_NEQ", "value": "1"`), second + `the operator "NUM_NEQ" is not taken over`},
		{constraint(`"operator": "IN", "values": ["a"], "caseInsensitive": true`), second + "IN without case is not the same in all SDKs"},
		{constraint(`"operator": "STR_CONTAINS", "values": ["a", " "]`), second + "STR_CONTAINS with a blank value"},
		{constraint(`"operator": "STR_CONTAINS", "values": ["ö"], "caseInsensitive": true`), second + "STR_CONTAINS without case, of letters outside ASCII"},
		{constraint(`"operator": "NUM_EQ", "value": "0x10"`), second + `NUM_EQ: "0x10" is not a number`},
		{constraint(`"operator": "SEMVER_EQ", "value": "1.2"`), second + `SEMVER_EQ: "1.2" is not a version`},
		{constraint(`"operator": "STR_STARTS_WITH", "values": ["` + strings.Repeat("a", 600) + `"]`),
			`flags[0] "f": rollouts[1]: if[0]: constraints[0]: pattern of property "p" is too complex`},
		{strategy(`"name": "default", "constraints": [{"contextName": "userId", "operator": "STR_ENDS_WITH", "values": ["a"]}]`),
			"strategy 1 (default): STR_ENDS_WITH of userId: Guidon compares ids only by IN, NOT_IN and STR_CONTAINS with case"},
		{strategy(`"name": "default", "constraints": [{"contextName": "currentTime", "operator": "DATE_AFTER", "value": "2030-01-01T00:00:00.5Z"}]`),
			`strategy 1 (default): "2030-01-01T00:00:00.5Z" is not a time in whole seconds`},
		{strategy(`"name": "default", "constraints": [{"contextName": "currentTime", "operator": "IN", "values": ["2030"]}]`),
			"strategy 1 (default): the current time is compared with something else than a time"},
		{variants(`{"name": "a", "weight": 50}, {"name": "b", "weight": 50}`), "strategy 1 (default): the weights of its variants add up to 100 instead of 1000"},
		{variants(`{"name": "a", "weight": 500.5}, {"name": "b", "weight": 499.5}`), `strategy 1 (default): variant "a" has the weight 500.5`},
		{variants(`{"name": "a", "weight": 500, "stickiness": "random"}, {"name": "b", "weight": 500}`), "strategy 1 (default): it is divided by chance (stickiness random)"},
		{variants(`{"name": "a", "weight": 500, "stickiness": "tenant"}, {"name": "b", "weight": 500}`), `strategy 1 (default): users without "tenant" get a variant by chance`},
		{feature(`"strategies": [{"name": "default", "variants": [{"name": "a", "weight": 1000}]}, {"name": "default"}]`),
			"strategy 2 (default): it turns the feature on without a variant, and others give variants"},
		{feature(`"strategies": [{"name": "default", "variants": [{"name": "a", "weight": 1000, "payload": {"type": "string", "value": "x"}}]}], "variants": [{"name": "a", "weight": 1000}]`), ""},
		{feature(`"strategies": [{"name": "default", "variants": [{"name": "a", "weight": 1000, "payload": {"type": "string", "value": "x"}}]}, {"name": "default"}], "variants": [{"name": "a", "weight": 1000}]`),
			`strategy 2 (default): variant "a" has different payloads`},
	} {
		d, omissions := read(t, tt.input).Document()
		got := ""
		for _, o := range omissions {
			got += o.Feature + ": " + o.Reason
		}
		want := tt.want
		if want != "" {
			want = strings.SplitN(strings.SplitN(tt.input, `"name": "`, 2)[1], `"`, 2)[0] + ": " + want
		}
		if got != want || (len(d.Flags) == 0) != (want != "") {
			t.Errorf("%s:\ngot  %s\nwant %s (%d flags)", tt.input, got, want, len(d.Flags))
		}
	}
	d, omissions := read(t, `{"features": [{"name": "f"}, {"name": "f"}]}`).Document()
	if len(d.Flags) != 1 || len(omissions) != 1 || omissions[0].Reason != "another feature has the same name" {
		t.Errorf("the same name twice: got %d flags, %v", len(d.Flags), omissions)
	}
}

// TestDependencies: a feature is left out if one on which it depends is, or cannot be required.
func TestDependencies(t *testing.T) {
	const ab = `"variants": [{"name": "a", "weight": 500}, {"name": "b", "weight": 500}]`
	for _, tt := range []struct{ dependencies, parent, want string }{
		{`{"feature": "g"}`, `"dependencies": [{"feature": "f"}]`, `it depends on "g", which depends on another feature`},
		{`{"feature": "g"}`, `"archived": true`, `it depends on "g", which is left out: it is archived`},
		{`{"feature": "g", "enabled": false}`, ab, `it depends on "g" being off, which has variants`},
		{`{"feature": "g", "variants": ["c"]}`, ab, `it depends on "g" giving a variant that it does not have`},
		{`{"feature": "g", "variants": ["c"]}`, `"stale": true`, `it depends on "g" giving a variant that it does not have`},
		{strings.Repeat(`{"feature": "g"}, `, 10) + `{"feature": "g"}`, `"stale": true`, `flags[0] "f": invalid field requires: must not contain more than 10 flags`},
	} {
		_, omissions := read(t, feature(`"dependencies": [`+tt.dependencies+`]}, {"name": "g", "enabled": true, `+tt.parent)).Document()
		if len(omissions) == 0 || omissions[0] != (unleash.Omission{Feature: "f", Reason: tt.want}) {
			t.Errorf("%s, %s: got %v, want %s", tt.dependencies, tt.parent, omissions, tt.want)
		}
	}
}

// TestConstraints: Unleash's algorithm and the flag of the document give the answer that
// unleash-client gives for each value of a property; "-" stands for none.
func TestConstraints(t *testing.T) {
	for _, tt := range []struct{ constraint, accepted, refused string }{
		{`"operator": "IN", "values": ["a", " b "]`, "a b", "A c -"},
		{`"operator": "IN", "values": ["a"], "inverted": true`, "b -", "a"},
		{`"operator": "IN", "values": []`, "", "a -"},
		{`"operator": "NOT_IN", "values": ["a"]`, "b -", "a"},
		{`"operator": "NOT_IN", "values": ["a"], "inverted": true`, "a", "b -"},
		{`"operator": "STR_CONTAINS", "values": ["b", "c"]`, "abd ca", "B ad -"},
		{`"operator": "STR_CONTAINS", "values": ["b"], "inverted": true`, "B -", "abd"},
		{`"operator": "STR_CONTAINS", "values": []`, "", "a -"},
		{`"operator": "STR_CONTAINS", "values": [], "inverted": true`, "a -", ""},
		{`"operator": "STR_CONTAINS", "values": ["Sk"], "caseInsensitive": true`, "xskx SK s\u212a", "\u017fk -"},
		{`"operator": "STR_STARTS_WITH", "values": ["a.", "b"]`, "a.x b", "ax xb B -"},
		{`"operator": "STR_ENDS_WITH", "values": ["a$"]`, "xa$", "a a$x A$ -"},
		{`"operator": "STR_ENDS_WITH", "values": ["a"], "caseInsensitive": true, "inverted": true`, "ab -", "A xa"},
		{`"operator": "NUM_EQ", "value": "5"`, "5 5.0 +5 5e0", "4 x -"},
		{`"operator": "NUM_GT", "value": 5`, "5.1 1e3", "5 -6 x -"},
		{`"operator": "NUM_GTE", "value": ".5", "inverted": true`, "0.4 x -", ".5 1"},
		{`"operator": "NUM_LT", "value": "-1"`, "-1.5", "-1 0 -"},
		{`"operator": "NUM_LTE", "value": "-1"`, "-1", "0 x -"},
		{`"operator": "SEMVER_EQ", "value": "1.2.3"`, "1.2.3 1.2.3+7", "1.2.3-rc.1 v1.2.3 1.2 x -"},
		{`"operator": "SEMVER_GT", "value": "1.2.3"`, "1.2.4 1.10.0 2.0.0-a", "1.2.3 1.3 v2.0.0 -"},
		{`"operator": "SEMVER_GTE", "value": "1.2.3-beta.2"`, "1.2.3-beta.2 1.2.3-beta.10 1.2.3", "1.2.3-beta.1 1.2.3-alpha -"},
		{`"operator": "SEMVER_LT", "value": "1.0.0", "inverted": true`, "1.0.0 0.9 x -", "0.9.0"},
		{`"operator": "SEMVER_LTE", "value": "1.0.0"`, "1.0.0 0.1.0", "1.0.1 -"},
	} {
		e := read(t, feature(`"strategies": [{"name": "default", "constraints": [{"contextName": "p", `+tt.constraint+`}]}]`))
		d, omissions := e.Document()
		objects, err := d.Objects()
		if err != nil || len(omissions) > 0 {
			t.Fatalf("%s: %v, %v", tt.constraint, omissions, err)
		}
		snapshot := guidon.NewSnapshot(objects.Namespace, guidon.Revision{}, objects.Flags, objects.Segments)
		for want, values := range map[bool]string{true: tt.accepted, false: tt.refused} {
			for _, value := range strings.Fields(values) {
				properties := map[string]string{"userId": "u", "p": value}
				if value == "-" {
					delete(properties, "p")
				}
				theirs := e.Evaluate(&e.Features[0], &unleash.User{Properties: properties, At: now}).Enabled
				ours, err := snapshot.Boolean("f", "u", properties)
				if err != nil || theirs != want || ours.Enabled != want {
					t.Errorf("%s of %q: Unleash %t, Guidon %t, want %t (%v)", tt.constraint, value, theirs, ours.Enabled, want, err)
				}
			}
		}
	}
}

// TestExports: exports of features and of the state have their strategies apart, in any order, and
// those of the state have several environments.
func TestExports(t *testing.T) {
	const segments = `"segments": [{"id": 7, "name": "S", "constraints": [{"contextName": "p", "operator": "IN", "values": ["a"]}]}]`
	exports := map[string]string{
		"of features": `{"features": [{"name": "f"}, {"name": "g"}, {"name": "h"}],
			"featureStrategies": [
				{"name": "default", "featureName": "f", "sortOrder": 2, "segments": [7]},
				{"name": "userWithId", "featureName": "f", "sortOrder": 1, "parameters": {"userIds": "u"}, "variants": null}],
			"featureEnvironments": [
				{"name": "f", "featureName": "f", "environment": "production", "enabled": true, "variants": [{"name": "v", "weight": 1000}]},
				{"name": "h", "featureName": "h", "environment": "production", "enabled": true}],
			"dependencies": [{"feature": "h", "dependencies": [{"feature": "nowhere"}]}], ` + segments + `}`,
		"of the state": `{"version": 4, "features": [{"name": "f", "variants": [{"name": "v", "weight": 1000}]}, {"name": "g"}, {"name": "h", "archived": true}],
			"featureStrategies": [
				{"id": "x", "strategyName": "default", "featureName": "f", "environment": "production", "sortOrder": 2},
				{"id": "y", "strategyName": "userWithId", "featureName": "f", "environment": "production", "sortOrder": 1, "parameters": {"userIds": "u"}},
				{"id": "z", "strategyName": "default", "featureName": "f", "environment": "development"}],
			"featureStrategySegments": [{"featureStrategyId": "x", "segmentId": 7}],
			"featureEnvironments": [
				{"featureName": "f", "environment": "production", "enabled": true}, {"featureName": "f", "environment": "development", "enabled": false}], ` + segments + `}`,
	}
	const production = `version: guidon/1
namespace:
  key: production
  name: production
flags:
  - key: f
    name: f
    type: VARIANT_FLAG_TYPE
    enabled: true
    variants:
      - key: v
        name: v
    rules:
      - if:
          - all:
              - type: ENTITY_ID_COMPARISON_TYPE
                property: entityId
                operator: isoneof
                value: '["u"]'
        distributions:
          - variant: v
            rollout: 100
      - segment: S
        distributions:
          - variant: v
            rollout: 100
  - key: g
    name: g
    type: BOOLEAN_FLAG_TYPE
    enabled: false
    rollouts:
      - description: Off for everyone
        threshold:
          percentage: 100
      - segment:
          value: true
        everyone: true
segments:
  - key: S
    name: S
    constraints:
      - type: STRING_COMPARISON_TYPE
        property: p
        operator: isoneof
        value: '["a"]'
    match_type: ANY_MATCH_TYPE
`
	for name, export := range exports {
		all, err := unleash.Read([]byte(export))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		d, omissions := all[0].Document()
		if diff := cmp.Diff(production, encoded(t, d)); diff != "" || len(omissions) != 1 || omissions[0].Feature != "h" {
			t.Errorf("%s: omissions %v (-want +got):\n%s", name, omissions, diff)
		}
		if name == "of the state" && (len(all) != 2 || all[1].Name != "development") {
			t.Errorf("%s: got %d environments", name, len(all))
		}
	}
}

// TestReadErrors: invalid input is refused with its place.
func TestReadErrors(t *testing.T) {
	for _, tt := range []struct {
		input string
		code  guidon.Code
		want  string
	}{
		{"", guidon.InvalidArgument, "line 1, column 0: unexpected end of JSON input"},
		{"{\"features\":\n  [}", guidon.InvalidArgument, "line 2, column 4: invalid character '}' looking for beginning of value"},
		{"{\"features\":\n  [{\"name\": 5}]}", guidon.InvalidArgument, "line 2, column 13: features.name: unexpected number"},
		{`{"features": [{"strategies": [{"parameters": {"rollout": {}}}]}]}`, guidon.InvalidArgument, "features.strategies.parameters: unexpected list or object"},
		{`{"features": [{"strategies": [{"constraints": [{"values": 5}]}]}]}`, guidon.InvalidArgument, "features.strategies.constraints.values: unexpected value instead of a list of texts"},
		{`{}`, guidon.InvalidArgument, `this is no export of Unleash: it has no "features"`},
		{`{"features": [], "featureEnvironments": []}`, guidon.InvalidArgument, `the export has no environment: "featureEnvironments" is empty`},
		{`{"features":[` + strings.Repeat("{},", 20_000) + `{}]}`, guidon.TooLarge, "there are more than 20000 features"},
		{strings.Repeat(" ", unleash.MaxInput+1), guidon.TooLarge, "the input is larger than 64 MiB"},
	} {
		_, err := unleash.Read([]byte(tt.input))
		if guidon.CodeOf(err) != tt.code || guidon.PublicMessage(err) != tt.want {
			t.Errorf("%.40q: got %v, want %s", tt.input, err, tt.want)
		}
	}
}

// FuzzImport: whatever is read has no flag that answers otherwise than Unleash.
func FuzzImport(f *testing.F) {
	f.Add([]byte(sample(f)))
	var all struct {
		Features []json.RawMessage
		Segments json.RawMessage
	}
	if err := json.Unmarshal([]byte(sample(f)), &all); err != nil {
		f.Fatal(err)
	}
	for _, one := range all.Features {
		f.Add(fmt.Appendf(nil, `{"features": [%s], "segments": %s}`, one, all.Segments))
	}
	f.Add([]byte(`{"features":[{"name":"f"}],"featureStrategies":[{"strategyName":"default","featureName":"f"}],"featureEnvironments":[{"featureName":"f","enabled":true}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		environments, err := unleash.Read(text)
		if err != nil {
			return
		}
		for _, e := range environments {
			d, omissions := e.Document()
			if len(d.Flags)+len(omissions) != len(e.Features) {
				t.Fatalf("%d flags and %d omissions of %d features", len(d.Flags), len(omissions), len(e.Features))
			}
			if err := d.Validate(); err != nil && guidon.CodeOf(err) != guidon.InvalidArgument {
				t.Fatal(err)
			}
			v, err := e.Verify(t.Context(), d, 50, now, func(int) {})
			if err != nil || v.Different > 0 {
				t.Fatalf("%+v, %v", v, err)
			}
		}
	})
}
