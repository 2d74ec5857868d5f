package flag

import (
	"cmp"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service/count"
)

// fieldRange is the field of the address with the name of a span.
const fieldRange = "range"

// span is how far back a chart reaches, and in which steps.
type span struct {
	name, text string // in the address, and in words
	bars       int
	unit       string // of a bar, to begin a column with
	stepName   string // as the API has it
	step       time.Duration
	steps      int                     // of a bar
	tick       func(at time.Time) bool // the bar that begins then has its time below it
	tickForm   string                  // of times below bars
	rowForm    string                  // of times in the table
}

const day = 24 * time.Hour

// spans are the spans to choose from. Days begin in UTC, as they are counted.
var spans = []span{
	{"1h", "1 hour", 60, "Minute", "minute", time.Minute, 1, func(at time.Time) bool { return at.Minute()%10 == 0 }, "15:04", "15:04"},
	{"24h", "24 hours", 24, "Hour", "hour", time.Hour, 1, func(at time.Time) bool { return at.Hour()%3 == 0 }, "15:04", "15:04"},
	{"7d", "7 days", 7 * 24, "Hour", "hour", time.Hour, 1, func(at time.Time) bool { return at.Hour() == 0 }, "2 Jan", "2 Jan, 15:04"},
	{"60d", "60 days", 60, "Day (UTC)", "day", day, 1, func(at time.Time) bool { return at.Weekday() == time.Monday }, "2 Jan", "2 Jan"},
	{"2y", "2 years", 104, "Week (UTC)", "day", day, 7, beginsQuarter, "Jan 2006", "2 Jan 2006"},
}

// beginsQuarter reports whether the week that begins at a time is the first one that begins in its quarter.
func beginsQuarter(at time.Time) bool { return at.Day() <= 7 && at.Month()%3 == 1 }

// spanOf returns the span with the name, or that of a day.
func spanOf(name string) span {
	for _, s := range spans {
		if s.name == name {
			return s
		}
	}
	return spans[1]
}

// length returns the length of a bar.
func (s span) length() time.Duration { return time.Duration(s.steps) * s.step }

// start returns the start of the first bar, if the last one is that of now.
func (s span) start(now time.Time) time.Time {
	return now.UTC().Truncate(s.length()).Add(-time.Duration(s.bars-1) * s.length()) // weeks begin on Monday
}

// zone returns the time zone of the bars for a visitor.
func (s span) zone(visitor *time.Location) *time.Location {
	if s.step == day {
		return time.UTC
	}
	return visitor
}

// series are the answers of a flag over time, by bar.
type series struct {
	span
	flag    *guidonv1.DocumentFlag
	start   time.Time // of the first bar
	first   int       // the first bar that was counted
	partial bool      // the last bar is not over
	since   *timestamppb.Timestamp
	lastAt  *timestamppb.Timestamp // of the last evaluation
	answers []*answer              // that were given, in the order of the flag
	total   float64
	whole   float64            // how often clients got all flags
	changes []*guidonv1.Change // of the flag, newest first
}

// answer is how often a flag gave an answer.
type answer struct {
	key, name, color string
	rank             int
	total            float64
	bars             []float64
}

// readSeries reads the series of a flag. It asks for as many steps at a time as the API returns.
func readSeries(v *page.Visit, flag *guidonv1.DocumentFlag, s span) (*series, error) {
	r := &series{span: s, flag: flag, start: s.start(v.Now()), first: s.bars}
	end, part := r.at(s.bars), count.MaxPoints*s.step
	for from := r.start; from.Before(end); from = from.Add(part) {
		f, t := timestamppb.New(from), timestamppb.New(from.Add(part))
		e, err := page.GetFlagEvaluations.Run(v, &guidonv1.GetFlagEvaluationsRequest{
			NamespaceKey: v.Key(), Key: flag.GetKey(), From: f, To: t, Step: s.stepName,
		})
		if err != nil {
			return nil, err
		}
		r.add(e)
		all, err := page.GetEvaluations.Run(v, &guidonv1.GetEvaluationsRequest{NamespaceKey: v.Key(), From: f, To: t, Step: s.stepName})
		if err != nil {
			return nil, err
		}
		r.whole += all.GetBulk().GetTotal() + all.GetDownload().GetTotal()
	}
	slices.SortStableFunc(r.answers, func(a, b *answer) int { return cmp.Compare(a.rank, b.rank) })
	r.fold()
	return r, nil
}

// at returns when a bar begins.
func (r *series) at(bar int) time.Time { return r.start.Add(time.Duration(bar) * r.length()) }

// add adds what the API returned for a part of the span.
func (r *series) add(e *guidonv1.FlagEvaluations) {
	counted := e.GetRange()
	from := int(counted.GetFrom().AsTime().Sub(r.start) / r.step)
	if counted.GetFrom().AsTime().Before(counted.GetTo().AsTime()) {
		r.first = min(r.first, from/r.steps)
	}
	r.since, r.lastAt, r.partial = counted.GetSince(), e.GetLastEvaluatedAt(), counted.GetPartial()
	r.changes = append(e.GetChanges(), r.changes...)
	for _, s := range e.GetSeries() {
		a := r.answer(s.GetAnswer())
		a.total += s.GetTotal()
		r.total += s.GetTotal()
		for i, n := range s.GetPoints() {
			a.bars[min((from+i)/r.steps, r.bars-1)] += n // an hour may begin while it is read
		}
	}
}

// answer returns the answer with the key, which it adds if need be.
func (r *series) answer(key string) *answer {
	for _, a := range r.answers {
		if a.key == key {
			return a
		}
	}
	variants := r.flag.GetVariants()
	a := &answer{key: key, name: key, rank: len(variants) + len(r.answers), bars: make([]float64, r.bars)}
	a.color = part.VariantColor(a.rank) // of a variant that there was
	boolean := r.flag.GetType() == flipt.FlagType_BOOLEAN_FLAG_TYPE
	i := slices.IndexFunc(variants, func(v *guidonv1.DocumentVariant) bool { return v.GetKey() == key })
	switch {
	case i >= 0:
		a.rank, a.color = i, part.VariantColor(i)
	case boolean && key == "true":
		a.name, a.color, a.rank = "on", "c-on", -2
	case boolean && key == "false":
		a.name, a.color, a.rank = "off", "c-off", -1
	case key == count.AnswerNone:
		a.name, a.color, a.rank = "no variant", "c-none", lastRank
	case key == count.AnswerError:
		a.name, a.color, a.rank = "an error", "c-error", lastRank+1
	}
	r.answers = append(r.answers, a)
	return a
}

const (
	maxAnswers = 9 // that are told apart
	lastRank   = 1 << 30
)

// fold adds the rarest answers together, if there are too many.
func (r *series) fold() {
	r.answers = slices.DeleteFunc(r.answers, func(a *answer) bool { return a.total == 0 })
	if len(r.answers) <= maxAnswers {
		return
	}
	rarest := slices.SortedStableFunc(slices.Values(r.answers), func(a, b *answer) int { return cmp.Compare(a.total, b.total) })
	rarest = rarest[:len(rarest)-maxAnswers+1]
	others := &answer{name: page.Number(len(rarest)) + " others", color: "c-off", bars: make([]float64, r.bars)}
	for _, a := range rarest {
		others.total += a.total
		for i, n := range a.bars {
			others.bars[i] += n
		}
	}
	r.answers = append(slices.DeleteFunc(r.answers, func(a *answer) bool { return slices.Contains(rarest, a) }), others)
}
