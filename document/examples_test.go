package document_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/storetest"
)

// example returns the documents and the bytes of a file in examples/.
func example(t *testing.T, name string) ([]*service.Document, []byte) {
	t.Helper()
	file, err := os.ReadFile("../examples/" + name)
	if err != nil {
		t.Fatal(err)
	}
	format, err := document.FormatOf(name)
	if err != nil {
		t.Fatal(err)
	}
	documents, err := document.Decode(file, format, document.RejectUnknown)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return documents, file
}

// TestExampleCoverage checks that the examples have everything that a namespace can have.
func TestExampleCoverage(t *testing.T) {
	documents, _ := example(t, "shop.yaml")
	if got := len(documents); got != 2 {
		t.Errorf("got %d namespaces, want 2", got)
	}
	targeting, _ := example(t, "targeting.yaml")
	documents = append(documents, targeting...)
	seen := map[string]int{}
	for _, d := range documents {
		if err := d.Validate(); err != nil {
			t.Errorf("%s: %v", d.Namespace.Key, err)
		}
		for _, f := range d.Flags {
			noteFlag(seen, f)
		}
		for _, g := range d.Segments {
			seen["segment"]++
			seen[g.MatchType.String()]++
			for _, c := range g.Constraints {
				seen[c.Type.String()+" "+c.Operator]++
				if c.Negate {
					seen["not"]++
				}
			}
		}
	}
	for what, want := range map[string]int{
		"flag": 40, "VARIANT_FLAG_TYPE": 15, "BOOLEAN_FLAG_TYPE": 15, "segment": 20, "ALL_MATCH_TYPE": 5, "ANY_MATCH_TYPE": 5,
		"attachment": 30, "metadata": 20, "default": 10, "disabled": 5, "not": 2, "several distributions": 5,
		"rule of several, OR": 2, "rule of several, AND": 2, "rollout of several, OR": 2, "rollout of several, AND": 2, "threshold": 5, "segment rollout": 5,
		"if, ALL_MATCH_TYPE": 1, "if, ANY_MATCH_TYPE": 1, "except": 1, "everyone": 1, "portion": 2, "portion that starts later": 1,
		"split by": 1, "code_default": 1, "threshold by": 1,
	} {
		if seen[what] < want {
			t.Errorf("%s: got %d, want at least %d", what, seen[what], want)
		}
	}
	for _, pair := range comparisonPairs() {
		if seen[pair] == 0 {
			t.Errorf("no constraint has %s", pair)
		}
	}
}

func noteConditions(note func(what string, holds bool), c *guidon.Conditions) {
	for _, g := range c.Groups {
		note("if, "+g.MatchType.String(), true)
	}
	note("except", len(c.ExceptSegmentKeys) > 0)
	note("everyone", c.Everyone)
	note("portion", c.Portion != nil)
	note("portion that starts later", c.Portion != nil && c.Portion.Start > 0 && c.Portion.Seed != "")
}

func noteFlag(seen map[string]int, f *guidon.Flag) {
	note := func(what string, holds bool) {
		if holds {
			seen[what]++
		}
	}
	combination := map[guidon.SegmentOperator]string{guidon.OrSegments: "OR", guidon.AndSegments: "AND"}
	seen["flag"]++
	seen[f.Type.String()]++
	note("metadata", len(f.Metadata) > 0)
	note("disabled", !f.Enabled)
	for _, v := range f.Variants {
		note("attachment", v.Attachment != "")
		note("default", v.Key == f.DefaultVariantID)
	}
	for _, r := range f.Rules {
		note("rule of several, "+combination[r.SegmentOperator], len(r.SegmentKeys) > 1)
		note("several distributions", len(r.Distributions) > 1)
		note("split by", r.Split != nil && r.Split.By != "" && r.Split.Seed != "")
		note("code_default", r.CodeDefault)
		noteConditions(note, r.Stated())
	}
	for _, r := range f.Rollouts {
		note("threshold", r.Threshold != nil)
		note("segment rollout", r.Segment != nil)
		note("threshold by", r.Threshold != nil && r.Threshold.Split != nil && r.Threshold.Split.By != "")
		noteConditions(note, r.Stated())
		if r.Segment != nil {
			note("rollout of several, "+combination[r.Segment.SegmentOperator], len(r.Segment.SegmentKeys) > 1)
		}
	}
}

// comparisonPairs returns every comparison type with every operator that it accepts
// (contract 4.3).
func comparisonPairs() []string {
	var out []string
	for _, operator := range guidon.Operators() {
		for _, comparison := range operator.Types {
			out = append(out, fmt.Sprint(comparison, " ", operator.Name))
		}
	}
	return out
}

// TestExampleFormats checks that both files have the same content.
func TestExampleFormats(t *testing.T) {
	fromYAML, _ := example(t, "shop.yaml")
	fromJSON, _ := example(t, "shop.json")
	if diff := cmp.Diff(fromYAML, fromJSON); diff != "" {
		t.Errorf("shop.yaml and shop.json differ:\n%s", diff)
	}
}

// newService returns a service over an empty SQLite database.
func newService(t *testing.T) *service.Service {
	t.Helper()
	db := storetest.NewSQLite(t)
	return service.NewService(db, time.Now)
}

// TestExampleThroughStore checks that an export after an import is byte for byte the file,
// and that importing it again changes nothing.
func TestExampleThroughStore(t *testing.T) {
	ctx := t.Context()
	svc := newService(t)
	for _, name := range []string{"shop.yaml", "shop.json", "targeting.yaml"} {
		documents, file := example(t, name)
		var exported []*service.Document
		for _, d := range documents {
			result, _, err := svc.Import(ctx, service.Write{}, d.Namespace.Key, d, service.ImportUpdate, false)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if name == "shop.json" && len(result.Changes) > 0 {
				t.Errorf("%s: importing again changed %d objects", d.Namespace.Key, len(result.Changes))
			}
			view, err := svc.View(ctx, d.Namespace.Key, service.Demand{})
			if err != nil {
				t.Fatal(err)
			}
			exported = append(exported, view.Export(false).Document())
		}
		format, err := document.FormatOf(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(file), encode(t, format, exported...)); diff != "" {
			t.Errorf("%s (-file +exported):\n%s", name, diff)
		}
	}
}

// TestExampleEvaluations checks the evaluation results in examples/README.md.
func TestExampleEvaluations(t *testing.T) {
	ctx, svc := t.Context(), newService(t)
	documents, _ := example(t, "shop.yaml")
	for _, d := range documents {
		if _, _, err := svc.Import(ctx, service.Write{}, d.Namespace.Key, d, service.ImportCreate, false); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		flag, entity string
		context      map[string]string
		want         string
	}{
		{"checkout-redesign", "u-1001", nil, "express"},
		{"payment-methods", "visitor-7", map[string]string{"country": "SE"}, "nordics"},
		{"homepage-layout", "visitor-7", nil, "grid"},
	} {
		got, _, err := svc.EvaluateVariant(ctx, service.Demand{}, service.EvaluationRequest{FlagKey: test.flag, EntityID: test.entity, Context: test.context})
		if err != nil || got.VariantKey != test.want {
			t.Errorf("%s for %s: got %q, %v; want %q", test.flag, test.entity, got.VariantKey, err, test.want)
		}
	}
}
