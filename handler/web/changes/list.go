package changes

import (
	"net/http"
	"time"

	"github.com/a-h/templ"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Limits of the list.
const (
	maxGroups = 25            // revisions on a page
	firstRead = maxGroups + 1 // records, enough if each revision has one
	pageSize  = 100           // records that are read together then, the maximum of the operation
	maxReads  = 8             // for one page
	namesOnly = 1             // bytes: objects are left out, and named instead
)

// changeList is the list of changes.
type changeList struct {
	*filter
	Groups []*group
	Older  string // the address of the next page, or ""
	actors []page.Actor
}

// list is the page of changes: those of a namespace or, without one, of all.
func list(v *page.Visit) error {
	f := readFilter(v)
	l := &changeList{filter: f}
	status := http.StatusOK
	switch format := v.Query().Get(fieldFormat); {
	case len(f.problems) > 0:
		status = http.StatusUnprocessableEntity
	case v.Namespace != nil && (format == formatCSV || format == formatJSON):
		return export(v, f, format)
	case v.Namespace == nil:
		if err := l.readEverywhere(v); err != nil {
			return err
		}
	default:
		if err := l.read(v); err != nil {
			return err
		}
		if err := addSigns(v, l.Groups); err != nil {
			return err
		}
	}
	if v.Namespace == nil {
		return v.Reply(status, page.Page{Title: "Changes of all namespaces", Place: page.PlaceChanges, Main: everywhereMain(v, l)})
	}
	return v.Reply(status, page.Page{
		Title: "Changes", Place: page.PlaceChanges, Crumbs: []page.Crumb{{Text: "Changes"}}, Live: l.First() && !l.Some(),
		Main: listMain(v, l), Regions: map[string]templ.Component{"list": feed(v, l)},
	})
}

// read reads the groups of the page. A revision of which a page of records has only a part
// is not read to its end: it may have thousands.
func (l *changeList) read(v *page.Visit) error {
	request := proto.CloneOf(l.request) // the filter says what the page is
	request.Limit, request.MaxObjectBytes = firstRead, namesOnly
	for range maxReads {
		answer, err := page.ListChanges.Run(v, request)
		if err != nil {
			return err
		}
		next, groups := answer.GetNextPageToken(), groupsOf(answer.GetChanges())
		last := len(groups) - 1
		if next != "" && last >= 0 && len(l.Groups)+last < maxGroups {
			if err := l.complete(v, groups[last]); err != nil {
				return err
			}
		}
		l.Groups = append(l.Groups, groups...)
		switch {
		case len(l.Groups) > maxGroups:
			l.Groups = l.Groups[:maxGroups]
			l.Older = l.With(v, fieldBefore, page.Revision(l.Groups[maxGroups-1].Revision))
			return nil
		case next == "" || last >= 0 && groups[last].Revision == 1:
			return nil
		case last < 0:
			request.PageToken = next
		default:
			request.PageToken, request.LastRevision = "", groups[last].Revision-1
		}
		request.Limit = pageSize
	}
	if request.GetPageToken() == "" {
		l.Older = l.With(v, fieldBefore, page.Revision(request.GetLastRevision()+1))
	} else {
		l.Older = l.With(v, fieldCursor, request.GetPageToken())
	}
	return nil
}

// readEverywhere reads the groups of the page of all namespaces, of which the last one may be a part.
func (l *changeList) readEverywhere(v *page.Visit) error {
	q := l.request
	answer, err := page.ListAllChanges.Run(v, &guidonv1.ListAllChangesRequest{
		NamespaceKey: l.values[fieldNamespace], Actor: q.GetActor(), Since: q.GetSince(), Until: q.GetUntil(), Events: l.Events,
		Limit: pageSize, PageToken: q.GetPageToken(), MaxObjectBytes: namesOnly,
	})
	l.Groups = groupsOf(answer.GetChanges())
	if next := answer.GetNextPageToken(); next != "" {
		l.Older = l.With(v, fieldCursor, next)
		if n := len(l.Groups); n > 0 && len(l.Groups[n-1].Records) > 1 {
			l.Groups[n-1].More = true // perhaps
		}
	}
	return err
}

// complete reads the records of a group again, of which a page may have only some.
func (l *changeList) complete(v *page.Visit, g *group) error {
	request := proto.CloneOf(l.request)
	request.Limit, request.MaxObjectBytes = pageSize, namesOnly
	request.PageToken, request.FirstRevision, request.LastRevision = "", g.Revision, g.Revision
	answer, err := page.ListChanges.Run(v, request)
	if err != nil || len(answer.GetChanges()) == 0 {
		return err
	}
	all := groupsOf(answer.GetChanges())[0]
	g.Records, g.More = all.Records, answer.GetNextPageToken() != ""
	return nil
}

// Pruned reports whether changes of the namespace were removed that would be on the page.
// Revisions have no gaps otherwise.
func (l *changeList) Pruned() bool {
	if l.request.GetNamespaceKey() == "" || l.Some() || len(l.Groups) == 0 {
		return false
	}
	for i, g := range l.Groups {
		if i > 0 && l.Groups[i-1].Revision > g.Revision+1 {
			return true
		}
	}
	return l.Older == "" && l.Groups[len(l.Groups)-1].Revision > 1
}

// Seen returns the actors of the listed changes, each once.
func (l *changeList) Seen() []page.Actor {
	if l.actors == nil {
		l.actors = actorsOf(l.Groups)
	}
	return l.actors
}

func actorsOf(groups []*group) (actors []page.Actor) {
	known := make(map[string]bool)
	for _, g := range groups {
		if !known[g.Actor.ID] {
			known[g.Actor.ID], actors = true, append(actors, g.Actor)
		}
	}
	return actors
}

// ActiveChips returns the active filters.
func (l *changeList) ActiveChips(v *page.Visit) []chip {
	names := map[string]page.Actor{v.Visitor.ActorID(): {ID: v.Visitor.ActorID(), Name: v.Visitor.Name, Token: v.Visitor.Token}}
	for _, a := range l.Seen() {
		names[a.ID] = a
	}
	return l.Chips(v, names)
}

// ExportAddress returns the address of the export of the list.
func (l *changeList) ExportAddress(v *page.Visit, format string) string {
	return l.With(v, fieldFormat, format)
}

// MoreOpen reports whether the fields that are folded away are in use.
func (l *changeList) MoreOpen() bool {
	for _, field := range []string{fieldMessage, fieldSince, fieldUntil} {
		if l.problems.Of(field) != "" || field != fieldSince && l.values[field] != "" {
			return true
		}
	}
	return agoLabels[l.values[fieldSince]] == "" && l.values[fieldSince] != ""
}

// MenuProblems returns the problems of filters that have no field.
func (l *changeList) MenuProblems() (problems part.Problems) {
	for _, p := range l.problems {
		if p.Field == fieldKind || p.Field == fieldReason || p.Field == fieldActor {
			problems = append(problems, p)
		}
	}
	return problems
}

// namespaceName returns the name of a namespace, or its key if it has been deleted.
func namespaceName(v *page.Visit, key string) string {
	if n := v.NamespaceWith(key); n != nil {
		return page.NamespaceName(n)
	}
	return key
}

// prunedText says that changes were removed.
func prunedText(v *page.Visit) string {
	days := int(v.Site.Retention / (24 * time.Hour))
	if days == 0 {
		return "Older changes were removed."
	}
	return "Older changes were removed after " + page.Count(days, "day") + "."
}

// changesOf returns the changes of a revision, the first of the namespace's, and whether
// there are more. Objects that take more than so many bytes are left out.
func changesOf(v *page.Visit, revision int64, limit, objectBytes int32) (changes []*guidonv1.Change, more bool, err error) {
	answer, err := page.ListChanges.Run(v, &guidonv1.ListChangesRequest{
		NamespaceKey: v.Key(), FirstRevision: revision, LastRevision: revision, Limit: limit, MaxObjectBytes: objectBytes,
	})
	return answer.GetChanges(), answer.GetNextPageToken() != "", err
}
