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

// checkTime passes the problems of a time to add, which has the text in the field with the id.
func checkTime(id, text string, add func(id, message string)) {
	switch at := timestampOf(text); {
	case text == "":
	case at == nil:
		add(id, "Not a date and time: "+page.Printable(text, page.MaxText)+".")
	case at.AsTime().Year() < 2000:
		add(id, "The year must be 2000 or later.")
	}
}

// check passes the problems of the times to add.
func (p period) check(add func(id, message string)) {
	checkTime("times-from", p.From, add)
	checkTime("times-until", p.Until, add)
	from, until := timestampOf(p.From), timestampOf(p.Until)
	switch {
	case p.From+p.Until == "":
		add("times-from", "A start or an end is needed.")
	case from != nil && until != nil && !until.AsTime().After(from.AsTime()):
		add("times-until", "The end must be after the start.")
	}
}
