package handler

import (
	"strconv"
	"sync/atomic"
)

// revisionTexts are the revision numbers that were answered with lately, as texts:
// the same ones go with thousands of answers a second. They may be used
// concurrently.
type revisionTexts [64]atomic.Pointer[revisionText]

type revisionText struct {
	number int64
	text   string
}

// of returns the text of the number.
func (t *revisionTexts) of(number int64) string {
	slot := &t[uint64(number)%uint64(len(t))] // #nosec G115 -- any place will do
	if cached := slot.Load(); cached != nil && cached.number == number {
		return cached.text
	}
	fresh := &revisionText{number, strconv.FormatInt(number, 10)}
	slot.Store(fresh)
	return fresh.text
}
