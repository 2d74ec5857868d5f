package stream

import (
	"maps"
	"sync"

	"github.com/guidonhq/guidon"
)

// StreamsConfig configures [Streams].
type StreamsConfig struct {
	// Subscribe subscribes to changes of a namespace, and of who may read it. changed
	// returns a channel that is closed when something may have changed after the
	// call; cancel ends the subscription. The namespace need not exist.
	Subscribe func(namespace string) (changed func() <-chan struct{}, cancel func())
	// MaxOFREP and MaxChanges limit the open streams of each kind. One token may have
	// all of them until others need some.
	MaxOFREP, MaxChanges int
	// PublicURL is the URL at which browsers reach this service, without a trailing
	// slash. Empty means the root of the origin that they already use.
	PublicURL string
}

// Streams manages the event streams of a process: it limits, counts and ends them. A
// handler without Streams neither serves nor advertises any. It is safe for concurrent
// use.
type Streams struct {
	config StreamsConfig
	pages  pages
	ending chan struct{} // closed by End

	mu    sync.Mutex
	ended bool
	kinds [streamKinds]streamCounts
}

// StreamKind is what a stream reports.
type StreamKind uint8

const (
	OfrepStream StreamKind = iota
	ChangeStream
	streamKinds
)

// StreamEnd is why a stream ended.
type StreamEnd string

const (
	EndedByClient  StreamEnd = "client"   // the client disconnected
	EndedSlow      StreamEnd = "slow"     // the client did not read
	EndedExpired   StreamEnd = "expired"  // the capability expired
	EndedForbidden StreamEnd = "refused"  // the client is no longer authorized
	EndedRewound   StreamEnd = "rewound"  // a backup was restored
	EndedFailed    StreamEnd = "failed"   // the error is in the log
	EndedShare     StreamEnd = "share"    // the slot was given to another token
	EndedStopping  StreamEnd = "stopping" // the process stops
)

// StreamStats counts the streams of one kind.
type StreamStats struct {
	Kind    string // "ofrep" or "changes"
	Open    int
	Refused uint64            // because too many were open or the process was stopping
	Ended   map[string]uint64 // by reason, of which there are few
}

type streamCounts struct {
	shares  streamShares
	refused uint64
	ended   map[string]uint64
}

// NewStreams returns Streams without any open stream. It starts no goroutine.
func NewStreams(config StreamsConfig) *Streams {
	s := &Streams{config: config, ending: make(chan struct{})}
	for kind := range s.kinds {
		s.kinds[kind].shares, s.kinds[kind].ended = newStreamShares(), make(map[string]uint64)
	}
	return s
}

// End ends all streams, each after sending its client a delay for reconnecting, and
// rejects new ones. It does not wait for the streams to end. It may be called more than
// once, and on nil.
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
	names := [streamKinds]string{OfrepStream: "ofrep", ChangeStream: "changes"}
	stats := make([]StreamStats, streamKinds)
	for kind, c := range s.kinds {
		stats[kind] = StreamStats{Kind: names[kind], Open: c.shares.open, Refused: c.refused, Ended: maps.Clone(c.ended)}
	}
	return stats
}

func (s *Streams) limit(kind StreamKind) int {
	if kind == OfrepStream {
		return s.config.MaxOFREP
	}
	return s.config.MaxChanges
}

// PublicURL returns the URL of the configuration.
func (s *Streams) PublicURL() string { return s.config.PublicURL }

// Subscribe calls the function of the configuration.
func (s *Streams) Subscribe(namespace string) (changed func() <-chan struct{}, cancel func()) {
	return s.config.Subscribe(namespace)
}

// Stopping returns a channel that is closed when all streams must end.
func (s *Streams) Stopping() <-chan struct{} { return s.ending }

// HasRoom reports whether the owner may open one more stream of the kind.
func (s *Streams) HasRoom(kind StreamKind, owner string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.ended && s.kinds[kind].shares.canAdd(owner, s.limit(kind))
}

// Open returns a slot for a new stream, or Unavailable. Owner is the authenticated
// caller; callers that fail authentication must not get a slot.
func (s *Streams) Open(kind StreamKind, owner string) (*StreamSlot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.kinds[kind]
	if s.ended {
		c.refused++
		return nil, guidon.Errorf(guidon.Unavailable, "the service is stopping; try again later")
	}
	slot := &StreamSlot{kind: kind, owner: owner, displaced: make(chan struct{})}
	if !c.shares.add(slot, s.limit(kind)) {
		c.refused++
		return nil, guidon.Errorf(guidon.Unavailable, "too many streams are open; try again later, or poll")
	}
	return slot, nil
}

// Close frees the slot of a stream that has ended, and counts the reason.
func (s *Streams) Close(slot *StreamSlot, why StreamEnd) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.kinds[slot.kind]
	c.shares.remove(slot)
	c.ended[string(why)]++
}
