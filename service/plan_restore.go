package service

import (
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// restoredNamespace returns the namespace as it was, or nil if it already is so, or if the
// mode keeps what exists. have is nil if the namespace does not exist.
func restoredNamespace(have, past *guidon.Namespace, mode ImportMode, now time.Time) *guidon.Namespace {
	restored := *past
	restored.UpdatedAt = now
	if have == nil {
		return &restored
	}
	restored.CreatedAt = have.CreatedAt
	if mode == ImportCreate || mode == ImportSkipExisting || len(change.CompareNamespaces(have, &restored)) == 0 {
		return nil
	}
	return &restored
}

// flagBefore returns the flag whose ids and times the wanted one gets: have, or the flag as
// it was if it is restored completely.
func (c *sourceComparison) flagBefore(have *guidon.Flag, key string) *guidon.Flag {
	exists := c.flags[key] != nil
	if c.past == nil || exists && c.Keep != (Keep{}) {
		return have
	}
	restored := *c.past.Flag(key)
	if exists {
		restored.CreatedAt = have.CreatedAt
	}
	return &restored
}

// segmentBefore is flagBefore for segments.
func (c *sourceComparison) segmentBefore(have *guidon.Segment, key string) *guidon.Segment {
	if c.past == nil {
		return have
	}
	restored := *c.past.Segment(key)
	if c.segments[key] != nil {
		restored.CreatedAt = have.CreatedAt
	}
	return &restored
}
