package segment

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// creator is the model of the page of a new segment.
type creator struct {
	editor
	copied string     // the key of the segment that it began with, or ""
	taken  string     // the name of the segment that has the key, or ""
	better string     // a key that could be meant, or ""
	back   url.Values // the carried fields of the flag that waits for the segment
}

// showNew shows the form of a new segment.
func showNew(v *page.Visit) error {
	c := newCreator(v, &draft{Revision: v.State.Revision, Name: v.Query().Get("name"), Group: NewGroup(v.Location())})
	if key := v.Query().Get("copy"); key != "" {
		content, err := page.GetSegmentContent.Run(v, &guidonv1.GetSegmentContentRequest{NamespaceKey: v.Key(), Key: key})
		if err != nil {
			return err
		}
		if isTooLarge(content.GetSegment()) {
			return guidon.Errorf(guidon.InvalidArgument, "segment %q is too large for a form: copy it by an export and an import", key)
		}
		c.copied = key
		c.draft = draftOf(content.GetSegment(), v.State.Revision, v.Location())
		c.draft.Key, c.draft.Name = "", "Copy of "+c.draft.Name
		for i := range c.draft.Constraints {
			c.draft.Constraints[i].From = -1
		}
	}
	return c.reply(http.StatusOK)
}

func newCreator(v *page.Visit, d *draft) *creator {
	d.Naming = true
	return &creator{editor: editor{subject: &subject{Visit: v, Saved: &guidonv1.DocumentSegment{}}, draft: d}}
}

// postNew applies the button to the draft in the form, or creates the segment.
func postNew(v *page.Visit) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	if page.ActionOf(form).Verb == "begin" { // from a rule of a flag, for what was typed there
		c := newCreator(v, &draft{
			Revision: v.State.Revision, Name: form.Get("rule." + v.Query().Get("rule") + ".add"), Group: NewGroup(v.Location()),
		})
		c.back = page.Carry(form)
		return c.reply(http.StatusOK)
	}
	d, err := readDraft(form, v.Location())
	if err != nil {
		return err
	}
	c := newCreator(v, d)
	if v.Query().Has("flag") {
		c.back = page.Carry(form)
	}
	if better := form.Get("take"); better != "" {
		d.Key = better
		return c.reply(http.StatusOK)
	}
	switch action := page.ActionOf(form); action.Verb {
	case "create", "":
		return c.create()
	default:
		c.acted = d.act(action, c.Saved, v.Location())
	}
	if len(c.acted.Problems) > 0 {
		return c.reply(http.StatusUnprocessableEntity)
	}
	return c.reply(http.StatusOK)
}

// create saves the new segment unless there is one with its key.
func (c *creator) create() error {
	d := c.draft
	d.Key = cmp.Or(d.Key, page.Slug(d.Name))
	if err := c.check(); err != nil {
		return err
	}
	if len(d.Constraints) == 0 && len(c.acted.Problems) == 0 && !d.Everyone {
		c.acted.AskLast = true
		return c.reply(http.StatusUnprocessableEntity)
	}
	if len(c.acted.Problems) > 0 {
		return c.reply(http.StatusUnprocessableEntity)
	}
	saved, err := page.ReplaceSegment.Run(c.Visit, &guidonv1.ReplaceSegmentRequest{
		NamespaceKey: c.Visit.Key(), Key: d.Key, Segment: d.document(), UnlessChangedSince: &c.State.Revision, Message: d.Message,
	})
	switch guidon.CodeOf(err) {
	case guidon.FailedPrecondition: // another user created it since this request began
		if err := c.check(); err != nil {
			return err
		}
		if len(c.acted.Problems) == 0 {
			c.acted.Problems = part.Problems{refusal("key", err)}
		}
		return c.reply(http.StatusUnprocessableEntity)
	case guidon.InvalidArgument:
		c.acted.Problems = part.Problems{refusal("constraints", err)}
		return c.reply(http.StatusUnprocessableEntity)
	}
	if err != nil {
		return err
	}
	if flag := c.Query().Get("flag"); flag != "" {
		query := page.Query("made", d.Key, "rule", c.Query().Get("rule"))
		return c.Return(page.Below("namespaces", c.Visit.Key(), "flags", flag) + query)
	}
	return review.SavedAt(c.Visit, saved, "segments", d.Key)
}

// address returns where the form is sent.
func (c *creator) address() string {
	return c.In("new-segment") + page.Query("flag", c.Query().Get("flag"), "rule", c.Query().Get("rule"))
}

// check sets the problems of the draft, including its key.
func (c *creator) check() error {
	d := c.draft
	c.acted.Problems = d.checkName()
	if err := c.checkKey(); err != nil {
		return err
	}
	c.acted.Problems = append(c.acted.Problems, d.Check("", c.Saved.GetConstraints(), c.Location())...)
	return nil
}

func (c *creator) checkKey() error {
	key := c.draft.Key
	if key == "" {
		if strings.TrimSpace(c.draft.Name) != "" { // otherwise the name says it all
			c.acted.Problems.Add("key", "A key is needed.")
		}
		return nil
	}
	problem, better := page.CheckKey(key)
	if c.better = better; problem != "" {
		c.acted.Problems.Add("key", problem)
		return nil
	}
	existing, err := page.GetSegmentContent.Run(c.Visit, &guidonv1.GetSegmentContentRequest{NamespaceKey: c.Visit.Key(), Key: key})
	if notFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	c.taken = existing.GetSegment().GetName()
	c.acted.Problems.Add("key",
		page.NamespaceName(c.Namespace)+" has a segment "+page.Printable(c.taken, 128)+" with this key. Open it or take another key.")
	return nil
}

// reply responds with the page.
func (c *creator) reply(status int) (err error) {
	c.showProblems()
	if c.known, err = ReadKnown(c.Visit); err != nil {
		return err
	}
	c.readonly = !c.MayEdit()
	return c.Reply(status, page.Page{
		Title: "New segment", Place: page.PlaceSegments, Modules: []string{"draft.js"}, Main: c.main(),
		Crumbs:  []page.Crumb{{Text: "Segments", Address: c.In("segments")}, {Text: "New segment"}},
		Regions: map[string]templ.Component{region: c.body()},
	})
}
