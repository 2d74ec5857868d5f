package document

import "runtime"

// processOrdered calls produce for the items, a few at a time concurrently, and use for
// each result in the order of the items. It returns the first error in that order.
func processOrdered[T, R any](items []T, produce func(item T) (R, error), use func(result R) error) error {
	var running []future[R]
	for _, item := range items {
		if len(running) > runtime.GOMAXPROCS(0) {
			if err := running[0].use(use); err != nil {
				return err
			}
			running = running[1:]
		}
		running = append(running, start(func() (R, error) { return produce(item) }))
	}
	for _, p := range running {
		if err := p.use(use); err != nil {
			return err
		}
	}
	return nil
}

// future is the result of a call that may still be running.
type future[R any] struct{ result chan produced[R] }

type produced[R any] struct {
	value R
	err   error
}

// start runs produce in a goroutine. The goroutine ends even if the result is not used.
func start[R any](produce func() (R, error)) future[R] {
	p := future[R]{make(chan produced[R], 1)}
	go func() {
		value, err := produce()
		p.result <- produced[R]{value, err}
	}()
	return p
}

// use waits for the result and calls use with it.
func (p future[R]) use(use func(result R) error) error {
	r := <-p.result
	if r.err != nil {
		return r.err
	}
	return use(r.value)
}
