package change_test

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
)

// stored returns the object as it is in a change record.
func stored(t testing.TB, object any) json.RawMessage {
	t.Helper()
	if v := reflect.ValueOf(object); object == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// record returns the record of a change of an object, which a nil pointer says does not exist.
func record(t testing.TB, kind change.Kind, key string, before, after any) *change.Record {
	t.Helper()
	r := &change.Record{
		Namespace: "default", Kind: kind, Key: key, Action: change.ActionUpdate,
		Before: stored(t, before), After: stored(t, after),
	}
	switch {
	case r.Before == nil:
		r.Action = change.ActionCreate
	case r.After == nil:
		r.Action = change.ActionDelete
	}
	return r
}

func TestRecordSummary(t *testing.T) {
	rules := func(ids ...string) *guidon.Flag {
		f := variantFlag()
		f.Variants = f.Variants[:2]
		for i, id := range ids {
			r := flagtest.Rule(flagtest.Shares{100}, "staff")
			r.ID, r.Rank, r.Distributions[0].ID = id, int32(i+1), id+"-0"
			f.Rules = append(f.Rules, r)
		}
		return f
	}
	var none *guidon.Flag
	expires := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	token := service.Authentication{
		ID: "1", Method: service.MethodToken, Role: service.RoleViewer, Namespaces: []string{"shop"},
		Metadata: map[string]string{service.MetadataTokenName: "secret-name"},
	}
	promoted := token
	promoted.Role, promoted.Namespaces, promoted.ExpiresAt = service.RoleEditor, []string{"shop", "pay-*"}, expires
	promoted.Metadata = map[string]string{service.MetadataTokenName: "other-secret"}
	later := token
	later.UpdatedAt = expires
	binding := service.Binding{ID: "1", Role: service.RoleAdmin, Subject: "oidc:google:group:ops", Namespaces: []string{"*"}, Source: service.SourceDatabase}
	for _, test := range []struct {
		name   string
		record *change.Record
		want   string
	}{
		{"a created flag", record(t, change.KindFlag, "f", none, boolean()), `created (boolean flag "f")`},
		{"a deleted flag", record(t, change.KindFlag, "f", variantFlag(), none), `deleted (variant flag "f")`},
		{"a created segment", record(t, change.KindSegment, "s", nil, flagtest.Everyone()), `created ("everyone")`},
		{"a deleted namespace", record(t, change.KindNamespace, "n", &guidon.Namespace{Name: "Shop"}, nil), `deleted ("Shop")`},
		{"a percentage", record(t, change.KindFlag, "f", boolean(staff(true), flagtest.Threshold(10, true)), boolean(staff(true), flagtest.Threshold(50, true))), "rule 2: share 10% → 50%"},
		{"a moved rule", record(t, change.KindFlag, "f", boolean(staff(true), flagtest.Threshold(10, true)), boolean(flagtest.Threshold(10, true), staff(true))), "rule 2 moved to 1"},
		{"a moved rule of the same content", record(t, change.KindFlag, "f", rules("a", "b", "c"), rules("c", "a", "b")), "no change of content"},
		{"a rule that was deleted and created again", record(t, change.KindFlag, "f", rules("a", "b"), rules("a", "new")), "no change of content"},
		{"ranks", record(t, change.KindFlag, "f", rules("a", "b"), edited(rules("a", "b"), func(f *guidon.Flag) { f.Rules[1].Rank = 5 })), "rule 2: rank 2 → 5"},
		{"ranks that follow from a deletion", record(t, change.KindFlag, "f", rules("a", "b"), rules("b")), `rule 1 removed (segments staff, 100% "A")`},
		{"the key of a variant", record(t, change.KindFlag, "f", rules("a"), edited(rules("a"), func(f *guidon.Flag) { f.Variants[0].Key = "azure" })), `variant "A": key "A" → "azure"`},
		{"keys of variants exchanged", record(t, change.KindFlag, "f", rules("a"), edited(rules("a"), func(f *guidon.Flag) {
			f.Variants[0].Key, f.Variants[1].Key = "B", "A"
		})), `variant "A": key "A" → "B"; variant "B": key "B" → "A"`},
		{"another variant with the key", record(t, change.KindFlag, "f", rules("a"), edited(rules("a"), func(f *guidon.Flag) {
			f.Variants[0].Key, f.Variants[1].Key = "B", "A"
			f.Rules[0].Distributions[0].VariantID = "id-B"
		})), `variant "A": key "A" → "B"; variant "B": key "B" → "A"; rule 1: share of "A": variant changed`},
		{"times", record(t, change.KindFlag, "f", boolean(), edited(boolean(), func(f *guidon.Flag) { f.UpdatedAt = expires })), "no change of content"},
		{"a segment", record(t, change.KindSegment, "s", flagtest.Everyone(), flagtest.Segment("everyone", guidon.MatchAny, flagtest.Has("plan"))), `constraints that must match all → any; constraint 1 added (plan is yes)`},
		{"a namespace", record(t, change.KindNamespace, "n", &guidon.Namespace{Name: "Shop"}, &guidon.Namespace{Name: "Store", Protected: true}), `name "Shop" → "Store"; protected no → yes`},
		{"settings of a namespace", record(t, change.KindNamespace, "n", &guidon.Namespace{}, &guidon.Namespace{Color: guidon.Amber, ConfirmChanges: true}), "color nothing → amber; ask before changes no → yes"},
		{"a token", record(t, change.KindAuthentication, "1", token, promoted),
			"metadata changed; role viewer → editor; namespaces shop → shop, pay-*; expiresAt added (2027-01-02T03:04:05Z)"},
		{"a time of a token", record(t, change.KindAuthentication, "1", token, later), "no change of content"},
		{"a created token", record(t, change.KindAuthentication, "1", nil, token), "created (role viewer, namespaces shop)"},
		{"a deleted binding", record(t, change.KindBinding, "1", binding, nil), "deleted (role admin, subject oidc:google:group:ops, namespaceKeys *, source database)"},
		{"a form that is not known", &change.Record{Kind: change.KindFlag, Action: change.ActionUpdate, Before: json.RawMessage(`{"type":"X"}`), After: json.RawMessage(`{}`)}, "changed"},
		{"missing items", &change.Record{Kind: change.KindFlag, Action: change.ActionUpdate,
			Before: json.RawMessage(`{"rules":[null,{"distributions":[null]}],"variants":[null],"rollouts":[null]}`), After: json.RawMessage(`{"rules":[{}]}`)}, "no change of content"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := test.record.Summary()
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if strings.Contains(got, "secret") {
				t.Errorf("%q contains metadata", got)
			}
		})
	}
}

