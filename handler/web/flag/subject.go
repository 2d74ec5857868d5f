package flag

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// subject is the flag that a page is about.
type subject struct {
	v          *page.Visit
	key        string
	flag       *guidonv1.DocumentFlag // as stored; of an earlier revision if at is set
	revision   int64                  // of the state that it was read from
	at         int64                  // the earlier revision that the visitor views, or 0
	last       *guidonv1.Change       // the newest change, or nil if it is not known
	unreadable string                 // why every evaluation fails, or ""
	omitted    string                 // why client-side SDKs do not get it, or ""
	state, own part.State             // what it does, and what its switch turns; known with the remarks
	asks       bool                   // dangerous acts take the key of the namespace
}

// read reads the flag of the path as it is now. The error has a page of its own if there is no such flag.
func read(v *page.Visit) (*subject, error) {
	s, err := readFlag(v, v.Variable("flag"))
	if err != nil {
		err = s.missing(err)
	}
	return s, err
}

// readFlag reads a flag as it is now. With an error, the subject only has the key.
func readFlag(v *page.Visit, key string) (*subject, error) {
	s := &subject{v: v, key: key, asks: v.Namespace.GetConfirmChanges()}
	content, state, err := page.GetFlagContent.RunAt(v, &guidonv1.GetFlagContentRequest{NamespaceKey: v.Key(), Key: key})
	if err == nil {
		s.flag, s.revision, s.unreadable, s.omitted = content.GetFlag(), state.Revision, content.GetUnreadable(), content.GetOmitted()
		s.last = lastChange(v, key)
	}
	return s, err
}

// readAt reads the flag of the path as it was at the revision in the query, if there is one.
func readAt(v *page.Visit) (*subject, error) {
	at := v.Query().Get("at")
	if at == "" {
		return read(v)
	}
	revision, err := strconv.ParseInt(at, 10, 64)
	if err != nil || revision <= 0 {
		return nil, guidon.Errorf(guidon.InvalidArgument, "invalid field at: must be a revision, such as 412")
	}
	s := &subject{v: v, key: v.Variable("flag"), at: revision}
	if s.flag, err = flagAt(v, s.namespaceKey(), s.key); err != nil {
		return nil, err
	}
	s.revision, s.last = revision, lastChange(v, s.key)
	return s, nil
}

// flagAt returns the flag as it is in a state of a namespace.
func flagAt(v *page.Visit, namespace, key string) (*guidonv1.DocumentFlag, error) {
	content, err := page.GetFlagContent.Run(v, &guidonv1.GetFlagContentRequest{NamespaceKey: namespace, Key: key})
	return content.GetFlag(), err
}

// namespaceKey returns the reference to the state of the namespace that the page shows.
func (s *subject) namespaceKey() string {
	if s.at != 0 {
		return s.v.At(s.at)
	}
	return s.v.Key()
}

// lastChange returns the newest change of the flag, or nil if it is not known.
func lastChange(v *page.Visit, key string) *guidonv1.Change {
	newest, _ := page.NewestChanges(v, "flag", key)
	return newest[key]
}

// missing returns the error for a flag that does not exist, with a page about it.
func (s *subject) missing(cause error) error {
	return page.MissingError(s.v, page.Missing{Kind: "flag", Key: s.key, Place: page.PlaceFlags, List: "Flags", Similar: similar}, cause)
}

// similar returns the flags that may be meant by a key that no flag has.
func similar(v *page.Visit, key string) (links []page.Similar, err error) {
	list, err := page.ListFlagSummaries.Run(v, &guidonv1.ListFlagSummariesRequest{
		NamespaceKey: v.Key(), Query: `"` + strings.ReplaceAll(key, `"`, "") + `"`, Limit: 3,
	})
	for _, f := range list.GetFlags() {
		links = append(links, page.Similar{Name: cmp.Or(f.GetName(), f.GetKey()), Address: v.In("flags", f.GetKey())})
	}
	for _, f := range list.GetSuggestions() {
		links = append(links, page.Similar{Name: cmp.Or(f.GetName(), f.GetKey()), Address: v.In("flags", f.GetKey())})
	}
	return links, err
}

// boolean reports whether the flag is a boolean flag; otherwise it has variants.
func (s *subject) boolean() bool { return isBoolean(s.flag) }

func isBoolean(f *guidonv1.DocumentFlag) bool {
	return f.GetType() == flipt.FlagType_BOOLEAN_FLAG_TYPE
}

// name returns the name of the flag, or its key if it has none.
func (s *subject) name() string { return cmp.Or(s.flag.GetName(), s.key) }

// mayEdit reports whether the page has controls to edit.
func (s *subject) mayEdit() bool { return s.at == 0 && s.v.MayEdit() }

// address returns the address of a page of the flag.
func (s *subject) address(segments ...string) string {
	return s.v.In(append([]string{"flags", s.key}, segments...)...)
}

// saved sends the visitor to a page of the flag after a change.
func (s *subject) saved(r *guidonv1.EditResponse, segments ...string) error {
	return review.SavedAt(s.v, r, append([]string{"flags", s.key}, segments...)...)
}

// typeName returns the type of the flag in words.
func typeName(f *guidonv1.DocumentFlag) string {
	if isBoolean(f) {
		return "Boolean"
	}
	return "Variant"
}
