package guidon

import (
	"context"
	"slices"
)

// MaxBatch bounds the evaluations of one batch, and maxBatchAttachments the
// attachments in its answer, in bytes: one request must not be able to ask for
// more memory than the service has.
const (
	MaxBatch            = 1000
	maxBatchAttachments = 64 << 20
)

// EvaluationRequest asks what a flag answers for an entity.
type EvaluationRequest struct {
	Namespace string // empty is the default namespace
	FlagKey   string
	EntityID  string
	Context   map[string]string
}

// Evaluation is one answer of a batch. Exactly one of Variant and Boolean is
// set; neither is when the flag does not exist.
type Evaluation struct {
	Variant *VariantResult
	Boolean *BooleanResult
}

// Batch is evaluations that are asked for together, and their answers. It may be
// used for one batch after the other, by one goroutine at a time.
type Batch struct {
	Requests []EvaluationRequest
	Answers  []Evaluation // in the order of Requests, good until Reset

	variants []VariantResult // what Answers point to
	booleans []BooleanResult
}

// BatchItemError is the failure of one evaluation of a batch, which fails the whole
// batch. The other evaluations have no result.
type BatchItemError struct {
	Index int // in the requests of the batch
	Err   error
}

// Error implements error with the text of Err.
func (e *BatchItemError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *BatchItemError) Unwrap() error { return e.Err }

// Reset empties the batch and keeps its memory, but nothing that was in there.
func (b *Batch) Reset() {
	b.Requests = slices.Delete(b.Requests, 0, len(b.Requests))
	b.Answers = slices.Delete(b.Answers, 0, len(b.Answers))
	b.variants = slices.Delete(b.variants, 0, len(b.variants))
	b.booleans = slices.Delete(b.booleans, 0, len(b.booleans))
}

// Snapshot returns the current state of the namespace for evaluation elsewhere,
// or an empty one at the zero revision where there is no such namespace
// (contract 9.1).
func (s *Service) Snapshot(ctx context.Context, namespace string) (*Snapshot, error) {
	return s.viewOrEmpty(ctx, NamespaceKey(namespace))
}

// EvaluateVariant evaluates a variant flag. It returns NotFound for an unknown
// flag and InvalidArgument for one of another type.
func (s *Service) EvaluateVariant(ctx context.Context, request EvaluationRequest) (VariantResult, error) {
	snapshot, err := s.viewOrEmpty(ctx, NamespaceKey(request.Namespace))
	if err != nil {
		return VariantResult{}, err
	}
	return snapshot.Variant(request.FlagKey, request.EntityID, request.Context)
}

// EvaluateBoolean evaluates a boolean flag. It returns NotFound for an unknown
// flag and InvalidArgument for one of another type.
func (s *Service) EvaluateBoolean(ctx context.Context, request EvaluationRequest) (BooleanResult, error) {
	snapshot, err := s.viewOrEmpty(ctx, NamespaceKey(request.Namespace))
	if err != nil {
		return BooleanResult{}, err
	}
	return snapshot.Boolean(request.FlagKey, request.EntityID, request.Context)
}

// EvaluateBatch evaluates flags of either type, in order, each namespace at one
// revision (contract 7.8), and leaves the answers in the batch. A flag that does
// not exist gives an empty Evaluation; any other failure of an evaluation is that of
// the whole batch, a [BatchItemError]. It returns TooLarge for more than [MaxBatch]
// requests, and InvalidArgument for several namespaces if Call.MinRevision is set;
// then nothing is evaluated.
func (s *Service) EvaluateBatch(ctx context.Context, batch *Batch) error {
	if len(batch.Requests) > MaxBatch {
		return Errorf(TooLarge, "invalid field requests: must not contain more than %d elements", MaxBatch)
	}
	if CallFrom(ctx).MinRevision > 0 && !ofOneNamespace(batch.Requests) {
		return Errorf(InvalidArgument, "invalid field requests: must be of one namespace where a revision is demanded")
	}
	views := batchViews{service: s, byNamespace: make(map[string]*Snapshot, 1)}
	batch.Answers = slices.Grow(batch.Answers[:0], len(batch.Requests))
	size := 0
	for i := range batch.Requests {
		answer, err := batch.answer(ctx, &views, &batch.Requests[i])
		if v := answer.Variant; v != nil {
			size += len(v.Attachment)
		}
		if err == nil && size > maxBatchAttachments {
			err = Errorf(TooLarge, "the attachments of the answer exceed %d bytes: ask for fewer flags at once", maxBatchAttachments)
		}
		if err != nil {
			return &BatchItemError{i, err}
		}
		batch.Answers = append(batch.Answers, answer)
	}
	views.note(ctx)
	return nil
}

// ofOneNamespace reports whether all requests name the same namespace.
func ofOneNamespace(requests []EvaluationRequest) bool {
	for i := range requests {
		if NamespaceKey(requests[i].Namespace) != NamespaceKey(requests[0].Namespace) {
			return false
		}
	}
	return true
}

// answer evaluates a flag in the snapshot that the batch has of its namespace.
func (b *Batch) answer(ctx context.Context, views *batchViews, request *EvaluationRequest) (Evaluation, error) {
	snapshot, err := views.of(ctx, NamespaceKey(request.Namespace))
	if err != nil {
		return Evaluation{}, err
	}
	return b.evaluate(snapshot, request)
}

// evaluate evaluates a flag of whichever type it is, if there is one.
func (b *Batch) evaluate(s *Snapshot, request *EvaluationRequest) (answer Evaluation, err error) {
	f := s.Compiled(request.FlagKey)
	switch {
	case f == nil:
	case f.Kind() == BooleanFlag:
		answer.Boolean = take(&b.booleans)
		*answer.Boolean, err = f.Boolean(request.EntityID, request.Context)
	default:
		answer.Variant = take(&b.variants)
		*answer.Variant, err = f.Variant(request.EntityID, request.Context)
	}
	return answer, err
}

// take returns one more item, and leaves those before it where they are.
func take[T any](items *[]T) *T {
	if len(*items) == cap(*items) {
		*items = make([]T, 0, max(2*cap(*items), 16))
	}
	*items = (*items)[:len(*items)+1]
	return &(*items)[len(*items)-1]
}

// batchViews holds the one snapshot of each namespace that a batch is about.
type batchViews struct {
	service     *Service
	byNamespace map[string]*Snapshot
	namespace   string // of the last one, as most batches are about one
	snapshot    *Snapshot
}

func (v *batchViews) of(ctx context.Context, namespace string) (*Snapshot, error) {
	if v.snapshot != nil && v.namespace == namespace {
		return v.snapshot, nil
	}
	snapshot := v.byNamespace[namespace]
	if snapshot == nil {
		var err error
		if snapshot, err = v.service.viewOrEmpty(ctx, namespace); err != nil {
			return nil, err
		}
		v.byNamespace[namespace] = snapshot
	}
	v.namespace, v.snapshot = namespace, snapshot
	return snapshot, nil
}

// note leaves namespace and revision in the call only when there was just one:
// an answer about several has no revision.
func (v *batchViews) note(ctx context.Context) {
	if len(v.byNamespace) != 1 {
		call := CallFrom(ctx)
		call.Namespace, call.Revision = "", 0
	}
}
