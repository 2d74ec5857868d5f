package fliptdb

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/guidonhq/guidon/service"
)

// orZero scans a column into a variable. NULL becomes the zero value.
type orZero[T any] struct{ to *T }

func zero[T any](to *T) orZero[T] { return orZero[T]{to} }

// Scan implements sql.Scanner.
func (o orZero[T]) Scan(value any) error {
	var n sql.Null[T]
	err := n.Scan(value)
	*o.to = n.V
	return err
}

// instant scans a time in any form in which a database stores it. The result is in UTC,
// truncated to microseconds. NULL becomes the zero time.
type instant struct{ to *time.Time }

// stamp scans the time of a creation or an update. If it cannot be read, it is the zero
// time, and the row gets the time of the import.
type stamp struct{ instant }

func newStamp(to *time.Time) stamp { return stamp{instant{to}} }

// Scan implements sql.Scanner.
func (s stamp) Scan(value any) error {
	err := s.instant.Scan(value)
	if err != nil {
		*s.to = time.Time{}
	} else if value != nil && s.to.IsZero() {
		err = errors.New("is the zero time")
	}
	return err
}

// expiry scans the time at which a credential expires. Only NULL means never. Any other
// value, including the zero time, is a time of expiry.
type expiry struct{ to *time.Time }

// Scan implements sql.Scanner.
func (e expiry) Scan(value any) error {
	if value == nil {
		*e.to = service.ExpiryAt(nil)
		return nil
	}
	var at time.Time
	err := instant{&at}.Scan(value)
	*e.to = service.ExpiryAt(&at)
	return err
}

// The forms in which SQLite drivers write times, which SQLite stores as text. Times without
// a zone are in UTC.
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
		return fmt.Errorf("cannot convert %T to a time", value)
	}
	*i.to = t.UTC().Truncate(time.Microsecond)
	return checkYear(*i.to)
}

func parseTime(text string) (time.Time, error) {
	text, _, _ = strings.Cut(text, " m=") // the reading of the monotonic clock
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time", text)
}

// unixTime converts seconds or, if those would be thousands of years away, milliseconds, as
// SQLite drivers do.
func unixTime(n int64) time.Time {
	if n > 1e12 || n < -1e12 {
		return time.UnixMilli(n)
	}
	return time.Unix(n, 0)
}
