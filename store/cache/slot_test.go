package cache

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/bubble"
)

// loads delivers the calls of a slot's load function one by one.
type loads chan *call

type call struct {
	ctx    context.Context
	held   *int
	answer chan answer
}

type answer struct {
	value int
	err   error
}

func (l loads) load(ctx context.Context, held *version[int]) (*version[int], error) {
	c := &call{ctx: ctx, answer: make(chan answer)}
	if held != nil {
		c.held = held.get()
	}
	l <- c
	select {
	case a := <-c.answer:
		return newVersion(guidon.Revision{}, &a.value), a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// begin starts a get, waits until it blocks or has ended, and returns the channel of
// its result.
func begin(ctx context.Context, s *slot[int], l loads) chan answer {
	result := make(chan answer, 1)
	go func() {
		value, err := s.get(ctx, l.load)
		if err != nil {
			result <- answer{err: err}
			return
		}
		result <- answer{value: *value}
	}()
	synctest.Wait()
	return result
}

// next returns the load that has begun, or nil if none has.
func (l loads) next() *call {
	synctest.Wait()
	select {
	case c := <-l:
		return c
	default:
		return nil
	}
}

func wantValue(t *testing.T, what string, result chan answer, want int) {
	t.Helper()
	if got := <-result; got.err != nil || got.value != want {
		t.Errorf("%s: got %d, %v, want %d", what, got.value, got.err, want)
	}
}

// Readers that come after the value was invalidated wait for a load that begins later.
// That is one load, however many readers come and however often the value is
// invalidated.
func TestSlotReadersAfterInvalidateShareTheNextLoad(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var s slot[int]
		l := make(loads, 10)
		before := begin(t.Context(), &s, l)
		first := l.next()
		s.invalidate()
		after := begin(t.Context(), &s, l)
		s.invalidate()
		later := begin(t.Context(), &s, l)
		if l.next() != nil {
			t.Fatal("a second load began while the first was running")
		}
		first.answer <- answer{value: 1}
		wantValue(t, "before", before, 1)
		second := l.next()
		if second == nil || second.held == nil || *second.held != 1 {
			t.Fatalf("the next load is %+v, want one from the last value", second)
		}
		joined := begin(t.Context(), &s, l)
		second.answer <- answer{value: 2}
		wantValue(t, "after", after, 2)
		wantValue(t, "later", later, 2)
		wantValue(t, "joined", joined, 2)
		wantValue(t, "from memory", begin(t.Context(), &s, l), 2)
		if l.next() != nil {
			t.Error("an unnecessary load")
		}
	})
}

// A load during which the value was invalidated serves only the readers that waited
// before that.
func TestSlotDiscardsInvalidatedLoad(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var s slot[int]
		l := make(loads, 10)
		before := begin(t.Context(), &s, l)
		first := l.next()
		s.invalidate()
		first.answer <- answer{value: 1}
		wantValue(t, "before", before, 1)
		after := begin(t.Context(), &s, l)
		second := l.next()
		if second == nil {
			t.Fatal("the invalidated value was kept")
		}
		second.answer <- answer{value: 2}
		wantValue(t, "after", after, 2)
	})
}

func TestSlotCanceledWaiterLeavesTheOthers(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var s slot[int]
		l := make(loads, 10)
		ctx, cancel := context.WithCancel(t.Context())
		leaves, stays := begin(ctx, &s, l), begin(t.Context(), &s, l)
		cancel()
		if got := <-leaves; !errors.Is(got.err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", got.err)
		}
		l.next().answer <- answer{value: 1}
		wantValue(t, "the other waiter", stays, 1)
	})
}

// If all waiters of the next load leave before it begins, it does not run, and later
// readers get a load of their own.
func TestSlotAbandonedNextLoad(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var s slot[int]
		l := make(loads, 10)
		before := begin(t.Context(), &s, l)
		first := l.next()
		s.invalidate()
		ctx, cancel := context.WithCancel(t.Context())
		leaves := begin(ctx, &s, l)
		cancel()
		<-leaves
		stays := begin(t.Context(), &s, l)
		first.answer <- answer{value: 1}
		wantValue(t, "before", before, 1)
		second := l.next()
		if second == nil || second.ctx.Err() != nil {
			t.Fatalf("the next load is %+v, want a live one", second)
		}
		second.answer <- answer{value: 2}
		wantValue(t, "the waiter that stays", stays, 2)
	})
}

func TestSlotDoesNotKeepErrors(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var s slot[int]
		l := make(loads, 10)
		errUnavailable := errors.New("unavailable")
		fails := begin(t.Context(), &s, l)
		l.next().answer <- answer{err: errUnavailable}
		if got := <-fails; !errors.Is(got.err, errUnavailable) {
			t.Errorf("got %v, want the load's error", got.err)
		}
		again := begin(t.Context(), &s, l)
		l.next().answer <- answer{value: 1}
		wantValue(t, "again", again, 1)
	})
}
