package guidon_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
)

const (
	storedFlag    = `{"key":"f","name":"F","type":"BOOLEAN_FLAG_TYPE","enabled":false,"rollouts":[{"id":"o","rank":1,"segment":{"segmentKeys":["g"],"segmentOperator":"OR_SEGMENT_OPERATOR","value":true},"createdAt":"2024-01-01T00:00:00Z","updatedAt":"2024-01-01T00:00:00Z"}],"createdAt":"2024-01-01T00:00:00Z","updatedAt":"2024-01-01T00:00:00Z"}`
	storedSegment = `{"key":"g","name":"G","matchType":"ALL_MATCH_TYPE","constraints":[{"id":"c","type":"STRING_COMPARISON_TYPE","property":"p","operator":"eq","value":"v","createdAt":"2024-01-01T00:00:00Z","updatedAt":"2024-01-01T00:00:00Z"}],"createdAt":"2024-01-01T00:00:00Z","updatedAt":"2024-01-01T00:00:00Z"}`
)

// damagedFlags are stored forms of the flag f, and damagedSegments of the segment g, that
// cannot be read.
var damagedFlags = map[string]string{
	"an unknown type":            strings.Replace(storedFlag, "BOOLEAN_FLAG_TYPE", "NEWER_FLAG_TYPE", 1),
	"an unknown operator":        strings.Replace(storedFlag, "OR_SEGMENT_OPERATOR", "XOR_SEGMENT_OPERATOR", 1),
	"an unknown kind of rollout": strings.Replace(storedFlag, `"segment":`, `"schedule":`, 1),
	"both kinds of rollout":      strings.Replace(storedFlag, `"segment":`, `"threshold":{"percentage":1},"segment":`, 1),
	"null in a list":             strings.Replace(storedFlag, `"rollouts":[`, `"rollouts":[null,`, 1),
	"null in a rule":             strings.Replace(storedFlag, `"rollouts":`, `"rules":[{"distributions":[null]}],"rollouts":`, 1),
	"another key":                strings.Replace(storedFlag, `"key":"f"`, `"key":"other"`, 1),
	"a text instead of a bool":   strings.Replace(storedFlag, `false`, `"false"`, 1),
	"half of it":                 storedFlag[:len(storedFlag)/2],
	"null in groups":             withGroups(`null`),
	"a null constraint":          withGroups(`{"matchType":"ALL_MATCH_TYPE","constraints":[null]}`),
	"an unknown match type":      withGroups(`{"matchType":"NONE_MATCH_TYPE","constraints":[]}`),
	"an unknown comparison":      withGroups(`{"matchType":"ALL_MATCH_TYPE","constraints":[{"type":"REGEXP_COMPARISON_TYPE","property":"p","operator":"eq"}]}`),
	"an unknown operator within": withGroups(`{"matchType":"ALL_MATCH_TYPE","constraints":[{"type":"STRING_COMPARISON_TYPE","property":"p","operator":"matches"}]}`),
	"an unknown hash":            strings.Replace(storedFlag, `"rank":1,`, `"rank":1,"portion":{"percentage":5,"hash":"sha1"},`, 1),
	"an unknown hash of a rule":  strings.Replace(storedFlag, `"rollouts":`, `"rules":[{"split":{"hash":"sha1"}}],"rollouts":`, 1),
	"an unknown mark":            strings.Replace(storedFlag, "BOOLEAN_FLAG_TYPE", "BOOLEAN_FLAG_TYPE+4", 1),
	"null":                       `null`,
	"nothing":                    ``,
}

// withGroups is the stored flag with groups of constraints in its rollout, of which the second
// one is as given.
func withGroups(second string) string {
	return strings.Replace(storedFlag, `"rank":1,`, `"rank":1,"groups":[{"matchType":"ANY_MATCH_TYPE","constraints":[]},`+second+`],`, 1)
}

var damagedSegments = map[string]string{
	"an unknown match type":         strings.Replace(storedSegment, "ALL_MATCH_TYPE", "NONE_MATCH_TYPE", 1),
	"an unknown type of constraint": strings.Replace(storedSegment, "STRING_COMPARISON_TYPE", "REGEXP_COMPARISON_TYPE", 1),
	"an unknown operator":           strings.Replace(storedSegment, `"eq"`, `"matches"`, 1),
	"null in a list":                strings.Replace(storedSegment, `"constraints":[`, `"constraints":[null,`, 1),
	"another key":                   strings.Replace(storedSegment, `"key":"g"`, `"key":"other"`, 1),
	"half of it":                    storedSegment[:len(storedSegment)/2],
	"nothing":                       ``,
}

