package document

import "runtime"

// ahead makes something of each item, of a few at the same time, and has it used in the
// order of the items. It returns the first error in that order.
func ahead[T, R any](items []T, produce func(item T) (R, error), use func(result R) error) error {
	var under []pending[R]
	for _, item := range items {
		if len(under) > runtime.GOMAXPROCS(0) {
			if err := under[0].use(use); err != nil {
				return err
			}
			under = under[1:]
		}
		under = append(under, start(func() (R, error) { return produce(item) }))
	}
	for _, p := range under {
		if err := p.use(use); err != nil {
			return err
		}
	}
	return nil
}

// pending is a result on its way.
type pending[R any] struct{ result chan produced[R] }

type produced[R any] struct {
	value R
	err   error
}

// start runs produce in a goroutine, which waits for nobody.
func start[R any](produce func() (R, error)) pending[R] {
	p := pending[R]{make(chan produced[R], 1)}
	go func() {
		value, err := produce()
		p.result <- produced[R]{value, err}
	}()
	return p
}

// use waits for the result and passes it on.
func (p pending[R]) use(use func(result R) error) error {
	r := <-p.result
	if r.err != nil {
		return r.err
	}
	return use(r.value)
}
