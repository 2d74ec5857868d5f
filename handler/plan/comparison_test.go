package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/plan"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// compared returns the objects of a comparison, with diffs.
func compared(t *testing.T, before, after change.Objects) []*guidonv1.ComparedObject {
	t.Helper()
	c := plan.NewComparison(plan.Side{Name: "x", Objects: before}, plan.Side{Name: "y", Objects: after})
	var all []*guidonv1.ComparedObject
	for o, err := range c.Objects(0, true) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	if len(all) != c.Len() {
		t.Errorf("got %d objects of %d", len(all), c.Len())
	}
	for offset := range len(all) + 2 {
		n := 0
		for range c.Objects(offset, false) {
			n++
		}
		if want := max(0, len(all)-offset); n != want {
			t.Errorf("from %d: got %d objects, want %d", offset, n, want)
		}
	}
	return all
}

// TestNamespaceItself: two states of one namespace are compared with its name, those of
// different ones without.
func TestNamespaceItself(t *testing.T) {
	segment := []*guidon.Segment{{Key: "s", Name: "S"}}
	flag := []*guidon.Flag{{Key: "f", Name: "F"}}
	state := func(key, name string) change.Objects {
		return change.Objects{Namespace: &guidon.Namespace{Key: key, Name: name}, Segments: segment, Flags: flag}
	}
	for _, test := range []struct {
		name          string
		before, after change.Objects
		want          []string
	}{
		{"the same", state("a", "A"), state("a", "A"), nil},
		{"another name", state("a", "A"), state("a", "B"), []string{`namespace a: name "A" → "B"`}},
		{"another namespace", state("a", "A"), state("b", "B"), nil},
		{"unknown namespaces", change.Objects{Flags: flag}, state("b", "B"), []string{"segment s: created"}},
		{"everything", change.Objects{Namespace: &guidon.Namespace{Key: "a"}}, state("a", "A"), []string{`namespace a: name nothing → "A"`, "segment s: created", "flag f: created"}},
	} {
		var got []string
		for _, o := range compared(t, test.before, test.after) {
			got = append(got, o.GetKind()+" "+o.GetKey()+": "+o.GetSummary())
			if (o.Diff == nil) != (o.GetKind() == "namespace") {
				t.Errorf("%s: %s has the diff %v", test.name, o.GetKind(), o.Diff)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestValues: values are JSON, but for those that a message cannot express.
func TestValues(t *testing.T) {
	before := &guidon.Flag{Key: "f", Name: "F", Metadata: []byte(`{"list":[1],"null":1,"large":1,"gone":true}`)}
	after := &guidon.Flag{Key: "f", Name: "F", Metadata: []byte(`{"list":["a",{"b":null}],"null":null,"large":1e999}`)}
	one := structpb.NewNumberValue(1)
	object, err := structpb.NewValue([]any{"a", map[string]any{"b": nil}})
	if err != nil {
		t.Fatal(err)
	}
	list, err := structpb.NewValue([]any{1})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]*structpb.Value{
		`metadata["list"]`:  {list, object},
		`metadata["null"]`:  {one, structpb.NewNullValue()},
		`metadata["large"]`: {one, structpb.NewStringValue("1e999")},
		`metadata["gone"]`:  {structpb.NewBoolValue(true), nil},
	}
	got := map[string][]*structpb.Value{}
	for _, d := range compared(t, change.Objects{Flags: []*guidon.Flag{before}}, change.Objects{Flags: []*guidon.Flag{after}})[0].GetDifferences() {
		got[d.GetPath()] = []*structpb.Value{d.GetBefore(), d.GetAfter()}
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
