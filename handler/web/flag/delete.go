package flag

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// askDelete asks the visitor to confirm the deletion of the flag.
func (q *question) askDelete(status int) error {
	if _, err := q.remarks(); err != nil {
		return err
	}
	q.keep = q.keepers()
	return q.v.Reply(status, q.plainPage("Delete", deleteMain(q)))
}

// getDelete asks for the key of the flag.
func getDelete(_ *page.Visit, s *subject) error {
	return (&question{subject: s, form: url.Values{}}).askDelete(http.StatusOK)
}

// postDelete deletes the flag.
func postDelete(v *page.Visit, form url.Values) error {
	s, err := readToEdit(v)
	if err != nil {
		return err
	}
	q := &question{subject: s, form: form}
	if form.Get("key") != s.key {
		q.problems.Add("key", "This is not the key of the flag: "+s.key+".")
	}
	if !q.confirmed() || len(q.problems) > 0 {
		return q.askDelete(http.StatusUnprocessableEntity)
	}
	since, err := strconv.ParseInt(form.Get("revision"), 10, 64)
	if err != nil {
		return guidon.Errorf(guidon.InvalidArgument, "invalid field revision: must be the revision that the form began with")
	}
	response, err := page.Patch.Run(v, &guidonv1.PatchRequest{
		NamespaceKey: v.Key(), Message: form.Get("message"), Flags: []*guidonv1.FlagEdit{{Delete: s.key, UnlessChangedSince: &since}},
	})
	switch guidon.CodeOf(err) {
	case guidon.FailedPrecondition:
		q.problems.Add("key", actorOf(s.last)+" changed this flag in the meantime. Look at it, and confirm again.")
		return q.askDelete(http.StatusConflict)
	case guidon.InvalidArgument:
		q.problems.Add("question", page.Sentence(guidon.PublicMessage(err)))
		return q.askDelete(http.StatusUnprocessableEntity)
	}
	if err != nil {
		return err
	}
	return review.SavedAt(v, response, "flags")
}

// keptWords says which other namespaces keep a flag of the same key.
func (q *question) keptWords() string {
	if len(q.keep) == 1 {
		return " " + q.keep[0] + " has a flag with the same key, which stays."
	}
	return " " + page.Number(len(q.keep)) + " other namespaces have a flag with the same key, which stays."
}

// lowerState returns the state within a sentence.
func lowerState(s part.State) string { return strings.ToLower(s.String()) }
