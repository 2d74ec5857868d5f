package handler

import (
	"context"
	"errors"
	"sync"

	"github.com/guidonhq/guidon"
)

// pages reads change records once for all streams that wait for the same ones.
type pages struct {
	mu      sync.Mutex
	reading map[pageKey]*page
}

// pageKey is what a page begins after, and the revision that whoever wants it knows
// of: a read that began before that was current might lack its records.
type pageKey struct {
	namespace string
	after     guidon.ChangeCursor
	at        guidon.Revision
}

// page is some records as events.
type page struct {
	done   chan struct{} // closed when the rest is set
	events []byte        // shared, not to be changed
	last   guidon.ChangeCursor
	err    error
}

// read returns the page, by load unless somebody else is at it. Where that one gives
// up because his client has gone, another takes over.
func (p *pages) read(ctx context.Context, key pageKey, load func(ctx context.Context) ([]byte, guidon.ChangeCursor, error)) (*page, error) {
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

// claim returns the page being read, or a new one that the caller has to read.
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

// errPage is what those have who wait for one who panics.
var errPage = guidon.Errorf(guidon.Unavailable, "the change records could not be read; try again later")

func (p *pages) load(ctx context.Context, key pageKey, one *page, load func(ctx context.Context) ([]byte, guidon.ChangeCursor, error)) {
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.reading, key)
		close(one.done)
	}()
	one.events, one.last, one.err = load(ctx)
}
