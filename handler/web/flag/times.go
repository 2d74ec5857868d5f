package flag

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
)

// period is when a rule holds, in UTC, in the form of part.Moment or as it was typed.
type period struct {
	From  string `json:",omitempty"`
	Until string `json:",omitempty"`
}

// periodOf returns when a stored rule holds, or nil if it always does.
func periodOf(from, until *timestamppb.Timestamp) *period {
	if from == nil && until == nil {
		return nil
	}
	return &period{timeText(from), timeText(until)}
}

func timeText(t *timestamppb.Timestamp) string {
	if t == nil {
		return ""
	}
	return t.AsTime().Format(part.MomentForm)
}

// timestampOf returns the time as it is stored, or nil if the text is not a time.
func timestampOf(text string) *timestamppb.Timestamp {
	at, _ := page.ParseTime(text, time.UTC)
	return convert.Timestamp(at)
}

// readTime returns the time in the form of part.Moment. Any other text stays as it is.
func readTime(text string) string {
	if at, ok := page.ParseTime(text, time.UTC); ok {
		return at.UTC().Format(part.MomentForm)
	}
	return text
}

// check passes the problems of the times to add.
func (p period) check(add func(id, message string)) {
	from, until := timestampOf(p.From).AsTime(), timestampOf(p.Until).AsTime()
	for _, f := range []struct {
		id, text string
		at       time.Time
	}{{"times-from", p.From, from}, {"times-until", p.Until, until}} {
		switch {
		case f.text == "":
		case timestampOf(f.text) == nil:
			add(f.id, "Not a date and time: "+page.Printable(f.text, maxText)+".")
		case f.at.Year() < 2000:
			add(f.id, "The year must be 2000 or later.")
		}
	}
	switch {
	case p.From+p.Until == "":
		add("times-from", "A start or an end is needed.")
	case timestampOf(p.From) != nil && timestampOf(p.Until) != nil && !until.After(from):
		add("times-until", "The end must be after the start.")
	}
}
