// Package count counts evaluations: in memory, by answer and reason, then in the database by minute, and from
// there by hour and day.
package count

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/guidonhq/guidon"
)

// What is counted of a namespace as a whole.
const (
	Bulk        = "bulk"        // evaluations of all flags for one entity
	Download    = "download"    // responses with a client-side snapshot
	Evaluations = "evaluations" // of single flags
)

// Namespace stands for the namespace among the keys of flags.
const Namespace = "*"

// Numbers are how often something was counted. Evaluations of a flag are counted by answer and reason, such
// as "true match", and those of [Namespace] by Bulk, Download and Evaluations.
type Numbers map[string]uint64

// Counts are numbers by the key of the flag.
type Counts map[string]Numbers

// Answers that no variant has.
const (
	AnswerNone  = "none"
	AnswerError = "error"
)

var countedReasons = [...]string{
	guidon.ReasonUnknown: "unknown", guidon.ReasonFlagDisabled: "flag_disabled", guidon.ReasonMatch: "match", guidon.ReasonDefault: "default",
}

// Counter counts the evaluations of clients in memory, stores what it has counted, and reads what is stored. A
// nil Counter counts and stores nothing. It is safe for concurrent use.
type Counter struct {
	mu         sync.Mutex
	flags      []*flagCounter
	namespaces map[string]Numbers
	stats      Stats
	failing    time.Time // calls of Flush have failed since; zero if the last one did not

	store  Store
	keep   Keep
	now    func() time.Time
	usages usages

	tried     atomic.Int64 // when FlushEach called Flush
	flushing  sync.Mutex
	unstored  ByNamespace // what has not been attempted to store
	attempted ByNamespace // what a call of Flush failed to store, but may be stored nevertheless
	attempt   string      // a random name for that
	last      string      // the name of what was stored last
}

// NewCounter returns a counter that stores what it counts in the store, and reads there what all counters have
// counted. now is the clock, time.Now except in tests.
func NewCounter(store Store, keep Keep, now func() time.Time) *Counter {
	return &Counter{store: store, keep: keep, now: now, unstored: ByNamespace{}}
}

// flagCounter counts the evaluations of a compiled flag, by answer and reason.
type flagCounter struct {
	namespace, key string // set when it is listed
	listed         atomic.Bool
	leaving        bool            // it is listed no longer, but taken once more
	idle           int             // how often in a row there was nothing to take
	answers        []string        // "false" and "true", or the keys of the variants; then none and error
	numbers        []atomic.Uint64 // by index of the answer, times the number of reasons, plus the reason
}

// flagCounters has that of each compiled flag that was evaluated. A flag that changes is compiled anew,
// and gets another one; the former stays listed until it has been taken.
var flagCounters = guidon.NewFlagDerivation(func(f *guidon.CompiledFlag) *flagCounter {
	c := &flagCounter{key: f.Flag().Key}
	if f.Kind() == guidon.BooleanFlag {
		c.answers = []string{"false", "true"}
	} else {
		for _, v := range f.Flag().Variants {
			c.answers = append(c.answers, v.Key)
		}
	}
	c.answers = append(c.answers, AnswerNone, AnswerError)
	c.numbers = make([]atomic.Uint64, len(c.answers)*len(countedReasons))
	return c
})

// Variant counts a result of a variant flag.
func (c *Counter) Variant(namespace string, f *guidon.CompiledFlag, r *guidon.VariantResult, err error) {
	if c == nil || f == nil {
		return
	}
	counter := flagCounters.Of(f)
	switch {
	case err != nil:
		c.add(namespace, counter, len(counter.answers)-1, guidon.ReasonUnknown)
	case r.VariantKey == "":
		c.add(namespace, counter, len(counter.answers)-2, r.Reason)
	default:
		c.add(namespace, counter, slices.Index(counter.answers, r.VariantKey), r.Reason)
	}
}

// Boolean counts a result of a boolean flag.
func (c *Counter) Boolean(namespace string, f *guidon.CompiledFlag, r *guidon.BooleanResult, err error) {
	if c == nil || f == nil {
		return
	}
	counter, answer := flagCounters.Of(f), 0
	switch {
	case err != nil:
		c.add(namespace, counter, len(counter.answers)-1, guidon.ReasonUnknown)
		return
	case r.Enabled:
		answer = 1
	}
	c.add(namespace, counter, answer, r.Reason)
}

// add counts one evaluation. The counter may have been dropped just before, so it looks after that.
func (c *Counter) add(namespace string, f *flagCounter, answer int, reason guidon.Reason) {
	f.numbers[answer*len(countedReasons)+int(reason)].Add(1)
	if !f.listed.Load() {
		c.list(namespace, f)
	}
}

func (c *Counter) list(namespace string, f *flagCounter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case f.listed.Load():
		return
	case !f.leaving:
		c.flags = append(c.flags, f)
	}
	f.namespace, f.idle, f.leaving = namespace, 0, false
	f.listed.Store(true)
}

// maxIdle is how often in a row there may be nothing to take of a flag that stays listed.
const maxIdle = 2

// take adds what was counted, and reports whether the flag is still in the list. One that leaves it is
// first marked, and goes when it is taken the next time: whoever counts until then sees the mark.
func (f *flagCounter) take(to ByNamespace) (remains bool) {
	found := false
	for i := range f.numbers {
		if n := f.numbers[i].Swap(0); n > 0 {
			found = true
			to.add(f, i, n)
		}
	}
	switch {
	case f.leaving:
		f.leaving = false
		return false
	case found:
		f.idle = 0
	default:
		f.idle++
	}
	if f.idle == maxIdle {
		f.leaving = true
		f.listed.Store(false)
	}
	return true
}

// Namespace counts what is counted of a namespace as a whole, Bulk or Download.
func (c *Counter) Namespace(namespace, kind string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.namespaces == nil {
		c.namespaces = map[string]Numbers{}
	}
	if c.namespaces[namespace] == nil {
		c.namespaces[namespace] = Numbers{}
	}
	c.namespaces[namespace][kind]++
}

// take returns what was counted since the last call, by the key of the namespace. Flags that were not
// evaluated in a while are forgotten, until they are again.
func (c *Counter) take() ByNamespace {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := ByNamespace{}
	c.flags = slices.DeleteFunc(c.flags, func(f *flagCounter) bool { return !f.take(taken) })
	for namespace, numbers := range c.namespaces {
		taken.of(namespace)[Namespace] = numbers
	}
	c.namespaces = nil
	return taken
}

// ByNamespace are counts by the key of the namespace.
type ByNamespace map[string]Counts

func (all ByNamespace) of(namespace string) Counts {
	if all[namespace] == nil {
		all[namespace] = Counts{}
	}
	return all[namespace]
}

// add adds n evaluations with the answer and reason of the index.
func (all ByNamespace) add(f *flagCounter, index int, n uint64) {
	counts := all.of(f.namespace)
	answer, reason := f.answers[index/len(countedReasons)], countedReasons[index%len(countedReasons)]
	counts.of(f.key)[answer+" "+reason] += n
}
