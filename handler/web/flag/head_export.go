package flag

import (
	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Head returns the name of a flag, and the head above a tab that is a page of another package.
func Head(v *page.Visit, key, tab string) (name string, head templ.Component, err error) {
	s := &subject{v: v, key: key, asks: v.Namespace.GetConfirmChanges()}
	content, state, err := page.GetFlagContent.RunAt(v, &guidonv1.GetFlagContentRequest{NamespaceKey: v.Key(), Key: s.key})
	if err != nil {
		return "", nil, err
	}
	s.flag, s.revision, s.last = content.GetFlag(), state.Revision, lastChange(v, s.key)
	r, err := s.remarks(nil)
	return s.name(), s.head(r.state(), tab), err
}
