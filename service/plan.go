package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// PlanRequest says what a plan brings from a source into a namespace.
//
// The source is the Document or, if that is nil, the state of the namespace Source. Flags
// and Segments select objects of it; without both, everything is selected. The segments
// that selected flags refer to come along, unless WithoutSegments is set.
type PlanRequest struct {
	Namespace       string // the target
	Document        *Document
	Source          string
	Mode            ImportMode // how existing objects of the target are treated
	Flags           []string
	Segments        []string
	WithoutSegments bool
	Keep            Keep
}

// Keep is what existing flags of the target keep.
type Keep struct {
	Enabled     bool // whether the flag is enabled
	Percentages bool // of distributions and thresholds, if the same segments get the same variants
	Rules       bool // rules and rollouts, with their percentages
}

// Plan is a plan for a namespace.
type Plan struct {
	*change.Plan
	Namespace      string
	Revision       int64  // of the state that the plan starts from or, once it is applied, of the new one
	Source         string // the namespace that the objects come from, or "" for a document
	SourceRevision int64
}

// ExpectedPlan is the plan that [Service.Apply] must match.
type ExpectedPlan struct {
	Digest  string            // of the plan
	Changes []*ExpectedChange // those of the plan, to describe what is different now; or none
}

// ExpectedChange is one change of an expected plan.
type ExpectedChange struct {
	Kind   change.Kind
	Key    string
	Digest string
}

const (
	maxSelected = 1000   // keys of each kind in a PlanRequest
	maxPlanned  = 20_000 // flags and segments that are selected, or deleted
)

// Plan returns what [Service.Apply] would do. It stores nothing.
//
// Like [Service.Import] it returns InvalidArgument with all problems of the selected
// objects; that includes keys that the source does not have and, with ImportCreate, objects
// that exist already. It returns PermissionDenied if the caller may not read Source, whether
// that exists or not, and NotFound if Source does not exist, or the target of a Source.
func (s *Service) Plan(ctx context.Context, by Caller, d Demand, r PlanRequest) (*Plan, State, error) {
	p, err := s.newPlanner(ctx, by, d, r)
	if err != nil {
		return nil, State{Namespace: guidon.NamespaceKey(r.Namespace)}, err
	}
	view, err := s.View(ctx, p.Namespace, d)
	if err != nil && (!errors.Is(err, guidon.NotFound) || !p.mayCreate()) {
		return nil, view.State, err
	}
	var base change.Objects
	if err == nil {
		base = change.ObjectsOf(view.Snapshot)
	}
	plan, err := p.plan(base, view.Revision, s.now())
	return plan, view.State, err
}

// Apply carries out the plan that [Service.Plan] returned for the same request, in one
// revision with one record for each object. If the plan would now be different, Apply
// changes nothing, and returns FailedPrecondition with the differences, and the plan as it
// would be now. A plan without changes uses no revision.
//
// Apply makes the checks of Plan. It returns PermissionDenied too if the plan creates or
// changes the namespace itself and the caller may not, and TooLarge if an object is too
// large to be stored.
func (s *Service) Apply(ctx context.Context, w Write, d Demand, r PlanRequest, expected ExpectedPlan) (*Plan, int64, error) {
	if err := NotEmpty("digest", expected.Digest); err != nil {
		return nil, 0, err
	}
	p, err := s.newPlanner(ctx, w.By, d, r)
	if err != nil {
		return nil, 0, err
	}
	if w.Reason == (change.Reason{}) {
		w.Reason = p.reason()
	}
	var plan *Plan
	revision, err := s.update(ctx, p.Namespace, w, func(ctx context.Context, tx Tx) error {
		var err error
		plan, err = p.apply(ctx, w.By, tx, expected)
		return err
	})
	if err != nil && !errors.Is(err, guidon.FailedPrecondition) {
		return nil, revision, err
	}
	if plan != nil {
		plan.Revision = revision
	}
	return plan, revision, err
}

// planner makes a plan for one request. The source has been read.
//
// An import makes the same changes without it: one object at a time, so that it needs no
// second copy of a large document, while a plan has all of its changes in memory. They
// share the checks, and the comparison and merge of each object.
type planner struct {
	PlanRequest
	source   *Document // as far as it may be selected; with the key of the target
	revision int64     // of the source, if it is a namespace
}

func (s *Service) newPlanner(ctx context.Context, by Caller, d Demand, r PlanRequest) (*planner, error) {
	r.Namespace = guidon.NamespaceKey(r.Namespace)
	if err := r.check(); err != nil {
		return nil, err
	}
	p := &planner{PlanRequest: r}
	if r.Document != nil {
		p.source = r.Document.withNamespace(r.Namespace)
		return p, nil
	}
	view, err := s.sourceView(ctx, by, r.Source, d)
	if err != nil {
		return nil, err
	}
	p.source, p.revision = p.sourceDocument(view), view.Revision
	return p, nil
}

func (r *PlanRequest) check() error {
	if err := checkEnum("mode", r.Mode); err != nil {
		return err
	}
	if len(r.Flags) > maxSelected {
		return invalidField("flagKeys", fmt.Sprintf("must not contain more than %d elements", maxSelected))
	}
	if len(r.Segments) > maxSelected {
		return invalidField("segmentKeys", fmt.Sprintf("must not contain more than %d elements", maxSelected))
	}
	if r.Mode == ImportReplace && (!r.everything() || r.WithoutSegments) {
		return guidon.Errorf(guidon.InvalidArgument, "invalid field mode: everything else would be deleted; to replace, select the whole source")
	}
	switch {
	case r.Document != nil && r.Source != "":
		return invalidField("document or sourceNamespaceKey", "only one can be present")
	case r.Document == nil && r.Source == "":
		return emptyField("document or sourceNamespaceKey")
	case r.Source == r.Namespace:
		return invalidField("sourceNamespaceKey", "must not be the target")
	case r.Document != nil && r.Document.Namespace.Key != "" && r.Document.Namespace.Key != r.Namespace:
		return guidon.Errorf(guidon.InvalidArgument, "document of namespace %q cannot be planned for namespace %q", r.Document.Namespace.Key, r.Namespace)
	}
	return nil
}

// everything reports whether the whole source is selected.
func (r *PlanRequest) everything() bool { return len(r.Flags) == 0 && len(r.Segments) == 0 }

// mayCreate reports whether the plan creates the target if it does not exist, as an import
// does.
func (p *planner) mayCreate() bool {
	return p.Document != nil && p.Namespace != guidon.DefaultNamespace
}

func (p *planner) reason() change.Reason {
	if p.Document != nil {
		return change.ImportReason()
	}
	return change.PromotionReason(SourceNamespace(p.Source), p.revision)
}

// plan returns the plan for the target in state base with the revision.
func (p *planner) plan(base change.Objects, revision int64, now time.Time) (*Plan, error) {
	w, err := p.wanted(base, now)
	if err != nil {
		return nil, err
	}
	plan, err := change.NewPlan(base, w.patch, change.PlanOptions{Required: w.required, Unchanged: w.unchanged, Skipped: w.skipped})
	if err != nil {
		return nil, err
	}
	return &Plan{Plan: plan, Namespace: p.Namespace, Revision: revision, Source: p.Source, SourceRevision: p.revision}, nil
}
