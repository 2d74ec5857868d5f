package docs_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
)

var update = flag.Bool("update", false, "write the pictures of buckets and ramps, and scale.md")

// TestBuckets checks that the pictures of rollouts.md are what the engine does. With -update
// it writes them.
func TestBuckets(t *testing.T) {
	for name, bars := range map[string][]bar{"rollout": rolloutBars(t), "shares": shareBars(t)} {
		for _, theme := range themes {
			checkGenerated(t, filepath.Join("pictures", name+"-"+theme.name+".svg"), draw(bars, theme))
		}
	}
}

// checkGenerated checks that the file has the text. With -update it writes it.
func checkGenerated(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil { // #nosec G306 -- a page or picture
			t.Fatal(err)
		}
	}
	if read(t, path) != got {
		t.Errorf("docs/%s is not current; run go test ./docs -update", path)
	}
}

// bar is one flag in a picture: its buckets from left to right, by what they give, and the
// entities in them.
type bar struct {
	title    string
	of       int // buckets
	ranges   []barRange
	entities []placed
}

// barRange is the buckets from the end of the previous range to its own, which is exclusive.
type barRange struct {
	end  int
	text string
	tone int // of the colors of the theme
}

// placed is an entity in its bucket.
type placed struct {
	id     string
	bucket int
}

// rolloutBars are those of a boolean flag whose percentage grows, and of another flag.
func rolloutBars(t *testing.T) []bar {
	t.Helper()
	var bars []bar
	users := apart(t, 7, booleanFlag("new-checkout", 50), booleanFlag("new-search", 50))
	for _, c := range []struct {
		key        string
		percentage float32
	}{{"new-checkout", 10}, {"new-checkout", 50}, {"new-search", 50}} {
		b := bar{title: fmt.Sprintf("%s, threshold %g %%", c.key, c.percentage), of: 100, ranges: []barRange{{int(c.percentage), "true", 0}, {100, "false", 1}}}
		for _, id := range users {
			b.entities = append(b.entities, placed{id, placeOf(t, booleanFlag(c.key, c.percentage), id).Number})
		}
		bars = append(bars, b)
	}
	return bars
}

// shareBars are those of a variant flag whose shares change.
func shareBars(t *testing.T) []bar {
	t.Helper()
	variants := []string{"classic", "one-page", "express"}
	var bars []bar
	users := apart(t, 8, variantFlag(variants, []float32{80, 10, 10}))
	for _, shares := range [][]float32{{80, 10, 10}, {60, 30, 10}} {
		f := variantFlag(variants, shares)
		b := bar{title: fmt.Sprintf("checkout, %g : %g : %g", shares[0], shares[1], shares[2]), of: 1000}
		for _, id := range users {
			bucket := placeOf(t, f, id)
			b.entities = append(b.entities, placed{id, bucket.Number})
			if b.ranges == nil {
				for i, r := range bucket.Ranges {
					b.ranges = append(b.ranges, barRange{r.End, variants[i], i})
				}
			}
		}
		bars = append(bars, b)
	}
	return bars
}

func booleanFlag(key string, percentage float32) *guidon.Flag {
	return &guidon.Flag{Key: key, Type: guidon.BooleanFlag, Rollouts: []*guidon.Rollout{
		{Rank: 1, Threshold: &guidon.RolloutThreshold{Percentage: percentage, Value: true}},
	}}
}

func variantFlag(variants []string, shares []float32) *guidon.Flag {
	f := &guidon.Flag{Key: "checkout", Enabled: true, Rules: []*guidon.Rule{{SegmentKeys: []string{"everybody"}, Rank: 1}}}
	for i, key := range variants {
		f.Variants = append(f.Variants, &guidon.Variant{ID: key, Key: key})
		f.Rules[0].Distributions = append(f.Rules[0].Distributions, &guidon.Distribution{ID: key, VariantID: key, Rollout: shares[i]})
	}
	return f
}

