package segment

import (
	"github.com/a-h/templ"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// subject is the segment that a page is about, as it is saved, with what the page says about
// it.
type subject struct {
	*page.Visit
	Key      string
	At       string // the revision or time of which it is shown; "" for now
	Saved    *guidonv1.DocumentSegment
	deleted  bool             // Saved is what was deleted
	Revision int64            // of the namespace when it was read
	Last     *guidonv1.Change // the newest change of it; nil if that is not known
	Usage    *guidonv1.SegmentUsage
	Flags    map[string]*guidonv1.FlagSummary // of those that use it, by key
}

// reference returns the name of the namespace's state that is shown.
func (s *subject) reference() string {
	if s.At == "" {
		return s.Visit.Key()
	}
	return s.Visit.Key() + "@" + s.At
}

// address returns the address of a page of the segment, for a browser.
func (s *subject) address(pages ...string) string {
	return s.In(append([]string{"segments", s.Key}, pages...)...)
}

// readAll returns the segment of the page, with the data that its pages show.
func readAll(v *page.Visit) (*subject, error) {
	s, err := read(v)
	if err == nil {
		err = s.readAround()
	}
	return s, err
}

// read returns the segment of the page. With an error, which has a page of its own if there is no
// such segment, the subject only has the key.
func read(v *page.Visit) (*subject, error) {
	s := &subject{Visit: v, Key: v.Variable("segment"), At: v.Query().Get("at")}
	err := s.readSaved()
	if err != nil {
		err = s.missing(err)
	}
	return s, err
}

// readSaved reads the segment as it is saved, and its newest change.
func (s *subject) readSaved() error {
	content, state, err := page.GetSegmentContent.RunAt(s.Visit, &guidonv1.GetSegmentContentRequest{NamespaceKey: s.reference(), Key: s.Key})
	if s.Saved, s.Revision = content.GetSegment(), state.Revision; err != nil || s.At != "" {
		return err
	}
	newest, err := page.NewestChanges(s.Visit, kindSegment, s.Key)
	s.Last = newest[s.Key]
	return err
}

// readAround reads the data about the segment that its pages show.
func (s *subject) readAround() (err error) {
	if s.Usage, err = page.GetSegmentUsage.Run(s.Visit, &guidonv1.GetSegmentUsageRequest{NamespaceKey: s.reference(), Key: s.Key}); err != nil {
		return err
	}
	s.Flags = make(map[string]*guidonv1.FlagSummary)
	if len(s.Usage.GetUses()) == 0 {
		return nil
	}
	list, err := page.ListFlagSummaries.Run(s.Visit, &guidonv1.ListFlagSummariesRequest{NamespaceKey: s.reference(), Segments: []string{s.Key}, Limit: 200})
	for _, f := range list.GetFlags() {
		s.Flags[f.GetKey()] = f
	}
	return err
}

// stateOf returns the state of a flag, and whether it is known.
func (s *subject) stateOf(key string) (part.State, bool) {
	f := s.Flags[key]
	return page.StateOf(f.GetState()), f != nil
}

// notFound reports whether the error is that of an object that does not exist.
func notFound(err error) bool { return guidon.CodeOf(err) == guidon.NotFound }

// Head returns the name of a segment, and the head above a tab that is a page of another package.
func Head(v *page.Visit, key, tab string) (name string, head templ.Component, err error) {
	s := &subject{Visit: v, Key: key}
	if err := s.readSaved(); err != nil {
		return "", nil, err
	}
	err = s.readAround()
	return s.name(), s.head(tab, false), err
}
