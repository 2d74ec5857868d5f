package page

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The forms of times.
const (
	dateForm    = "2 Jan 2006"
	dayForm     = "2 Jan"
	instantForm = "2 Jan 2006, 15:04:05 MST"
)

// Ago returns a time of the past in words: relative up to a week, then the date.
func (v *Visit) Ago(at time.Time) string {
	now := v.Now()
	switch age := now.Sub(at); {
	case at.IsZero():
		return "never"
	case age < -time.Minute: // the clock of another server
		return at.In(v.Location()).Format(dateForm)
	case age < time.Minute:
		return "just now"
	case age < time.Hour:
		return fmt.Sprintf("%d min ago", int(age.Minutes()))
	case age < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(age.Hours()))
	case age < 7*24*time.Hour:
		return Count(int(age.Hours()/24), "day") + " ago"
	case at.In(v.Location()).Year() == now.Year():
		return at.In(v.Location()).Format(dayForm)
	}
	return at.In(v.Location()).Format(dateForm)
}

// Until returns a time to come in words.
func (v *Visit) Until(at time.Time) string {
	switch left := at.Sub(v.Now()); {
	case at.IsZero():
		return "never"
	case left <= 0:
		return v.Ago(at)
	case left < time.Hour:
		return fmt.Sprintf("in %d min", int(left.Minutes()))
	case left < 24*time.Hour:
		return fmt.Sprintf("in %d h", int(left.Hours()))
	case left < 7*24*time.Hour:
		return "in " + Count(int(left.Hours()/24), "day")
	}
	return "on " + at.In(v.Location()).Format(dateForm)
}

// Instant returns a time with its zone, for titles.
func (v *Visit) Instant(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.In(v.Location()).Format(instantForm)
}

// Count returns a number with its unit, which gets an "s" unless the number is one.
func Count(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return Number(n) + " " + unit + "s"
}

// Number returns a number with a comma between thousands.
func Number(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Listed returns the texts in a sentence, of which it names as many as most says.
func Listed(texts []string, most int) string {
	text := strings.Join(texts[:min(len(texts), most)], ", ")
	if more := len(texts) - most; more > 0 {
		text += " and " + Number(more) + " more"
	}
	return text
}

// Or returns what stands after item i of n alternatives in words; end stands after the last one.
func Or(i, n int, end string) string {
	switch i {
	case n - 1:
		return end
	case n - 2:
		return " or "
	}
	return ", "
}

// Percent returns a share in percent with at most three decimals, such as "12.5%".
func Percent(share float64) string {
	text := strconv.FormatFloat(share, 'f', 3, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + "%"
}

// Revision returns the number of a revision as text.
func Revision(n int64) string { return strconv.FormatInt(n, 10) }

// Stamp returns a time for machines, as the attribute datetime of a time element has it.
func Stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }
