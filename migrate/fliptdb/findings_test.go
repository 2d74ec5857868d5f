package fliptdb_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/migrate/fliptdb/fliptdbtest"
)

// What cannot be taken over is said, with everything that hangs on it, and so
// is what Flipt itself leaves open.
func TestFindings(t *testing.T) {
	// small has one of everything that rows below need.
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
		{"nothing to say", func(*fliptdbtest.Data) {}, nil},
		{"a flag type of tomorrow takes its rows along", func(d *fliptdbtest.Data) { d.Flags[0].Type = 2 }, []string{
			`flags n/f: left out: flag type 2 is unknown`,
			`variants v: left out: its flag "f" is not taken over`,
			`rules r: left out: its flag "f" is not taken over`,
			`rule_segments r s: left out: its rule is not taken over`,
		}},
		{"an unknown match type takes the rule along", func(d *fliptdbtest.Data) { d.Segments[0].MatchType = 9 }, []string{
			`segments n/s: left out: match type 9 is unknown`,
			`rule_segments r s: left out: its segment is not taken over, or is in another namespace than its rule`,
			`rules r: left out: it has no segment`,
		}},
		{"constraint", func(d *fliptdbtest.Data) {
			d.Constraints = []fliptdbtest.Constraint{{ID: "c", Namespace: "n", Segment: "s", Type: 6}, {ID: "e", Namespace: "n", Segment: "none"}}
		}, []string{
			`constraints c: left out: comparison type 6 is unknown`,
			`constraints e: left out: its segment "none" is not taken over`,
		}},
		{"distributions to a variant of another flag, and to none", func(d *fliptdbtest.Data) {
			d.Distributions = []fliptdbtest.Distribution{{ID: "a", Rule: "r", Variant: "w"}, {ID: "b", Rule: "r", Variant: "x"}, {ID: "c", Rule: "x", Variant: "v"}}
		}, []string{
			`distributions a: left out: variant "w" is not one of its flag`,
			`distributions b: left out: variant "x" is not one of its flag`,
			`distributions c: left out: its rule is not taken over`,
		}},
		{"default variants that are gone or foreign", func(d *fliptdbtest.Data) { d.Flags[0].Default, d.Flags[1].Default = "w", "gone" }, []string{
			`flags n/f, default_variant_id: left out: variant "w" belongs to another flag`,
			`flags n/g: its default variant "gone" does not exist; it has none`,
		}},
		{"not JSON", func(d *fliptdbtest.Data) { d.Flags[0].Metadata, d.Variants[0].Attachment = "[1]", "{" }, []string{
			`flags n/f, metadata: left out: it is not a JSON object`,
			`variants v, attachment: left out: it is not JSON`,
		}},
		{"rollouts without what they decide by", func(d *fliptdbtest.Data) {
			d.Thresholds = nil
			d.Rollouts = append(d.Rollouts, fliptdbtest.Rollout{ID: "p", Namespace: "n", Flag: "g", Type: 1, Rank: 2}, fliptdbtest.Rollout{ID: "q", Namespace: "n", Flag: "g", Type: 3, Rank: 3})
			d.RolloutSegments = []fliptdbtest.RolloutSegment{{ID: "ps", Rollout: "p"}, {ID: "os", Rollout: "o"}}
		}, []string{
			`rollouts q: left out: rollout type 3 is unknown`,
			`rollout_segments os: left out: rollout "o" is of another type, or has its segments already`,
			`rollouts o: left out: it has neither segment nor threshold`,
			`rollouts p: left out: it has no segment`,
		}},
		{"orders that Flipt leaves open", func(d *fliptdbtest.Data) {
			at := d.Rules[0].Stamps
			d.Rules = append(d.Rules, fliptdbtest.Rule{ID: "r2", Namespace: "n", Flag: "f", Rank: 1, Stamps: at})
			d.RuleSegments = append(d.RuleSegments, fliptdbtest.Reference{Owner: "r2", Namespace: "n", Segment: "s"})
			d.Distributions = []fliptdbtest.Distribution{{ID: "a", Rule: "r", Variant: "v", Stamps: at}, {ID: "b", Rule: "r", Variant: "v", Stamps: at}}
		}, []string{
			`distributions b: it was created at the same instant as another of its rule, and Flipt does not define which of them gets the lower buckets; compare some answers`,
			`rules r2: rank 1 is used twice, and Flipt does not define which comes first; here it is the older one`,
		}},
		{"tokens", func(d *fliptdbtest.Data) {
			d.Authentications = []fliptdbtest.Authentication{{ID: "a", Hash: "1", Method: 7}, {ID: "b", Hash: "2", Method: 1, Metadata: `{"x":1}`}, {ID: "c", Method: 1}}
		}, []string{
			`authentications a: left out: method 7 is unknown`,
			`authentications b: left out: its metadata is not a JSON object of texts`,
			`authentications c: left out: its token hash is empty, too long or that of another authentication`,
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
