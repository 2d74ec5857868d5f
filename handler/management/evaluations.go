package management

import (
	"context"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/analytics"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/service/count"
)

var steps = map[string]time.Duration{"": 0, "minute": count.StepMinute, "hour": count.StepHour, "day": count.StepDay}

// ranged is a request with a range.
type ranged interface {
	GetFrom() *timestamppb.Timestamp
	GetTo() *timestamppb.Timestamp
	GetStep() string
}

func rangeOf(m ranged) (q count.Range, err error) {
	step, known := steps[m.GetStep()]
	if !known {
		return q, guidon.Errorf(guidon.InvalidArgument, "invalid field step: must be minute, hour or day")
	}
	q.Step = step
	for field, t := range map[string]struct {
		from *timestamppb.Timestamp
		to   *time.Time
	}{"from": {m.GetFrom(), &q.From}, "to": {m.GetTo(), &q.To}} {
		at, err := convert.Instant(field, t.from)
		if err != nil {
			return q, err
		}
		if at != nil {
			*t.to = *at
		}
	}
	return q, nil
}

// GetFlagEvaluations returns the evaluations of a flag over time.
func GetFlagEvaluations(
	ctx context.Context, s *service.Service, c *call.Call, m *guidonv1.GetFlagEvaluationsRequest, _ *call.Request,
) (call.Response, error) {
	q, err := rangeOf(m)
	if err != nil {
		return call.Response{}, err
	}
	e, state, err := s.FlagEvaluations(ctx, c.Demand, m.GetNamespaceKey(), m.GetKey(), q)
	if err != nil {
		return call.Response{State: state}, err
	}
	answer := &guidonv1.FlagEvaluations{
		Range: convertRange(e.Series), LastEvaluatedAt: convert.Timestamp(e.LastAt), Series: series(e.Series),
		Changes: lists.Map(e.Changes, convert.ChangeWithoutObjects),
	}
	for _, one := range answer.GetSeries() {
		answer.Total += one.GetTotal()
	}
	return call.Response{State: state, Message: answer}, nil
}

// series returns the series of each answer and reason, in the order of their names.
func series(s *count.Series) []*guidonv1.EvaluationSeries {
	byName := map[string]*guidonv1.EvaluationSeries{}
	for i, point := range s.Points {
		for name, n := range point {
			one := byName[name]
			if one == nil {
				answer, reason := count.Split(name)
				one = &guidonv1.EvaluationSeries{Answer: answer, Reason: reason, Points: make([]float64, len(s.Points))}
				byName[name] = one
			}
			one.Points[i] += float64(n)
			one.Total += float64(n)
		}
	}
	return lists.Map(slices.Sorted(maps.Keys(byName)), func(name string) *guidonv1.EvaluationSeries { return byName[name] })
}

func convertRange(s *count.Series) *guidonv1.EvaluationRange {
	r := &guidonv1.EvaluationRange{
		From: convert.Timestamp(s.From), To: convert.Timestamp(s.To), Since: convert.Timestamp(s.Since), Partial: s.Partial,
	}
	for name, step := range steps {
		if step == s.Step {
			r.Step = name
		}
	}
	return r
}

// GetEvaluations returns how often flags, or the flags of a namespace, were evaluated.
func GetEvaluations(
	ctx context.Context, s *service.Service, c *call.Call, m *guidonv1.GetEvaluationsRequest, _ *call.Request,
) (call.Response, error) {
	q, err := rangeOf(m)
	if err != nil {
		return call.Response{}, err
	}
	keys := m.GetFlagKeys()
	whole := len(keys) == 0
	if whole {
		keys = []string{count.Namespace}
	}
	flags, state, err := s.Evaluations(ctx, c.Demand, m.GetNamespaceKey(), keys, q)
	if err != nil {
		return call.Response{State: state}, err
	}
	answer := &guidonv1.EvaluationTotals{Range: convertRange(flags[0].Series)}
	if whole {
		of := flags[0].Series
		answer.Evaluations, answer.Bulk, answer.Download = numbers(of, count.Evaluations), numbers(of, count.Bulk), numbers(of, count.Download)
	} else {
		answer.Flags = lists.Map(flags, flagTotals)
	}
	return call.Response{State: state, Message: answer}, nil
}

func numbers(s *count.Series, name string) *guidonv1.EvaluationNumbers {
	m := &guidonv1.EvaluationNumbers{}
	for _, point := range s.Points {
		m.Points = append(m.Points, float64(point[name]))
		m.Total += float64(point[name])
	}
	return m
}

func flagTotals(f service.CountedFlag) *guidonv1.FlagTotals {
	m := &guidonv1.FlagTotals{FlagKey: f.Key, LastEvaluatedAt: convert.Timestamp(f.LastAt)}
	for _, point := range f.Points {
		n := float64(point.Sum())
		m.Points = append(m.Points, n)
		m.Total += n
	}
	return m
}

// ReportEvaluations adds what a client counted that evaluates flags itself.
func ReportEvaluations(
	ctx context.Context, s *service.Service, c *call.Call, m *guidonv1.ReportEvaluationsRequest, _ *call.Request,
) (call.Response, error) {
	counts := count.Counts{}
	for key, flag := range m.GetCounts().GetFields() {
		numbers := count.Numbers{}
		for name, value := range flag.GetStructValue().GetFields() {
			n := value.GetNumberValue()
			if n < 0 || n != float64(uint64(n)) {
				return call.Response{}, guidon.Errorf(guidon.InvalidArgument, "invalid field counts: the numbers of flag %q must be whole", key)
			}
			numbers[name] = uint64(n)
		}
		if len(numbers) == 0 {
			return call.Response{}, guidon.Errorf(guidon.InvalidArgument, "invalid field counts: flag %q must have numbers by answer and reason", key)
		}
		counts[key] = numbers
	}
	state, err := s.ReportEvaluations(ctx, c.Demand, m.GetNamespaceKey(), m.GetReporter(), counts)
	return call.Response{State: state, Message: &emptypb.Empty{}}, err
}

// GetFlagEvaluationsCount returns the evaluations of a flag over time, as clients of Flipt v1 ask for them.
func GetFlagEvaluationsCount(
	ctx context.Context, s *service.Service, c *call.Call, m *analytics.GetFlagEvaluationsCountRequest, _ *call.Request,
) (call.Response, error) {
	q := count.Range{}
	for field, t := range map[string]struct {
		text string
		to   *time.Time
	}{"from": {m.GetFrom(), &q.From}, "to": {m.GetTo(), &q.To}} {
		if t.text == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, t.text)
		if err != nil {
			at, err = time.Parse(time.DateTime, t.text)
		}
		if err != nil {
			return call.Response{}, guidon.Errorf(guidon.InvalidArgument,
				"invalid field %s: must be a time such as 2006-01-02T15:04:05Z, or 2006-01-02 15:04:05 in UTC", field)
		}
		*t.to = at
	}
	e, state, err := s.FlagEvaluations(ctx, c.Demand, m.GetNamespaceKey(), m.GetFlagKey(), q)
	if err != nil {
		return call.Response{State: state}, err
	}
	answer := &analytics.GetFlagEvaluationsCountResponse{}
	for i, point := range e.Points {
		answer.Timestamps = append(answer.Timestamps, e.From.Add(time.Duration(i)*e.Step).Format(time.DateTime))
		answer.Values = append(answer.Values, float32(point.Sum()))
	}
	return call.Response{State: state, Message: answer}, nil
}
