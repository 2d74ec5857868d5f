package guidon_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// FuzzOracle compares evaluations with those of an oracle that has nothing in common with them.
func FuzzOracle(f *testing.F) {
	flagtest.SeedEvaluations(f)
	f.Fuzz(compareWithOracle)
}

// TestOracle is FuzzOracle for random input, as fuzzing takes long to build whole flags.
func TestOracle(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	values := []string{"a", "5", "2.4.0", "10.1.2.3", "2024-01-01", `["5","b"]`, "US", "true", ""}
	for range 20_000 {
		data := make([]byte, 900)
		for i := range data {
			data[i] = byte(random.Uint32()) // #nosec G115 -- the low byte is meant
		}
		compareWithOracle(t, data, values[random.IntN(len(values))], values[random.IntN(len(values))])
		if t.Failed() {
			return
		}
	}
}

func compareWithOracle(t *testing.T, data []byte, entityID, value string) {
	input := flagtest.NewTargetedInput(data)
	flag := input.Flag()
	segments := input.Segments(value)
	now := flagtest.FuzzedStart
	if input.Bool() {
		now = input.Minute()
	}
	now = now.Add(time.Duration(input.Below(4*flagtest.FuzzedTimes)-4) * time.Second / 4)
	others := input.Require(flag)
	s := guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{}, append(others, flag), segments).At(now)
	oracle := flagtest.Oracle{Flags: others, Segments: segments, Now: now}
	context := map[string]string{"p0": value, "p1": entityID, "": value}
	switch flag.Type {
	case guidon.VariantFlag:
		got, err := s.Variant(flag.Key, entityID, context)
		if err != nil {
			return // a constraint of an unknown type
		}
		want := oracle.Variant(flag, entityID, context)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("variant of %q with %v at %v (-oracle +engine):\n%s\n%s", entityID, context, now, diff, flagtest.Text(flag, segments))
		}
	case guidon.BooleanFlag:
		got, err := s.Boolean(flag.Key, entityID, context)
		if err != nil {
			return
		}
		want := oracle.Boolean(flag, entityID, context)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("boolean of %q with %v at %v (-oracle +engine):\n%s\n%s", entityID, context, now, diff, flagtest.Text(flag, segments))
		}
	}
}
