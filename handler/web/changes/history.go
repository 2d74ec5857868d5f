package changes

import (
	"net/http"
	"slices"

	"github.com/a-h/templ"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// maxListed limits the titles and messages in the list of a history, in bytes.
const maxListed = 120

// maxHistory is how many changes the list of a history has on a page.
const maxHistory = 50

// historyPage is the history of a flag or a segment.
type historyPage struct {
	*kind
	Key      string
	Name     string
	Head     templ.Component
	Groups   []*group // one record each
	Selected *group
	Detail   detail
	View     page.DiffView
	Effects  []review.Effect
	Known    bool   // the effects are known
	Latest   int64  // the newest revision that changed it
	Newer    string // the address of the newest changes, or ""
	Older    string // that of the next page, or ""
	Pruned   bool   // older changes were removed
}

// history is the page of the history of an object of the kind.
func history(k *kind) func(v *page.Visit) error {
	return func(v *page.Visit) error {
		h := &historyPage{kind: k, Key: v.Variable(k.name), View: readDiff(v)}
		if err := h.read(v); err != nil {
			return err
		}
		if err := h.readHead(v); err != nil {
			return err
		}
		return v.Reply(http.StatusOK, page.Page{
			Title: "History of " + h.Name, Place: page.Place(k.folder),
			Crumbs: []page.Crumb{{Text: k.title, Address: v.In(k.folder)}, {Text: h.Key, Address: v.In(k.folder, h.Key)}, {Text: "History"}},
			Main:   historyMain(v, h), Live: false,
		})
	}
}

// read reads the changes of the object.
func (h *historyPage) read(v *page.Visit) error {
	newest, err := h.changes(v, 0, 1, namesOnly)
	if err != nil {
		return err
	}
	if len(newest.GetChanges()) == 0 {
		return h.unknown()
	}
	h.Latest = newest.GetChanges()[0].GetRevision()
	selected := h.Latest
	if v.Variable("revision") != "" {
		if selected, err = revisionOf(v); err != nil {
			return err
		}
	}
	f := readFilter(v)
	last := f.request.GetLastRevision()
	answer, err := h.changes(v, last, maxHistory, namesOnly)
	if err != nil {
		return err
	}
	if v.Variable("revision") != "" && !shows(answer, selected) {
		last = selected
		if answer, err = h.changes(v, last, maxHistory, namesOnly); err != nil {
			return err
		}
	}
	if len(answer.GetChanges()) == 0 {
		return noRevision(v, selected)
	}
	h.list(v, answer, last)
	return h.selectRevision(v, selected)
}

// shows reports whether the list has the change that made the state at the revision.
func shows(list *guidonv1.ListChangesResponse, revision int64) bool {
	return slices.ContainsFunc(list.GetChanges(), func(c *guidonv1.Change) bool { return c.GetRevision() <= revision })
}

func (h *historyPage) changes(v *page.Visit, last int64, limit, objectBytes int32) (*guidonv1.ListChangesResponse, error) {
	return page.ListChanges.Run(v, &guidonv1.ListChangesRequest{
		NamespaceKey: v.Key(), Kind: h.name, Key: h.Key, LastRevision: last, Limit: limit, MaxObjectBytes: objectBytes,
	})
}

// list keeps the list, which starts at the revision last; 0 is the newest.
func (h *historyPage) list(v *page.Visit, answer *guidonv1.ListChangesResponse, last int64) {
	h.Groups = groupsOf(answer.GetChanges())
	end := h.Groups[len(h.Groups)-1]
	at := v.In(h.folder, h.Key, "history")
	if last > 0 && last < h.Latest {
		h.Newer = at
	}
	if answer.GetNextPageToken() != "" && end.Revision > 1 {
		h.Older = at + "?" + fieldBefore + "=" + page.Revision(end.Revision)
		return
	}
	h.Pruned = end.Records[0].GetAction() != string(change.ActionCreate)
}

// selectRevision selects the change that made the state at the revision.
func (h *historyPage) selectRevision(v *page.Visit, revision int64) error {
	h.Selected = h.Groups[0]
	for _, g := range h.Groups {
		if h.Selected = g; g.Revision <= revision {
			break
		}
	}
	if v.Variable("revision") != "" && h.Selected.Revision > revision {
		return noRevision(v, revision)
	}
	detailed, err := h.changes(v, h.Selected.Revision, 1, maxCompared)
	if err != nil {
		return err
	}
	if len(detailed.GetChanges()) == 0 { // deleted in the meantime
		return noRevision(v, revision)
	}
	h.Detail = detailOf(detailed.GetChanges()[0])
	h.Effects, _, h.Known = effectsOfChange(v, h.Selected)
	return nil
}

// unknown returns the error for an object that was never changed.
func (h *historyPage) unknown() error {
	return &page.Error{
		Heading: "There is no such " + h.name, Text: "It may never have existed, or the address has a typing error.",
		Err: guidon.Errorf(guidon.NotFound, "%s %q not found", h.name, page.Printable(h.Key, maxShownName)),
	}
}

// readHead reads the object for the head of the page. One that was deleted has a plain
// head with the name that it had.
func (h *historyPage) readHead(v *page.Visit) (err error) {
	h.Name, h.Head, err = h.head(v, h.Key, "history")
	if guidon.CodeOf(err) == guidon.NotFound {
		h.Name, err = h.Groups[0].Records[0].Name(), nil
		h.Head = goneHead(v, h)
	}
	return err
}

// Restorable reports whether the state after the selected change can be restored.
func (h *historyPage) Restorable() bool {
	return h.Selected.Revision != h.Latest && h.Selected.Records[0].GetAction() != string(change.ActionDelete)
}
