package stream

import (
	"maps"
	"sync"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flight"
)

// Config configures a [Hub].
type Config struct {
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

// maxRunning is how many streams run their operation concurrently: after a change, all need to.
const maxRunning = 256

// Hub manages the event streams of a process: it limits, counts and ends them. A handler
// without a Hub neither serves nor advertises any. It is safe for concurrent use.
type Hub struct {
	config  Config
	pages   flight.Group[pageKey, page]
	ending  chan struct{} // closed by End
	running chan struct{} // has an element for each stream that runs its operation

	mu    sync.Mutex
	ended bool
	kinds [kinds]counts
}

// Kind is the kind of events that a stream sends.
type Kind uint8

// The kinds of streams.
const (
	OFREP   Kind = iota // that a namespace has changed
	Changes             // its change records
	kinds
)

// Reason is why a stream ended.
type Reason string

// The reasons, which are labels of a metric.
const (
	EndedByClient  Reason = "client"   // the client disconnected
	EndedSlow      Reason = "slow"     // the client did not read
	EndedExpired   Reason = "expired"  // the capability expired
	EndedForbidden Reason = "refused"  // the client is no longer authorized
	EndedRewound   Reason = "rewound"  // a backup was restored
	EndedFailed    Reason = "failed"   // the error is in the log
	EndedShare     Reason = "share"    // the slot was given to another token
	EndedStopping  Reason = "stopping" // the process stops
)

// Reasons are all of them.
var Reasons = []Reason{EndedByClient, EndedSlow, EndedExpired, EndedForbidden, EndedRewound, EndedFailed, EndedShare, EndedStopping}

// Stats counts the streams of one kind.
type Stats struct {
	Kind    string // "ofrep" or "changes"
	Open    int
	Refused uint64            // because too many were open or the process was stopping
	Ended   map[string]uint64 // by reason; those of no stream are missing
}

// counts counts the streams of one kind.
type counts struct {
	shares  shares
	refused uint64
	ended   map[string]uint64
}

// NewHub returns a Hub without any open stream. It starts no goroutine.
func NewHub(config Config) *Hub {
	h := &Hub{config: config, ending: make(chan struct{}), running: make(chan struct{}, maxRunning)}
	for kind := range h.kinds {
		h.kinds[kind].shares = shares{owners: map[string]map[*Slot]struct{}{}, counts: map[int]int{}}
		h.kinds[kind].ended = make(map[string]uint64)
	}
	return h
}

// End ends all streams, each after sending its client a delay for reconnecting, and
// rejects new ones. It does not wait for the streams to end. It may be called more than
// once, and on nil.
func (h *Hub) End() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.ended {
		h.ended = true
		close(h.ending)
	}
}

// Stats returns the counts of each kind.
func (h *Hub) Stats() []Stats {
	h.mu.Lock()
	defer h.mu.Unlock()
	names := [kinds]string{OFREP: "ofrep", Changes: "changes"}
	stats := make([]Stats, kinds)
	for kind, c := range h.kinds {
		stats[kind] = Stats{Kind: names[kind], Open: c.shares.open, Refused: c.refused, Ended: maps.Clone(c.ended)}
	}
	return stats
}

func (h *Hub) limit(kind Kind) int {
	if kind == OFREP {
		return h.config.MaxOFREP
	}
	return h.config.MaxChanges
}

// PublicURL returns the URL of the configuration.
func (h *Hub) PublicURL() string { return h.config.PublicURL }

// HasRoom reports whether the owner may open one more stream of the kind.
func (h *Hub) HasRoom(kind Kind, owner string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.ended && h.kinds[kind].shares.canAdd(owner, h.limit(kind))
}

// Open returns a slot for a new stream, or Unavailable. Owner is the authenticated
// caller; callers that fail authentication must not get a slot.
func (h *Hub) Open(kind Kind, owner string) (*Slot, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := &h.kinds[kind]
	if h.ended {
		c.refused++
		return nil, guidon.Errorf(guidon.Unavailable, "the service is stopping; try again later")
	}
	slot := &Slot{kind: kind, owner: owner, displaced: make(chan struct{})}
	if !c.shares.add(slot, h.limit(kind)) {
		c.refused++
		return nil, guidon.Errorf(guidon.Unavailable, "too many streams are open; try again later, or poll")
	}
	return slot, nil
}

// Close frees the slot of a stream that has ended, and counts the reason.
func (h *Hub) Close(slot *Slot, why Reason) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := &h.kinds[slot.kind]
	c.shares.remove(slot)
	c.ended[string(why)]++
}
