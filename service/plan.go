package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// PlanRequest describes a plan, which brings objects from a source into a namespace.
//
// The source is the Document, or the state that Source refers to, or Undo. Flags and Segments
// select objects of it; without both, everything is selected. The segments that selected
// flags refer to come along, unless WithoutSegments is set or only what the target keeps
// refers to them.
//
// An earlier state of the target itself restores the selected objects with the ids and the
// creation times that they had, also after the namespace was deleted. If everything is
// selected, it restores the name and the settings of the namespace too. Of the segments that
// selected flags refer to, only those come along that do not exist.
//
// To undo changes, Mode must be ImportUpdate, and neither WithoutSegments nor Keep be set.
type PlanRequest struct {
	Namespace       string // the target
	Document        *Document
	Source          string // as [ParseReference] reads it
	Undo            *Undo
	Mode            ImportMode // how existing objects of the target are treated
	Flags           []string
	Segments        []string
	WithoutSegments bool
	Keep            Keep
}

// Keep selects the parts that existing flags of the target keep.
type Keep struct {
	Enabled     bool // whether the flag is enabled, and whether it is turned off for everyone
	Percentages bool // of distributions and thresholds, if the same segments get the same variants
	Rules       bool // rules and rollouts, with their percentages
}

// Plan is a plan for a namespace.
type Plan struct {
	*change.Plan
	Namespace      string
	Revision       int64  // of the state that the plan starts from or, once it is applied, of the new one
	Source         string // the namespace that the objects come from, if it is a state of one
	SourceRevision int64

	// Conflicts are the parts that were changed again after the changes to undo. As long as
	// there are any, the plan leaves them as they are, and it has no digest.
	Conflicts []change.ObjectConflicts

	base View // for its effects; without a snapshot for an applied plan, or if the target did not exist
}

// ExpectedPlan is the plan that [Service.Apply] must match.
type ExpectedPlan struct {
	Digest  string            // of the plan
	Changes []*ExpectedChange // those of the plan, to describe the differences; or none
}

// ExpectedChange is one change of an expected plan.
type ExpectedChange struct {
	Kind   change.Kind
	Key    string
	Digest string
}

const (
	maxSelected = 1000    // keys of each kind in a PlanRequest
	maxPlanned  = 200_000 // flags and segments that are selected, or deleted
)

// Plan returns the changes that [Service.Apply] would make. It stores nothing.
//
// Like [Service.Import] it returns InvalidArgument with all problems of the selected
// objects; that includes keys that the source does not have and, with ImportCreate, objects
// that exist already. It returns PermissionDenied if the caller may not read Source, whether
// that exists or not, and NotFound if Source does not exist, or the target of a Source, or
// the records of the changes to undo. admit, which may be nil, reserves the memory for
// computed states and for change records.
func (s *Service) Plan(ctx context.Context, by Caller, d Demand, r PlanRequest, admit Admit) (*Plan, State, error) {
	p, err := s.newPlanner(ctx, by, d, r, admit)
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
	if err == nil && len(plan.Conflicts) == 0 {
		err = checkPlannedLinks(ctx, p.Namespace, view.Snapshot, plan.Patch)
	}
	if err != nil {
		return nil, view.State, err
	}
	plan.base = view
	plan.warnOmitted()
	return plan, view.State, nil
}

// Apply carries out the plan that [Service.Plan] returned for the same request, in one
// revision with one record for each object. If the plan would now be different, Apply
// changes nothing, and returns FailedPrecondition with the differences, and the plan as it
// would be now. The same is true of a plan with conflicts. A plan without changes uses no
// revision.
//
// Apply makes the checks of Plan. It returns PermissionDenied too if the plan creates or
// changes the namespace itself and the caller may not, and TooLarge if an object is too
// large to be stored.
func (s *Service) Apply(ctx context.Context, w Write, d Demand, r PlanRequest, expected ExpectedPlan, admit Admit) (*Plan, int64, error) {
	if err := NotEmpty("digest", expected.Digest); err != nil {
		return nil, 0, err
	}
	p, err := s.newPlanner(ctx, w.By, d, r, admit)
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

// planner makes a plan for one request.
type planner struct {
	PlanRequest
	proposal
}

// proposal computes the changes of a plan from the state of the target. Everything else that
// it needs has been read.
type proposal interface {
	// wanted returns the changes of the plan to the target in state base. It returns
	// InvalidArgument with all problems.
	wanted(base change.Objects, now time.Time) (*wanted, error)
	// flagKeys returns the flags of which wanted needs the state, and whether it needs all
	// flags.
	flagKeys() (keys map[string]bool, all bool)
	// mayCreate reports whether the plan creates the target if it does not exist.
	mayCreate() bool
	// origin returns the namespace that the objects come from, if it is a state of one, and
	// the revision.
	origin() (namespace string, revision int64)
	// reason returns the reason of the changes.
	reason() change.Reason
}

// wanted holds the changes of a plan to its target.
type wanted struct {
	patch     change.Patch
	required  map[string]bool // the segments that come along
	unchanged int
	skipped   []string
	conflicts []change.ObjectConflicts
}

func (s *Service) newPlanner(ctx context.Context, by Caller, d Demand, r PlanRequest, admit Admit) (*planner, error) {
	r.Namespace = guidon.NamespaceKey(r.Namespace)
	err := r.check()
	if err != nil {
		return nil, err
	}
	p := &planner{PlanRequest: r}
	switch {
	case r.Undo != nil:
		undo := &undoPlan{PlanRequest: r}
		undo.records, err = s.undoneRecords(ctx, r, admit)
		p.proposal = undo
	case r.Document != nil:
		p.proposal = &sourcePlan{PlanRequest: r, source: r.Document.withNamespace(r.Namespace)}
	default:
		p.proposal, err = s.newSourcePlan(ctx, by, d, r, admit)
	}
	return p, err
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
	return r.checkSource()
}

func (r *PlanRequest) checkSource() error {
	if err := ExactlyOne("document, sourceNamespaceKey or undo", r.Document != nil, r.Source != "", r.Undo != nil); err != nil {
		return err
	}
	switch {
	case r.Undo != nil:
		return r.checkUndo()
	case r.Source != "" && guidon.NamespaceKey(r.Source) == r.Namespace:
		return invalidField("sourceNamespaceKey", "must not be the target, unless it refers to an earlier state")
	case r.Document != nil && r.Document.Namespace.Key != "" && r.Document.Namespace.Key != r.Namespace:
		return guidon.Errorf(guidon.InvalidArgument, "document of namespace %q cannot be planned for namespace %q",
			r.Document.Namespace.Key, r.Namespace)
	}
	return nil
}

// everything reports whether the whole source is selected.
func (r *PlanRequest) everything() bool { return len(r.Flags) == 0 && len(r.Segments) == 0 }

// plan returns the plan for the target in state base with the revision.
func (p *planner) plan(base change.Objects, revision int64, now time.Time) (*Plan, error) {
	w, err := p.wanted(base, now)
	if err != nil {
		return nil, err
	}
	if err := checkSizes(p.Namespace, w.patch.Put); err != nil {
		return nil, err
	}
	plan, err := change.NewPlan(base, w.patch, change.PlanOptions{Required: w.required, Unchanged: w.unchanged, Skipped: w.skipped})
	if err != nil {
		return nil, err
	}
	if len(w.conflicts) > 0 {
		plan.Digest = ""
	}
	result := &Plan{Plan: plan, Namespace: p.Namespace, Revision: revision, Conflicts: w.conflicts}
	result.Source, result.SourceRevision = p.origin()
	return result, nil
}
