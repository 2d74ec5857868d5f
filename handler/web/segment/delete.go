package segment

import (
	"net/http"
	"strconv"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// deletion is the model of the page that asks for a confirmation before a segment is deleted.
type deletion struct {
	*subject
	Revision int64 // since which the segment must not have changed
	Typed    string
	Message  string
	Problems part.Problems
}

// askDelete asks before the segment is deleted or, if it is used, says by what.
func askDelete(_ *page.Visit, s *subject) error {
	d := &deletion{subject: s, Revision: s.Revision}
	return d.reply(http.StatusOK)
}

func (d *deletion) reply(status int) error {
	return d.Reply(status, d.page("Delete", d.main()))
}

// postDelete deletes the segment if its key was typed.
func postDelete(v *page.Visit, s *subject) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	d := &deletion{subject: s, Typed: form.Get("key"), Message: form.Get("message")}
	if d.Revision, err = strconv.ParseInt(form.Get("revision"), 10, 64); err != nil || d.Revision < 0 {
		return errForm
	}
	if d.Typed != d.Key {
		d.Problems.Add("key", "Type the key exactly as it is: "+d.Key)
		return d.reply(http.StatusUnprocessableEntity)
	}
	return d.delete()
}

func (d *deletion) delete() error {
	deleted, err := page.Patch.Run(d.Visit, &guidonv1.PatchRequest{
		NamespaceKey: d.Visit.Key(), Message: d.Message,
		Segments: []*guidonv1.SegmentEdit{{Delete: d.Key, UnlessChangedSince: &d.Revision}},
	})
	switch guidon.CodeOf(err) {
	case guidon.FailedPrecondition: // the page shows what it is now
		who := "somebody"
		if d.Last != nil {
			who = page.ActorOf(d.Last.GetActor()).Name
		}
		d.Problems.Add("key", "This segment was changed by "+who+" meanwhile. Look at it again, then type the key.")
		d.Revision, d.Typed = d.subject.Revision, ""
		return d.reply(http.StatusConflict)
	case guidon.InvalidArgument: // it is in use
		d.Problems = part.Problems{refusal("key", err)}
		if d.Problems.Of("message") != "" {
			return d.reply(http.StatusUnprocessableEntity)
		}
		return d.reply(http.StatusConflict)
	}
	if err != nil {
		return err
	}
	return review.SavedAt(d.Visit, deleted, "segments")
}
