package changes

import (
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// record is the record of a change to one object.
type record struct {
	*guidonv1.Change
	sign *part.Sign // of a flag as it is now; nil if that is not known
}

// addSigns finds the states of the flags that the groups name.
func addSigns(v *page.Visit, groups []*group) error {
	var keys []string
	for _, g := range groups {
		for _, r := range g.Folded() {
			if r.GetKind() == flagKind.name {
				keys = append(keys, r.GetKey())
			}
		}
	}
	signs, err := page.SignsOf(v, v.Key(), keys)
	for _, g := range groups {
		for i, r := range g.Records {
			if r.GetKind() == flagKind.name {
				g.Records[i].sign = signs[r.GetKey()]
			}
		}
	}
	return err
}

// Name returns the name that the object had after the change or, if that deleted it,
// before.
func (r record) Name() string {
	if name := page.Printable(r.GetName(), maxShownName); name != "" {
		return name
	}
	for _, state := range []*structpb.Struct{r.GetAfter(), r.GetBefore()} {
		if name := page.Printable(state.GetFields()["name"].GetStringValue(), maxShownName); name != "" {
			return name
		}
	}
	return r.GetKey()
}

// maxShownName limits the names that are shown, in bytes. Names have at most 255
// characters.
const maxShownName = 1024

// Verb returns the action on the object, in words.
func (r record) Verb() string {
	verb, _, _ := strings.Cut(r.GetSummary(), ";")
	if verb == change.TurnedOff || verb == change.TurnedOn {
		return verb
	}
	return verbs[change.Action(r.GetAction())]
}

// Rest returns the summary without the verb, if it begins with that.
func (r record) Rest(verb string) string {
	rest, ok := strings.CutPrefix(r.GetSummary(), verb)
	if !ok {
		return r.GetSummary()
	}
	if what, ok := strings.CutPrefix(rest, " ("); ok {
		return strings.TrimSuffix(what, ")")
	}
	return strings.TrimPrefix(rest, "; ")
}

var verbs = map[change.Action]string{
	change.ActionCreate: "created", change.ActionUpdate: "changed", change.ActionDelete: "deleted",
}

// HistoryAddress returns the address of the change in the history of the object, or that
// of the change if the object has none.
func (r record) HistoryAddress(v *page.Visit) string {
	if k, ok := kinds[r.GetKind()]; ok {
		return v.To("namespaces", r.GetNamespaceKey(), k.folder, r.GetKey(), "history", page.Revision(r.GetRevision()))
	}
	return v.To("namespaces", r.GetNamespaceKey(), "changes", page.Revision(r.GetRevision()))
}

// StateAddress returns the address of the object as it was after the change or, if that
// deleted it, before; "" if the object has no such page.
func (r record) StateAddress(v *page.Visit) string {
	if r.GetAction() == string(change.ActionDelete) {
		return r.addressAt(v, r.GetRevision()-1)
	}
	return r.addressAt(v, r.GetRevision())
}

// BeforeAddress returns the address of the object as it was before the change; "" if there
// was none.
func (r record) BeforeAddress(v *page.Visit) string {
	if r.GetAction() == string(change.ActionCreate) {
		return ""
	}
	return r.addressAt(v, r.GetRevision()-1)
}

func (r record) addressAt(v *page.Visit, revision int64) string {
	k, ok := kinds[r.GetKind()]
	if !ok || revision <= 0 {
		return ""
	}
	return v.In(k.folder, r.GetKey()) + "?at=" + page.Revision(revision)
}
