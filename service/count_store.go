package service

import (
	"context"
	"crypto/rand"
	"hash/crc32"
	"time"
)

// EvaluationMinute is what one reporter counted in a namespace within a minute.
type EvaluationMinute struct {
	Namespace string
	Minute    time.Time // its start
	Part      int       // 1 to EvaluationParts if the flags are divided, otherwise 0
	Reporter  string    // random
	Counts    Counts
}

// EvaluationStore keeps counts of evaluations. The errors are those of [Store].
type EvaluationStore interface {
	// AddEvaluations stores the rows, all or none.
	AddEvaluations(ctx context.Context, rows []EvaluationMinute) error

	// EachEvaluations calls fn with the rows of the namespace from a time on, to before another, in
	// order. Without parts it reads all of them. It returns the first error of fn.
	EachEvaluations(ctx context.Context, namespace string, parts []int, from, to time.Time, fn func(*EvaluationMinute) error) error
}

// Rows of many flags are divided, so that the counts of one flag are a small part.
const (
	EvaluationParts = 16
	maxUndivided    = 1000 // flags of a row
)

// evaluationPart returns the part with the counts of the flag, if its namespace is divided.
func evaluationPart(flagKey string) int {
	return 1 + int(crc32.ChecksumIEEE([]byte(flagKey))%EvaluationParts)
}

// Flush stores what was counted since the last call, as of the minute of now. What could not be stored
// is stored by the next call.
func (c *Counter) Flush(ctx context.Context, store EvaluationStore, now time.Time) error {
	c.flushing.Lock()
	defer c.flushing.Unlock()
	if c.unstored == nil {
		c.unstored = CountsByNamespace{}
	}
	c.unstored.merge(c.Take())
	rows := minutesOf(c.unstored, now)
	if len(rows) == 0 {
		return nil
	}
	err := store.AddEvaluations(ctx, rows)
	if err == nil {
		c.unstored = nil
	}
	return err
}

// merge adds the counts.
func (all CountsByNamespace) merge(added CountsByNamespace) {
	for namespace, flags := range added {
		counts := all.of(namespace)
		for key, numbers := range flags {
			if counts[key] == nil {
				counts[key] = map[string]uint64{}
			}
			for name, n := range numbers {
				counts[key][name] += n
			}
		}
	}
}

// minutesOf returns the rows for what was counted until now.
func minutesOf(counted CountsByNamespace, now time.Time) (rows []EvaluationMinute) {
	minute := now.UTC().Truncate(time.Minute)
	for namespace, counts := range counted {
		for part, divided := range divide(counts) {
			rows = append(rows, EvaluationMinute{namespace, minute, part, rand.Text(), divided})
		}
	}
	return rows
}

// divide returns the counts by their part.
func divide(counts Counts) map[int]Counts {
	if len(counts) <= maxUndivided {
		return map[int]Counts{0: counts}
	}
	parts := map[int]Counts{}
	for key, numbers := range counts {
		part := evaluationPart(key)
		if parts[part] == nil {
			parts[part] = Counts{}
		}
		parts[part][key] = numbers
	}
	return parts
}
