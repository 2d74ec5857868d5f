// Package absent is the page about a flag or segment that does not exist: who deleted it,
// how to bring it back, and what may be meant instead.
package absent

import (
	"net/url"
	"strconv"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const listChanges page.Operation[*guidonv1.ListChangesRequest, *guidonv1.ListChangesResponse] = "/guidon.v1.ChangeService/ListChanges"

// Object describes a flag or segment that does not exist.
type Object struct {
	Kind    string // "flag" or "segment"
	Key     string
	Place   page.Place // where such objects are listed
	List    string     // its name, such as "Flags"
	Similar func(v *page.Visit, key string) ([]Link, error)
}

// Link is the name and the address of an object with a similar key.
type Link struct{ Name, Address string }

// maxKey is the maximum length of a key, in characters, all of which are ASCII.
const maxKey = 255

// absent is the model of the page.
type absent struct {
	*page.Visit
	Object
	deletion *guidonv1.Change // nil if it was not deleted, or that is not known
	similar  []Link
}

// Error returns the error for a visit about an object that does not exist, with the page.
// It returns any cause but NotFound as it is.
func Error(v *page.Visit, o Object, cause error) error {
	if guidon.CodeOf(cause) != guidon.NotFound {
		return cause
	}
	m := &absent{Visit: v, Object: o}
	if len(o.Key) <= maxKey { // others never existed
		var err error
		if m.deletion, err = Deletion(v, o.Kind, o.Key); err != nil {
			return err
		}
		if m.similar, err = o.Similar(v, o.Key); err != nil {
			return err
		}
	}
	crumbs := []page.Crumb{{Text: o.List, Address: m.list()}, {Text: page.Printable(o.Key, maxKey)}}
	return &page.Error{Page: page.Page{Title: m.title(), Place: o.Place, Crumbs: crumbs, Main: m.main()}, Err: cause}
}

// Deletion returns the newest change of the object if that deleted it, or nil.
func Deletion(v *page.Visit, kind, key string) (*guidonv1.Change, error) {
	list, err := listChanges.Run(v, &guidonv1.ListChangesRequest{NamespaceKey: v.Key(), Kind: kind, Key: key, Limit: 1, MaxObjectBytes: 1})
	if err != nil || len(list.GetChanges()) == 0 || list.GetChanges()[0].GetAction() != "delete" {
		return nil, err
	}
	return list.GetChanges()[0], nil
}

func (m *absent) title() string {
	return "No " + m.Kind + " " + page.Printable(m.Object.Key, maxKey) + " in " + page.NamespaceName(m.Namespace)
}

// list returns the address of the list of such objects.
func (m *absent) list() string { return m.In(string(m.Place)) }

// revision returns the revision of the deletion.
func (m *absent) revision() string { return strconv.FormatInt(m.deletion.GetRevision(), 10) }

// bringBack returns the address that undoes the deletion, of this object only.
func (m *absent) bringBack() string {
	return m.In("changes", m.revision(), "undo") + "?" + url.Values{m.Kind: {m.Object.Key}}.Encode()
}

// deleted returns the time of the deletion.
func (m *absent) deleted() time.Time { return m.deletion.GetAt().AsTime() }
