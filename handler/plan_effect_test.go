package handler_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// planEffects are the effects in the response of a plan, with the summaries of their moves.
type planEffects struct {
	Digest  string
	Effects []struct {
		FlagKey string
		Effect  struct {
			Groups []struct{ Moves []struct{ Summary string } }
		}
	}
	EffectsTruncated bool
	Changes          []struct {
		Differences []struct {
			Summary string
			Wording wording
		}
	}
}

// wording is the parts of a summary.
type wording struct {
	Parts               []string
	Before, After, What string
}

func planEffectsFrom(t *testing.T, r reply) (p planEffects) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.body), &p); err != nil || r.status != 200 {
		t.Fatalf("got %d %.500s: %v", r.status, r.body, err)
	}
	return p
}

// TestPlanWithEffects: a plan has effects on request. Its digest is the same.
func TestPlanWithEffects(t *testing.T) {
	s := newAnalyzed(t)
	plan := func(more string) planEffects {
		return planEffectsFrom(t, s.must("", "POST", "/api/v1/namespaces/default/plan", `{"document":{
			"flags":[{"key":"banner","name":"Banner","type":"BOOLEAN_FLAG_TYPE","enabled":true,"rollouts":[{"segment":{"segmentKeys":["staff"],"value":true}},{"threshold":{"percentage":20,"value":true}}]}],
			"segments":[{"key":"guests","name":"Guests","constraints":[{"type":"STRING_COMPARISON_TYPE","property":"group","operator":"notempty"}]}]}`+more+"}"))
	}
	without, with := plan(""), plan(`,"withEffects":true`)
	worded := plan(`,"withEffects":true,"pageWords":true`)
	if d := worded.Changes[1].Differences[1]; worded.Digest != with.Digest || d.Summary != "rule 2: share 12.5% → 20%" ||
		cmp.Diff(wording{Parts: []string{"rule 2", "share"}, Before: "12.5%", After: "20%"}, d.Wording) != "" {
		t.Errorf("with the parts of summaries: got %+v", worded)
	}
	if d := with.Changes[1].Differences[1]; d.Summary != "rule 2: share 12.5% → 20%" || d.Wording.Parts != nil {
		t.Errorf("without the parts of summaries: got %+v", d)
	}
	if without.Effects == nil || len(without.Effects) > 0 || without.EffectsTruncated || with.Digest != without.Digest {
		t.Errorf("got %+v, and with effects the digest %s", without, with.Digest)
	}
	// The rule with the segment guests is never reached.
	if len(with.Effects) != 1 || with.Effects[0].FlagKey != "banner" || with.EffectsTruncated {
		t.Fatalf("got %+v", with)
	}
	var got []string
	for _, g := range with.Effects[0].Effect.Groups {
		for _, m := range g.Moves {
			got = append(got, m.Summary)
		}
	}
	if want := "87% of those in none of the segments go from off to on; "; strings.Join(got, "; ") != want {
		t.Errorf("got %q, want %s", got, want)
	}
}

// TestPlanEffectsLimits: a plan lists up to 100 effects, and 1 MiB of them.
func TestPlanEffectsLimits(t *testing.T) {
	withoutRaceDetector(t)
	s := newServer(t)
	for _, tt := range []struct {
		name           string
		flags, changed int
		key            string // of variants
		rules, want    int
	}{
		{"as many as there may be", 100, 100, "v", 1, 100},
		{"too many", 101, 101, "v", 1, 100},
		{"without those on which there is none", 150, 90, "v", 1, 90},
		{"too large", 8, 8, strings.Repeat("v", 250), 100, 4},
		{"a single one that is too large", 2, 2, strings.Repeat("v", 250), 500, 1},
	} {
		document := func(first, second string) string { // the variants of the edited flags
			segments := make([]string, tt.rules)
			for i := range segments {
				segments[i] = fmt.Sprintf(`{"key":"s%d","name":"S","constraints":[{"type":"STRING_COMPARISON_TYPE","property":"p%d","operator":"notempty"}]}`, i, i)
			}
			flags := make([]string, tt.flags)
			for i := range flags {
				one, two := tt.key+"1", tt.key+"2"
				if i < tt.changed {
					one, two = tt.key+first, tt.key+second
				}
				rules := make([]string, tt.rules)
				for j := range rules {
					rules[j] = fmt.Sprintf(`{"segmentKeys":["s%d"],"distributions":[{"variant":"%s","rollout":50},{"variant":"%s","rollout":50}]}`, j, one, two)
				}
				flags[i] = fmt.Sprintf(`{"key":"f%d","name":"F%s","enabled":true,"variants":[{"key":"%s1"},{"key":"%s2"}],"rules":[%s]}`, i, first, tt.key, tt.key, strings.Join(rules, ","))
			}
			return `"document":{"flags":[` + strings.Join(flags, ",") + `],"segments":[` + strings.Join(segments, ",") + `]}`
		}
		s.must("", "POST", "/api/v1/namespaces/default/import", `{"mode":"REPLACE_IMPORT_MODE",`+document("1", "2")+"}")
		p := planEffectsFrom(t, s.must("", "POST", "/api/v1/namespaces/default/plan", "{"+document("2", "1")+`,"withEffects":true}`))
		if len(p.Effects) != tt.want || p.EffectsTruncated != (tt.want < tt.changed) {
			t.Errorf("%s: got %d effects, truncated %t; want %d", tt.name, len(p.Effects), p.EffectsTruncated, tt.want)
		}
	}
}
