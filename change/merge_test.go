package change_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// twoRules returns a flag with variants A and B, and a rule for each of two segments.
func twoRules(edits ...func(f *guidon.Flag)) *guidon.Flag {
	f := variantFlag(flagtest.Rule(flagtest.Shares{50, 50}, "staff"), flagtest.Rule(flagtest.Shares{100}, "beta"))
	f.Variants = f.Variants[:2]
	f.Metadata = json.RawMessage(`{"owner":"a","ticket":1}`)
	for i, r := range f.Rules {
		r.ID = []string{"r1", "r2"}[i]
		for j, d := range r.Distributions {
			d.ID = fmt.Sprintf("%s-d%d", r.ID, j+1)
		}
	}
	for _, edit := range edits {
		edit(f)
	}
	return f
}

type edit = func(f *guidon.Flag)

func rename(name string) edit { return func(f *guidon.Flag) { f.Name = name } }

func metadata(text string) edit { return func(f *guidon.Flag) { f.Metadata = json.RawMessage(text) } }

func removeVariant(key string) edit { return func(f *guidon.Flag) { f.RemoveVariant("id-" + key) } }

func addVariant(id, key string) edit {
	return func(f *guidon.Flag) { f.Variants = append(f.Variants, &guidon.Variant{ID: id, Key: key}) }
}

func rekey(variant int, key string) edit {
	return func(f *guidon.Flag) { f.Variants[variant].Key = key }
}

func serve(rule, distribution int, variantID string) edit {
	return func(f *guidon.Flag) { f.Rules[rule].Distributions[distribution].VariantID = variantID }
}

func share(rule, distribution int, percent float32) edit {
	return func(f *guidon.Flag) { f.Rules[rule].Distributions[distribution].Rollout = percent }
}

// addRule inserts a rule without distributions and numbers all rules.
func addRule(at int, id, segment string) edit {
	return func(f *guidon.Flag) {
		rules := append(f.Rules[:at:at], &guidon.Rule{ID: id, SegmentKeys: []string{segment}})
		f.Rules = append(rules, f.Rules[at:]...)
		renumber(f)
	}
}

func removeRule(at int) edit {
	return func(f *guidon.Flag) { f.Rules = append(f.Rules[:at:at], f.Rules[at+1:]...); renumber(f) }
}

func swapRules(i, j int) edit {
	return func(f *guidon.Flag) { f.Rules[i], f.Rules[j] = f.Rules[j], f.Rules[i]; renumber(f) }
}

func renumber(f *guidon.Flag) {
	for i, r := range f.Rules {
		r.Rank = int32(i + 1)
	}
}

func all(edits ...edit) edit {
	return func(f *guidon.Flag) {
		for _, edit := range edits {
			edit(f)
		}
	}
}

