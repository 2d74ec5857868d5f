package guidon

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Snapshot is one state of a namespace. It is immutable and safe for concurrent use.
// The objects and slices that it returns must not be modified.
//
// It also holds the flags and segments in compiled form, so that evaluations do not
// parse or search anything that can be prepared.
type Snapshot struct {
	namespace     *Namespace
	revision      Revision
	flags         Sorted[*CompiledFlag] // in creation order
	segments      Sorted[*Segment]      // in creation order
	flagByKey     shards[CompiledFlag]
	segmentsByKey segmentIndex
	unreadable    map[UnreadableKey]error // see Unreadable
	timed         map[string]bool         // the keys of the flags that have boundaries; nil if there are none
	requiring     map[string]bool         // the keys of the flags that require others; nil if there are none
	epoch         int64                   // for which the flags are compiled
	base          *Snapshot               // nil unless Snapshot.At has compiled this one from it
	sinceBase     []FlagChange            // from the base to this snapshot
	derived       *sync.Map               // *Derivation[T] to *derivedValue[T]; not shared with other snapshots
}

// NewSnapshot returns the snapshot of a namespace, which must be nil if it does not
// exist at the revision. Flags and segments must be in creation order. Flags without a
// position, as in a document, keep their order. The snapshot keeps the objects; the caller
// must not modify them afterwards.
func NewSnapshot(namespace *Namespace, revision Revision, flags []*Flag, segments []*Segment) *Snapshot {
	s := &Snapshot{
		namespace:     namespace,
		revision:      revision,
		segments:      NewSorted(compareSegments, segments),
		segmentsByKey: make(segmentIndex, len(segments)),
		derived:       new(sync.Map),
	}
	for _, g := range segments {
		s.segmentsByKey[g.Key] = CompileSegment(g)
		s.setUnreadable("segment", g.Key, g.Unreadable.err())
	}
	compiled, byKey := make([]*CompiledFlag, len(flags)), newShards[CompiledFlag](len(flags))
	for i, f := range flags {
		compiled[i] = s.compile(f)
		s.setKinds(f.Key, f)
		compiled[i].order = i
		byKey.set(f.Key, compiled[i])
	}
	if len(s.requiring) > 0 {
		link(compiled, byKey.get)
	}
	s.flags, s.flagByKey = NewSorted(compareCompiled, compiled), byKey.shards
	return s
}

func compareCompiled(a, b *CompiledFlag) int {
	x, y := a.flag.Created, b.flag.Created
	return cmp.Or(
		cmp.Compare(x.Revision, y.Revision), cmp.Compare(x.Sequence, y.Sequence),
		cmp.Compare(a.order, b.order), strings.Compare(a.key, b.key),
	)
}

func compareFlags(a, b *Flag) int { return compareCreation(a.Created, b.Created, a.Key, b.Key) }

func compareSegments(a, b *Segment) int { return compareCreation(a.Created, b.Created, a.Key, b.Key) }

func compareCreation(a, b Position, aKey, bKey string) int {
	return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Sequence, b.Sequence), strings.Compare(aKey, bKey))
}

// Namespace returns the namespace, or nil if it does not exist at this revision. Such a
// snapshot is empty, and a [service.Store] never returns it.
func (s *Snapshot) Namespace() *Namespace { return s.namespace }

// Revision returns the revision of the namespace in this state.
func (s *Snapshot) Revision() Revision { return s.revision }

// Flags returns the flags in creation order.
func (s *Snapshot) Flags() []*Flag { return flagLists.Of(s) }

var flagLists = NewDerivation(func(s *Snapshot) []*Flag {
	flags := make([]*Flag, 0, s.flags.Len())
	for f := range s.flags.All() {
		flags = append(flags, f.flag)
	}
	return flags
})

// Compiled returns the compiled form of the flag with the key, or nil.
func (s *Snapshot) Compiled(key string) *CompiledFlag { return s.flagByKey.get(key) }

// CompiledFlags returns the compiled forms of the flags in creation order.
func (s *Snapshot) CompiledFlags() Sorted[*CompiledFlag] { return s.flags }

// Flag returns the flag with the key, or nil.
func (s *Snapshot) Flag(key string) *Flag {
	if f := s.flagByKey.get(key); f != nil {
		return f.flag
	}
	return nil
}

// Segments returns the segments in creation order.
func (s *Snapshot) Segments() []*Segment { return segmentLists.Of(s) }

var segmentLists = NewDerivation(func(s *Snapshot) []*Segment { return slices.Collect(s.segments.All()) })

// Segment returns the segment with the key, or nil.
func (s *Snapshot) Segment(key string) *Segment {
	if g := s.segmentsByKey[key]; g != nil {
		return g.segment
	}
	return nil
}

// CompiledSegment returns the compiled form of the segment with the key, or nil.
func (s *Snapshot) CompiledSegment(key string) *CompiledSegment { return s.segmentsByKey[key] }
