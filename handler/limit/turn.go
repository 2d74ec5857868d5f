package limit

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/guidonhq/guidon"
)

// Heavy limits the heavy operations in progress, whose memory and processor time depend on
// what is stored and not on the size of the request. They take turns, so that together they
// use no more than a few of them do, however many clients call them.
type Heavy struct {
	room  int64
	turns *semaphore.Weighted
}

// NewHeavy returns a limit of so many turns at a time, each with room for so many bytes.
func NewHeavy(turns int, room int64) *Heavy {
	return &Heavy{room: room, turns: semaphore.NewWeighted(int64(turns))}
}

// WithTurns returns a limit of so many turns at a time, with the same room.
func (h *Heavy) WithTurns(turns int) *Heavy { return NewHeavy(turns, h.room) }

// NewTurn returns a turn that has not begun.
func (h *Heavy) NewTurn() Turn { return Turn{heavy: h} }

// Turn is the turn of one request, which may run several heavy operations in it. It is not
// safe for concurrent use.
type Turn struct {
	heavy *Heavy
	begun bool
}

// Room returns how much memory the operations may use during the turn, in bytes.
func (t *Turn) Room() int64 { return t.heavy.room }

var errNoTurn = guidon.Errorf(guidon.Unavailable, "too many requests that take much work are waiting; try again later")

// Begin waits for the turn, unless it has begun already. After the longest wait it returns
// Unavailable. If the context ends first, it returns the context's error.
func (t *Turn) Begin(ctx context.Context, longest time.Duration) error {
	if t.begun {
		return nil
	}
	waiting, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	if t.heavy.turns.Acquire(waiting, 1) != nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		return errNoTurn
	}
	t.begun = true
	return nil
}

// Begun reports whether the turn has begun and not ended.
func (t *Turn) Begun() bool { return t.begun }

// End ends the turn if it has begun.
func (t *Turn) End() {
	if t.begun {
		t.begun = false
		t.heavy.turns.Release(1)
	}
}
