package change_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// FuzzCompare checks that the differences between two random flags, applied to the content
// of the one, give that of the other, and that equal flags have none. The content is
// derived from the JSON form of the flags here, independently of package change.
func FuzzCompare(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64) {
		s := flagtest.NewSource(seed)
		flag, segment := s.Flag("f"), s.Segment("s")
		for _, other := range []*guidon.Flag{s.EditFlag(flag), s.EditFlag(s.EditFlag(flag)), s.Flag("f")} {
			checkApply(t, contentOfFlag(t, flag), contentOfFlag(t, other), change.Compare(flag, other))
			checkApply(t, contentOfFlag(t, other), contentOfFlag(t, flag), change.Compare(other, flag))
		}
		for _, other := range []*guidon.Segment{s.EditSegment(segment), s.Segment("s")} {
			checkApply(t, contentOf(t, segment), contentOf(t, other), change.Compare(segment, other))
		}
		if got := change.Compare(flag, elsewhere(t, s, flag)); len(got) > 0 {
			t.Errorf("a flag differs from its copy with other ids, times and ranks: %+v", got)
		}
	})
}

// checkApply checks that the differences lead from one content to the other.
func checkApply(t *testing.T, before, after map[string]any, differences []change.Difference) {
	t.Helper()
	if equal := reflect.DeepEqual(before, after); equal != (len(differences) == 0) {
		t.Errorf("equal is %t, but the differences are %+v", equal, differences)
	}
	apply(t, before, differences)
	if !reflect.DeepEqual(before, after) {
		t.Errorf("the differences %+v lead to (-want +got):\n%s", differences, cmp.Diff(after, before))
	}
	for _, d := range differences {
		if d.Summary == "" || len(d.Summary) > 1000 || strings.Contains(d.Summary, "\n") {
			t.Errorf("summary %q of %+v", d.Summary, d)
		}
	}
}

// elsewhere returns a copy of the flag as it could be in another namespace.
func elsewhere(t *testing.T, s *flagtest.Source, f *guidon.Flag) *guidon.Flag {
	t.Helper()
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	out := new(guidon.Flag)
	text = regexp.MustCompile(`"[0-9a-f]{8}-0000-4000-8000-`).ReplaceAll(text, []byte(`"ffffffff-0000-4000-8000-`))
	if err := json.Unmarshal(text, out); err != nil {
		t.Fatal(err)
	}
	for _, r := range out.Rules {
		r.Rank *= 3
	}
	out.UpdatedAt = s.Namespace("later").CreatedAt
	return out
}

// contentOf returns the JSON form of the object without what is not content.
func contentOf(t *testing.T, object any) map[string]any {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var content map[string]any
	if err := json.Unmarshal(text, &content); err != nil {
		t.Fatal(err)
	}
	delete(content, "key") // of the flag or segment, not of variants
	strip(content)
	return content
}

// contentOfFlag is contentOf with the keys of variants instead of their ids.
func contentOfFlag(t *testing.T, f *guidon.Flag) map[string]any {
	t.Helper()
	content := contentOf(t, f)
	key := func(object map[string]any, id, name string) {
		if value, found := object[id].(string); found {
			object[name] = f.Variant(value).Key
			delete(object, id)
		}
	}
	key(content, "defaultVariantId", "defaultVariant")
	for _, rule := range listIn(content, "rules") {
		for _, d := range listIn(rule.(map[string]any), "distributions") {
			key(d.(map[string]any), "variantId", "variant")
		}
	}
	return content
}

// strip removes ids, times and ranks, and what is not set, at all levels but in metadata.
func strip(value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			switch {
			case slices.Contains([]string{"id", "createdAt", "updatedAt", "rank"}, name), unset(name, member):
				delete(value, name)
			case name != "metadata":
				strip(member)
			}
		}
	case []any:
		for _, item := range value {
			strip(item)
		}
	}
}

// unset reports whether the value of a member is the same as none.
func unset(name string, value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case []any:
		return len(value) == 0
	case bool:
		return !value && slices.Contains([]string{"negate", "everyone", "codeDefault"}, name)
	case float64:
		return value == 0 && name == "start"
	}
	return value == ""
}

func listIn(object map[string]any, name string) []any {
	list, _ := object[name].([]any)
	return list
}

