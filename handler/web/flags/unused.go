package flags

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// unused is the model of the flags that may no longer be needed.
type unused struct {
	tabs    []part.Link // without those of reasons that have no flags because nobody counts
	rows    []unusedRow
	reason  string // value of the field; "" for all
	page    int    // from 1
	last    int    // number of the last page
	total   int
	snoozed int
	mayEdit bool
	opened  snoozeInput
}

// unusedRow is a flag that may no longer be needed.
type unusedRow struct {
	row
	Reasons []string
}

// snoozeInput is the form that postpones the review of a flag, and its problem if it is invalid.
type snoozeInput struct{ key, date, problem string }

// snoozeDays is how much later a flag is reviewed unless another date is chosen.
const snoozeDays = 90

// maxSnooze limits how much later it can be, in years.
const maxSnooze = 10

// reasons are the values of the field reason.
var reasons = []struct {
	value, text string
	kinds       []guidonv1.UnusedReasonKind
}{
	{"", "All", nil},
	{"one-answer", "One answer", []guidonv1.UnusedReasonKind{guidonv1.UnusedReasonKind_ONE_ANSWER_UNUSED_REASON_KIND}},
	{"rounded", "Rounded", []guidonv1.UnusedReasonKind{guidonv1.UnusedReasonKind_ROUNDED_UNUSED_REASON_KIND}},
	{"not-evaluated", "Not evaluated", []guidonv1.UnusedReasonKind{guidonv1.UnusedReasonKind_NOT_EVALUATED_UNUSED_REASON_KIND}},
	{"never-evaluated", "Never evaluated", []guidonv1.UnusedReasonKind{guidonv1.UnusedReasonKind_NEVER_EVALUATED_UNUSED_REASON_KIND}},
	{"cannot-tell", "Cannot tell", []guidonv1.UnusedReasonKind{guidonv1.UnusedReasonKind_CANNOT_TELL_UNUSED_REASON_KIND}},
	{"review-due", "Review due", []guidonv1.UnusedReasonKind{guidonv1.UnusedReasonKind_REVIEW_PASSED_UNUSED_REASON_KIND}},
}

const fieldReason = "reason"

// showUnused shows the flags that may no longer be needed.
func showUnused(v *page.Visit) error { return replyUnused(v, http.StatusOK, snoozeInput{}) }

func replyUnused(v *page.Visit, status int, opened snoozeInput) error {
	u := newUnused(v.Query())
	u.mayEdit, u.opened = v.MayEdit(), opened
	if err := u.read(v); err != nil {
		return err
	}
	return v.Reply(status, page.Page{
		Title: "Unused flags", Place: page.PlaceUnused, Crumbs: []page.Crumb{{Text: "Unused flags"}}, Main: unusedMain(v, u),
	})
}

// newUnused returns the page that the address selects. Unknown fields and values are left out.
func newUnused(query url.Values) *unused {
	u := &unused{page: page.PageOf(query)}
	for _, r := range reasons {
		if query.Get(fieldReason) == r.value {
			u.reason = r.value
		}
	}
	return u
}

// read reads the flags of the page, and how many there are for each reason.
func (u *unused) read(v *page.Visit) error {
	for _, r := range reasons {
		request := &guidonv1.ListUnusedFlagsRequest{NamespaceKey: v.Key(), Reasons: r.kinds, Limit: 1}
		if r.value == u.reason {
			request.Offset, request.Limit = int32((u.page-1)*perPage), perPage // #nosec G115 -- newUnused limits the page
		}
		found, err := page.ListUnusedFlags.Run(v, request)
		if err != nil {
			return err
		}
		chosen := r.value == u.reason
		if n := int(found.GetTotalCount()); n > 0 || chosen || !isCounted(r.kinds) {
			u.tabs = append(u.tabs, part.Link{
				Text: r.text, Address: v.In("unused") + page.Query(fieldReason, r.value), Current: chosen, Count: page.Number(n),
			})
		}
		if chosen {
			u.add(v, found)
		}
	}
	return nil
}

