package page

import (
	"strconv"
	"time"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// savedFor is how long after a change pages say that it was saved.
const savedFor = 10 * time.Minute

// NothingSaved is in the address of a page after a draft in which there was nothing to save.
// The page says nothing about it, but the browser forgets the draft.
const NothingSaved = "none"

// saved returns the revision in the address that the visitor has just saved, or 0, and what it
// was. The message comes from the change record: a forged address shows none.
func (v *Visit) saved() (revision int64, text string) {
	revision, err := strconv.ParseInt(v.Query().Get("saved"), 10, 64)
	if err != nil || revision <= 0 || v.Namespace == nil {
		return 0, ""
	}
	list, err := ListChanges.Run(v, &guidonv1.ListChangesRequest{
		NamespaceKey: v.Key(), FirstRevision: revision, LastRevision: revision, Limit: 2, MaxObjectBytes: 1,
	})
	if err != nil || len(list.GetChanges()) == 0 { // the page itself is what matters
		return 0, ""
	}
	c := list.GetChanges()[0]
	age := v.Site.Now().Sub(c.GetAt().AsTime())
	if c.GetActor().GetId() != v.Visitor.ActorID() || age >= savedFor {
		return 0, ""
	}
	text = "Saved"
	if c.GetAction() == string(change.ActionDelete) && len(list.GetChanges()) == 1 {
		text = "Deleted " + Printable(c.GetKey(), maxName)
	}
	return revision, text + " as revision " + Revision(revision)
}
