package service

import (
	"context"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service/count"
)

// errNotCounted is returned if evaluations are not counted.
var errNotCounted = guidon.Errorf(guidon.Unimplemented, "analytics is disabled")

// maxCountedFlags limits the flags of one call.
const maxCountedFlags = 100

// Counting returns the same service, which counts the evaluations of clients.
func (s *Service) Counting(c *count.Counter) *Service {
	next := *s
	next.counter = c
	return &next
}

// FlagEvaluations are the evaluations of a flag over time.
type FlagEvaluations struct {
	*count.Series
	LastAt  time.Time        // of the last evaluation, in whole minutes; zero if there was none
	Changes []*change.Record // of the flag in the range, newest first, at most 50
}

// FlagEvaluations returns the evaluations of a flag. It returns Unimplemented if evaluations are not counted,
// InvalidArgument if the range breaks a rule, and NotFound if there is no such flag.
func (s *Service) FlagEvaluations(ctx context.Context, d Demand, namespace, key string, q count.Range) (*FlagEvaluations, State, error) {
	if s.counter == nil {
		return nil, State{}, errNotCounted
	}
	view, err := s.View(ctx, namespace, d)
	if err == nil {
		_, err = view.Flag(key)
	}
	if err != nil {
		return nil, view.State, err
	}
	series, err := s.counter.Series(ctx, view.Namespace, []string{key}, q)
	if err != nil {
		return nil, view.State, err
	}
	last, err := s.counter.Last(ctx, view.Namespace, []string{key})
	if err != nil {
		return nil, view.State, err
	}
	e := &FlagEvaluations{Series: series[key], LastAt: last[key]}
	e.Changes, err = s.store.Changes(ctx, change.Query{
		Namespace: view.Namespace, Kind: change.KindFlag, Key: key, Since: &e.From, Until: &e.To, Limit: maxSeriesChanges,
	})
	return e, view.State, err
}

// maxSeriesChanges limits the changes that are returned with a series.
const maxSeriesChanges = 50

// CountedFlag has the evaluations of one of several flags.
type CountedFlag struct {
	Key string
	*count.Series
	LastAt time.Time // of the last evaluation, in whole minutes; zero if there was none
}

// Evaluations returns the evaluations of the flags, in the order of the keys, of which there are at most 100;
// the key [count.Namespace] stands for the namespace. It returns Unimplemented if evaluations are not counted, and InvalidArgument if the request breaks a rule.
// Flags that do not exist have no evaluations, or those of earlier flags with their keys.
func (s *Service) Evaluations(ctx context.Context, d Demand, namespace string, keys []string, q count.Range) ([]CountedFlag, State, error) {
	switch {
	case s.counter == nil:
		return nil, State{}, errNotCounted
	case len(keys) > maxCountedFlags:
		return nil, State{}, invalidField("flagKeys", "must not have more than 100 values")
	}
	view, err := s.View(ctx, namespace, d)
	if err != nil {
		return nil, view.State, err
	}
	series, err := s.counter.Series(ctx, view.Namespace, keys, q)
	if err != nil {
		return nil, view.State, err
	}
	last, err := s.counter.Last(ctx, view.Namespace, keys)
	flags := lists.Map(keys, func(key string) CountedFlag { return CountedFlag{key, series[key], last[key]} })
	return flags, view.State, err
}

// ReportEvaluations stores what a reporter counted since its last report. Flags that do not exist are left
// out. It returns Unimplemented if evaluations are not counted, InvalidArgument if the report breaks a rule, and
// Limited if the reporter has reported within the same ten seconds.
func (s *Service) ReportEvaluations(ctx context.Context, d Demand, namespace, reporter string, counts count.Counts) (State, error) {
	switch {
	case s.counter == nil:
		return State{}, errNotCounted
	case reporter == "" || len(reporter) > maxReporter:
		return State{}, invalidField("reporter", "must have 1 to 100 bytes")
	}
	if err := counts.Check(); err != nil {
		return State{}, invalidField("counts", err.Error())
	}
	view, err := s.View(ctx, namespace, d)
	if err != nil {
		return view.State, err
	}
	known := count.Counts{}
	for key, numbers := range counts {
		if key == count.Namespace || view.Snapshot.Compiled(key) != nil {
			known[key] = numbers
		}
	}
	return view.State, s.counter.Report(ctx, view.Namespace, reporter, known)
}

const maxReporter = 100
