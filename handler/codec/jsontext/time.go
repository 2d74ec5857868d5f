package jsontext

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// The range of a Timestamp: the years 1 to 9999 (in UTC).
var (
	firstSecond = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	lastSecond  = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
)

// ParseTime parses an RFC 3339 time. Digits below the nanosecond are dropped. Unlike
// package time, it rejects an hour of one digit and a comma before the fraction.
func ParseTime(text []byte) (time.Time, error) {
	const hourEnd = len("2006-01-02T15")
	if len(text) <= hourEnd || text[hourEnd] != ':' || bytes.IndexByte(text, ',') >= 0 {
		return time.Time{}, ErrValue
	}
	at, err := time.Parse(time.RFC3339, string(text))
	if err != nil || at.Unix() < firstSecond || at.Unix() > lastSecond {
		return time.Time{}, ErrValue
	}
	return at, nil
}

// AppendTimestamp appends a time in UTC with 0, 3, 6 or 9 fractional digits.
func AppendTimestamp(b []byte, seconds int64, nanos int32) ([]byte, error) {
	if seconds < firstSecond || seconds > lastSecond || nanos < 0 || nanos > 999_999_999 {
		return nil, fmt.Errorf("timestamp out of range: %d s, %d ns", seconds, nanos)
	}
	// Package time has a fast path for this layout. The fraction is inserted before the Z.
	b = time.Unix(seconds, 0).UTC().AppendFormat(b, time.RFC3339)
	return append(appendFraction(b[:len(b)-1], nanos), 'Z'), nil
}

// appendFraction appends a point and 3, 6 or 9 digits, or nothing for 0.
func appendFraction(b []byte, nanos int32) []byte {
	if nanos == 0 {
		return b
	}
	digits, fraction := 9, nanos
	for fraction%1000 == 0 {
		digits, fraction = digits-3, fraction/1000
	}
	b = append(append(b, '.'), "000000000"[:digits]...)
	for i := len(b) - 1; fraction > 0; i-- {
		b[i] = byte('0' + fraction%10) // #nosec G115 -- a digit
		fraction /= 10
	}
	return b
}

// AppendDuration appends a duration in seconds with 0, 3, 6 or 9 fractional digits, such as
// 1.500s.
func AppendDuration(b []byte, d time.Duration) []byte {
	seconds, nanos := d/time.Second, int32(d%time.Second) // #nosec G115 -- below 1e9
	if d < 0 {
		b, seconds, nanos = append(b, '-'), -seconds, -nanos
	}
	return append(appendFraction(strconv.AppendInt(b, int64(seconds), 10), nanos), 's')
}

// AppendTime appends a time as a JSON string. It returns an error if t is outside the
// years 1 to 9999.
func AppendTime(b []byte, t time.Time) ([]byte, error) {
	b, err := AppendTimestamp(append(b, '"'), t.Unix(), int32(t.Nanosecond())) // #nosec G115 -- below 1e9
	return append(b, '"'), err
}
