package count

import (
	"context"
	"crypto/rand"
	"hash/crc32"
	"slices"
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

// Flush stores what was counted since the last call, as of the minute of now. What could not be stored is
// stored by the next call. A nil Counter stores nothing. The errors are those of [Store].
func (c *Counter) Flush(ctx context.Context, now time.Time) error {
	if c == nil {
		return nil
	}
	c.flushing.Lock()
	defer c.flushing.Unlock()
	if c.unstored == nil {
		c.unstored = ByNamespace{}
	}
	c.unstored.merge(c.take())
	var rows []Minute
	for namespace, counts := range c.unstored {
		rows = append(rows, minutes(namespace, counts, rand.Text(), now)...)
	}
	if len(rows) == 0 {
		return nil
	}
	if err := c.store.AddMinutes(ctx, rows, c.failed); err != nil {
		c.failed = append(c.failed, keysOf(rows)...)
		return err
	}
	c.unstored, c.failed = nil, nil
	return nil
}

// keysOf returns the rows without their counts.
func keysOf(rows []Minute) []Minute {
	keys := slices.Clone(rows)
	for i := range keys {
		keys[i].Counts = nil
	}
	return keys
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
