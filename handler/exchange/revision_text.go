package exchange

import (
	"strconv"
	"sync/atomic"
)

// revisionTexts caches the strings of recently sent revision numbers: thousands of
// responses a second have the same ones. It is safe for concurrent use.
type revisionTexts [64]atomic.Pointer[revisionText]

type revisionText struct {
	number int64
	text   string
}

// of returns the decimal string of the number.
func (t *revisionTexts) of(number int64) string {
	slot := &t[uint64(number)%uint64(len(t))] // #nosec G115 -- any slot will do
	if cached := slot.Load(); cached != nil && cached.number == number {
		return cached.text
	}
	fresh := &revisionText{number, strconv.FormatInt(number, 10)}
	slot.Store(fresh)
	return fresh.text
}
