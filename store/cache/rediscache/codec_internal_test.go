package rediscache

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// TestUnreadable: what this release cannot read comes back as it was stored.
func TestUnreadable(t *testing.T) {
	revision := guidon.Revision{Number: 7, Stamp: -7}
	for _, stored := range []string{`{"key":"a","type":"NEWER","matchType":"NEWER"}`, "\xff{", ""} {
		unreadable := guidon.ReadFlag("a", []byte(stored))
		unreadable.Created = guidon.Position{Revision: 3, Sequence: 1}
		before := guidon.NewSnapshot(&guidon.Namespace{Key: "n"}, revision,
			[]*guidon.Flag{{Key: "first"}, unreadable, {Key: "last", Created: guidon.Position{Revision: 4}}},
			[]*guidon.Segment{guidon.ReadSegment("a", []byte(stored))})
		text, err := encode(before)
		if err != nil {
			t.Fatal(err)
		}
		after := decode(text, "n", revision)
		if after == nil || len(after.Flags()) != 3 || len(after.Unreadable()) != 2 {
			t.Fatalf("%q: got %v", stored, after)
		}
		f, g := after.Flags()[1], after.Segments()[0]
		if f.Key != "a" || f.Created != unreadable.Created || string(f.Unreadable.Stored) != stored || string(g.Unreadable.Stored) != stored {
			t.Errorf("%q: got %+v and %+v", stored, f, g)
		}
	}
}

// TestMarks: a release that would ignore a part of a flag or segment cannot read it here either.
func TestMarks(t *testing.T) {
	flag := &guidon.Flag{Key: "f", Type: guidon.BooleanFlag, Requires: []guidon.Requirement{{FlagKey: "g"}}}
	segment := &guidon.Segment{Key: "s", Constraints: []*guidon.Constraint{{Type: guidon.StringComparison, Property: "p", Operator: guidon.OpEQ, Value: "a", Negate: true}}}
	revision := guidon.Revision{Number: 7}
	text, err := encode(guidon.NewSnapshot(&guidon.Namespace{Key: "n"}, revision, []*guidon.Flag{flag}, []*guidon.Segment{segment}))
	if err != nil || !strings.Contains(text, `"BOOLEAN_FLAG_TYPE+3"`) || !strings.Contains(text, `"STRING_COMPARISON_TYPE+1"`) {
		t.Errorf("got %q, %v, want marks", text, err)
	}
	after := decode(text, "n", revision)
	if diff := cmp.Diff(flag, after.Flag("f")); diff != "" {
		t.Errorf("the flag (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(segment, after.Segment("s")); diff != "" {
		t.Errorf("the segment (-want +got):\n%s", diff)
	}
}

// FuzzDecode: whatever is in Redis, decode returns the requested snapshot or none.
func FuzzDecode(f *testing.F) {
	revision := guidon.Revision{Number: 7, Stamp: -7}
	for _, flags := range []int{0, 100} {
		all := make([]*guidon.Flag, flags)
		for i := range all {
			all[i] = &guidon.Flag{Key: service.NewID(), Name: "Flag"}
		}
		text, err := encode(guidon.NewSnapshot(&guidon.Namespace{Key: "a"}, revision, all, nil))
		if err != nil {
			f.Fatal(err)
		}
		if decode(text, "a", revision) == nil {
			f.Fatal("an encoded snapshot is not decoded")
		}
		if decode(text, "b", revision) != nil || decode(text, "a", guidon.Revision{Number: 7}) != nil {
			f.Fatal("it is decoded as another snapshot")
		}
		f.Add(text[0], text[headerSize:])
	}
	for _, body := range []string{"", "null", `{}`, `{"namespace":{"key":"a"},"revision":{"Number":7,"Stamp":-7},"flags":[null]}`} {
		f.Add(byte(formatPlain), body)
	}
	f.Fuzz(func(t *testing.T, format byte, body string) {
		// With a valid checksum: otherwise nothing else would be tested.
		if s := decode(seal(format, []byte(body)), "a", revision); s != nil && (s.Namespace().Key != "a" || s.Revision() != revision) {
			t.Errorf("got %q at %v", s.Namespace().Key, s.Revision())
		}
	})
}
