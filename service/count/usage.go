package count

import (
	"context"
	"sync"
	"time"
)

// Limits of usages that are kept in memory.
const (
	usageAge     = time.Minute
	maxUsedFlags = 200_000 // of all namespaces
)

// Usage is which flags of a namespace are used.
type Usage struct {
	Since time.Time            // evaluations have been counted without a pause; zero if they have not
	Last  map[string]time.Time // evaluations of flags, in whole minutes; those that never were are missing
	whole *Series              // of the namespace, by day
}

// Downloads returns how often all flags were evaluated at once, or downloaded, from a time on: by clients that
// may use any flag.
func (u *Usage) Downloads(from time.Time) (sum uint64) {
	for i, point := range u.whole.Points {
		if u.whole.From.Add(time.Duration(i+1) * StepDay).After(from) {
			sum += point[Bulk] + point[Download]
		}
	}
	return sum
}

// usages has the usages that were read within a minute.
type usages struct {
	mu    sync.Mutex
	flags int
	known map[string]knownUsage
}

type knownUsage struct {
	*Usage
	at time.Time
}

func (k *usages) get(namespace string, now time.Time) *Usage {
	k.mu.Lock()
	defer k.mu.Unlock()
	if found, ok := k.known[namespace]; ok && now.Sub(found.at) < usageAge {
		return found.Usage
	}
	return nil
}

func (k *usages) put(namespace string, u *Usage, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if old, ok := k.known[namespace]; ok {
		k.flags -= len(old.Last)
	}
	if k.flags += len(u.Last); k.known == nil || k.flags > maxUsedFlags || len(k.known) > maxUsedFlags {
		k.known, k.flags = map[string]knownUsage{}, len(u.Last)
	}
	k.known[namespace] = knownUsage{u, now}
}

// Usage returns which flags of the namespace are used, as of at most a minute ago.
func (c *Counter) Usage(ctx context.Context, namespace string) (*Usage, error) {
	now := c.now().UTC()
	if u := c.usages.get(namespace, now); u != nil {
		return u, nil
	}
	marks, err := c.store.Marks(ctx)
	if err != nil {
		return nil, err
	}
	u := &Usage{Since: marks[markSince]}
	if marks[markResumed].After(u.Since) {
		u.Since = marks[markResumed]
	}
	if u.Last, err = c.Last(ctx, namespace, nil); err != nil {
		return nil, err
	}
	whole, err := c.Series(ctx, namespace, []string{Namespace}, Range{From: now.Add(-MaxUnusedDays * StepDay), Step: StepDay})
	if err != nil {
		return nil, err
	}
	u.whole = whole[Namespace]
	c.usages.put(namespace, u, now)
	return u, nil
}

// MaxUnusedDays limits after how long without an evaluation a flag counts as unused.
const MaxUnusedDays = 366