// placeOf returns the bucket of the entity, from the engine.
func placeOf(t *testing.T, f *guidon.Flag, id string) *analysis.ExplainedBucket {
	t.Helper()
	everybody := &guidon.Segment{Key: "everybody"}
	s := guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{}, []*guidon.Flag{f}, []*guidon.Segment{everybody})
	x, err := analysis.Explain(s, f.Key, id, nil)
	if err != nil {
		t.Fatal(err)
	}
	return x.Steps[0].Bucket
}

// apart returns the first users whose names do not overlap in the pictures of the flags.
func apart(t *testing.T, count int, flags ...*guidon.Flag) []string {
	t.Helper()
	taken := make([][]float64, len(flags))
	var ids []string
candidates:
	for n := 1; len(ids) < count && n < 1000; n++ {
		id := fmt.Sprintf("u-%d", n)
		at := make([]float64, len(flags))
		for i, f := range flags {
			bucket := placeOf(t, f, id)
			at[i] = float64(bucket.Number) / float64(bucket.Of)
			for _, other := range taken[i] {
				if d := at[i] - other; d < 0.06 && d > -0.06 {
					continue candidates
				}
			}
		}
		for i := range flags {
			taken[i] = append(taken[i], at[i])
		}
		ids = append(ids, id)
	}
	return ids
}

// theme is the colors of a picture.
type theme struct {
	name, text, faint, ground string
	tones                     []string // of results
	inks                      []string // on the tones
}

var themes = []theme{
	{"light", "#1f2a3a", "#5b6b83", "#ffffff", []string{"#2b5fb3", "#dbe2ec", "#8a5a00"}, []string{"#ffffff", "#1f2a3a", "#ffffff"}},
	{"dark", "#e6ebf2", "#9fb0c6", "#0d1117", []string{"#7aa7f0", "#333d4b", "#e0b050"}, []string{"#0d1117", "#e6ebf2", "#0d1117"}},
}

// Measures of a picture, in its units.
const (
	pictureWidth = 860
	margin       = 20
	barHeight    = 34
	rowHeight    = 132
)

// draw returns the picture of the bars, one below the other.
func draw(bars []bar, c theme) string {
	var svg strings.Builder
	out := func(format string, args ...any) { fmt.Fprintf(&svg, format+"\n", args...) }
	height := len(bars)*rowHeight + 8
	out(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="14" role="img">`, pictureWidth, height)
	out(`  <rect width="%d" height="%d" fill="%s"/>`, pictureWidth, height, c.ground)
	for i, b := range bars {
		top := i * rowHeight
		at := func(bucket float64) float64 { return margin + bucket*(pictureWidth-2*margin)/float64(b.of) }
		out(`  <text x="%d" y="%d" font-weight="600" fill="%s">%s</text>`, margin, top+24, c.text, b.title)
		for _, p := range b.entities {
			x := at(float64(p.bucket) + 0.5)
			out(`  <text x="%.1f" y="%d" text-anchor="middle" fill="%s">%s</text>`, x, top+50, c.text, p.id)
			out(`  <path d="M%.1f %d v12" stroke="%s" stroke-width="2"/>`, x, top+55, c.faint)
		}
		from := 0
		for _, r := range b.ranges {
			left, right := at(float64(from)), at(float64(r.end))
			out(`  <rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`, left, top+68, right-left, barHeight, c.tones[r.tone])
			out(`  <text x="%.1f" y="%d" text-anchor="middle" fill="%s">%s</text>`, (left+right)/2, top+68+22, c.inks[r.tone], r.text)
			out(`  <text x="%.1f" y="%d" font-size="12" fill="%s">%d</text>`, left, top+68+barHeight+15, c.faint, from)
			from = r.end
		}
		out(`  <text x="%.1f" y="%d" font-size="12" text-anchor="end" fill="%s">%d</text>`, at(float64(b.of)), top+68+barHeight+15, c.faint, b.of-1)
	}
	out(`</svg>`)
	return svg.String()
}
