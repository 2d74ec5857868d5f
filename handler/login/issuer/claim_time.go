package issuer

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/guidonhq/guidon/service"
)

// endOfTime is the first second of the year 10000.
const endOfTime = 253402300800

// Time returns the time of that name, a number of seconds since 1970, which may have a
// fraction. It returns the zero time if there is no such member, and an error for any
// other value.
func (o Claims) Time(name string) (time.Time, error) {
	value, ok := o[name]
	if !ok {
		return time.Time{}, nil
	}
	number, ok := value.(json.Number)
	if !ok {
		return time.Time{}, fmt.Errorf("%s is not a number", name)
	}
	seconds, err := number.Float64()
	if err != nil || seconds < 0 || seconds >= endOfTime {
		return time.Time{}, fmt.Errorf("%s is not a time between 1970 and 9999", name)
	}
	whole, fraction := math.Modf(seconds)
	return time.Unix(int64(whole), int64(fraction*float64(time.Second))).UTC(), nil
}

// CheckTimes returns an error if a token with these claims is not valid now: exp is past,
// or nbf or iat is ahead, each by more than [service.ClockSkew]. It checks those that are there.
func (o Claims) CheckTimes(now time.Time) error {
	expires, err := o.Time("exp")
	if err != nil {
		return err
	}
	if o.Has("exp") && !now.Before(expires.Add(service.ClockSkew)) {
		return fmt.Errorf("exp is past: %s, and now is %s", stamp(expires), stamp(now))
	}
	for _, name := range []string{"nbf", "iat"} {
		from, err := o.Time(name)
		if err != nil {
			return err
		}
		if o.Has(name) && now.Before(from.Add(-service.ClockSkew)) {
			return fmt.Errorf("%s is ahead: %s, and now is %s", name, stamp(from), stamp(now))
		}
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
