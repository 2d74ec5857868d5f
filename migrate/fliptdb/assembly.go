package fliptdb

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// ref identifies a flag or segment.
type ref struct{ namespace, key string }

func (r ref) String() string { return r.namespace + "/" + r.key }

// assembly assembles the objects from the rows. Its maps have the owners that other rows
// refer to, damaged or not.
type assembly struct {
	options       Options
	keepsDefaults bool // Flipt keeps the ids of deleted default variants
	content       Content
	namespaces    map[string]*namespace
	segments      map[ref]*segment
	flags         map[ref]*flag
	variants      map[string]*flag // flag of a variant; nil for an orphan
	rules         map[string]*rule
	rollouts      map[string]*rollout
	rolloutByRow  map[string]*rollout // by rollout_segments.id
	segmentOrder  []*segment          // in the order of the rows
	flagOrder     []*flag
	segmentStrays []stray
	flagStrays    []stray
}

type namespace struct {
	*Namespace
	damage
}

type segment struct {
	*guidon.Segment
	at ref
	damage
}

type flag struct {
	*guidon.Flag
	at             ref
	defaultVariant string // id
	lost           bool   // it cannot even be imported off
	damage
}

// rule is a rule and the flag that it belongs to.
type rule struct {
	*guidon.Rule
	flag *flag
}

// rollout is a rollout and the flag that it belongs to.
type rollout struct {
	*guidon.Rollout
	flag *flag
	kind guidon.RolloutType
}

func newAssembly(options Options, dialect string) *assembly {
	options.Now = options.Now.UTC().Truncate(time.Microsecond)
	return &assembly{
		options: options, keepsDefaults: dialect == "mysql", content: Content{options: options},
		namespaces: map[string]*namespace{}, segments: map[ref]*segment{}, flags: map[ref]*flag{},
		variants: map[string]*flag{}, rules: map[string]*rule{},
		rollouts: map[string]*rollout{}, rolloutByRow: map[string]*rollout{},
	}
}

// finish checks and sorts the objects, and adds findings about damaged ones and about
// ambiguous orders.
func (a *assembly) finish() *Content {
	suspect(a.segments, a.segmentStrays)
	suspect(a.flags, a.flagStrays)
	sortByCreation(a.content.Namespaces, func(n *Namespace) time.Time { return n.CreatedAt })
	sortByCreation(a.segmentOrder, func(g *segment) time.Time { return g.CreatedAt })
	sortByCreation(a.flagOrder, func(f *flag) time.Time { return f.CreatedAt })
	for _, g := range a.segmentOrder {
		a.finishSegment(g)
	}
	for _, f := range a.flagOrder {
		a.finishFlag(f)
	}
	sortByCreation(a.content.Authentications, func(x *service.Authentication) time.Time { return x.CreatedAt })
	return &a.content
}

// sortByCreation sorts by time of creation. Objects whose time cannot be read, which get
// that of the import, are the last.
func sortByCreation[T any](list []T, created func(T) time.Time) {
	slices.SortStableFunc(list, func(x, y T) int {
		first, second := created(x), created(y)
		if first.IsZero() != second.IsZero() {
			return -first.Compare(second)
		}
		return first.Compare(second)
	})
}

func (a *assembly) finishSegment(g *segment) {
	n := a.namespaces[g.at.namespace]
	if n.damaged() {
		g.because("its namespace is not imported")
	}
	if g.damaged() {
		a.lose("segment "+g.at.String(), strings.Join(g.reasons, "; "), &a.content.Loss.Segments)
		return
	}
	sortByCreation(g.Constraints, func(c *guidon.Constraint) time.Time { return c.CreatedAt })
	n.Segments = append(n.Segments, g.Segment)
}

func (a *assembly) finishFlag(f *flag) {
	n := a.namespaces[f.at.namespace]
	if n.damaged() {
		f.lost = true
		f.because("its namespace is not imported")
	}
	sortByCreation(f.Variants, func(v *guidon.Variant) time.Time { return v.CreatedAt })
	a.finishDefault(f)
	a.finishRules(f)
	a.finishRollouts(f)
	if f.damaged() {
		a.addDamaged(n, f)
		return
	}
	n.Flags = append(n.Flags, f.Flag)
}

// addDamaged adds the flag off, or not at all, and a finding for each reason.
func (a *assembly) addDamaged(n *namespace, f *flag) {
	outcome, count := a.options.Damaged.outcome(), &a.content.Loss.Damaged
	switch {
	case f.lost:
		outcome, count = notImported, &a.content.Loss.Flags
	case a.options.Damaged == Omit:
		count = &a.content.Loss.Flags
	case a.options.Damaged == TurnOff:
		count = &a.content.Loss.Off
		f.turnOff()
		n.Flags = append(n.Flags, f.Flag)
	}
	*count++
	for _, reason := range f.reasons {
		a.content.Findings = append(a.content.Findings, Finding{Subject: f.String(), Outcome: outcome, Reason: reason})
	}
}

