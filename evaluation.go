package guidon

import (
	"context"
	"errors"
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
// revision (contract 7.8). A flag that does not exist gives an empty
// Evaluation; any other failure is the failure of the whole batch. It returns
// TooLarge for more than [MaxBatch] requests, and InvalidArgument for several
// namespaces where Call.MinRevision is set.
func (s *Service) EvaluateBatch(ctx context.Context, requests []EvaluationRequest) ([]Evaluation, error) {
	if len(requests) > MaxBatch {
		return nil, Errorf(TooLarge, "invalid field requests: must not contain more than %d elements", MaxBatch)
	}
	views := batchViews{service: s, byNamespace: make(map[string]*Snapshot, 1)}
	answers := make([]Evaluation, len(requests))
	room := resultRoom{left: len(requests)}
	size := 0
	for i, request := range requests {
		snapshot, err := views.of(ctx, NamespaceKey(request.Namespace))
		if err != nil {
			return nil, err
		}
		answers[i], err = snapshot.evaluate(request, &room)
		if err != nil && !errors.Is(err, NotFound) {
			return nil, err
		}
		if v := answers[i].Variant; v != nil {
			size += len(v.Attachment)
		}
		if size > maxBatchAttachments {
			return nil, Errorf(TooLarge, "the attachments of the answer exceed %d bytes: ask for fewer flags at once", maxBatchAttachments)
		}
	}
	views.note(ctx)
	return answers, nil
}

// evaluate evaluates a flag of whichever type it is.
func (s *Snapshot) evaluate(request EvaluationRequest, room *resultRoom) (answer Evaluation, err error) {
	f := s.flagByKey[request.FlagKey]
	if f == nil {
		return Evaluation{}, flagNotFound(s.namespace.Key, request.FlagKey)
	}
	if f.flag.Type == BooleanFlag {
		answer.Boolean = take(&room.booleans, room.left)
		*answer.Boolean, err = f.boolean(request.EntityID, request.Context)
	} else {
		answer.Variant = take(&room.variants, room.left)
		*answer.Variant, err = f.variant(request.EntityID, request.Context)
	}
	room.left--
	return answer, err
}

// resultRoom is memory for the results of a batch, of which there are at most
// so many more. They are allocated some at a time.
type resultRoom struct {
	variants []VariantResult
	booleans []BooleanResult
	left     int
}

const resultsAtOnce = 16

func take[T any](free *[]T, left int) *T {
	if len(*free) == 0 {
		*free = make([]T, min(left, resultsAtOnce))
	}
	result := &(*free)[0]
	*free = (*free)[1:]
	return result
}

// batchViews holds the one snapshot of each namespace that a batch is about.
type batchViews struct {
	service     *Service
	byNamespace map[string]*Snapshot
}

func (v batchViews) of(ctx context.Context, namespace string) (*Snapshot, error) {
	if snapshot := v.byNamespace[namespace]; snapshot != nil {
		return snapshot, nil
	}
	if len(v.byNamespace) > 0 && CallFrom(ctx).MinRevision > 0 {
		return nil, Errorf(InvalidArgument, "invalid field requests: must be of one namespace where a revision is demanded")
	}
	snapshot, err := v.service.viewOrEmpty(ctx, namespace)
	if err != nil {
		return nil, err
	}
	v.byNamespace[namespace] = snapshot
	return snapshot, nil
}

// note leaves namespace and revision in the call only when there was just one:
// an answer about several has no revision.
func (v batchViews) note(ctx context.Context) {
	if len(v.byNamespace) != 1 {
		call := CallFrom(ctx)
		call.Namespace, call.Revision = "", 0
	}
}