// apply applies the differences to the content: first, from the outside to the inside, to
// lists, and then to what is in them.
func apply(t *testing.T, content map[string]any, differences []change.Difference) {
	t.Helper()
	var lists []string
	items := map[string][]change.Difference{}
	for _, d := range differences {
		if d.From > 0 || d.To > 0 {
			path := lastStep.ReplaceAllString(d.Path, "")
			if !slices.Contains(lists, path) {
				lists = append(lists, path)
			}
			items[path] = append(items[path], d)
		}
	}
	slices.SortStableFunc(lists, func(a, b string) int { return strings.Count(a, ".") - strings.Count(b, ".") })
	for _, path := range lists {
		parent, name := parentOf(t, content, path)
		list := rearranged(t, listIn(parent, name), items[path])
		if parent[name] = list; len(list) == 0 {
			delete(parent, name)
		}
	}
	for _, d := range differences {
		if d.From > 0 || d.To > 0 {
			continue
		}
		parent, name := parentOf(t, content, d.Path)
		after := decoded(t, d.After)
		if !strings.HasPrefix(d.Path, "metadata") {
			strip(after)
		}
		if d.Op == change.OpRemove || !strings.HasPrefix(d.Path, "metadata") && unset(name, after) {
			delete(parent, name)
		} else {
			parent[name] = after
		}
		if values, ok := parent["metadata"].(map[string]any); ok && len(values) == 0 {
			delete(parent, "metadata")
		}
	}
	if values, ok := content["metadata"].(map[string]any); ok && len(values) == 0 {
		delete(content, "metadata")
	}
}

// rearranged returns the list after the changes, as [change.Difference] says.
func rearranged(t *testing.T, list []any, differences []change.Difference) []any {
	t.Helper()
	gone := map[int]bool{}
	at := map[int]any{}
	size := len(list)
	for _, d := range differences {
		switch d.Op {
		case change.OpRemove:
			gone[d.From-1] = true
			size--
		case change.OpAdd:
			at[d.To-1] = decoded(t, d.After)
			strip(at[d.To-1])
			size++
		case change.OpMove:
			gone[d.From-1] = true
			at[d.To-1] = list[d.From-1]
		}
	}
	var rest []any
	for i, item := range list {
		if !gone[i] {
			rest = append(rest, item)
		}
	}
	out := make([]any, size)
	for i := range out {
		if item, placed := at[i]; placed {
			out[i] = item
		} else {
			out[i], rest = rest[0], rest[1:]
		}
	}
	return out
}

func decoded(t *testing.T, text json.RawMessage) (value any) {
	t.Helper()
	if len(text) == 0 {
		return nil
	}
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

var lastStep = regexp.MustCompile(`\[(\d+|"(?:[^"\\]|\\.)*")\]$`)

var pathStep = regexp.MustCompile(`^\.?(?:([A-Za-z]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\])`)

// parentOf returns the object that the last step of the path is a member of, and the name
// of the member.
func parentOf(t *testing.T, content map[string]any, path string) (parent map[string]any, name string) {
	t.Helper()
	var here any = content
	for rest := path; ; {
		step := pathStep.FindStringSubmatch(rest)
		if step == nil {
			t.Fatalf("no valid path: %q", path)
		}
		rest = rest[len(step[0]):]
		key := step[1]
		if step[3] != "" {
			if err := json.Unmarshal([]byte(step[3]), &key); err != nil {
				t.Fatal(err)
			}
		}
		if rest == "" {
			parent, ok := here.(map[string]any)
			if !ok {
				t.Fatalf("%q is not in an object", path)
			}
			return parent, key
		}
		here = inside(t, here, key, step[2], path)
	}
}

// inside returns the member with the key, or the item with the index or key.
func inside(t *testing.T, here any, key, index, path string) any {
	t.Helper()
	switch here := here.(type) {
	case map[string]any:
		if here[key] == nil && key == "metadata" {
			here[key] = map[string]any{}
		}
		return here[key]
	case []any:
		if index != "" {
			if i, _ := strconv.Atoi(index); i < len(here) {
				return here[i]
			}
		}
		for _, item := range here {
			if variant, ok := item.(map[string]any); ok && variant["key"] == key {
				return variant
			}
		}
	}
	t.Fatalf("%q leads nowhere", path)
	return nil
}
