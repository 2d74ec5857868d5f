package cache

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
)

const (
	// readTimeout bounds one reading of revisions: some rows by primary key.
	readTimeout = 5 * time.Second
	// sweepInterval is how often everything held is asked for, so that namespaces
	// that are gone, and that nobody names any more, do not stay in memory.
	sweepInterval = time.Minute
)

// revisions asks the source which revisions are current, with one question for
// all who wait. A question serves those who came before it began.
type revisions struct {
	source StrictSource
	stats  *stats
	depart func(f *flight[*batch]) // r.read, bound once

	line[*batch]

	// Questions come one after another, so these belong to the one under way.
	snapshots map[string]*tracked[guidon.Snapshot]
	swept     time.Time

	authentications tracked[guidon.AuthenticationSet]
}

// batch is one question and its answer.
type batch struct {
	wanted map[string]int // how many wait for each key; guarded by the line's mu
	// found has the namespaces that exist of those wanted.
	found map[string]*tracked[guidon.Snapshot]
}

func newRevisions(source StrictSource, stats *stats) *revisions {
	r := &revisions{
		source: source, stats: stats,
		snapshots: map[string]*tracked[guidon.Snapshot]{},
		authentications: tracked[guidon.AuthenticationSet]{
			revision: (*guidon.AuthenticationSet).Revision, source: source.LoadAuthentications, stats: stats,
		},
	}
	r.depart = r.read
	return r
}

// ask returns the answer to a question about the key that began after this call.
func (r *revisions) ask(ctx context.Context, key string) (*batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f := r.board(ctx, key)
	if !f.landed(ctx) {
		r.alight(f, key)
		return nil, ctx.Err()
	}
	return f.value, f.err
}

func (r *revisions) board(ctx context.Context, key string) *flight[*batch] {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.join(ctx, r.depart)
	if f.value == nil {
		f.value = &batch{wanted: make(map[string]int, 4)}
	}
	f.value.wanted[key]++
	return f
}

// alight takes one who waits for the key off the flight.
func (r *revisions) alight(f *flight[*batch], key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if wanted := f.value.wanted; wanted[key] > 1 {
		wanted[key]--
	} else {
		delete(wanted, key)
	}
	f.leave()
}

// read asks the source, notes what it says and hands it out.
func (r *revisions) read(f *flight[*batch]) {
	b, wanted := r.seal(f)
	asked := r.withHeld(wanted)
	heads, err := r.heads(f.ctx, asked)
	if err != nil {
		f.err = err
		return
	}
	b.found = make(map[string]*tracked[guidon.Snapshot], len(wanted))
	for _, key := range wanted {
		head, lives := heads[key]
		switch {
		case key == AuthenticationsKey:
			r.authentications.observe(head) // the zero revision until one is stored
		case lives:
			b.found[key] = r.snapshot(key)
		}
	}
	for _, key := range asked {
		if head, lives := heads[key]; !lives {
			delete(r.snapshots, key)
		} else if t := r.snapshots[key]; t != nil {
			t.observe(head)
		}
	}
}

// seal ends the boarding and returns what is wanted: who comes now wants to know
// of changes that this question may miss.
func (r *revisions) seal(f *flight[*batch]) (b *batch, wanted []string) {
	r.mu.Lock() // which also waits for the first one, who is still boarding
	defer r.mu.Unlock()
	r.close()
	b = f.value
	return b, slices.AppendSeq(make([]string, 0, len(b.wanted)), maps.Keys(b.wanted))
}

// withHeld adds, now and then, everything held to what is wanted.
func (r *revisions) withHeld(wanted []string) []string {
	now := time.Now()
	if now.Sub(r.swept) < sweepInterval {
		return wanted
	}
	r.swept = now
	all := slices.AppendSeq(slices.Clone(wanted), maps.Keys(r.snapshots))
	slices.Sort(all)
	return slices.Compact(all)
}

func (r *revisions) heads(ctx context.Context, keys []string) (map[string]guidon.Revision, error) {
	r.stats.reads.Add(1)
	return within(ctx, readTimeout, func(ctx context.Context) (map[string]guidon.Revision, error) {
		return r.source.Heads(ctx, keys)
	})
}

// snapshot returns the place of a namespace that exists.
func (r *revisions) snapshot(key string) *tracked[guidon.Snapshot] {
	t := r.snapshots[key]
	if t == nil {
		t = &tracked[guidon.Snapshot]{
			revision: (*guidon.Snapshot).Revision, stats: r.stats,
			source: func(ctx context.Context, held *guidon.Snapshot) (*guidon.Snapshot, error) {
				return r.source.Load(ctx, key, held)
			},
		}
		r.snapshots[key] = t
	}
	return t
}
