package document

import (
	"runtime"
	"slices"
	"sync"
)

// processOrdered calls produce for the items, a few at a time concurrently, and use for
// each result in the order of the items. It returns the first error in that order.
func processOrdered[T, R any](items []T, produce func(item T) (R, error), use func(result R) error) error {
	var running []func() (R, error)
	for len(items)+len(running) > 0 {
		for len(items) > 0 && len(running) <= runtime.GOMAXPROCS(0) {
			item := items[0]
			items = items[1:]
			wait := sync.OnceValues(func() (R, error) { return produce(item) })
			go func() { _, _ = wait() }()
			running = append(running, wait)
		}
		result, err := running[0]()
		running = slices.Delete(running, 0, 1) // does not keep the result in memory
		if err == nil {
			err = use(result)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
