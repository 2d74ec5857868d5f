package flag

import (
	"net/url"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// restoreTab is the form that restores the flag as of a revision. It has a review and
// no other page.
var restoreTab = &tab{name: "restore", read: readRestore}

// restore is the draft of a flag as it was.
type restore struct {
	base, earlier *guidonv1.DocumentFlag
	at            int64
}

func readRestore(e *edit, form url.Values) (editor, error) {
	at, err := strconv.ParseInt(form.Get("at"), 10, 64)
	if err != nil || at <= 0 {
		return nil, guidon.Errorf(guidon.InvalidArgument, "invalid field at: must be a revision, such as 412")
	}
	earlier, err := flagAt(e.v, e.key, at)
	if err != nil {
		return nil, err
	}
	return &restore{base: e.base, earlier: earlier, at: at}, nil
}

func (r *restore) act(*page.Visit, page.Action) (part.Problems, error) { return nil, nil }
func (r *restore) check() part.Problems                                { return nil }
func (r *restore) result() *guidonv1.DocumentFlag                      { return proto.CloneOf(r.earlier) }
func (r *restore) fields() []field                                     { return []field{{"at", strconv.FormatInt(r.at, 10)}} }

// segmentKeys returns the segments before and after.
func (r *restore) segmentKeys() []string {
	return append(newDraft(r.earlier).segmentKeys(), newDraft(r.base).segmentKeys()...)
}

// differences returns those of all tabs.
func (r *restore) differences(g segments) (all []difference) {
	if isBoolean(r.base) != isBoolean(r.earlier) {
		return []difference{{at: "Type", was: typeName(r.base), now: typeName(r.earlier)}}
	}
	all = newDetails(r.earlier).over(r.base).differences(g)
	all = append(all, newVariants(r.earlier).over(r.base).differences(g)...)
	return append(all, newDraft(r.earlier).over(r.base).differences(g)...)
}

// typeName returns the type of the flag in words.
func typeName(f *guidonv1.DocumentFlag) string {
	if isBoolean(f) {
		return "Boolean"
	}
	return "Variant"
}
