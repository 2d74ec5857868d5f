package guidon

import "sync"

// Snapshot is one state of a namespace. It is immutable and safe for concurrent use.
// The objects and slices that it returns must not be modified.
//
// It also holds the flags and segments in compiled form, so that evaluations do not
// parse or search anything that can be prepared.
type Snapshot struct {
	namespace     *Namespace
	revision      Revision
	flags         []*Flag
	segments      []*Segment
	flagByKey     map[string]*CompiledFlag
	segmentsByKey segmentIndex
	unreadable    map[UnreadableKey]error // see Unreadable
	derived       *sync.Map               // *Derivation[T] to func() T; not shared with other snapshots
}

// NewSnapshot returns the snapshot of a namespace, which must be nil if it does not
// exist at the revision. Flags and segments must be in creation order. The snapshot
// keeps all arguments; the caller must not modify them afterwards.
func NewSnapshot(namespace *Namespace, revision Revision, flags []*Flag, segments []*Segment) *Snapshot {
	s := &Snapshot{
		namespace:     namespace,
		revision:      revision,
		flags:         flags,
		segments:      segments,
		flagByKey:     make(map[string]*CompiledFlag, len(flags)),
		segmentsByKey: make(segmentIndex, len(segments)),
		derived:       new(sync.Map),
	}
	for _, g := range segments {
		s.putSegment(g)
	}
	for _, f := range flags {
		s.putFlag(f)
	}
	return s
}

// putSegment compiles the segment.
func (s *Snapshot) putSegment(g *Segment) {
	s.segmentsByKey[g.Key] = compileSegment(g)
	s.setUnreadable("segment", g.Key, g.Unreadable.err())
}

// putFlag compiles the flag, whose segments have been put.
func (s *Snapshot) putFlag(f *Flag) {
	c := compileFlag(f, s.segmentsByKey)
	s.flagByKey[f.Key] = c
	s.setUnreadable("flag", f.Key, c.err)
}

// Namespace returns the namespace, or nil if it does not exist at this revision. Such a
// snapshot is empty, and a [service.Store] never returns it.
func (s *Snapshot) Namespace() *Namespace { return s.namespace }

// Revision returns the revision of the namespace in this state.
func (s *Snapshot) Revision() Revision { return s.revision }

// Flags returns the flags in creation order.
func (s *Snapshot) Flags() []*Flag { return s.flags }

// Compiled returns the compiled form of the flag with the key, or nil.
func (s *Snapshot) Compiled(key string) *CompiledFlag { return s.flagByKey[key] }

// Flag returns the flag with the key, or nil.
func (s *Snapshot) Flag(key string) *Flag {
	if f := s.flagByKey[key]; f != nil {
		return f.flag
	}
	return nil
}

// Segments returns the segments in creation order.
func (s *Snapshot) Segments() []*Segment { return s.segments }

// Segment returns the segment with the key, or nil.
func (s *Snapshot) Segment(key string) *Segment {
	if g := s.segmentsByKey[key]; g != nil {
		return g.segment
	}
	return nil
}
