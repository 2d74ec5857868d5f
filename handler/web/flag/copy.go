package flag

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// copyForm is the form that copies a flag.
type copyForm struct {
	*subject
	problems part.Problems
	to       string // the namespace
	key      string
	better   string // a key that could be meant, or ""
	name     string
	lacking  []string      // the segments that the namespace lacks
	take     bool          // copy them too
	targets  []part.Option // the namespaces
}

// readCopy reads the flag for a copy. Viewers of its namespace may copy it into one that
// they may edit.
func readCopy(v *page.Visit) (*copyForm, error) {
	s, err := read(v)
	if err != nil {
		return nil, err
	}
	c := &copyForm{subject: s, to: v.Key(), key: s.key + "-copy", name: s.name() + " (copy)", take: true}
	for _, n := range v.Namespaces {
		if v.MayEditIn(n.GetKey()) {
			c.targets = append(c.targets, part.Option{Value: n.GetKey(), Text: page.NamespaceName(n)})
		}
	}
	if len(c.targets) == 0 {
		return nil, &page.Error{
			Heading: "You may not copy this flag", Text: s.readOnlyReason(),
			Err: guidon.Errorf(guidon.PermissionDenied, "permission denied"),
		}
	}
	if to := v.Query().Get("to"); to != "" {
		c.to = to
	}
	if c.to != v.Key() {
		c.key, c.name = s.key, s.name()
	}
	return c, nil
}

// getCopy shows the form.
func getCopy(_ *page.Visit, c *copyForm) error {
	return c.ask(http.StatusOK)
}

func (c *copyForm) ask(status int) error {
	return c.v.Reply(status, c.plainPage("Copy", copyMain(c)))
}

// postCopy copies the flag.
func postCopy(v *page.Visit, form url.Values) error {
	c, err := readCopy(v)
	if err != nil {
		return err
	}
	c.to, c.key, c.name = form.Get("to"), strings.TrimSpace(form.Get("key")), form.Get("name")
	c.take = form.Get("segments") == "copy"
	if a := page.ActionOf(form); a.Verb == "key" {
		c.key = a.Text(0)
		return c.ask(http.StatusOK)
	}
	if c.check(); len(c.problems) > 0 {
		return c.ask(http.StatusUnprocessableEntity)
	}
	return c.save(form)
}

func (c *copyForm) check() {
	if c.target() == nil {
		c.problems.Add("to", "Choose a namespace.")
	}
	if c.key != c.subject.key { // that of the original is valid
		var problem string
		problem, c.better = page.CheckKey(c.key)
		c.problems.Add("key", problem)
	}
	c.problems.Add("name", page.CheckText(c.name, "A name is needed."))
}

// target returns the namespace that was chosen, or nil.
func (c *copyForm) target() *flipt.Namespace {
	if !c.v.MayEditIn(c.to) {
		return nil
	}
	return c.v.NamespaceWith(c.to)
}

// save copies the flag, and the segments that the namespace lacks, in one change.
func (c *copyForm) save(form url.Values) error {
	existing, state, err := page.GetFlagContent.RunAt(c.v, &guidonv1.GetFlagContentRequest{NamespaceKey: c.to, Key: c.key})
	switch code := guidon.CodeOf(err); {
	case err == nil:
		c.problems.Add("key",
			page.NamespaceName(c.target())+" has a flag “"+cmp.Or(existing.GetFlag().GetName(), c.key)+"” with this key. Take another key.")
		return c.ask(http.StatusUnprocessableEntity)
	case code != guidon.NotFound:
		return err
	}
	f := proto.CloneOf(c.flag)
	f.Key, f.Name = c.key, c.name
	request := &guidonv1.PatchRequest{
		NamespaceKey: c.to, Message: form.Get("message"), Flags: []*guidonv1.FlagEdit{{Put: f, UnlessChangedSince: &state.Revision}},
	}
	if c.to != c.v.Key() {
		if request.Segments, err = c.missingSegments(); err != nil {
			return err
		}
		if len(c.problems) > 0 {
			return c.ask(http.StatusUnprocessableEntity)
		}
	}
	response, err := page.Patch.Run(c.v, request)
	switch code := guidon.CodeOf(err); {
	case err == nil:
		return review.SavedAt(c.v, response, "flags", c.key)
	case code == guidon.FailedPrecondition:
		c.problems.Add("key", "Somebody has created a flag with this key in the meantime. Take another key.")
		return c.ask(http.StatusConflict)
	case code == guidon.InvalidArgument || code == guidon.TooLarge:
		c.problems.Add("to", page.Sentence(guidon.PublicMessage(err)))
		return c.ask(http.StatusUnprocessableEntity)
	}
	return err
}

// missingSegments returns the segments of the flag that the other namespace lacks, to be
// created there, or a problem if they must not be.
func (c *copyForm) missingSegments() (edits []*guidonv1.SegmentEdit, err error) {
	for _, key := range page.SegmentKeys(c.flag) {
		_, state, err := page.GetSegmentContent.RunAt(c.v, &guidonv1.GetSegmentContentRequest{NamespaceKey: c.to, Key: key})
		if err == nil {
			continue
		}
		if guidon.CodeOf(err) != guidon.NotFound {
			return nil, err
		}
		content, err := page.GetSegmentContent.Run(c.v, &guidonv1.GetSegmentContentRequest{NamespaceKey: c.v.Key(), Key: key})
		if err != nil {
			return nil, err
		}
		c.lacking = append(c.lacking, key)
		edits = append(edits, &guidonv1.SegmentEdit{Put: content.GetSegment(), UnlessChangedSince: &state.Revision})
	}
	if len(edits) > 0 && !c.take {
		c.problems.Add("segments",
			page.NamespaceName(c.target())+" lacks "+page.Count(len(edits), "segment")+" of this flag: "+
				strings.Join(c.lacking[:min(len(c.lacking), 10)], ", ")+". Copy them too.")
	}
	return edits, nil
}
