package service

import (
	"context"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service/count"
)

// MaxBatch is the maximum number of evaluations in a batch, and maxBatchAttachments
// that of the bytes of attachments in its results. They limit the memory that a
// single request can use.
const (
	MaxBatch            = 1000
	maxBatchAttachments = 64 << 20
)

// EvaluationRequest is the request to evaluate a flag for an entity.
type EvaluationRequest struct {
	Namespace string // empty means DefaultNamespace
	FlagKey   string
	EntityID  string
	Context   map[string]string
}

// Evaluation is one result of a batch. Exactly one of the fields is set, or none if the flag
// does not exist.
type Evaluation struct {
	Variant *guidon.VariantResult
	Boolean *guidon.BooleanResult
	Err     error // of [guidon.CompiledFlag.Err]
}

// Batch holds the requests of a batch evaluation and their results. It may be reused
// after [Batch.Reset]. It is not safe for concurrent use.
type Batch struct {
	Requests []EvaluationRequest
	Answers  []Evaluation // in the order of Requests; valid until Reset

	variants []guidon.VariantResult // referenced by Answers
	booleans []guidon.BooleanResult
}

// BatchItemError is the error of one evaluation of a batch, which fails the whole
// batch. The other evaluations have no result.
type BatchItemError struct {
	Index int // in Batch.Requests
	Err   error
}

// Error returns the text of Err.
func (e *BatchItemError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *BatchItemError) Unwrap() error { return e.Err }

// Reset empties the batch. It keeps the allocated memory, but clears all references in
// it.
func (b *Batch) Reset() {
	b.Requests = slices.Delete(b.Requests, 0, len(b.Requests))
	b.Answers = slices.Delete(b.Answers, 0, len(b.Answers))
	b.variants = slices.Delete(b.variants, 0, len(b.variants))
	b.booleans = slices.Delete(b.booleans, 0, len(b.booleans))
}

// EvaluateVariant evaluates a variant flag. It returns NotFound if there is no such flag, and the
// errors of [guidon.CompiledFlag.Variant].
func (s *Service) EvaluateVariant(ctx context.Context, d Demand, request EvaluationRequest) (guidon.VariantResult, State, error) {
	view, err := s.ViewOrEmpty(ctx, request.Namespace, d)
	if err != nil {
		return guidon.VariantResult{}, view.State, err
	}
	f := view.Snapshot.Compiled(request.FlagKey)
	if f == nil {
		return guidon.VariantResult{}, view.State, guidon.FlagNotFound(view.Namespace, request.FlagKey)
	}
	result, err := f.Variant(request.EntityID, request.Context)
	s.counter.Variant(view.Namespace, f, &result, err)
	return result, view.State, err
}

// EvaluateBoolean evaluates a boolean flag. It returns NotFound if there is no such flag, and the
// errors of [guidon.CompiledFlag.Boolean].
func (s *Service) EvaluateBoolean(ctx context.Context, d Demand, request EvaluationRequest) (guidon.BooleanResult, State, error) {
	view, err := s.ViewOrEmpty(ctx, request.Namespace, d)
	if err != nil {
		return guidon.BooleanResult{}, view.State, err
	}
	f := view.Snapshot.Compiled(request.FlagKey)
	if f == nil {
		return guidon.BooleanResult{}, view.State, guidon.FlagNotFound(view.Namespace, request.FlagKey)
	}
	result, err := f.Boolean(request.EntityID, request.Context)
	s.counter.Boolean(view.Namespace, f, &result, err)
	return result, view.State, err
}

