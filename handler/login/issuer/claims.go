package issuer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"github.com/guidonhq/guidon/service"
)

// Claims holds the members of a JSON object. Its values are nil, bool, [json.Number],
// string, []any or map[string]any.
type Claims map[string]any

// ParseClaims returns the members of the JSON object. Of members with equal names the last one counts.
// It returns an error if the text is not UTF-8, since the decoder would make different texts equal.
func ParseClaims(text []byte) (Claims, error) {
	switch {
	case !utf8.Valid(text):
		return nil, errors.New("not UTF-8")
	case !json.Valid(text):
		return nil, errors.New("malformed JSON")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var c Claims
	if err := d.Decode(&c); err != nil || c == nil {
		return nil, errors.New("not a JSON object")
	}
	return c, nil
}

// Has reports whether there is a member of that name, be it null.
func (o Claims) Has(name string) bool {
	_, ok := o[name]
	return ok
}

// Text returns the string of that name, or "" if there is no such member. Any other value
// is an error.
func (o Claims) Text(name string) (string, error) {
	value, ok := o[name]
	if !ok {
		return "", nil
	}
	text, ok := value.(string)
	if !ok {
		return "", fmt.Errorf("%s is not a string", name)
	}
	return text, nil
}

// Audience returns the values of aud, which is a string or an array of strings, at least
// one. Anything else is an error, and so is an object without aud.
func (o Claims) Audience() ([]string, error) {
	values, ok := o["aud"].([]any)
	if !ok {
		values = []any{o["aud"]}
	}
	audience := make([]string, 0, len(values))
	for _, value := range values {
		text, ok := value.(string)
		if !ok {
			return nil, errors.New("aud is neither a string nor an array of strings")
		}
		audience = append(audience, text)
	}
	if len(audience) == 0 {
		return nil, errors.New("aud is empty")
	}
	return audience, nil
}

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