// fails checks that the flag fails to be evaluated, and that another one does not.
func fails(t *testing.T, s *guidon.Snapshot, want string) {
	t.Helper()
	_, variant := s.Variant("f", "e", nil)
	_, boolean := s.Boolean("f", "e", nil)
	for _, err := range []error{variant, boolean, s.Compiled("f").Err()} {
		if !errors.Is(err, guidon.Unimplemented) || guidon.PublicMessage(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if got := s.EvaluableFlags(); len(got) != 1 || got[0].Key != "other" {
		t.Errorf("got the flags %v, want other", got)
	}
	if got, err := s.Boolean("other", "e", nil); err != nil || !got.Enabled {
		t.Errorf("another flag: got %+v, %v", got, err)
	}
}

func other() *guidon.Flag {
	return &guidon.Flag{Key: "other", Type: guidon.BooleanFlag, Enabled: true, Created: guidon.Position{Revision: 9}}
}

// TestUnreadableFlag: a flag whose stored form cannot be read fails, and no other one does.
func TestUnreadableFlag(t *testing.T) {
	for name, stored := range damagedFlags {
		t.Run(name, func(t *testing.T) {
			f := guidon.ReadFlag("f", []byte(stored))
			if f.Unreadable == nil || f.Key != "f" || string(f.Unreadable.Stored) != stored {
				t.Fatalf("got %+v", f)
			}
			if _, err := json.Marshal(f); err == nil {
				t.Error("it can be encoded")
			}
			s := guidon.NewSnapshot(&guidon.Namespace{Key: "n"}, guidon.Revision{Number: 1}, []*guidon.Flag{f, other()}, nil)
			fails(t, s, `flag "f" needs a newer release of Guidon, or is damaged`)
			healed := s.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{guidon.ReadFlag("f", []byte(storedFlag))}})
			if got, err := healed.Boolean("f", "e", nil); err != nil || got.Enabled || len(healed.Unreadable()) > 0 {
				t.Errorf("once it can be read: %+v, %v, %v", got, err, healed.Unreadable())
			}
			fails(t, healed.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{f}}), `flag "f" needs a newer release of Guidon, or is damaged`)
			if got := s.Apply(guidon.SnapshotDelta{DeletedFlags: []string{"f"}}).Unreadable(); len(got) > 0 || len(s.Unreadable()) != 1 {
				t.Errorf("once it is deleted: %v", got)
			}
		})
	}
}

// TestUnreadableSegment: all flags that refer to a segment that cannot be read fail, whatever
// their rules and rollouts before.
func TestUnreadableSegment(t *testing.T) {
	const want = `flag "f" cannot be evaluated: segment "g" needs a newer release of Guidon, or is damaged`
	flag := guidon.ReadFlag("f", []byte(storedFlag))
	flag.Rollouts = append([]*guidon.Rollout{{ID: "first", Threshold: &guidon.RolloutThreshold{Percentage: 100}}}, flag.Rollouts...)
	for name, stored := range damagedSegments {
		t.Run(name, func(t *testing.T) {
			g := guidon.ReadSegment("g", []byte(stored))
			if g.Unreadable == nil || g.Key != "g" {
				t.Fatalf("got %+v", g)
			}
			s := guidon.NewSnapshot(&guidon.Namespace{Key: "n"}, guidon.Revision{Number: 1}, []*guidon.Flag{flag, other()}, []*guidon.Segment{g})
			fails(t, s, want)
			got := slices.SortedFunc(maps.Keys(s.Unreadable()), func(a, b guidon.UnreadableKey) int { return strings.Compare(a.Kind, b.Kind) })
			if diff := cmp.Diff([]guidon.UnreadableKey{{Kind: "flag", Key: "f"}, {Kind: "segment", Key: "g"}}, got); diff != "" {
				t.Errorf("unreadable (-want +got):\n%s", diff)
			}
			healed := s.Apply(guidon.SnapshotDelta{Segments: []*guidon.Segment{guidon.ReadSegment("g", []byte(storedSegment))}})
			if _, err := healed.Boolean("f", "e", nil); err != nil || len(healed.Unreadable()) > 0 {
				t.Errorf("once it can be read: %v, %v", err, healed.Unreadable())
			}
			fails(t, healed.Apply(guidon.SnapshotDelta{Segments: []*guidon.Segment{g}}), want)
		})
	}
}