// TestValuesInWords: summaries show values as people read them.
func TestValuesInWords(t *testing.T) {
	half := flagtest.Shares{50, 50}
	morning := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	on := func(rollouts ...*guidon.Rollout) *guidon.Flag {
		f := boolean(rollouts...)
		f.Metadata = json.RawMessage(`{"on":true}`)
		return f
	}
	in := func(key, operator, value string) *guidon.Constraint {
		return &guidon.Constraint{ID: "1", Type: guidon.StringComparison, Property: key, Operator: operator, Value: value}
	}
	for _, test := range []struct {
		name   string
		record *change.Record
		want   string
	}{
		{"a percentage", record(t, change.KindFlag, "f", boolean(staff(true), flagtest.Threshold(10, true)), boolean(staff(true), flagtest.Threshold(12.345, true))), "rule 2: share 10% → 12.345%"},
		{"numbers that are shown as one", record(t, change.KindFlag, "f", boolean(flagtest.Threshold(10.0001, true)), boolean(flagtest.Threshold(10.0002, true))), "rule 1: share changed"},
		{"a result", record(t, change.KindFlag, "f", boolean(staff(true)), boolean(staff(false))), "rule 1: result on → off"},
		{"a result of a percentage", record(t, change.KindFlag, "f", boolean(flagtest.Threshold(1, true)), boolean(flagtest.Threshold(1, false))), "rule 1: result on → off"},
		{"rules that come and go", record(t, change.KindFlag, "f", boolean(staff(true)), boolean(flagtest.Threshold(33.333, false))), "rule 1 removed (segments staff: on); rule 1 added (33.333%: off)"},
		{"an added rule", record(t, change.KindFlag, "f", boolean(), boolean(flagtest.Threshold(33.333, false))), "rule 1 added (33.333%: off)"},
		{"a boolean flag that goes off by default", record(t, change.KindFlag, "f", boolean(), flagtest.BooleanFlag("f", false)), "turned off"},
		{"a variant flag that goes off", record(t, change.KindFlag, "f", variantFlag(), flagtest.Disabled(variantFlag())), "turned off"},
		{"a boolean flag that is turned off", record(t, change.KindFlag, "f", boolean(staff(true)), boolean(flagtest.Threshold(100, false), staff(true))), "turned off"},
		{"one that is turned on with another name", record(t, change.KindFlag, "f", boolean(flagtest.Threshold(100, false), staff(true)), edited(boolean(staff(true)), func(f *guidon.Flag) { f.Name = "g" })), `turned on; name "f" → "g"`},
		{"one that goes on for some", record(t, change.KindFlag, "f", flagtest.BooleanFlag("f", false), flagtest.BooleanFlag("f", false, flagtest.Threshold(20, true))), "rule 1 added (20%: on)"},
		{"a variant flag that is turned on", record(t, change.KindFlag, "f", edited(flagtest.Disabled(variantFlag()), func(f *guidon.Flag) { f.Metadata = json.RawMessage(`{"guidon.turnedOff":true}`) }), variantFlag()), "turned on"},
		{"quotes", record(t, change.KindNamespace, "n", &guidon.Namespace{Name: `The "shop"`}, &guidon.Namespace{Name: "a\n\"b\""}), `name “The "shop"” → “a\n"b"”`},
		{"quotes in metadata", record(t, change.KindFlag, "f", on(), edited(on(), func(f *guidon.Flag) { f.Metadata = json.RawMessage(`{"on":"say \"on\""}`) })), `metadata "on" true → “say "on"”`},
		{"the default", record(t, change.KindFlag, "f", variantFlag(), flagtest.WithDefault(variantFlag(), "B")), `default variant nothing → "B"`},
		{"metadata is as it is", record(t, change.KindFlag, "f", on(), edited(on(), func(f *guidon.Flag) { f.Metadata = json.RawMessage(`{"on":false}`) })), `metadata "on" true → false`},
		{"a share", record(t, change.KindFlag, "f", variantFlag(flagtest.Rule(half, "a")), variantFlag(flagtest.Rule(flagtest.Shares{50, 20}, "a"))), `rule 1: share of "B" 50% → 20%`},
		{"another variant", record(t, change.KindFlag, "f", variantFlag(flagtest.Rule(flagtest.Shares{100}, "a")), edited(variantFlag(flagtest.Rule(flagtest.Shares{100}, "a")), func(f *guidon.Flag) {
			f.Rules[0].Distributions[0].VariantID = f.Variants[1].ID
		})), `rule 1: share of "B": variant "A" → "B"`},
		{"segments of a rule", record(t, change.KindFlag, "f", variantFlag(flagtest.Rule(half, "a")), variantFlag(flagtest.RuleOfAll(half, "a", "b"))), "rule 1: segments a → a, b; rule 1: segments that must match any → all"},
		{"a constraint", record(t, change.KindSegment, "s", flagtest.Everyone(), flagtest.Segment("everyone", guidon.MatchAny, in("plan", guidon.OpIsOneOf, `["pro","team"]`))), "constraints that must match all → any; constraint 1 added (plan is one of pro, team)"},
		{"the values of a constraint", record(t, change.KindSegment, "s", flagtest.Segment("s", guidon.MatchAny, in("plan", guidon.OpIsOneOf, `["pro","team"]`)), flagtest.Segment("s", guidon.MatchAny, in("plan", guidon.OpEQ, `pro`))), "constraint 1: operator is one of → is; constraint 1: value pro, team → pro"},
		{"a value that comes", record(t, change.KindSegment, "s", flagtest.Segment("s", guidon.MatchAny, in("plan", guidon.OpEmpty, "")), flagtest.Segment("s", guidon.MatchAny, in("plan", guidon.OpEQ, strings.Repeat("x", 100)))), "constraint 1: operator is empty → is; constraint 1: value nothing → " + strings.Repeat("x", 57) + "…"},
		{"the type of a constraint", record(t, change.KindSegment, "s", flagtest.Segment("s", guidon.MatchAny, in("plan", guidon.OpEQ, "1")), flagtest.Segment("s", guidon.MatchAny, edited(in("plan", guidon.OpEQ, "1"), func(c *guidon.Constraint) { c.Type = guidon.BooleanComparison }))), "constraint 1: type text → yes or no"},
		{"the start of a rule", record(t, change.KindFlag, "f", boolean(staff(true)), boolean(edited(staff(true), func(r *guidon.Rollout) { r.Conditions = &guidon.Conditions{From: morning} }))), "rule 1: start time nothing → 1 December 2026 09:00 UTC"},
		{"the end of a rule", record(t, change.KindFlag, "f", boolean(edited(staff(true), func(r *guidon.Rollout) { r.Conditions = &guidon.Conditions{Until: morning} })), boolean(staff(true))), "rule 1: end time 1 December 2026 09:00 UTC → nothing"},
		{"a rule with times", record(t, change.KindFlag, "f", boolean(), boolean(edited(staff(true), func(r *guidon.Rollout) {
			r.Conditions = &guidon.Conditions{From: morning, Until: morning.Add(time.Minute)}
		}))),
			"rule 1 added (segments staff, from 1 December 2026 09:00 UTC until 1 December 2026 09:01 UTC: on)"},
		{"a percentage with a time", record(t, change.KindFlag, "f", boolean(), boolean(edited(flagtest.Threshold(10, true), func(r *guidon.Rollout) { r.Conditions = &guidon.Conditions{From: morning} }))), "rule 1 added (10%, from 1 December 2026 09:00 UTC: on)"},
		{"a namespace", record(t, change.KindNamespace, "n", &guidon.Namespace{}, &guidon.Namespace{Description: "d", Color: guidon.Amber, ConfirmChanges: true}), `description nothing → "d"; color nothing → amber; ask before changes no → yes`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.record.Summary(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestWording: a difference in words has the names of the parts one by one, because a key may
// have any character.
// TestRampsInWords: what an action does with a ramp, of a threshold and of a portion.
func TestRampsInWords(t *testing.T) {
	morning := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	plain := &guidon.Ramp{Start: morning, Over: time.Hour, Initial: 5, Confirm: &guidon.RampConfirm{Every: time.Hour}}
	edited := func(edit func(*guidon.Ramp)) *guidon.Ramp {
		r := plain.Clone()
		edit(r)
		return r
	}
	paused := edited(func(r *guidon.Ramp) { r.Paused = morning.Add(time.Minute) })
	for _, test := range []struct {
		name          string
		before, after *guidon.Ramp
		want          string // of a threshold; X stands for the ramp's name
	}{
		{"paused", plain, paused, "Xpaused"},
		{"resumed", paused, edited(func(r *guidon.Ramp) { r.Delay = time.Hour }), "Xresumed"},
		{"reversed", paused, edited(func(r *guidon.Ramp) { r.Reversed, r.Delay = morning.Add(time.Hour), time.Minute }), "Xreversed"},
		{"confirmed", plain, edited(func(r *guidon.Ramp) { r.Confirm.Last = morning.Add(time.Hour) }), "Xconfirmed"},
		{"edited", plain, edited(func(r *guidon.Ramp) { r.Initial = 7 }), ""},
	} {
		threshold := func(r *guidon.Ramp) *guidon.Flag {
			o := flagtest.Threshold(50, true)
			o.Threshold.Ramp = r
			return boolean(o)
		}
		portion := func(r *guidon.Ramp) *guidon.Flag {
			return boolean(&guidon.Rollout{Segment: &guidon.RolloutSegment{Value: true}, Conditions: &guidon.Conditions{
				Everyone: true, Portion: &guidon.Portion{Percentage: 50, Ramp: r},
			}})
		}
		for name, got := range map[string][2]string{
			"threshold": {record(t, change.KindFlag, "f", threshold(test.before), threshold(test.after)).Summary(), "rule 1: ramp "},
			"portion":   {record(t, change.KindFlag, "f", portion(test.before), portion(test.after)).Summary(), "rule 1: portion ramp "},
		} {
			want := got[1] + strings.TrimPrefix(test.want, "X")
			if test.want != "" && got[0] != want || !strings.HasPrefix(got[0], "rule 1: ") {
				t.Errorf("%s, %s: got %q, want %q", name, test.name, got[0], want)
			}
		}
	}
}

func TestWording(t *testing.T) {
	before, after := boolean(), boolean()
	before.Metadata, after.Metadata = json.RawMessage(`{"a: b → c":1}`), json.RawMessage(`{"a: b → c":2}`)
	after.Rollouts = []*guidon.Rollout{flagtest.Threshold(5, true)}
	var got []change.Wording
	for _, d := range change.Compare(before, after) {
		got = append(got, d.Wording)
	}
	want := []change.Wording{
		{Parts: []string{`metadata "a: b → c"`}, Before: "1", After: "2"},
		{Parts: []string{"rule 1"}, What: "added (5%: on)"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestEveryFieldIsInWords: a change of any field of a flag or segment, but for ids and
// times, is in the summary of its record, and in nothing else than words.
func TestEveryFieldIsInWords(t *testing.T) {
	isWord := func(path string) bool {
		last := path[strings.LastIndexByte(path, '.')+1:]
		return last != "ID" && last != "Key" && last != "CreatedAt" && last != "UpdatedAt"
	}
	check := func(lost []string) {
		t.Helper()
		for _, path := range lost {
			if isWord(path) {
				t.Errorf("a change of %s is not in the summary", path)
			}
		}
	}
	for i, f := range flagtest.FilledFlags() {
		check(flagtest.LostFields(f, func(f *guidon.Flag) string {
			return record(t, change.KindFlag, f.Key, flagtest.FilledFlags()[i], f).Summary()
		}))
	}
	check(flagtest.LostFields(flagtest.FilledSegment("s"), func(g *guidon.Segment) string {
		return record(t, change.KindSegment, g.Key, flagtest.FilledSegment("s"), g).Summary()
	}))
	check(flagtest.LostFields(flagtest.FilledNamespace("n"), func(n *guidon.Namespace) string {
		return record(t, change.KindNamespace, n.Key, flagtest.FilledNamespace("n"), n).Summary()
	}))
}

// TestEveryFieldOfAccess: a change of any field of an authentication or a binding is in the
// summary by name, and values that may be secret are not.
func TestEveryFieldOfAccess(t *testing.T) {
	for _, object := range []any{service.Authentication{}, service.Binding{}} {
		kind := change.KindAuthentication
		if _, ok := object.(service.Binding); ok {
			kind = change.KindBinding
		}
		of := reflect.TypeOf(object)
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if !of.Field(i).IsExported() || name == "-" || name == "createdAt" || name == "updatedAt" {
				continue
			}
			before := reflect.New(of)
			after := reflect.New(of)
			setField(t, after.Elem().Field(i))
			got := record(t, kind, "1", before.Interface(), after.Interface()).Summary()
			if !strings.Contains(got, name) {
				t.Errorf("%s.%s: summary %q", of.Name(), of.Field(i).Name, got)
			}
		}
	}
}

func setField(t *testing.T, v reflect.Value) {
	t.Helper()
	switch value := v.Addr().Interface().(type) {
	case *time.Time:
		*value = time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
		return
	case *map[string]string:
		*value = map[string]string{"k": "v"}
		return
	case *[]string:
		*value = []string{"a"}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Int32:
		v.SetInt(1)
	case reflect.Uint8:
		v.SetUint(3)
	default:
		t.Fatalf("fields of type %s are not known here", v.Type())
	}
}

func TestSummaryIsBounded(t *testing.T) {
	before, after := variantFlag(), variantFlag()
	for i, v := range after.Variants {
		v.Name = strings.Repeat("ä", 15) + string(rune('a'+i))
	}
	after.Name = strings.Repeat("n", 40)
	got := record(t, change.KindFlag, "f", before, after).Summary()
	if len(got) > 400 || !strings.HasPrefix(got, `name "f" → "nnn`) || !strings.HasSuffix(got, "; 3 more") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	after.Key = ""
	long := strings.Repeat("k", 1000)
	after.Variants[0].Key = long
	after.Rules = []*guidon.Rule{{ID: "r", SegmentKeys: []string{long, long, long}}}
	for _, d := range change.Compare(before, after) {
		if len(d.Summary) > 400 {
			t.Errorf("%d bytes: %s", len(d.Summary), d.Summary)
		}
	}
	if got := change.Summarize(nil); got != "" {
		t.Errorf("got %q for no differences", got)
	}
}

// TestSummaryOfLargeRecord: the bodies of a large record are not read, nor are missing ones.
func TestSummaryOfLargeRecord(t *testing.T) {
	long := variantFlag()
	long.Description = strings.Repeat("x", 600<<10)
	longer := variantFlag()
	longer.Description = strings.Repeat("y", 1<<20)
	var none *guidon.Flag
	for _, test := range []struct {
		name          string
		before, after *guidon.Flag
		want          string
	}{
		{"a large object", long, variantFlag(), "description removed"},
		{"two large objects", long, longer, "changed; too large to describe"},
		{"created", none, long, `created (variant flag "f")`},
		{"created, larger", none, longer, "created"},
		{"deleted, larger", longer, none, "deleted"},
	} {
		r := record(t, change.KindFlag, "f", test.before, test.after)
		if got := r.Summary(); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
		want := map[change.Action]string{change.ActionCreate: "created", change.ActionUpdate: "changed", change.ActionDelete: "deleted"}[r.Action]
		if r.Before, r.After = nil, nil; r.Summary() != want {
			t.Errorf("%s, without bodies: got %q, want %q", test.name, r.Summary(), want)
		}
	}
}

// BenchmarkLargestSummary describes a record with two objects of the largest size.
func BenchmarkLargestSummary(b *testing.B) {
	before, after := variantFlag(), variantFlag()
	for i := range 80_000 { // 16 MiB
		id := strings.Repeat("i", 36)
		before.Rules = append(before.Rules, &guidon.Rule{ID: id, SegmentKeys: []string{"a", strconv.Itoa(i)}})
		after.Rules = append(after.Rules, &guidon.Rule{ID: id, SegmentKeys: []string{"b", strconv.Itoa(i)}})
	}
	r := record(b, change.KindFlag, "f", before, after)
	b.ReportMetric(float64(len(r.Before)+len(r.After)), "bytes")
	for b.Loop() {
		_ = r.Summary()
	}
}

// FuzzRecordSummary: no record makes Summary panic, exceed its limit or contain control
// characters.
func FuzzRecordSummary(f *testing.F) {
	flag := stored(f, flagtest.FilledFlags()[0])
	f.Add("flag", []byte(flag), []byte(stored(f, flagtest.FilledFlags()[1])))
	f.Add("flag", []byte(`{"rules":[null]}`), []byte(`{"rules":[{"distributions":[null,{"rollout":1e30}]}],"metadata":[1]}`))
	f.Add("segment", []byte(stored(f, flagtest.FilledSegment("s"))), []byte(`{"constraints":[{"value":"\u009b"}]}`))
	f.Add("namespace", []byte(`{"name":"a"}`), []byte(`null`))
	f.Add("authentication", []byte(`{"role":"a","namespaces":[1]}`), []byte(`{"role":{"a":"\u001b"},"namespaces":["b"],"\u0000":1}`))
	f.Add("binding", []byte(`[]`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, kind string, before, after []byte) {
		for _, action := range []change.Action{change.ActionCreate, change.ActionUpdate, change.ActionDelete} {
			r := change.Record{Kind: change.Kind(kind), Action: action, Before: before, After: after}
			summary := r.Summary()
			if summary == "" || len(summary) > 400 || strings.ContainsFunc(summary, unicode.IsControl) {
				t.Errorf("%d bytes: %q", len(summary), summary)
			}
			if summary != r.Summary() {
				t.Error("it is not deterministic")
			}
		}
	})
}