// TestMergeFlag merges two changes of a flag without conflicts.
func TestMergeFlag(t *testing.T) {
	for _, test := range []struct {
		name                string
		ours, theirs, wants edit
	}{
		{"only theirs", func(*guidon.Flag) {}, rename("n"), rename("n")},
		{"different fields", rename("n"), func(f *guidon.Flag) { f.Enabled = false }, all(rename("n"), func(f *guidon.Flag) { f.Enabled = false })},
		{"the same change", rename("n"), rename("n"), rename("n")},
		{"metadata", metadata(`{"owner":"b","ticket":1,"x":[]}`), metadata(`{"owner":"a","y":true}`), metadata(`{"owner":"b","x":[],"y":true}`)},
		{"the order of metadata", metadata(`{"ticket":1,"owner":"a"}`), metadata(`{"owner":"b","ticket":1,"y":0}`), metadata(`{"ticket":1,"owner":"b","y":0}`)},
		{"all metadata removed", metadata(`{"ticket":1}`), metadata(`{"owner":"a"}`), metadata(``)},
		{"fields of one variant", rekey(0, "azure"), func(f *guidon.Flag) { f.Variants[0].Attachment = "1" }, all(rekey(0, "azure"), func(f *guidon.Flag) { f.Variants[0].Attachment = "1" })},
		{"the same variant created twice", all(addVariant("x", "new"), serve(0, 0, "x")), all(addVariant("y", "new"), serve(1, 0, "y")),
			all(addVariant("x", "new"), serve(0, 0, "x"), serve(1, 0, "x"))},
		{"a variant created again", func(f *guidon.Flag) { f.Variants[0].ID = "x"; f.Rules = nil }, func(f *guidon.Flag) { f.Variants[0].Name = "n" },
			func(f *guidon.Flag) { f.Variants[0].ID = "x"; f.Variants[0].Name = "n"; f.Rules = nil }},
		{"an unused variant removed", removeVariant("B"), rename("n"), all(removeVariant("B"), rename("n"))},
		{"shares of two rules", share(0, 0, 10), share(1, 0, 90), all(share(0, 0, 10), share(1, 0, 90))},
		{"the same shares", share(0, 0, 10), all(share(0, 0, 10), func(f *guidon.Flag) { f.Rules[0].Distributions[0].ID = "y" }), share(0, 0, 10)},
		{"a rule and its position", share(0, 0, 10), swapRules(0, 1), all(share(0, 0, 10), swapRules(0, 1))},
		{"rules added at both ends", addRule(0, "x", "s"), addRule(2, "y", "s"), all(addRule(0, "x", "s"), addRule(3, "y", "s"))},
		{"rules added at the same place", addRule(2, "x", "s"), addRule(2, "y", "s"), all(addRule(2, "y", "s"), addRule(3, "x", "s"))},
		{"a rule removed and one added after it", removeRule(1), addRule(2, "y", "s"), all(removeRule(1), addRule(1, "y", "s"))},
		{"the operator for a single segment", func(f *guidon.Flag) { f.Rules[0].SegmentKeys = []string{"other"} },
			func(f *guidon.Flag) { f.Rules[0].SegmentOperator = guidon.AndSegments }, func(f *guidon.Flag) { f.Rules[0].SegmentKeys = []string{"other"} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			base, ours, theirs := twoRules(), twoRules(test.ours), twoRules(test.theirs)
			ours.Created, theirs.Created = guidon.Position{Revision: 7}, guidon.Position{Revision: 8}
			merged, err := change.Merge(base, ours, theirs, nil)
			if err != nil || len(merged.Conflicts) > 0 {
				t.Fatalf("conflicts %s, error %v", conflicts(merged.Conflicts), err)
			}
			want := twoRules(test.wants)
			want.Created = ours.Created
			checkSame(t, test.name, want, merged.Object)
			if merged.Object.Created != ours.Created {
				t.Errorf("created at %v, want %v", merged.Object.Created, ours.Created)
			}
			checkValid(t, merged.Object)
			for _, r := range merged.Object.Rules { // the result shares nothing with the versions
				r.SegmentKeys[0], r.Rank = "overwritten", 99
			}
			checkSame(t, "ours", twoRules(test.ours), ours)
			checkSame(t, "base", twoRules(), base)
			theirs.Created = guidon.Position{}
			checkSame(t, "theirs", twoRules(test.theirs), theirs)
		})
	}
}

// conflicts returns the conflicts in a short form.
func conflicts(list []change.Conflict) []string {
	out := []string{}
	for _, c := range list {
		line := fmt.Sprintf("%s: %s, %s, %s", c.Path, c.Base, c.Ours, c.Theirs)
		if c.InUse {
			line += " (in use)"
		}
		out = append(out, line+" | "+c.Name)
	}
	return out
}