// turnOff leaves nothing of a flag that could make it anything but off.
func (f *flag) turnOff() {
	f.Name = cmp.Or(f.Name, f.Key)
	f.Enabled, f.DefaultVariantID = false, ""
	f.Variants, f.Rules, f.Rollouts = nil, nil, nil
}

// String returns the name of the flag in findings.
func (f *flag) String() string { return "flag " + f.at.String() }

func (a *assembly) finishDefault(f *flag) {
	id := f.defaultVariant
	owner, exists := a.variants[id]
	switch {
	case id == "":
	case !exists && a.keepsDefaults:
		// Flipt evaluates the flag as if it had no default variant (operations 4.9).
		a.note(f.String(), "its default variant %q does not exist; imported without a default variant", id)
	case !exists:
		f.because("its default variant %q does not exist", id)
	case owner != f:
		f.because("its default variant %q belongs to another flag", id)
	default:
		f.DefaultVariantID = id
	}
}

func (a *assembly) finishRules(f *flag) {
	sortByCreation(f.Rules, func(r *guidon.Rule) time.Time { return r.CreatedAt })
	slices.SortStableFunc(f.Rules, func(x, y *guidon.Rule) int { return cmp.Compare(x.Rank, y.Rank) })
	for i, r := range f.Rules {
		name := "rules " + r.ID
		r.SegmentOperator = a.finishSegments(f, name, r.SegmentKeys, r.SegmentOperator)
		a.finishDistributions(f, r)
		if i > 0 && f.Rules[i-1].Rank == r.Rank {
			a.checkRank(f, name, r.Rank, r.CreatedAt)
		}
	}
}

func (a *assembly) finishRollouts(f *flag) {
	sortByCreation(f.Rollouts, func(r *guidon.Rollout) time.Time { return r.CreatedAt })
	slices.SortStableFunc(f.Rollouts, func(x, y *guidon.Rollout) int { return cmp.Compare(x.Rank, y.Rank) })
	for i, r := range f.Rollouts {
		name := "rollouts " + r.ID
		switch {
		case r.Segment != nil:
			r.Segment.SegmentOperator = a.finishSegments(f, name, r.Segment.SegmentKeys, r.Segment.SegmentOperator)
		case r.Threshold == nil:
			f.because("%s: it has neither a segment nor a threshold", name)
		}
		if i > 0 && f.Rollouts[i-1].Rank == r.Rank {
			a.checkRank(f, name, r.Rank, r.CreatedAt)
		}
	}
}

// finishSegments checks the segments of a rule or rollout, and returns their operator: one
// segment is always OR (contract 2).
func (a *assembly) finishSegments(f *flag, name string, keys []string, operator guidon.SegmentOperator) guidon.SegmentOperator {
	if len(keys) == 0 { // in Flipt, segments that are in use are not deleted
		f.because("%s: it has no segment", name)
	}
	for _, key := range keys {
		g := a.segments[ref{f.at.namespace, key}]
		switch {
		case g == nil:
			f.because("%s: its segment %q does not exist", name, key)
		case g.damaged():
			f.because("%s: segment %q: %s", name, key, g.summary())
		}
	}
	if len(keys) == 1 {
		return guidon.OrSegments
	}
	return operator
}

// finishDistributions sorts the distributions, whose order of creation decides which
// entities get which variant.
func (a *assembly) finishDistributions(f *flag, r *guidon.Rule) {
	sortByCreation(r.Distributions, func(d *guidon.Distribution) time.Time { return d.CreatedAt })
	var previous *guidon.Distribution
	for _, d := range r.Distributions {
		switch {
		case d.Rollout == 0: // it has no share
			continue
		case previous == nil:
		case d.CreatedAt.IsZero():
			f.because("rules %s: distributions %s: the time of its creation, which decides who gets the variant, cannot be read", r.ID, d.ID)
		case d.CreatedAt.Equal(previous.CreatedAt):
			a.note(f.String(), "distributions %s: it was created at the same time as another one of its rule, and Flipt does not define"+
				" which of them gets the lower buckets; compare some evaluations", d.ID)
		}
		previous = d
	}
}

// checkRank adds a finding about a rule or rollout with the rank of an older one.
func (a *assembly) checkRank(f *flag, name string, rank int32, created time.Time) {
	if created.IsZero() {
		f.because("%s: rank %d is used twice, and the time of its creation, which decides which comes first, cannot be read", name, rank)
		return
	}
	a.note(f.String(), "%s: rank %d is used twice, and Flipt does not define which comes first; the older one does here", name, rank)
}

// row returns a function that names the row of the table that r refers to when it is
// called.
func (r *ref) row(table string) func() string {
	return func() string { return table + " " + r.String() }
}
