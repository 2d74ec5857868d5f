package review

import (
	"encoding/json"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Difference is one difference in words. If Was or Now is set, they are the values before
// and after. Text is then the name of the value within At, or "" if it is At itself.
type Difference struct {
	At   string // the part of the object, such as "Rule 2", or ""
	Text string
	Was  string
	Now  string
}

// Changed reports whether the difference has values.
func (d Difference) Changed() bool { return d.Was != "" || d.Now != "" }

// Limits of the differences of an object, in bytes of a text.
const (
	maxDifferences = 100
	maxValue       = 300
	maxWords       = 4000
)

// DifferencesOf returns differences for people, and how many more there are.
func DifferencesOf(all []change.Difference) (shown []Difference, more int) {
	for _, d := range all[:min(len(all), maxDifferences)] {
		shown = append(shown, newDifference(d.Wording, d.Before, d.After))
	}
	return shown, len(all) - len(shown)
}

// planDifferences returns the differences of a change in a plan.
func planDifferences(c *guidonv1.PlannedChange) (shown []Difference, more int) {
	all := c.GetDifferences()
	for _, d := range all[:min(len(all), maxDifferences)] {
		w := d.GetWording()
		shown = append(shown, newDifference(
			change.Wording{Parts: w.GetParts(), Before: w.GetBefore(), After: w.GetAfter(), What: w.GetWhat()},
			valueText(d.GetBefore()), valueText(d.GetAfter()),
		))
	}
	return shown, len(all) - len(shown)
}

// newDifference returns a difference for people. Values that are too long for its words
// are shown shortened. Booleans never are: their words say what changed.
func newDifference(w change.Wording, before, after json.RawMessage) Difference {
	d := Difference{Was: page.Printable(w.Before, maxValue), Now: page.Printable(w.After, maxValue)}
	if !d.Changed() && len(before) > 0 && len(after) > 0 && !(isBoolean(before) && isBoolean(after)) {
		d.Was, d.Now = shortValue(before), shortValue(after)
	}
	if !d.Changed() {
		d.Text = page.Printable(w.What, maxWords)
	}
	if len(w.Parts) == 0 {
		d.Text = page.Capital(d.Text)
	} else {
		d.At = page.Printable(page.Capital(w.Parts[0]), maxWords)
		d.Text = strings.TrimSpace(page.Printable(strings.Join(w.Parts[1:], ": "), maxWords) + " " + d.Text)
	}
	return d
}

func isBoolean(value json.RawMessage) bool {
	return string(value) == "true" || string(value) == "false"
}

// shortValue returns a value as text of a limited length.
func shortValue(value json.RawMessage) string {
	full := change.JSONWords(value)
	text := page.Printable(full, maxValue)
	if len(text) < len(full) && len(full) > maxValue {
		return text + "…"
	}
	return text
}

// valueText returns the JSON form of a value, or nil if there is none.
func valueText(value *structpb.Value) json.RawMessage {
	if value == nil {
		return nil
	}
	return change.Encode(value.AsInterface())
}