// TestMergeConflicts merges changes that cannot both be made, and then with the conflicts
// resolved for either side.
func TestMergeConflicts(t *testing.T) {
	describe := func(text string) edit { return func(f *guidon.Flag) { f.Description = text } }
	for _, test := range []struct {
		name                     string
		ours, theirs             edit
		want                     []string
		resolvedOurs, resolvedTo edit // with the conflicts resolved for ours and theirs
	}{
		{"a field", all(rename("x"), describe("d")), rename("y"), []string{`name: "f", "x", "y" | name`}, all(rename("x"), describe("d")), all(rename("y"), describe("d"))},
		{"metadata", metadata(`{"owner":"x","ticket":1}`), metadata(`{"ticket":1}`), []string{`metadata["owner"]: "a", "x",  | metadata "owner"`},
			metadata(`{"owner":"x","ticket":1}`), metadata(`{"ticket":1}`)},
		{"metadata that both add", metadata(`{"owner":"a","ticket":1,"n":1}`), metadata(`{"owner":"a","ticket":1,"n":2}`), []string{`metadata["n"]: , 1, 2 | metadata "n"`},
			metadata(`{"owner":"a","ticket":1,"n":1}`), metadata(`{"owner":"a","ticket":1,"n":2}`)},
		{"the variant of a distribution", all(addVariant("x", "X"), serve(1, 0, "x")), serve(1, 0, "id-B"),
			[]string{`rules["r2"].distributions: [{"variant":"A","rollout":100}], [{"variant":"X","rollout":100}], [{"variant":"B","rollout":100}] | rule 2: shares`},
			all(addVariant("x", "X"), serve(1, 0, "x")), all(addVariant("x", "X"), serve(1, 0, "id-B"))},
		{"different shares of one rule", share(0, 0, 10), share(0, 1, 90), []string{`rules["r1"].distributions: [{"variant":"A","rollout":50},{"variant":"B","rollout":50}], ` +
			`[{"variant":"A","rollout":10},{"variant":"B","rollout":50}], [{"variant":"A","rollout":50},{"variant":"B","rollout":90}] | rule 1: shares`}, share(0, 0, 10), share(0, 1, 90)},
		{"shares that need a removed variant", removeVariant("B"), share(0, 1, 90), []string{
			`rules["r1"].distributions: [{"variant":"A","rollout":50},{"variant":"B","rollout":50}], [{"variant":"A","rollout":50}], [{"variant":"A","rollout":50},{"variant":"B","rollout":90}] | rule 1: shares`,
			`variants["B"]: {"key":"B","attachment":"{\"is\":\"B\"}"}, , {"key":"B","attachment":"{\"is\":\"B\"}"} (in use) | variant "B"`,
		}, removeVariant("B"), share(0, 1, 90)},
		{"a rule removed and changed", removeRule(1), share(1, 0, 5), []string{
			`rules["r2"]: {"segmentKeys":["beta"],"segmentOperator":"OR_SEGMENT_OPERATOR","distributions":[{"variant":"A","rollout":100}]}, , ` +
				`{"segmentKeys":["beta"],"segmentOperator":"OR_SEGMENT_OPERATOR","distributions":[{"variant":"A","rollout":5}]} | rule 2`,
		}, removeRule(1), share(1, 0, 5)},
		{"a variant removed and used", removeVariant("B"), serve(1, 0, "id-B"), []string{
			`variants["B"]: {"key":"B","attachment":"{\"is\":\"B\"}"}, , {"key":"B","attachment":"{\"is\":\"B\"}"} (in use) | variant "B"`,
		}, all(serve(1, 0, "id-B"), removeVariant("B")), func(f *guidon.Flag) {
			serve(1, 0, "id-B")(f)
			f.Rules[0].Distributions = f.Rules[0].Distributions[:1]
		}},
		{"a variant removed that is now the default", removeVariant("B"), func(f *guidon.Flag) { f.DefaultVariantID = "id-B" }, []string{
			`variants["B"]: {"key":"B","attachment":"{\"is\":\"B\"}"}, , {"key":"B","attachment":"{\"is\":\"B\"}"} (in use) | variant "B"`,
		}, removeVariant("B"), func(f *guidon.Flag) {
			f.DefaultVariantID = "id-B"
			f.Rules[0].Distributions = f.Rules[0].Distributions[:1]
		}},
		{"two variants with the same new key", rekey(0, "new"), rekey(1, "new"), []string{
			`variants.keys["new"]: , {"key":"new","attachment":"{\"is\":\"A\"}"}, {"key":"new","attachment":"{\"is\":\"B\"}"} | variant "new"`,
		}, func(f *guidon.Flag) {
			rekey(0, "new")(f)
			f.Variants = f.Variants[:1]
			serve(0, 1, "id-A")(f)
		}, func(f *guidon.Flag) {
			rekey(1, "new")(f)
			f.Variants = f.Variants[1:]
			serve(0, 0, "id-B")(f)
			serve(1, 0, "id-B")(f)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			base, ours, theirs := twoRules(), twoRules(test.ours), twoRules(test.theirs)
			merged, err := change.Merge(base, ours, theirs, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, conflicts(merged.Conflicts)); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			for side, want := range map[change.Side]edit{change.Ours: test.resolvedOurs, change.Theirs: test.resolvedTo} {
				resolved, err := change.Merge(base, ours, theirs, change.ResolveAll(merged.Conflicts, side))
				if err != nil || len(resolved.Conflicts) > 0 {
					t.Fatalf("%s: conflicts %s, error %v", side, conflicts(resolved.Conflicts), err)
				}
				checkSame(t, string(side), twoRules(want), resolved.Object)
				checkValid(t, resolved.Object)
			}
		})
	}
}

