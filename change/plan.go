package change

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// Plan describes the changes of applying a patch to a state of a namespace.
type Plan struct {
	Changes   []PlannedChange // in the order in which they are applied
	Unchanged int             // number of selected objects that are already as wanted
	Skipped   []string        // "flag/<key>" and "segment/<key>", not changed because they exist
	Warnings  []Warning
	Patch     Patch // makes the changes

	// Digest stands for everything that the plan states: two plans with the same digest
	// make the same changes to the same objects, with the same warnings. Ids and times do
	// not count, nor does the rest of the namespace.
	Digest string
}

// PlannedChange is the change of a plan to one object. Before and After have that object
// alone, or nothing if it does not exist.
type PlannedChange struct {
	Kind          Kind
	Key           string
	Action        Action
	Required      bool // a segment that was not selected, but that a selected flag refers to
	Differences   []Difference
	Before, After Objects
	Digest        string // of this change
}

// Summary returns the change in words, in at most 400 bytes.
func (c *PlannedChange) Summary() string { return summary(c.Action, c.Differences) }

// PlanOptions holds the information about a plan that its patch does not contain.
type PlanOptions struct {
	Required  map[string]bool // the segments that were not selected, but that selected flags refer to
	Unchanged int
	Skipped   []string
}

// NewPlan returns the plan that applies the patch to the namespace in state base, whose
// Namespace is nil if it does not exist. It returns the error of [Patch.Validate] if the
// patch contradicts itself. The plan shares the objects with base and patch.
func NewPlan(base Objects, patch Patch, o PlanOptions) (*Plan, error) {
	if err := patch.Validate(); err != nil {
		return nil, err
	}
	p := &planBuilder{
		Plan:     Plan{Unchanged: o.Unchanged, Skipped: o.Skipped, Patch: patch},
		required: o.Required,
		flags:    byKey(base.Flags, func(f *guidon.Flag) string { return f.Key }),
		segments: byKey(base.Segments, func(g *guidon.Segment) string { return g.Key }),
	}
	if n := patch.Put.Namespace; n != nil {
		addPlanned(p, KindNamespace, n.Key, base.Namespace, n,
			func(n *guidon.Namespace) Objects { return Objects{Namespace: n} })
	}
	for _, g := range patch.Put.Segments {
		p.addSegment(g.Key, g)
	}
	for _, f := range patch.Put.Flags {
		p.addFlag(f.Key, f)
	}
	for _, key := range patch.Delete.Flags {
		p.addFlag(key, nil)
	}
	for _, key := range patch.Delete.Segments {
		p.addSegment(key, nil)
	}
	p.warn(base.Flags)
	if p.Digest = p.digest(); p.err != nil {
		return nil, p.err
	}
	return &p.Plan, nil
}

// planBuilder builds a plan.
type planBuilder struct {
	Plan
	required map[string]bool
	flags    map[string]*guidon.Flag // of the base
	segments map[string]*guidon.Segment
	err      error
}

func (p *planBuilder) addSegment(key string, after *guidon.Segment) {
	addPlanned(p, KindSegment, key, p.segments[key], after,
		func(g *guidon.Segment) Objects { return Objects{Segments: []*guidon.Segment{g}} })
}

func (p *planBuilder) addFlag(key string, after *guidon.Flag) {
	addPlanned(p, KindFlag, key, p.flags[key], after,
		func(f *guidon.Flag) Objects { return Objects{Flags: []*guidon.Flag{f}} })
}

// addPlanned adds the change of one object. Deleting an object that does not exist is no
// change.
func addPlanned[T any](p *planBuilder, kind Kind, key string, before, after *T, objects func(*T) Objects) {
	if before == nil && after == nil {
		return
	}
	if err := MustBeReadable(before, after); err != nil {
		p.err = cmp.Or(p.err, err)
		return
	}
	c := PlannedChange{
		Kind: kind, Key: key, Action: (&Compared[T]{Before: before, After: after}).Action(),
		Required:    kind == KindSegment && p.required[key],
		Differences: CompareVersions(before, after),
	}
	if before != nil {
		c.Before = objects(before)
	}
	if after != nil {
		c.After = objects(after)
	}
	s := shapeOf[T]()
	c.Digest = p.hash(struct {
		Kind          Kind
		Key           string
		Action        Action
		Required      bool
		Differences   []Difference
		Before, After json.RawMessage
	}{kind, key, c.Action, c.Required, c.Differences, s.form(flagOf(before), before), s.form(flagOf(after), after)})
	p.Changes = append(p.Changes, c)
}

// digest returns the digest of the plan. It begins with the version of its form, so that
// servers of different releases do not take different plans for the same.
func (p *planBuilder) digest() string {
	changes := lists.Map(p.Changes, func(c PlannedChange) string { return c.Digest })
	return p.hash(struct {
		Version   int
		Changes   []string
		Unchanged int
		Skipped   []string
		Warnings  []Warning
	}{1, changes, p.Unchanged, p.Skipped, p.Warnings})
}

// hash returns the SHA-256 of the JSON form of the value.
func (p *planBuilder) hash(value any) string {
	hash := sha256.New()
	if err := json.NewEncoder(hash).Encode(value); err != nil && p.err == nil {
		p.err = fmt.Errorf("cannot state the plan: %w", err) // a stored object is no valid JSON
	}
	return hex.EncodeToString(hash.Sum(nil))
}
