package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// encode returns the stored form of an object. Equal objects have the same form,
// which is how writes that change nothing are recognized.
func encode(object any) ([]byte, error) {
	buffer := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buffer)
	buffer.Reset()
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(object); err != nil {
		return nil, fmt.Errorf("store: encode: %w", err)
	}
	// Clone leaves no spare capacity: a transaction may keep many bodies for long.
	return bytes.Clone(bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))), nil
}

// buffers pools the buffers of encode.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func decode(body []byte, object any) error {
	if err := json.Unmarshal(body, object); err != nil {
		return fmt.Errorf("store: decode: %w", err)
	}
	return nil
}

// normalizeTimes converts times to UTC and whole microseconds, which every database
// returns unchanged.
func normalizeTimes(times ...*time.Time) {
	for _, t := range times {
		*t = t.UTC().Truncate(time.Microsecond)
	}
}

func normalizeFlag(f *guidon.Flag) { normalizeTimes(service.FlagTimes(f)...) }

func normalizeSegment(g *guidon.Segment) { normalizeTimes(service.SegmentTimes(g)...) }

func normalizeAuthentication(a *service.Authentication) {
	normalizeTimes(&a.CreatedAt, &a.UpdatedAt)
	if !a.ExpiresAt.IsZero() {
		normalizeTimes(&a.ExpiresAt)
	}
}
