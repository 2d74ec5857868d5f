package change

import (
	"math"
	"time"

	"github.com/guidonhq/guidon"
)

// Event is the kind of event that a change was.
type Event string

// Events. EventAccess is that of authentications and bindings, which belong to no namespace.
const (
	EventTurnedOff Event = "turned-off"
	EventTurnedOn  Event = "turned-on"
	EventTargeting Event = "targeting" // of a flag or a segment: not only its name, description or metadata
	EventCreated   Event = "created"
	EventDeleted   Event = "deleted"
	EventOther     Event = "other"
	EventAccess    Event = "access"
)

// Events are those of namespaces.
var Events = []Event{EventTurnedOff, EventTurnedOn, EventTargeting, EventCreated, EventDeleted, EventOther}

// Event returns the kind of event. The record must have its bodies.
func (c *Record) Event() Event {
	switch {
	case c.Kind.Global():
		return EventAccess
	case c.Action == ActionCreate:
		return EventCreated
	case c.Action == ActionDelete:
		return EventDeleted
	case c.Kind == KindFlag:
		return eventOf(c, func(before, after *guidon.Flag) Event {
			before.Name, before.Description, before.Metadata = after.Name, after.Description, after.Metadata
			return map[string]Event{TurnedOff: EventTurnedOff, TurnedOn: EventTurnedOn}[turn(before, after)]
		})
	case c.Kind == KindSegment:
		return eventOf(c, func(before, after *guidon.Segment) Event {
			before.Name, before.Description = after.Name, after.Description
			return ""
		})
	}
	return EventOther
}

// eventOf returns the event of an update: the one that special returns or, if that is empty,
// EventTargeting if the objects still differ after it.
func eventOf[T any](c *Record, special func(before, after *T) Event) Event {
	before, after, err := decodeBoth[T](c.Before, c.After)
	if err != nil || before == nil || after == nil {
		return EventOther
	}
	if event := special(before, after); event != "" {
		return event
	}
	if of := sidesOf(before, after, byIdentity); shapeOf[T]().same(&of, before, after) {
		return EventOther
	}
	return EventTargeting
}

// Feed selects change records of all namespaces, the newest first by time. Zero fields do not
// restrict the selection.
type Feed struct {
	Visible func(namespace string) bool // whether the records of a namespace may be seen; nil means all
	In      string                      // only records of this namespace
	Actor   string                      // an actor's id
	Events  []Event
	Since   *time.Time // inclusive
	Until   *time.Time // exclusive
	Before  Place      // exclusive
	Limit   int        // at most this many records, fewer if they are large; required
}

// Place is the place of a record among those of all namespaces: by time, in microseconds since
// 1970, then by namespace and position.
type Place struct {
	At        int64
	Namespace string
	guidon.Position
}

// Place returns the place of the record.
func (c *Record) Place() Place { return Place{c.At.UnixMicro(), c.Namespace, c.Cursor()} }

// Newest is the place after all records.
var Newest = Place{At: math.MaxInt64}
