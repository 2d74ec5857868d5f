package plan

import (
	"fmt"
	"iter"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// Limits of one object of a comparison.
const (
	maxDifferences = 1000    // that are listed
	maxDiffed      = 1 << 20 // weight of an object whose YAML forms are compared
)

// Side is one of the two states of a comparison.
type Side struct {
	Name    string // in diffs
	Objects change.Objects
}

// Comparison is the difference between two states, as messages.
type Comparison struct {
	before, after Side
	outline       change.Comparison
}

// NewComparison compares the states. Namespaces with different keys are not compared
// themselves, but their flags and segments: their names differ for a reason.
func NewComparison(before, after Side) *Comparison {
	c := &Comparison{before, after, change.Outline(before.Objects, after.Objects)}
	if a, b := before.Objects.Namespace, after.Objects.Namespace; a == nil || b == nil || a.Key != b.Key {
		c.outline.Namespace = nil
	}
	return c
}

// Len returns how many objects differ.
func (c *Comparison) Len() int {
	n := len(c.outline.Segments) + len(c.outline.Flags)
	if c.outline.Namespace != nil {
		n++
	}
	return n
}

// Flags returns how many flags differ.
func (c *Comparison) Flags() *guidonv1.CompareCounts {
	return compareCounts(c.outline.Flags, len(c.after.Objects.Flags))
}

// Segments returns how many segments differ.
func (c *Comparison) Segments() *guidonv1.CompareCounts {
	return compareCounts(c.outline.Segments, len(c.after.Objects.Segments))
}

func compareCounts[T any](objects []change.Compared[T], after int) *guidonv1.CompareCounts {
	n := map[change.Action]int{}
	for i := range objects {
		n[objects[i].Action()]++
	}
	created, updated := n[change.ActionCreate], n[change.ActionUpdate]
	return &guidonv1.CompareCounts{
		Created: convert.Count(created), Updated: convert.Count(updated), Deleted: convert.Count(n[change.ActionDelete]),
		Unchanged: convert.Count(after - created - updated),
	}
}

// Objects returns an iterator over the objects that differ, from the offset on: the
// namespace, segments by key, flags by key. They have diffs if diff is set.
func (c *Comparison) Objects(offset int, diff bool) iter.Seq2[*guidonv1.ComparedObject, error] {
	return func(yield func(*guidonv1.ComparedObject, error) bool) {
		var namespaces []change.Compared[guidon.Namespace]
		if c.outline.Namespace != nil {
			namespaces = append(namespaces, *c.outline.Namespace)
		}
		_ = objects(c, namespaceKind, namespaces, &offset, diff, yield) &&
			objects(c, segmentKind, c.outline.Segments, &offset, diff, yield) &&
			objects(c, flagKind, c.outline.Flags, &offset, diff, yield)
	}
}

// kind is a kind of objects that are compared.
type kind[T any] struct {
	kind     change.Kind
	document func(*T) *service.Document // nil if there are no diffs
	weigh    func(*T) int
}

var (
	namespaceKind = kind[guidon.Namespace]{kind: change.KindNamespace}
	segmentKind   = kind[guidon.Segment]{change.KindSegment, service.SegmentDocument, convert.Weight[guidon.Segment]()}
	flagKind      = kind[guidon.Flag]{change.KindFlag, service.FlagDocument, convert.Weight[guidon.Flag]()}
)

// objects calls yield for each object behind the offset, from which it subtracts the others.
// It reports whether to continue.
func objects[T any](
	c *Comparison, k kind[T], list []change.Compared[T], offset *int, diff bool, yield func(*guidonv1.ComparedObject, error) bool,
) bool {
	skipped := min(*offset, len(list))
	*offset -= skipped
	for _, o := range list[skipped:] {
		o.Differences = change.Compare(o.Before, o.After)
		m := comparedObject(k.kind, &o)
		var err error
		readable := change.Unreadable(o.Before) == nil && change.Unreadable(o.After) == nil
		if diff && readable && k.document != nil && k.weighs(o.Before) <= maxDiffed && k.weighs(o.After) <= maxDiffed {
			m.Diff, err = c.diff(k.kind, o.Key, k.document(o.Before), k.document(o.After))
		}
		if !yield(m, err) {
			return false
		}
	}
	return true
}

func (k kind[T]) weighs(object *T) int {
	if object == nil {
		return 0
	}
	return k.weigh(object)
}

// diff returns the difference between the YAML forms of an object.
func (c *Comparison) diff(k change.Kind, key string, before, after *service.Document) (*string, error) {
	name := func(s Side) string { return fmt.Sprintf("%s/%ss/%s", s.Name, k, key) }
	text, err := document.DiffObjects(name(c.before), before, name(c.after), after)
	return &text, err
}

func comparedObject[T any](k change.Kind, o *change.Compared[T]) *guidonv1.ComparedObject {
	listed := o.Differences[:min(len(o.Differences), maxDifferences)]
	return &guidonv1.ComparedObject{
		Kind: string(k), Key: o.Key, Action: string(o.Action()), Summary: o.Summary(),
		Differences:     lists.Map(listed, convert.Difference),
		MoreDifferences: convert.Count(len(o.Differences) - len(listed)),
	}
}