// TestUnreadableUses: what an unreadable flag appears to refer to counts as used.
func TestUnreadableUses(t *testing.T) {
	for name, stored := range damagedFlags {
		f := guidon.ReadFlag("f", []byte(stored))
		uses := analysis.SegmentUses([]*guidon.Flag{f})["g"]
		if want := strings.Contains(stored, `"segmentKeys":["g"]`); want != (len(uses) == 1) {
			t.Errorf("%s: got %d uses of the segment, want one: %t", name, len(uses), want)
		}
	}
	excepted := strings.Replace(damagedFlags["an unknown mark"], `"rank":1,`, `"rank":1,"exceptSegmentKeys":["h"],`, 1)
	if uses := analysis.SegmentUses([]*guidon.Flag{guidon.ReadFlag("f", []byte(excepted))}); len(uses["g"]) != 1 || len(uses["h"]) != 1 {
		t.Errorf("got %v, want uses of the segment and of the exception", uses)
	}
}

// TestStoredFlag: the stored form of a flag with conditions is marked, and read without the mark.
// That of any other flag is as ever.
func TestStoredFlag(t *testing.T) {
	marked := strings.Replace(storedFlag, "BOOLEAN_FLAG_TYPE", "BOOLEAN_FLAG_TYPE+1", 1)
	threshold := `{"id":"o","rank":1,"threshold":{"percentage":5,"value":true%s},"createdAt":"2024-01-01T00:00:00Z","updatedAt":"2024-01-01T00:00:00Z"}`
	rollouts := func(stored, rollout string) string {
		return stored[:strings.Index(stored, `"rollouts":[`)] + `"rollouts":[` + rollout + stored[strings.LastIndex(stored, `],"createdAt"`):]
	}
	rule := func(rule string) string {
		stored := strings.Replace(marked, "BOOLEAN", "VARIANT", 1)
		return stored[:strings.Index(stored, `"rollouts":[`)] + `"rules":[{"id":"r","segmentKeys":null,"segmentOperator":"OR_SEGMENT_OPERATOR","rank":1,` +
			`"createdAt":"2024-01-01T00:00:00Z","updatedAt":"2024-01-01T00:00:00Z",` + rule + `}` + stored[strings.LastIndex(stored, `],"createdAt"`):]
	}
	const end = `"updatedAt":"2024-01-01T00:00:00Z"}],`
	for name, stored := range map[string]string{
		"without conditions": storedFlag,
		"a threshold":        rollouts(storedFlag, strings.Replace(threshold, "%s", "", 1)),
		"groups": strings.Replace(marked, end, `"updatedAt":"2024-01-01T00:00:00Z","groups":[{"matchType":"ANY_MATCH_TYPE","constraints":[`+
			`{"type":"VERSION_COMPARISON_TYPE","property":"app","operator":"gte","value":"2","negate":true}]}]}],`, 1),
		"exceptions":              strings.Replace(marked, end, `"updatedAt":"2024-01-01T00:00:00Z","exceptSegmentKeys":["h"]}],`, 1),
		"a portion":               strings.Replace(marked, end, `"updatedAt":"2024-01-01T00:00:00Z","portion":{"percentage":5,"start":1,"by":"b","seed":"s","hash":"murmur3"}}],`, 1),
		"a threshold by tenant":   rollouts(marked, strings.Replace(threshold, "%s", `,"start":5,"split":{"by":"tenant"}`, 1)),
		"a split":                 rule(`"split":{"hash":"flipt-fine"},"everyone":true`),
		"a hash":                  rule(`"split":{"seed":"g:","hash":"unleash"},"everyone":true`),
		"the default in the code": rule(`"codeDefault":true,"everyone":true`),
		"a ramp of a threshold": rollouts(strings.Replace(marked, "+1", "+2", 1), strings.Replace(threshold, "%s",
			`,"ramp":{"start":"2026-12-01T09:00:00Z","initial":5,"over":60000000000,"confirm":{"every":60000000000,"lapse":"BACK"}}`, 1)),
		"a requirement of the flag": strings.Replace(strings.Replace(marked, "+1", "+3", 1), `}],"createdAt"`, `}],"requires":[{"flagKey":"g"}],"createdAt"`, 1),
		"a requirement of a rule":   strings.Replace(rule(`"everyone":true,"requires":[{"flagKey":"g","answers":["b","c"]}]`), "+1", "+3", 1),
		"a ramp of a portion":       strings.Replace(rule(`"everyone":true,"portion":{"percentage":5,"ramp":{"start":"2026-12-01T09:00:00Z","steps":[{"percentage":1,"for":60000000000}]}}`), "+1", "+2", 1),
	} {
		f := guidon.ReadFlag("f", []byte(stored))
		if f.Unreadable != nil || !f.Type.Known() {
			t.Errorf("%s: got %+v", name, f)
		}
		got, err := json.Marshal(f.Stored())
		if diff := cmp.Diff(stored, string(got)); err != nil || diff != "" {
			t.Errorf("%s: %v (-read +stored):\n%s", name, err, diff)
		}
	}
}
