package page

import "strings"

// Browsers change line breaks, and fields of one line have none.
var (
	noBreaks   = strings.NewReplacer("\r", "", "\n", "")
	sameBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n")
)

// Line returns the text that was sent of a field of one line. It is the saved one if only line
// breaks differ.
func Line(saved, sent string) string { return spelledAs(saved, sent, noBreaks) }

// Lines is [Line] for a field of several lines.
func Lines(saved, sent string) string { return spelledAs(saved, sameBreaks.Replace(sent), sameBreaks) }

func spelledAs(saved, sent string, form *strings.Replacer) string {
	if saved != sent && form.Replace(saved) == form.Replace(sent) {
		return saved
	}
	return sent
}