// isCounted reports whether the reason follows from evaluations.
func isCounted(kinds []guidonv1.UnusedReasonKind) bool {
	return len(kinds) > 0 && kinds[0] >= guidonv1.UnusedReasonKind_NOT_EVALUATED_UNUSED_REASON_KIND
}

func (u *unused) add(v *page.Visit, found *guidonv1.UnusedFlagList) {
	u.total, u.snoozed = int(found.GetTotalCount()), int(found.GetSnoozedCount())
	u.last = max(1, (u.total+perPage-1)/perPage)
	for _, f := range found.GetFlags() {
		r := unusedRow{row: newRow(v, f.GetFlag())}
		for _, reason := range f.GetReasons() {
			r.Reasons = append(r.Reasons, reasonText(r.row, f, reason))
		}
		if n := f.GetUsage().GetEvaluations(); n > 0 {
			r.Reasons = append(r.Reasons, "Evaluated "+page.Count(int(n), "time")+" in 30 days")
		}
		u.rows = append(u.rows, r)
	}
}

// reasonText returns the reason in the words of pages.
func reasonText(r row, f *guidonv1.UnusedFlag, reason *guidonv1.UnusedReason) string {
	switch reason.GetKind() {
	case guidonv1.UnusedReasonKind_ONE_ANSWER_UNUSED_REASON_KIND:
		return answerText(r)
	case guidonv1.UnusedReasonKind_ROUNDED_UNUSED_REASON_KIND:
		return "A share just below 100% is everyone: shares of boolean flags count in whole percents"
	case guidonv1.UnusedReasonKind_REVIEW_PASSED_UNUSED_REASON_KIND:
		return "Review was due on " + reviewText(f.GetFlag().GetReview())
	case guidonv1.UnusedReasonKind_NOT_EVALUATED_UNUSED_REASON_KIND:
		return "Not evaluated since " + f.GetUsage().GetLastEvaluatedAt().AsTime().Format(pageDate)
	case guidonv1.UnusedReasonKind_NEVER_EVALUATED_UNUSED_REASON_KIND:
		return "Never evaluated since counting began on " + f.GetUsage().GetCountedSince().AsTime().Format(pageDate)
	case guidonv1.UnusedReasonKind_CANNOT_TELL_UNUSED_REASON_KIND:
		return "Not evaluated by itself, but clients took all flags " + page.Count(int(f.GetUsage().GetDownloads()), "time") + " in 30 days"
	}
	return reason.GetText()
}

// answerText returns the result of a flag that is the same for everyone.
func answerText(r row) string {
	switch {
	case r.WhileOff != "":
		return "Off, so everyone gets " + r.WhileOff
	case len(r.Shares) == 0:
		return "Everyone gets the same"
	case r.Variant:
		return "Everyone gets " + r.Shares[0].Name
	}
	return page.Capital(r.Shares[0].Name) + " for everyone"
}

// pageDate is how pages write a date.
const pageDate = "2 Jan 2006"

// reviewText returns a review date for people. A time keeps its form.
func reviewText(review string) string {
	day, err := time.Parse(time.DateOnly, review)
	if err != nil {
		return review
	}
	return day.Format(pageDate)
}

// onPage returns the address of another page of the same reason.
func (u *unused) onPage(v *page.Visit, number int) string {
	return v.In("unused") + page.Query(fieldReason, u.reason, page.FieldPage, page.PageField(number))
}

// snoozedText says how many flags are left out.
func (u *unused) snoozedText() string {
	if u.snoozed == 1 {
		return "1 flag is snoozed until the review date."
	}
	return page.Count(u.snoozed, "flag") + " are snoozed until their review dates."
}

// until returns the date for a row: the entered one, or the default.
func (u *unused) until(v *page.Visit, key string) string {
	if u.opened.key == key {
		return u.opened.date
	}
	return v.Now().AddDate(0, 0, snoozeDays).Format(time.DateOnly)
}

