package page

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Day are the evaluations of a flag in 24 hours.
type Day struct {
	v     *Visit
	start time.Time
	Hours [24]float64 // the last one is not over
}

// LastDay returns the evaluations of at most 100 flags until now, by their keys.
func LastDay(v *Visit, keys ...string) (map[string]*Day, error) {
	start := v.Site.Now().Truncate(time.Hour).Add(-23 * time.Hour)
	totals, err := GetEvaluations.Run(v, &guidonv1.GetEvaluationsRequest{
		NamespaceKey: v.Key(), FlagKeys: keys, From: timestamppb.New(start), Step: "hour",
	})
	days := make(map[string]*Day, len(keys))
	first := int(totals.GetRange().GetFrom().AsTime().Sub(start) / time.Hour)
	for _, f := range totals.GetFlags() {
		d := &Day{v: v, start: start}
		for i, n := range f.GetPoints() {
			d.Hours[min(first+i, len(d.Hours)-1)] += n
		}
		days[f.GetFlagKey()] = d
	}
	return days, err
}

// Total returns how often the flag was evaluated.
func (d *Day) Total() (total float64) {
	for _, n := range d.Hours {
		total += n
	}
	return total
}

// String returns the evaluations in words.
func (d *Day) String() string {
	most := 0
	for hour, n := range d.Hours {
		if n > d.Hours[most] {
			most = hour
		}
	}
	at := d.start.Add(time.Duration(most) * time.Hour).In(d.v.Location())
	return Count(int(d.Total()), "evaluation") + " in 24 hours, most at " + at.Format("15:04")
}
