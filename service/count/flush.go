package count

import (
	"context"
	"crypto/rand"
	"hash/crc32"
	"time"
)

// Rows of many flags are divided, so that the counts of one flag are in a small part.
const (
	parts        = 16
	maxUndivided = 1000 // flags of a row
)

// partOf returns the part with the counts of the flag in rows that are divided. Others are part 0.
func partOf(flagKey string) int {
	return 1 + int(crc32.ChecksumIEEE([]byte(flagKey))%parts)
}

// Flush stores what was counted since the last call, as of this minute. What could not be stored is
// stored by the next call, once, even if only the answer of the database was lost. The errors are those of [Store].
func (c *Counter) Flush(ctx context.Context) error {
	if c == nil {
		return nil
	}
	c.flushing.Lock()
	defer c.flushing.Unlock()
	c.unstored.merge(c.take())
	if len(c.attempted)+len(c.unstored) == 0 {
		return nil
	}
	err := c.storeAttempted(ctx)
	if err == nil && len(c.unstored) > 0 {
		c.attempt, c.attempted, c.unstored = rand.Text(), c.unstored, ByNamespace{}
		err = c.storeAttempted(ctx)
	}
	c.flushed(err)
	return err
}

// storeAttempted stores what is attempted, if anything is, unless it is stored already.
func (c *Counter) storeAttempted(ctx context.Context) error {
	var rows []Minute
	for namespace, counts := range c.attempted {
		rows = append(rows, minutes(namespace, counts, c.attempt, c.now())...)
	}
	if len(rows) == 0 {
		return nil
	}
	if err := c.store.AddMinutes(ctx, rows, c.attempt, c.last); err != nil {
		return err
	}
	c.attempted, c.last = nil, c.attempt
	return nil
}

// FlushEach calls Flush once in each period, from its own first call on. Where nothing runs between requests, it
// is called after each of them.
func (c *Counter) FlushEach(ctx context.Context, period time.Duration) error {
	if c == nil {
		return nil
	}
	now, last := c.now().UnixNano(), c.tried.Load()
	if last != 0 && now-last < int64(period) || !c.tried.CompareAndSwap(last, now) || last == 0 {
		return nil
	}
	return c.Flush(ctx)
}

// Stats are the statistics of a counter since the start of the process.
type Stats struct {
	Flushed, Failed uint64        // calls of Flush that stored something, or failed to
	Behind          time.Duration // how long counts have not been stored because calls failed
}

func (c *Counter) flushed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.stats.Flushed++
		c.failing = time.Time{}
		return
	}
	c.stats.Failed++
	if c.failing.IsZero() {
		c.failing = c.now()
	}
}

// Stats returns the statistics.
func (c *Counter) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	if !c.failing.IsZero() {
		s.Behind = c.now().Sub(c.failing)
	}
	return s
}

// merge adds the counts.
func (all ByNamespace) merge(added ByNamespace) {
	for namespace, counts := range added {
		all.of(namespace).merge(counts)
	}
}

func (c Counts) merge(added Counts) {
	for key, numbers := range added {
		c.of(key).merge(numbers)
	}
}

func (c Counts) of(key string) Numbers {
	if c[key] == nil {
		c[key] = Numbers{}
	}
	return c[key]
}

func (n Numbers) merge(added Numbers) {
	for name, number := range added {
		n[name] += number
	}
}

// Sum returns all numbers added.
func (n Numbers) Sum() (sum uint64) {
	for _, number := range n {
		sum += number
	}
	return sum
}

// minutes returns the rows for what a reporter counted in a namespace until now.
func minutes(namespace string, counts Counts, reporter string, now time.Time) (rows []Minute) {
	for part, divided := range divide(counts) {
		rows = append(rows, Minute{namespace, now.UTC().Truncate(time.Minute), part, reporter, divided})
	}
	return rows
}

// divide returns the counts by their part.
func divide(counts Counts) map[int]Counts {
	if len(counts) <= maxUndivided {
		return map[int]Counts{0: counts}
	}
	divided := map[int]Counts{}
	for key, numbers := range counts {
		part := partOf(key)
		if divided[part] == nil {
			divided[part] = Counts{}
		}
		divided[part][key] = numbers
	}
	return divided
}