// problems returns those of the date that was entered for a row, in the field with the id.
func (u *unused) problems(id, key string) (problems part.Problems) {
	if u.opened.key == key && u.opened.problem != "" {
		problems.Add(id, u.opened.problem)
	}
	return problems
}

// dateAttributes returns those of the field with the date.
func (u *unused) dateAttributes(id, key string) templ.Attributes {
	attributes := part.Described(id, "", u.problems(id, key))
	attributes["required"], attributes["autofocus"] = true, len(u.problems(id, key)) > 0
	return attributes
}

// lost returns the problem of the date that was entered for a flag that is not on the page.
func (u *unused) lost() string {
	for _, r := range u.rows {
		if r.Key == u.opened.key {
			return ""
		}
	}
	return u.opened.problem
}

// snooze gives a flag another review date, so that it is not listed until then.
func snooze(v *page.Visit, form url.Values) error {
	if !v.MayEdit() {
		return mayNotEdit(v)
	}
	since, err := strconv.ParseInt(form.Get("revision"), 10, 64)
	if err != nil || since < 0 {
		return guidon.Errorf(guidon.InvalidArgument, "invalid field revision: must be the revision that the form began with")
	}
	s := snoozeInput{key: form.Get("key"), date: strings.TrimSpace(form.Get("review"))}
	if s.problem = checkReview(s.date, v.Now()); s.problem != "" {
		return replyUnused(v, http.StatusUnprocessableEntity, s)
	}
	content, err := page.GetFlagContent.Run(v, &guidonv1.GetFlagContentRequest{NamespaceKey: v.Key(), Key: s.key})
	if guidon.CodeOf(err) == guidon.NotFound {
		return &page.Error{Heading: "This flag no longer exists", Text: "It has been deleted. Changes says when, and by whom.", Err: err}
	}
	if err != nil {
		return err
	}
	put := proto.CloneOf(content.GetFlag())
	put.Metadata = page.SetMember(put.GetMetadata(), "review", page.JSONText(s.date))
	saved, err := page.ReplaceFlag.Run(v, &guidonv1.ReplaceFlagRequest{NamespaceKey: v.Key(), Key: s.key, Flag: put, UnlessChangedSince: &since})
	switch guidon.CodeOf(err) {
	case guidon.FailedPrecondition:
		return snoozeConflict(v, s)
	case guidon.InvalidArgument, guidon.TooLarge:
		s.problem = guidon.PublicMessage(err)
		return replyUnused(v, http.StatusUnprocessableEntity, s)
	}
	if err != nil {
		return err
	}
	u := newUnused(v.Query())
	revision := ""
	if len(saved.GetChanges()) > 0 {
		revision = page.Revision(saved.GetRevision())
	}
	query := page.Query(fieldReason, u.reason, page.FieldPage, page.PageField(u.page), "saved", revision)
	return v.Redirect(page.Below("namespaces", v.Key(), "unused") + query)
}

// snoozeConflict shows the page again, because the flag has changed since it was shown.
func snoozeConflict(v *page.Visit, s snoozeInput) error {
	newest, err := page.NewestChanges(v, "flag", s.key)
	if err != nil {
		return err
	}
	s.problem = s.key + " changed in the meantime."
	if c := newest[s.key]; c != nil {
		s.problem = s.key + " " + changeText(c) + " in the meantime."
	}
	s.problem += " Look at it, then snooze it again."
	return replyUnused(v, http.StatusConflict, s)
}

// checkReview returns the problem of a date on which to review a flag again, or "".
func checkReview(date string, now time.Time) string {
	day, err := time.Parse(time.DateOnly, date)
	switch {
	case err != nil:
		return "Write a date such as " + now.AddDate(0, 0, snoozeDays).Format(time.DateOnly) + "."
	case !day.After(now):
		return "Choose a date to come."
	case day.After(now.AddDate(maxSnooze, 0, 0)):
		return "Choose a date within ten years."
	}
	return ""
}
