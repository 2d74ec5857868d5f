// Package replay evaluates the same requests on two services, such as Flipt v1 and Guidon,
// and reports where their results differ.
package replay

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/internal/clock"
)

// Request is one evaluation.
type Request struct {
	Namespace string            `json:"namespaceKey"`
	Flag      string            `json:"flagKey"`
	Entity    string            `json:"entityId"`
	Context   map[string]string `json:"context,omitempty"`
}

// Options configures a comparison.
type Options struct {
	From, To    client.Client
	Batch       int             // evaluations in one call
	Concurrency int             // calls at a time to each service
	Rate        int             // evaluations per second on each service; 0 means no limit
	Examples    int             // differences kept for each flag
	Progress    func(count int) // called with the number of evaluations of each call
}

// Run evaluates the requests on both services. An error of a request ends the run, and so
// does one of a service that is not about the request, such as that it is unavailable.
func Run(ctx context.Context, requests iter.Seq2[Request, error], o Options) (*Report, error) {
	r := &run{Options: o, report: &Report{examples: o.Examples, flags: make(map[[2]string]*FlagReport)}}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.Concurrency)
	err := r.dispatch(ctx, requests, func(batch []Request) {
		group.Go(func() error { return r.compare(ctx, batch) })
	})
	if failed := group.Wait(); failed != nil && (err == nil || errors.Is(err, context.Canceled)) {
		err = failed
	}
	if err != nil {
		return nil, err
	}
	r.report.finish()
	return r.report, nil
}

// run is the state of one comparison.
type run struct {
	Options
	next time.Time // when the rate allows the next call; used by dispatch only

	mu     sync.Mutex
	report *Report
}

// maxPending is how many requests wait for others of their namespace, in calls.
const maxPending = 20

// dispatch collects the requests of each namespace into calls.
func (r *run) dispatch(ctx context.Context, requests iter.Seq2[Request, error], call func([]Request)) error {
	pending, waiting := make(map[string][]Request), 0
	flush := func(namespace string) error {
		batch := pending[namespace]
		if len(batch) == 0 {
			return nil
		}
		delete(pending, namespace)
		waiting -= len(batch)
		if err := r.pace(ctx, len(batch)); err != nil {
			return err
		}
		call(batch)
		return nil
	}
	flushAll := func() error {
		for namespace := range pending {
			if err := flush(namespace); err != nil {
				return err
			}
		}
		return nil
	}
	for request, err := range requests {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		pending[request.Namespace] = append(pending[request.Namespace], request)
		waiting++
		if len(pending[request.Namespace]) == r.Batch {
			err = flush(request.Namespace)
		} else if waiting >= maxPending*r.Batch {
			err = flushAll()
		}
		if err != nil {
			return err
		}
	}
	return flushAll()
}

// pace waits until the rate allows the evaluations.
func (r *run) pace(ctx context.Context, count int) error {
	if r.Rate <= 0 {
		return nil
	}
	now := clock.Tick()
	if r.next.Before(now) {
		r.next = now
	}
	wait := r.next.Sub(now)
	r.next = r.next.Add(time.Duration(count) * time.Second / time.Duration(r.Rate))
	return clock.Sleep(ctx, wait)
}

// compare evaluates the requests of one call on both services at the same time.
func (r *run) compare(ctx context.Context, batch []Request) error {
	var from, to []Outcome
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		from, err = evaluate(ctx, r.From, batch)
		return sideError("--from", err)
	})
	group.Go(func() (err error) {
		to, err = evaluate(ctx, r.To, batch)
		return sideError("--to", err)
	})
	if err := group.Wait(); err != nil {
		return err
	}
	r.mu.Lock()
	for i, request := range batch {
		r.report.add(request, from[i], to[i])
	}
	r.mu.Unlock()
	if r.Progress != nil {
		r.Progress(len(batch))
	}
	return nil
}

// sideError says which service has failed, with a hint if a limit of requests was exceeded.
func sideError(side string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, guidon.Limited):
		return fmt.Errorf("%s: %w; set --rate", side, err)
	}
	return fmt.Errorf("%s: %w", side, err)
}