// EvaluateBatch evaluates flags of either type, in order, each namespace at one
// revision (contract 7.8), and stores the results in the batch. A flag that does not
// exist gives an empty Evaluation, and one that cannot be evaluated an error. Any other error of an evaluation fails the whole
// batch with a [BatchItemError]; it is TooLarge if the attachments exceed 64 MiB.
//
// Before any evaluation, it returns TooLarge for more than [MaxBatch] requests, and
// InvalidArgument for several namespaces if d.AtLeast is set. The State is zero if the
// requests are in several namespaces, except for its age, which is the largest.
func (s *Service) EvaluateBatch(ctx context.Context, d Demand, batch *Batch) (State, error) {
	if len(batch.Requests) > MaxBatch {
		return State{}, guidon.Errorf(guidon.TooLarge, "invalid field requests: must not contain more than %d elements", MaxBatch)
	}
	if d.AtLeast > 0 && !ofOneNamespace(batch.Requests) {
		return State{}, guidon.Errorf(guidon.InvalidArgument, "invalid field requests: must all be in one namespace if a minimum revision is set")
	}
	views := batchViews{service: s, demand: d}
	batch.Answers = slices.Grow(batch.Answers[:0], len(batch.Requests))
	size := 0
	for i := range batch.Requests {
		result, err := batch.run(ctx, &views, &batch.Requests[i])
		if v := result.Variant; v != nil {
			size += len(v.Attachment)
		}
		if err == nil && size > maxBatchAttachments {
			err = guidon.Errorf(guidon.TooLarge, "the attachments in the response exceed %d bytes; request fewer flags in one batch",
				maxBatchAttachments)
		}
		if err != nil {
			return views.state(), &BatchItemError{i, err}
		}
		batch.Answers = append(batch.Answers, result)
	}
	return views.state(), nil
}

// ofOneNamespace reports whether all requests name the same namespace.
func ofOneNamespace(requests []EvaluationRequest) bool {
	return !slices.ContainsFunc(requests, func(r EvaluationRequest) bool {
		return guidon.NamespaceKey(r.Namespace) != guidon.NamespaceKey(requests[0].Namespace)
	})
}

// run evaluates a flag in the batch's snapshot of its namespace.
func (b *Batch) run(ctx context.Context, views *batchViews, request *EvaluationRequest) (Evaluation, error) {
	snapshot, err := views.of(ctx, guidon.NamespaceKey(request.Namespace))
	if err != nil {
		return Evaluation{}, err
	}
	return b.evaluate(snapshot, views.service.counter, request)
}

// evaluate evaluates a flag of either type, if it exists.
func (b *Batch) evaluate(s *guidon.Snapshot, counts *count.Counter, request *EvaluationRequest) (result Evaluation, err error) {
	f, namespace := s.Compiled(request.FlagKey), s.Namespace().Key
	switch {
	case f == nil:
	case f.Err() != nil:
		result.Err = f.Err()
	case f.Kind() == guidon.BooleanFlag:
		result.Boolean = extend(&b.booleans)
		*result.Boolean, err = f.Boolean(request.EntityID, request.Context)
		counts.Boolean(namespace, f, result.Boolean, err)
	default:
		result.Variant = extend(&b.variants)
		*result.Variant, err = f.Variant(request.EntityID, request.Context)
		counts.Variant(namespace, f, result.Variant, err)
	}
	return result, err
}

// extend appends a zero item to items and returns it. Earlier items are never moved,
// because Answers point to them.
func extend[T any](items *[]T) *T {
	if len(*items) == cap(*items) {
		*items = make([]T, 0, max(2*cap(*items), 16))
	}
	*items = (*items)[:len(*items)+1]
	return &(*items)[len(*items)-1]
}

// batchViews holds one view of each namespace of a batch.
type batchViews struct {
	service     *Service
	demand      Demand
	last        View
	byNamespace map[string]View // nil until there is a second namespace
	age         time.Duration
}

func (v *batchViews) of(ctx context.Context, namespace string) (*guidon.Snapshot, error) {
	if v.last.Snapshot != nil {
		if v.last.Namespace == namespace {
			return v.last.Snapshot, nil
		}
		if v.byNamespace == nil {
			v.byNamespace = make(map[string]View)
		}
		v.byNamespace[v.last.Namespace] = v.last
	}
	view, ok := v.byNamespace[namespace]
	if !ok {
		var err error
		view, err = v.service.ViewOrEmpty(ctx, namespace, v.demand)
		v.age = max(v.age, view.Age)
		if err != nil {
			v.last = view
			return nil, err
		}
	}
	v.last = view
	return view.Snapshot, nil
}

// state returns the state of the only namespace: those of several have no common revision.
func (v *batchViews) state() State {
	if v.byNamespace != nil {
		return State{Age: v.age}
	}
	return v.last.State
}
