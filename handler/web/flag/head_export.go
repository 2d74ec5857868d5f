package flag

import (
	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Head returns the head above the tab of a flag that is a page of another package. It is nil if
// the flag cannot be read.
func Head(v *page.Visit, key, tab string) templ.Component {
	s := &subject{v: v, key: key, asks: v.Namespace.GetConfirmChanges()}
	content, state, err := page.GetFlagContent.RunAt(v, &guidonv1.GetFlagContentRequest{NamespaceKey: v.Key(), Key: s.key})
	if err != nil {
		return nil
	}
	s.flag, s.revision, s.last = content.GetFlag(), state.Revision, lastChange(v, s.key)
	r, err := s.remarks(nil)
	if err != nil {
		return nil
	}
	return s.head(r.state(), tab)
}
