package fliptdb_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/migrate/fliptdb"
	"github.com/guidonhq/guidon/migrate/fliptdb/fliptdbtest"
)

// There is a finding for each object that cannot be imported as it is, and for everything that
// Flipt does not define.
func TestFindings(t *testing.T) {
	// small has one of each object that the tests below refer to.
	small := func() *fliptdbtest.Data {
		at := fliptdbtest.Stamps{Created: time.Unix(1, 0), Updated: time.Unix(1, 0)}
		return &fliptdbtest.Data{
			Namespaces:   []fliptdbtest.Namespace{{Key: "n", Stamps: at}},
			Segments:     []fliptdbtest.Segment{{Namespace: "n", Key: "s", Stamps: at}},
			Flags:        []fliptdbtest.Flag{{Namespace: "n", Key: "f", Stamps: at}, {Namespace: "n", Key: "g", Type: 1, Stamps: at}},
			Variants:     []fliptdbtest.Variant{{ID: "v", Namespace: "n", Flag: "f", Key: "v", Stamps: at}, {ID: "w", Namespace: "n", Flag: "g", Key: "w", Stamps: at}},
			Rules:        []fliptdbtest.Rule{{ID: "r", Namespace: "n", Flag: "f", Rank: 1, Stamps: at}},
			RuleSegments: []fliptdbtest.Reference{{Owner: "r", Namespace: "n", Segment: "s"}},
			Rollouts:     []fliptdbtest.Rollout{{ID: "o", Namespace: "n", Flag: "g", Type: 2, Rank: 1, Stamps: at}},
			Thresholds:   []fliptdbtest.Threshold{{ID: "t", Namespace: "n", Rollout: "o", Percentage: 5}},
		}
	}
	tests := []struct {
		name   string
		change func(d *fliptdbtest.Data)
		want   []string
	}{
		{"no findings", func(*fliptdbtest.Data) {}, nil},
		{"an unknown flag type", func(d *fliptdbtest.Data) { d.Flags[0].Type = 2 }, []string{`flag n/f: not imported: flag type 2 is unknown`}},
		{"an unknown match type, and the rule that depends on it", func(d *fliptdbtest.Data) { d.Segments[0].MatchType = 9 }, []string{
			`segment n/s: not imported: match type 9 is unknown`,
			`flag n/f: imported off: rules r: segment "s": match type 9 is unknown`,
		}},
		{"constraints", func(d *fliptdbtest.Data) {
			at := d.Flags[0].Stamps
			d.Constraints = []fliptdbtest.Constraint{
				{ID: "c", Namespace: "n", Segment: "s", Type: 6, Operator: "eq", Stamps: at}, {ID: "d", Namespace: "n", Segment: "s", Type: 1, Operator: "like", Stamps: at},
			}
		}, []string{
			`segment n/s: not imported: constraints c: comparison type 6 is unknown; constraints d: operator "like" is unknown`,
			`flag n/f: imported off: rules r: segment "s": constraints c: comparison type 6 is unknown, and 1 more`,
		}},
		{"a segment that does not exist", func(d *fliptdbtest.Data) { d.RuleSegments[0].Segment = "none" }, []string{
			`flag n/f: imported off: rules r: its segment "none" does not exist`,
		}},
		{"a segment of another namespace", func(d *fliptdbtest.Data) { d.RuleSegments[0].Namespace = "none" }, []string{
			`flag n/f: imported off: rules r: it has no segment`,
			`flag n/f: imported off: rules r: rule_segments r s: its segment is in another namespace`,
		}},
		{"distributions to variants of another flag, or that do not exist", func(d *fliptdbtest.Data) {
			at := d.Flags[0].Stamps
			d.Distributions = []fliptdbtest.Distribution{{ID: "a", Rule: "r", Variant: "w", Stamps: at}, {ID: "b", Rule: "r", Variant: "x", Stamps: at}}
		}, []string{
			`flag n/f: imported off: rules r: distributions a: variant "w" does not belong to the flag`,
			`flag n/f: imported off: rules r: distributions b: variant "x" does not belong to the flag`,
		}},
		{"default variants of another flag, or that do not exist", func(d *fliptdbtest.Data) { d.Flags[0].Default, d.Flags[1].Default = "w", "gone" }, []string{
			`flag n/f: imported off: its default variant "w" belongs to another flag`,
			`flag n/g: imported off: its default variant "gone" does not exist`,
		}},
		{"not JSON", func(d *fliptdbtest.Data) { d.Flags[0].Metadata, d.Variants[0].Attachment = "[1]", "{" }, []string{
			`flag n/f: imported off: metadata: it is not a JSON object`,
			`flag n/f: imported off: variants v: attachment: it is not JSON`,
		}},
		{"rollouts without segments or threshold", func(d *fliptdbtest.Data) {
			at := d.Flags[0].Stamps
			d.Thresholds = nil
			d.Rollouts = append(d.Rollouts, fliptdbtest.Rollout{ID: "p", Namespace: "n", Flag: "g", Type: 1, Rank: 2, Stamps: at}, fliptdbtest.Rollout{ID: "q", Namespace: "n", Flag: "g", Type: 3, Rank: 3, Stamps: at})
			d.RolloutSegments = []fliptdbtest.RolloutSegment{{ID: "ps", Rollout: "p"}}
		}, []string{
			`flag n/g: imported off: rollouts o: it has neither a segment nor a threshold`,
			`flag n/g: imported off: rollouts p: it has no segment`,
			`flag n/g: imported off: rollouts q: it has neither a segment nor a threshold`,
			`flag n/g: imported off: rollouts q: rollout type 3 is unknown`,
		}},
		{"a rollout with segments and a threshold", func(d *fliptdbtest.Data) {
			d.RolloutSegments = []fliptdbtest.RolloutSegment{{ID: "os", Rollout: "o"}}
		}, []string{
			`flag n/g: imported off: rollouts o: it has no segment`,
			`flag n/g: imported off: rollouts o: rollout_segments os: the rollout has another type, or already has segments`,
		}},
		{"orders that Flipt does not define", func(d *fliptdbtest.Data) {
			at := d.Rules[0].Stamps
			d.Rules = append(d.Rules, fliptdbtest.Rule{ID: "r2", Namespace: "n", Flag: "f", Rank: 1, Stamps: at})
			d.RuleSegments = append(d.RuleSegments, fliptdbtest.Reference{Owner: "r2", Namespace: "n", Segment: "s"})
			d.Distributions = []fliptdbtest.Distribution{{ID: "a", Rule: "r", Variant: "v", Rollout: 1, Stamps: at}, {ID: "b", Rule: "r", Variant: "v", Rollout: 1, Stamps: at}}
		}, []string{
			`flag n/f: distributions b: it was created at the same time as another one of its rule, and Flipt does not define which of them gets the lower buckets; compare some evaluations`,
			`flag n/f: rules r2: rank 1 is used twice, and Flipt does not define which comes first; the older one does here`,
		}},
		{"tokens", func(d *fliptdbtest.Data) {
			at := d.Flags[0].Stamps
			d.Authentications = []fliptdbtest.Authentication{{ID: "a", Hash: "1", Method: 7, Stamps: at}, {ID: "b", Hash: "2", Method: 1, Metadata: `{"x":1}`, Stamps: at}, {ID: "c", Method: 1, Stamps: at}}
		}, []string{
			`authentications a: not imported: method 7 is unknown`,
			`authentications b: not imported: its metadata is not a JSON object of strings`,
			`authentications c: not imported: its token hash is empty, too long or used by another authentication`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := small()
			tt.change(data)
			content := read(t, flipt(t, data))
			compareFindings(t, content, tt.want)
			write(t, content, target(t))
		})
	}
}

func compareFindings(t *testing.T, content *fliptdb.Content, want []string) {
	t.Helper()
	var got []string
	for _, f := range content.Findings {
		got = append(got, f.String())
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
