package handler

import (
	"maps"
	"sync"

	"github.com/guidonhq/guidon"
)

// StreamsConfig is what [Streams] are made of.
type StreamsConfig struct {
	// Subscribe returns how to learn that a namespace, or what its readers may see,
	// may have changed. changed returns a channel that is closed at the next such
	// moment, counted from the call; cancel ends the interest. The namespace need
	// not exist.
	Subscribe func(namespace string) (changed func() <-chan struct{}, cancel func())
	// How many streams may be open at a time. One token may have all of them until
	// others want some.
	MaxOFREP, MaxChanges int
	// PublicURL is where browsers reach this service, without a slash at the end;
	// empty is where they reach it already, at the root.
	PublicURL string
}

// Streams are the event streams of a process: the one place that counts them and
// ends them. A handler that has none neither offers nor advertises any. Its methods
// may be called concurrently.
type Streams struct {
	config StreamsConfig
	pages  pages
	ending chan struct{} // closed by End

	mu    sync.Mutex
	ended bool
	kinds [streamKinds]streamCounts
}

// streamKind is what a stream tells of.
type streamKind uint8

const (
	ofrepStream streamKind = iota
	changeStream
	streamKinds
)

// streamEnd is why a stream ended.
type streamEnd string

const (
	endedByClient  streamEnd = "client"  // it went away
	endedSlow      streamEnd = "slow"    // it did not take what was sent
	endedExpired   streamEnd = "expired" // the capability that it came with
	endedForbidden streamEnd = "refused" // it may not listen any more
	endedRewound   streamEnd = "rewound" // a backup was restored
	endedFailed    streamEnd = "failed"  // for a reason that the log has
	endedShare     streamEnd = "share"   // its token had more than its share
	endedStopping  streamEnd = "stopping"
)

// StreamStats counts the streams of one kind.
type StreamStats struct {
	Kind    string // "ofrep" or "changes"
	Open    int
	Refused uint64            // because too many were open, or the process stops
	Ended   map[string]uint64 // by reason, of which there are few
}

type streamCounts struct {
	shares  streamShares
	refused uint64
	ended   map[string]uint64
}

// NewStreams returns streams of which none is open. It starts nothing.
func NewStreams(config StreamsConfig) *Streams {
	s := &Streams{config: config, ending: make(chan struct{})}
	for kind := range s.kinds {
		s.kinds[kind].shares, s.kinds[kind].ended = newStreamShares(), make(map[string]uint64)
	}
	return s
}

// End ends all streams, each after it has told its client when to come back, and
// refuses new ones. It does not wait for that, and may be called again, and on nil.
func (s *Streams) End() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended = true
		close(s.ending)
	}
}

// Stats returns the counts of each kind.
func (s *Streams) Stats() []StreamStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := [streamKinds]string{ofrepStream: "ofrep", changeStream: "changes"}
	stats := make([]StreamStats, streamKinds)
	for kind, c := range s.kinds {
		stats[kind] = StreamStats{Kind: names[kind], Open: c.shares.open, Refused: c.refused, Ended: maps.Clone(c.ended)}
	}
	return stats
}

func (s *Streams) limit(kind streamKind) int {
	if kind == ofrepStream {
		return s.config.MaxOFREP
	}
	return s.config.MaxChanges
}

// hasRoom reports whether the owner may open one more stream of the kind.
func (s *Streams) hasRoom(kind streamKind, owner string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.ended && s.kinds[kind].shares.canAdd(owner, s.limit(kind))
}

// open returns the place of a stream that begins, or Unavailable. Owner is the
// authenticated caller: streams of callers that are not get no place.
func (s *Streams) open(kind streamKind, owner string) (*streamSlot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.kinds[kind]
	if s.ended {
		c.refused++
		return nil, guidon.Errorf(guidon.Unavailable, "the service is stopping; try again later")
	}
	slot := &streamSlot{kind: kind, owner: owner, displaced: make(chan struct{})}
	if !c.shares.add(slot, s.limit(kind)) {
		c.refused++
		return nil, guidon.Errorf(guidon.Unavailable, "too many streams are open; try again later, or poll")
	}
	return slot, nil
}

// close counts a stream that has ended.
func (s *Streams) close(slot *streamSlot, why streamEnd) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.kinds[slot.kind]
	c.shares.remove(slot)
	c.ended[string(why)]++
}
