package fliptdb

import (
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
)

// orZero scans a column into a variable, NULL as the zero value.
type orZero[T any] struct{ to *T }

func zero[T any](to *T) orZero[T] { return orZero[T]{to} }

// Scan implements sql.Scanner.
func (o orZero[T]) Scan(value any) error {
	var n sql.Null[T]
	err := n.Scan(value)
	*o.to = n.V
	return err
}

// instant scans a time in whatever form a database keeps it, as UTC and whole
// microseconds. NULL is the zero time.
type instant struct{ to *time.Time }

// expiry scans the time at which a credential expires. NULL alone is never: any
// time, the zero one included, is a time at which it expired.
type expiry struct{ to *time.Time }

// Scan implements sql.Scanner.
func (e expiry) Scan(value any) error {
	if value == nil {
		*e.to = guidon.ExpiryAt(nil)
		return nil
	}
	var at time.Time
	err := instant{&at}.Scan(value)
	*e.to = guidon.ExpiryAt(&at)
	return err
}

// The forms in which SQLite drivers write times, which are text there. Without
// a zone they are in UTC.
var timeLayouts = []string{
	"2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02T15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999",
	"2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04:05.999999999 -0700 MST",
	"2006-01-02",
}

// Scan implements sql.Scanner.
func (i instant) Scan(value any) error {
	var t time.Time
	switch v := value.(type) {
	case nil:
		*i.to = time.Time{}
		return nil
	case time.Time:
		t = v
	case int64:
		t = unixTime(v)
	case []byte:
		return i.Scan(string(v))
	case string:
		var err error
		if t, err = parseTime(v); err != nil {
			return err
		}
	default:
		return fmt.Errorf("a time has the type %T", value)
	}
	*i.to = t.UTC().Truncate(time.Microsecond)
	return checkYear(*i.to)
}

func parseTime(text string) (time.Time, error) {
	text, _, _ = strings.Cut(text, " m=") // what a monotonic clock adds
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time", text)
}

// unixTime reads seconds or, where that were thousands of years away,
// milliseconds, as SQLite drivers do.
func unixTime(n int64) time.Time {
	if n > 1e12 || n < -1e12 {
		return time.UnixMilli(n)
	}
	return time.Unix(n, 0)
}
