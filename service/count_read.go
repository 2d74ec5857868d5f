package service

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
)

// Steps of evaluation series.
const (
	StepMinute = time.Minute
	StepHour   = time.Hour
	StepDay    = 24 * time.Hour
)

// maxPoints limits the points of a series.
const maxPoints = 400

// EvaluationRange selects counts from one time to before another, in steps, to which the times are clipped.
type EvaluationRange struct {
	From, To time.Time
	Step     time.Duration // StepMinute, StepHour or StepDay; 0 for the shortest with at most 400 points
}

// normalized returns the range in whole steps.
func (r EvaluationRange) normalized(now time.Time) (EvaluationRange, error) {
	if r.To.IsZero() {
		r.To = now
	}
	if r.From.IsZero() {
		r.From = r.To.Add(-StepDay)
	}
	if !r.From.Before(r.To) {
		return r, invalidField("from", "must be before to")
	}
	if r.Step == 0 {
		r.Step = shortestStep(r.To.Sub(r.From))
	}
	r.From = r.From.UTC().Truncate(r.Step)
	if end := r.To.UTC().Truncate(r.Step); end.Before(r.To) {
		r.To = end.Add(r.Step)
	} else {
		r.To = end
	}
	if r.To.Sub(r.From)/r.Step > maxPoints {
		return r, guidon.Errorf(guidon.InvalidArgument, "invalid field step: the range has more than %d steps", maxPoints)
	}
	return r, nil
}

func shortestStep(length time.Duration) time.Duration {
	for _, step := range []time.Duration{StepMinute, StepHour} {
		if length/step < maxPoints {
			return step
		}
	}
	return StepDay
}

// EvaluationPoint is what was counted in a step, by answer and reason.
type EvaluationPoint struct {
	Start   time.Time
	Partial bool // the step is not over
	Counts  map[string]uint64
}

// EvaluationSeries are the evaluations of a flag over time.
type EvaluationSeries struct {
	EvaluationRange
	Points []EvaluationPoint
	Totals map[string]uint64
}

// flagEvaluations returns the series of a flag, or of the namespace for the key [NamespaceCounts].
func flagEvaluations(ctx context.Context, store EvaluationStore, namespace, key string, r EvaluationRange, now time.Time) (*EvaluationSeries, error) {
	r, err := r.normalized(now)
	if err != nil {
		return nil, err
	}
	s := &EvaluationSeries{EvaluationRange: r, Totals: map[string]uint64{}}
	for start := r.From; start.Before(r.To); start = start.Add(r.Step) {
		s.Points = append(s.Points, EvaluationPoint{Start: start, Partial: now.Before(start.Add(r.Step)), Counts: map[string]uint64{}})
	}
	err = store.EachEvaluations(ctx, namespace, []int{0, evaluationPart(key)}, r.From, r.To, func(row *EvaluationMinute) error {
		point := &s.Points[row.Minute.Sub(r.From)/r.Step]
		for name, n := range row.Counts[key] {
			point.Counts[name] += n
			s.Totals[name] += n
		}
		return nil
	})
	return s, err
}

// Names returns the answers and reasons of the series, sorted.
func (s *EvaluationSeries) Names() []string { return slices.Sorted(maps.Keys(s.Totals)) }
