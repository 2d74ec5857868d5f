package fliptdb

import (
	"testing"
	"time"
)

// All forms in which the database drivers return a time are scanned to the same instant.
func TestInstant(t *testing.T) {
	want := time.Date(2024, 2, 29, 12, 34, 56, 123456000, time.UTC)
	for _, value := range []any{
		want, want.In(time.FixedZone("", 3600)), want.Add(789),
		"2024-02-29 12:34:56.123456+00:00", "2024-02-29 13:34:56.123456789+01:00", []byte("2024-02-29 12:34:56.123456"),
		"2024-02-29T12:34:56.123456Z", "2024-02-29T12:34:56.123456", "2024-02-29 12:34:56.123456 +0000 UTC", "2024-02-29 12:34:56.123456 +0000 UTC m=+0.5",
	} {
		var got time.Time
		if err := (instant{&got}).Scan(value); err != nil || !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%v: got %v, %v, want %v", value, got, err, want)
		}
	}
	whole := want.Truncate(time.Second)
	for _, value := range []any{"2024-02-29 12:34:56", "2024-02-29 12:34:56Z", whole.Unix(), whole.UnixMilli()} {
		var got time.Time
		if err := (instant{&got}).Scan(value); err != nil || !got.Equal(whole) {
			t.Errorf("%v: got %v, %v, want %v", value, got, err, whole)
		}
	}
	got := want
	if err := (instant{&got}).Scan(nil); err != nil || !got.IsZero() {
		t.Errorf("NULL: got %v, %v, want the zero time", got, err)
	}
	for value, want := range map[any]time.Time{
		nil: {}, "0001-01-01 00:00:00+00:00": time.Unix(0, 0), (time.Time{}): time.Unix(0, 0), whole: whole,
	} {
		got := want.Add(1)
		if err := (expiry{&got}).Scan(value); err != nil || !got.Equal(want) {
			t.Errorf("expiry %v: got %v, %v, want %v", value, got, err, want)
		}
	}
	for _, value := range []any{"yesterday", "", 1.5} {
		if err := (instant{&got}).Scan(value); err == nil {
			t.Errorf("%v: got no error", value)
		}
	}
}