// TestMergeWithoutBase: without a base, every difference is a conflict, and resolving all of
// them for one side gives that side.
func TestMergeWithoutBase(t *testing.T) {
	ours := twoRules(rename("x"), metadata(`{"owner":"a","n":1}`), addVariant("o", "ours"), addRule(1, "r3", "third"), share(0, 0, 40))
	theirs := twoRules(metadata(`{"owner":"b","ticket":1}`), addVariant("t", "theirs"), swapRules(0, 1))
	for _, test := range []struct {
		name         string
		ours, theirs *guidon.Flag
		want         []string // paths
	}{
		{"equal", twoRules(), twoRules(), nil},
		{"nothing", nil, nil, nil},
		{"deleted by us", nil, twoRules(), []string{"."}},
		{"deleted by them", twoRules(), nil, []string{"."}},
		{"different", ours, theirs, []string{
			"name", `metadata["owner"]`, `metadata["n"]`, `metadata["ticket"]`, `rules["r1"].distributions`, `rules["r3"]`, "rules.order",
			`variants["ours"]`, `variants["theirs"]`,
		}},
		{"the same variant with other ids", twoRules(addVariant("o", "new"), serve(1, 0, "o")), twoRules(addVariant("t", "new"), serve(1, 0, "t")), nil},
		{"the keys of variants", twoRules(rekey(0, "x"), rekey(1, "y")), twoRules(rekey(0, "y"), rekey(1, "x")), []string{
			`variants["x"].key`, `variants["x"].key`, `variants.keys["x"]`, `variants.keys["y"]`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			merged, err := change.MergeWithoutBase(test.ours, test.theirs, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range merged.Conflicts {
				if got = append(got, c.Path); c.Base != nil || c.InUse {
					t.Errorf("the conflict %s has the base %s; in use: %t", c.Path, c.Base, c.InUse)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Fatalf("conflicts (-want +got):\n%s", diff)
			}
			for side, want := range map[change.Side]*guidon.Flag{change.Ours: test.ours, change.Theirs: test.theirs} {
				resolved, err := change.MergeWithoutBase(test.ours, test.theirs, change.ResolveAll(merged.Conflicts, side))
				if err != nil || len(resolved.Conflicts) > 0 {
					t.Fatalf("%s: conflicts %s, error %v", side, conflicts(resolved.Conflicts), err)
				}
				if differences := change.Compare(want, resolved.Object); len(differences) > 0 || (want == nil) != (resolved.Object == nil) {
					t.Errorf("%s: got other content: %v", side, differences)
				}
			}
		})
	}
	segment := flagtest.Segment("s", guidon.MatchAll, flagtest.Has("plan"))
	merged, err := change.MergeWithoutBase(segment, flagtest.Segment("s", guidon.MatchAny), nil)
	if err != nil || len(merged.Conflicts) != 2 {
		t.Errorf("segment: got the conflicts %s, %v", conflicts(merged.Conflicts), err)
	}
}

// TestConflictWords: a conflict has its values as people read them, and no text for a missing one.
func TestConflictWords(t *testing.T) {
	third := addRule(2, "r3", "third")
	threshold := func(percentage float32) *guidon.Flag {
		f := boolean(flagtest.Threshold(percentage, true))
		f.Rollouts[0].ID = "r"
		return f
	}
	segment := boolean(staff(false))
	segment.Rollouts[0].ID = "r"
	described := func(text string) *guidon.Flag {
		return edited(boolean(), func(f *guidon.Flag) { f.Description = text })
	}
	for _, test := range []struct {
		name               string
		base, ours, theirs *guidon.Flag
		want               change.ConflictWords
	}{
		{"a percentage", threshold(10), threshold(12.5), threshold(50), change.ConflictWords{Base: "10%", Ours: "12.5%", Theirs: "50%"}},
		{"another kind of rule", threshold(10), segment, threshold(50), change.ConflictWords{Base: "10%: on", Ours: "segments staff: off", Theirs: "50%: on"}},
		{"a removed rule", threshold(10), boolean(), threshold(50), change.ConflictWords{Base: "10%: on", Theirs: "50%: on"}},
		{"an order", twoRules(third), twoRules(third, swapRules(0, 2)), twoRules(third, swapRules(0, 1)),
			change.ConflictWords{Base: "1, 2, 3", Ours: "3, 2, 1", Theirs: "2, 1, 3"}},
		{"texts", described(""), described("a\nb"), described(strings.Repeat("x", 4<<10)),
			change.ConflictWords{Base: "nothing", Ours: "a\nb", Theirs: strings.Repeat("x", 2<<10-len("…")) + "…"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			merged, err := change.Merge(test.base, test.ours, test.theirs, nil)
			if err != nil || len(merged.Conflicts) != 1 {
				t.Fatalf("got the conflicts %v and the error %v, want one conflict", conflicts(merged.Conflicts), err)
			}
			if diff := cmp.Diff(test.want, merged.Conflicts[0].Words); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestMergeOrder: it is a conflict if both sides put the same rules in another order.
func TestMergeOrder(t *testing.T) {
	third := addRule(2, "r3", "third")
	base, ours, theirs := twoRules(third), twoRules(third, swapRules(0, 2), rename("n")), twoRules(third, swapRules(0, 1))
	merged, err := change.Merge(base, ours, theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`rules.order: ["r1","r2","r3"], ["r3","r2","r1"], ["r2","r1","r3"] | order of the rules`}
	if diff := cmp.Diff(want, conflicts(merged.Conflicts)); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	resolved, err := change.Merge(base, ours, theirs, change.Choices{"rules.order": change.Theirs})
	if err != nil || len(resolved.Conflicts) > 0 {
		t.Fatalf("conflicts %s, error %v", conflicts(resolved.Conflicts), err)
	}
	checkSame(t, "theirs", twoRules(third, swapRules(0, 1), rename("n")), resolved.Object)
}

// TestMergeKeys: a conflict about a key is reported with the one that resolving it may
// lead to.
func TestMergeKeys(t *testing.T) {
	base, ours, theirs := twoRules(), twoRules(rekey(0, "x"), rekey(1, "y")), twoRules(rekey(0, "y"))
	merged, err := change.Merge(base, ours, theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`variants["A"].key: "A", "x", "y" | variant "A": key`,
		`variants.keys["y"]: , {"key":"y","attachment":"{\"is\":\"B\"}"}, {"key":"y","attachment":"{\"is\":\"A\"}"} | variant "y"`,
	}
	if diff := cmp.Diff(want, conflicts(merged.Conflicts)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestMergeExistence merges deletions and creations of whole flags.
func TestMergeExistence(t *testing.T) {
	for _, test := range []struct {
		name               string
		base, ours, theirs *guidon.Flag
		want               int // conflicts
		object             *guidon.Flag
	}{
		{"created by us", nil, twoRules(), nil, 0, twoRules()},
		{"created by them", nil, nil, twoRules(), 0, twoRules()},
		{"created equal", nil, twoRules(), withIDs("x", twoRules()), 0, twoRules()},
		{"created different", nil, twoRules(), twoRules(rename("n")), 1, twoRules()},
		{"deleted by us", twoRules(), nil, twoRules(), 0, nil},
		{"deleted by them", twoRules(), twoRules(), nil, 0, nil},
		{"deleted and given other ids", twoRules(), withIDs("x", twoRules()), nil, 0, nil},
		{"deleted by us and changed by them", twoRules(), nil, twoRules(rename("n")), 1, twoRules(rename("n"))},
		{"deleted by them and changed by us", twoRules(), twoRules(rename("n")), nil, 1, twoRules(rename("n"))},
	} {
		t.Run(test.name, func(t *testing.T) {
			merged, err := change.Merge(test.base, test.ours, test.theirs, nil)
			if err != nil || len(merged.Conflicts) != test.want {
				t.Fatalf("conflicts %s, error %v; want %d conflicts", conflicts(merged.Conflicts), err, test.want)
			}
			checkSame(t, "merged", test.object, merged.Object)
			if test.want == 0 {
				return
			}
			for side, want := range map[change.Side]*guidon.Flag{change.Ours: test.ours, change.Theirs: test.theirs} {
				resolved, err := change.Merge(test.base, test.ours, test.theirs, change.Choices{".": side})
				if err != nil || len(resolved.Conflicts) > 0 {
					t.Fatalf("conflicts %s, error %v", conflicts(resolved.Conflicts), err)
				}
				checkSame(t, string(side), want, resolved.Object)
			}
		})
	}
}

func TestMergeChoices(t *testing.T) {
	base, ours, theirs := twoRules(), twoRules(rename("x")), twoRules(rename("y"))
	for _, test := range []struct {
		choices change.Choices
		want    string
	}{
		{change.Choices{"name": change.Ours}, ""},
		{change.Choices{"name": "both"}, "invalid choice for name: must be ours or theirs"},
		{change.Choices{"name": change.Ours, "description": change.Ours, "enabled": change.Ours}, "invalid choice for description: there is no such conflict"},
	} {
		_, err := change.Merge(base, ours, theirs, test.choices)
		flagtest.CheckError(t, err, guidon.InvalidArgument, test.want)
	}
	// The choice for the rule makes that for its variant needless, but not wrong.
	ours, theirs = twoRules(removeVariant("B"), removeRule(1)), twoRules(serve(1, 0, "id-B"))
	merged, err := change.Merge(base, ours, theirs, nil)
	if err != nil || len(merged.Conflicts) != 2 {
		t.Fatalf("conflicts %s, error %v; want those of the rule and its variant", conflicts(merged.Conflicts), err)
	}
	resolved, err := change.Merge(base, ours, theirs, change.Choices{`rules["r2"]`: change.Ours, `variants["B"]`: change.Theirs})
	if err != nil || len(resolved.Conflicts) > 0 {
		t.Fatalf("conflicts %s, error %v", conflicts(resolved.Conflicts), err)
	}
	checkSame(t, "resolved", ours, resolved.Object)
}

func TestMergeSegmentAndNamespace(t *testing.T) {
	base := flagtest.Segment("s", guidon.MatchAll, flagtest.Has("plan"), flagtest.Has("country"))
	ours := flagtest.Segment("s", guidon.MatchAny, flagtest.Has("plan"), flagtest.Has("country"))
	theirs := flagtest.Segment("s", guidon.MatchAll, flagtest.Has("country"), flagtest.Has("team"))
	theirs.Constraints[0].Value = "no"
	want := flagtest.Segment("s", guidon.MatchAny, theirs.Constraints...)
	merged, err := change.Merge(base, ours, theirs, nil)
	if err != nil || len(merged.Conflicts) > 0 {
		t.Fatalf("conflicts %s, error %v", conflicts(merged.Conflicts), err)
	}
	checkSame(t, "segment", want, merged.Object)

	n, err := change.Merge(&guidon.Namespace{Name: "a"}, &guidon.Namespace{Name: "b"}, &guidon.Namespace{Name: "a", Protected: true}, nil)
	if err != nil || len(n.Conflicts) > 0 || *n.Object != (guidon.Namespace{Name: "b", Protected: true}) {
		t.Errorf("got %+v, %v", n, err)
	}
}

// TestMergeCondition: the operators that a type has, and their values, come from one side.
func TestMergeCondition(t *testing.T) {
	of := func(kind guidon.ComparisonType, property, operator, value string) *guidon.Segment {
		c := &guidon.Constraint{ID: "c", Type: kind, Property: property, Operator: operator, Value: value}
		return flagtest.Segment("s", guidon.MatchAll, c)
	}
	negated := func(g *guidon.Segment) *guidon.Segment {
		g.Constraints[0].Negate = true
		return g
	}
	number, text := guidon.NumberComparison, guidon.StringComparison
	base := of(text, "plan", guidon.OpEQ, "5")
	tests := []struct {
		name         string
		ours, theirs *guidon.Segment
		conflict     string          // its path and values, or ""
		want         *guidon.Segment // with Theirs, if there is one
	}{
		{
			"type and operator", of(number, "plan", guidon.OpEQ, "5"), of(text, "plan", guidon.OpPrefix, "5"),
			`constraints["c"].condition {"type":"NUMBER_COMPARISON_TYPE","property":"plan","operator":"eq","value":"5"} {"type":"STRING_COMPARISON_TYPE","property":"plan","operator":"prefix","value":"5"}`,
			of(text, "plan", guidon.OpPrefix, "5"),
		},
		{
			"operator and value", of(text, "plan", guidon.OpIsOneOf, `["5"]`), of(text, "plan", guidon.OpEQ, "pro"),
			`constraints["c"].condition {"type":"STRING_COMPARISON_TYPE","property":"plan","operator":"isoneof","value":"[\"5\"]"} {"type":"STRING_COMPARISON_TYPE","property":"plan","operator":"eq","value":"pro"}`,
			of(text, "plan", guidon.OpEQ, "pro"),
		},
		{"value and property", of(text, "plan", guidon.OpEQ, "pro"), of(text, "level", guidon.OpEQ, "5"), "", of(text, "level", guidon.OpEQ, "pro")},
		{
			"negation and value", negated(of(text, "plan", guidon.OpEQ, "5")), of(text, "plan", guidon.OpEQ, "pro"),
			`constraints["c"].condition {"type":"STRING_COMPARISON_TYPE","property":"plan","operator":"eq","value":"5","negate":true} {"type":"STRING_COMPARISON_TYPE","property":"plan","operator":"eq","value":"pro"}`,
			of(text, "plan", guidon.OpEQ, "pro"),
		},
		{"negation", negated(of(text, "plan", guidon.OpEQ, "5")), base, "", negated(of(text, "plan", guidon.OpEQ, "5"))},
		{"values", of(text, "plan", guidon.OpEQ, "pro"), of(text, "plan", guidon.OpEQ, "free"), `constraints["c"].value "pro" "free"`, of(text, "plan", guidon.OpEQ, "free")},
		{"one side", of(number, "level", guidon.OpGT, "7"), base, "", of(number, "level", guidon.OpGT, "7")},
		{"the other side", base, of(number, "level", guidon.OpGT, "7"), "", of(number, "level", guidon.OpGT, "7")},
		{"the same", of(number, "plan", guidon.OpGT, "5"), of(number, "plan", guidon.OpGT, "5"), "", of(number, "plan", guidon.OpGT, "5")},
		{"the same type, and another value", of(number, "plan", guidon.OpGT, "5"), of(number, "plan", guidon.OpGT, "6"), "", of(number, "plan", guidon.OpGT, "6")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			merged, err := change.Merge(base, tt.ours, tt.theirs, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range merged.Conflicts {
				got = append(got, fmt.Sprintf("%s %s %s", c.Path, c.Ours, c.Theirs))
			}
			if strings.Join(got, "\n") != tt.conflict {
				t.Errorf("got  %q\nwant %q", got, tt.conflict)
			}
			resolved, err := change.Merge(base, tt.ours, tt.theirs, change.ResolveAll(merged.Conflicts, change.Theirs))
			if err != nil || len(resolved.Conflicts) > 0 {
				t.Fatalf("conflicts %s, error %v", conflicts(resolved.Conflicts), err)
			}
			checkSame(t, "merged", tt.want, resolved.Object)
		})
	}
}

// TestMergeRolloutKind: what a rollout is changes as a whole.
func TestMergeRolloutKind(t *testing.T) {
	base, ours, theirs := boolean(flagtest.Threshold(10, true)), boolean(flagtest.Threshold(20, true)), boolean(staff(true))
	theirs.Rollouts[0].ID = base.Rollouts[0].ID
	merged, err := change.Merge(base, ours, theirs, nil)
	if err != nil || len(merged.Conflicts) != 1 || merged.Conflicts[0].Path != `rollouts["threshold"].type` {
		t.Fatalf("conflicts %s, error %v", conflicts(merged.Conflicts), err)
	}
	for side, want := range map[change.Side]*guidon.Flag{change.Ours: ours, change.Theirs: theirs} {
		resolved, err := change.Merge(base, ours, theirs, change.ResolveAll(merged.Conflicts, side))
		if err != nil {
			t.Fatal(err)
		}
		checkSame(t, string(side), want, resolved.Object)
	}
}

// TestEveryFieldIsMerged: a change of any field by them is in the result, when we have
// changed another one. Times and the key are ours, and variants with the same key have our
// ids.
func TestEveryFieldIsMerged(t *testing.T) {
	check := func(lost []string) {
		t.Helper()
		for _, path := range lost {
			if name := path[strings.LastIndexByte(path, '.')+1:]; path != "Key" && path != "Variants.ID" && name != "CreatedAt" && name != "UpdatedAt" {
				t.Errorf("a change of %s is lost", path)
			}
		}
	}
	for i, f := range flagtest.FilledFlags() {
		check(flagtest.LostFields(f, func(f *guidon.Flag) string {
			ours := flagtest.FilledFlags()[i]
			ours.Description = "ours"
			merged, err := change.Merge(flagtest.FilledFlags()[i], ours, f, nil)
			if err != nil {
				t.Fatal(err)
			}
			return string(stored(t, merged))
		}))
	}
	check(flagtest.LostFields(flagtest.FilledSegment("s"), func(g *guidon.Segment) string {
		ours := flagtest.FilledSegment("s")
		ours.Description = "ours"
		merged, err := change.Merge(flagtest.FilledSegment("s"), ours, g, nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(stored(t, merged))
	}))
	check(flagtest.LostFields(flagtest.FilledNamespace("n"), func(n *guidon.Namespace) string {
		ours := flagtest.FilledNamespace("n")
		ours.Description = "ours"
		merged, err := change.Merge(flagtest.FilledNamespace("n"), ours, n, nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(stored(t, merged))
	}))
}

// TestOperatorFor: a single segment forces OR (contract 2), also if it was sent several
// times.
func TestOperatorFor(t *testing.T) {
	if got := change.OperatorFor([]string{"a"}, guidon.AndSegments); got != guidon.OrSegments {
		t.Errorf("one segment: got %v", got)
	}
	if got := change.OperatorFor([]string{"a", "b"}, guidon.AndSegments); got != guidon.AndSegments {
		t.Errorf("two segments: got %v", got)
	}
}
