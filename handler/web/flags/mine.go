package flags

import (
	"cmp"
	"slices"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// ownership is a way in which flags are the visitor's.
type ownership struct {
	value string // of the field mine
	term  string // of the query, which means the same
	text  string
	// keys returns the keys of the flags in the namespace and, if there are none, why.
	keys func(v *page.Visit) (keys []string, note string, err error)
}

var (
	marked  = ownership{"favorites", "is:favorite", "Favorites", favoriteKeys}
	changed = ownership{"changed", "is:mine", "Changed by me", changedKeys}
)

// mineTexts are the values of the field mine in words.
var mineTexts = map[string]string{marked.value: marked.text, changed.value: changed.text}

// mine returns the filter for the flags of the visitor.
func (l *list) mine(v *page.Visit) menu {
	m := menu{Name: "Mine", Options: []part.Link{l.option(v, fieldMine, marked.value, marked.text, "")}}
	if v.Visitor.Authentication != nil {
		m.Options = append(m.Options, l.option(v, fieldMine, changed.value, changed.text, ""))
	}
	return m
}

// limitToMine makes the request one for flags of the visitor, if the filter asks for them. It
// returns why there are none, if that is known.
func (f filter) limitToMine(v *page.Visit, request *guidonv1.ListFlagSummariesRequest) (note string, err error) {
	text, terms := service.CutTerms(request.GetQuery(), marked.term, changed.term)
	for _, o := range []ownership{marked, changed} {
		if !slices.Contains(f.query[fieldMine], o.value) && !slices.Contains(terms, o.term) {
			continue
		}
		keys, why, err := o.keys(v)
		if err != nil {
			return "", err
		}
		// No flag has an empty key. Without keys, the request would be for all flags.
		request.Query, request.Keys, note = text, append(append(request.Keys, keys...), ""), cmp.Or(why, note)
	}
	return note, nil
}

func favoriteKeys(v *page.Visit) (keys []string, note string, err error) {
	all, err := v.Favorites()
	for _, f := range all {
		if f.Namespace == v.Key() {
			keys = append(keys, f.Key)
		}
	}
	if len(keys) == 0 {
		note = "You have no favorites here. The star beside the name of a flag makes it one."
	}
	return keys, note, err
}

// The flags that a visitor changed are looked for in the last 200 change records.
const changedPages, changesPerPage = 2, 100

func changedKeys(v *page.Visit) (keys []string, note string, err error) {
	if v.Visitor.Authentication == nil {
		return nil, "This server requires no signing in, so it does not know which flags you changed.", nil
	}
	request := &guidonv1.ListChangesRequest{
		NamespaceKey: v.Key(), Kind: "flag", Actor: v.Visitor.ActorID(), Limit: changesPerPage, MaxObjectBytes: 1,
	}
	for range changedPages {
		list, err := page.ListChanges.Run(v, request)
		if err != nil {
			return nil, "", err
		}
		for _, c := range list.GetChanges() {
			keys = append(keys, c.GetKey())
		}
		if request.PageToken = list.GetNextPageToken(); request.PageToken == "" {
			break
		}
	}
	return keys, "", nil
}
