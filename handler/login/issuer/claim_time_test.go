package issuer_test

import (
	"fmt"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func TestTime(t *testing.T) {
	for text, want := range map[string]time.Time{
		`0`: time.Unix(0, 0), `-0`: time.Unix(0, 0), `1795348800`: noon, `1.7953488e9`: noon, `1795348800.5`: noon.Add(time.Second / 2),
		`253402300799`: time.Unix(253402300799, 0), `1.8e9`: time.Unix(1_800_000_000, 0), `0.25`: time.Unix(0, 250_000_000),
	} {
		got, err := parse(t, `{"exp":`+text+`}`).Time("exp")
		if err != nil || !got.Equal(want) {
			t.Errorf("%s: got %v and error %v, want %v", text, got, err, want)
		}
	}
	if got, err := parse(t, `{}`).Time("exp"); err != nil || !got.IsZero() {
		t.Errorf("missing: got %v and error %v, want the zero time", got, err)
	}
	for _, text := range []string{
		`"1795348800"`, `null`, `true`, `[1795348800]`, `{}`, `[1]`, `""`, `-1`, `-0.1`, `-0.5`, `253402300800`, `1795348800000`,
		`9223372036854775807`, `9223372036854775808`, `1e300`, `1e999`, `-1e999`, `"Infinity"`,
	} {
		if got, err := parse(t, `{"exp":`+text+`}`).Time("exp"); err == nil {
			t.Errorf("%s: got %v, want an error", text, got)
		}
	}
}

// TestCheckTimes checks each claim on both sides of the skew.
func TestCheckTimes(t *testing.T) {
	for _, test := range []struct {
		claim  string
		offset float64 // from now
		want   bool
	}{
		{"exp", 3600, true}, {"exp", 0, true}, {"exp", -59.5, true}, {"exp", -60, false}, {"exp", -3600, false},
		{"nbf", -3600, true}, {"nbf", 0, true}, {"nbf", 60, true}, {"nbf", 60.5, false}, {"nbf", 3600, false},
		{"iat", -3600, true}, {"iat", 0, true}, {"iat", 60, true}, {"iat", 60.5, false}, {"iat", 3600, false},
	} {
		c := parse(t, fmt.Sprintf(`{"%s":%.1f}`, test.claim, float64(noon.Unix())+test.offset))
		if err := c.CheckTimes(noon); (err == nil) != test.want {
			t.Errorf("%s %+v s: got error %v, want accepted: %v", test.claim, test.offset, err, test.want)
		}
	}
	for text, want := range map[string]bool{
		`{}`: true, `{"exp":"x"}`: false, `{"nbf":null}`: false, `{"iat":true}`: false, `{"exp":0}`: false, `{"iat":0,"nbf":0}`: true,
	} {
		if err := parse(t, text).CheckTimes(noon); (err == nil) != want {
			t.Errorf("%s: got error %v, want accepted: %v", text, err, want)
		}
	}
}
