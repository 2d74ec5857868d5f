package page

import (
	"net/url"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Missing describes a flag or segment that does not exist.
type Missing struct {
	Kind    string // "flag" or "segment"
	Key     string
	Place   Place  // where such objects are listed
	List    string // its name, such as "Flags"
	Similar func(v *Visit, key string) ([]Similar, error)
}

// Similar is the name and the address of an object with a similar key.
type Similar struct{ Name, Address string }

// missing is the model of the page about it: who deleted it, how to bring it back, and what may
// be meant instead.
type missing struct {
	*Visit
	Missing
	deletion *guidonv1.Change // nil if it was not deleted, or that is not known
	similar  []Similar
}

// MissingError returns the error for a visit about an object that does not exist, with the page.
// It returns any cause but NotFound as it is.
func MissingError(v *Visit, o Missing, cause error) error {
	if guidon.CodeOf(cause) != guidon.NotFound {
		return cause
	}
	m := &missing{Visit: v, Missing: o}
	if len(o.Key) <= MaxText { // others never existed
		var err error
		if m.deletion, err = Deletion(v, o.Kind, o.Key); err != nil {
			return err
		}
		if m.similar, err = o.Similar(v, o.Key); err != nil {
			return err
		}
	}
	crumbs := []Crumb{{Text: o.List, Address: m.list()}, {Text: Printable(o.Key, MaxText)}}
	return &Error{Page: Page{Title: m.title(), Place: o.Place, Crumbs: crumbs, Main: m.main()}, Err: cause}
}

func (m *missing) title() string {
	return "No " + m.Kind + " " + Printable(m.Missing.Key, MaxText) + " in " + NamespaceName(m.Namespace)
}

// list returns the address of the list of such objects.
func (m *missing) list() string { return m.In(string(m.Place)) }

// revision returns the revision of the deletion.
func (m *missing) revision() string { return Revision(m.deletion.GetRevision()) }

// bringBack returns the address that undoes the deletion, of this object only.
func (m *missing) bringBack() string {
	return m.In("changes", m.revision(), "undo") + "?" + url.Values{m.Kind: {m.Missing.Key}}.Encode()
}

// deleted returns the time of the deletion.
func (m *missing) deleted() time.Time { return m.deletion.GetAt().AsTime() }
