package fliptdb_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/migrate/fliptdb/fliptdbtest"
)

// There is a finding for each row that cannot be imported, also for the rows that depend on
// it, and for everything that Flipt does not define.
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
		{"an unknown flag type, and the rows that depend on it", func(d *fliptdbtest.Data) { d.Flags[0].Type = 2 }, []string{
			`flags n/f: skipped: flag type 2 is unknown`,
			`variants v: skipped: its flag "f" is not imported`,
			`rules r: skipped: its flag "f" is not imported`,
			`rule_segments r s: skipped: its rule is not imported`,
		}},
		{"an unknown match type, and the rule that depends on it", func(d *fliptdbtest.Data) { d.Segments[0].MatchType = 9 }, []string{
			`segments n/s: skipped: match type 9 is unknown`,
			`rule_segments r s: skipped: its segment is not imported, or is in a different namespace than its rule`,
			`rules r: skipped: it has no segment`,
		}},
		{"constraint", func(d *fliptdbtest.Data) {
			d.Constraints = []fliptdbtest.Constraint{{ID: "c", Namespace: "n", Segment: "s", Type: 6}, {ID: "e", Namespace: "n", Segment: "none"}}
		}, []string{
			`constraints c: skipped: comparison type 6 is unknown`,
			`constraints e: skipped: its segment "none" is not imported`,
		}},
		{"distributions to variants of another flag, or that do not exist", func(d *fliptdbtest.Data) {
			d.Distributions = []fliptdbtest.Distribution{{ID: "a", Rule: "r", Variant: "w"}, {ID: "b", Rule: "r", Variant: "x"}, {ID: "c", Rule: "x", Variant: "v"}}
		}, []string{
			`distributions a: skipped: variant "w" does not belong to its flag`,
			`distributions b: skipped: variant "x" does not belong to its flag`,
			`distributions c: skipped: its rule is not imported`,
		}},
		{"default variants of another flag, or that do not exist", func(d *fliptdbtest.Data) { d.Flags[0].Default, d.Flags[1].Default = "w", "gone" }, []string{
			`flags n/f, default_variant_id: skipped: variant "w" belongs to another flag`,
			`flags n/g: its default variant "gone" does not exist; imported without a default variant`,
		}},
		{"not JSON", func(d *fliptdbtest.Data) { d.Flags[0].Metadata, d.Variants[0].Attachment = "[1]", "{" }, []string{
			`flags n/f, metadata: skipped: it is not a JSON object`,
			`variants v, attachment: skipped: it is not JSON`,
		}},
		{"rollouts without segments or threshold", func(d *fliptdbtest.Data) {
			d.Thresholds = nil
			d.Rollouts = append(d.Rollouts, fliptdbtest.Rollout{ID: "p", Namespace: "n", Flag: "g", Type: 1, Rank: 2}, fliptdbtest.Rollout{ID: "q", Namespace: "n", Flag: "g", Type: 3, Rank: 3})
			d.RolloutSegments = []fliptdbtest.RolloutSegment{{ID: "ps", Rollout: "p"}, {ID: "os", Rollout: "o"}}
		}, []string{
			`rollouts q: skipped: rollout type 3 is unknown`,
			`rollout_segments os: skipped: rollout "o" has a different type, or already has segments`,
			`rollouts o: skipped: it has neither a segment nor a threshold`,
			`rollouts p: skipped: it has no segment`,
		}},
		{"orders that Flipt does not define", func(d *fliptdbtest.Data) {
			at := d.Rules[0].Stamps
			d.Rules = append(d.Rules, fliptdbtest.Rule{ID: "r2", Namespace: "n", Flag: "f", Rank: 1, Stamps: at})
			d.RuleSegments = append(d.RuleSegments, fliptdbtest.Reference{Owner: "r2", Namespace: "n", Segment: "s"})
			d.Distributions = []fliptdbtest.Distribution{{ID: "a", Rule: "r", Variant: "v", Stamps: at}, {ID: "b", Rule: "r", Variant: "v", Stamps: at}}
		}, []string{
			`distributions b: it was created at the same time as another one of its rule, and Flipt does not define which of them gets the lower buckets; compare some evaluations`,
			`rules r2: rank 1 is used twice, and Flipt does not define which comes first; the older one does here`,
		}},
		{"tokens", func(d *fliptdbtest.Data) {
			d.Authentications = []fliptdbtest.Authentication{{ID: "a", Hash: "1", Method: 7}, {ID: "b", Hash: "2", Method: 1, Metadata: `{"x":1}`}, {ID: "c", Method: 1}}
		}, []string{
			`authentications a: skipped: method 7 is unknown`,
			`authentications b: skipped: its metadata is not a JSON object of strings`,
			`authentications c: skipped: its token hash is empty, too long or used by another authentication`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := small()
			tt.change(data)
			content := read(t, flipt(t, data))
			var got []string
			for _, f := range content.Findings {
				got = append(got, f.String())
			}
			slices.Sort(got)
			slices.Sort(tt.want)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			write(t, content, target(t))
		})
	}
}
