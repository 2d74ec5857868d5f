package stream

import (
	"context"
	"errors"
	"sync"

	"github.com/guidonhq/guidon"
)

// pages reads change records once for all streams that need the same ones.
type pages struct {
	mu      sync.Mutex
	reading map[pageKey]*page
}

// pageKey identifies a page by its start. It includes the current revision as the
// streams know it: a read that started before that revision might lack its records.
type pageKey struct {
	namespace string
	after     guidon.Position // the last record before the page
	at        guidon.Revision
}

// page is a list of records, encoded as events.
type page struct {
	done   chan struct{} // closed when the other fields are set
	events []byte        // shared; must not be modified
	last   guidon.Position
	err    error
}

// read returns the page. It calls load unless another goroutine is loading the page. If
// that goroutine stops because its client disconnected, a waiter takes over.
func (p *pages) read(ctx context.Context, key pageKey, load func(ctx context.Context) ([]byte, guidon.Position, error)) (*page, error) {
	for {
		one, mine := p.claim(key)
		if mine {
			p.load(ctx, key, one, load)
			return one, one.err
		}
		select {
		case <-one.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !errors.Is(one.err, context.Canceled) && !errors.Is(one.err, context.DeadlineExceeded) {
			return one, one.err
		}
	}
}

// claim returns the page being loaded, or a new one that the caller must load.
func (p *pages) claim(key pageKey) (one *page, mine bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.reading[key]; one != nil {
		return one, false
	}
	if p.reading == nil {
		p.reading = make(map[pageKey]*page)
	}
	one = &page{done: make(chan struct{}), err: errPage}
	p.reading[key] = one
	return one, true
}

// errPage is returned to the waiters if the goroutine that loads the page panics.
var errPage = guidon.Errorf(guidon.Unavailable, "cannot read the change records; try again later")

func (p *pages) load(ctx context.Context, key pageKey, one *page, load func(ctx context.Context) ([]byte, guidon.Position, error)) {
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.reading, key)
		close(one.done)
	}()
	one.events, one.last, one.err = load(ctx)
}
