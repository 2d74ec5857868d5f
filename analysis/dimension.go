package analysis

import (
	"fmt"
	"slices"

	"github.com/guidonhq/guidon"
)

// dimension identifies the ways to compute buckets that put each entity into the same one, or
// into a part of it: it is one of them.
type dimension guidon.Bucketer

func dimensionOf(b *guidon.Bucketer) dimension {
	d := dimension(*b)
	switch b.Hash {
	case guidon.Murmur3Hash:
		d.Threshold = false
	case guidon.UnleashHash:
		d.Threshold, d.Portion = b.Threshold || b.Portion, false
	default:
		d.Hash, d.Portion = guidon.FliptHash, false
	}
	return d
}

// ownDimension returns the dimension of the shares of the flag that state nothing else.
func ownDimension(f *guidon.Flag) dimension {
	return dimension{Seed: f.Key, Hash: guidon.FliptHash, Threshold: f.Type == guidon.BooleanFlag}
}

// isPlain reports whether the share of a threshold is the first of the flag's own buckets, or
// all of any.
func isPlain(f *guidon.Flag, s *guidon.BucketShare) bool {
	return s.Takes() || s.Start == 0 && s.Hash == guidon.FliptHash && dimensionOf(&s.Bucketer) == ownDimension(f)
}

// inShare returns a segment of the entities in the share. It compares their buckets as if they
// were a property, so what is known about numbers is known about shares.
func inShare(s *guidon.BucketShare) *guidon.CompiledSegment {
	g := &guidon.Segment{}
	if s.By != "" {
		g.Constraints = append(g.Constraints, hasValue(s.By))
	}
	name := fmt.Sprintf("\x00%+v", dimensionOf(&s.Bucketer)) // which no context has
	below := func(bucket int, negate bool) *guidon.Constraint {
		return &guidon.Constraint{
			Type: guidon.NumberComparison, Property: name, Operator: guidon.OpLT, Negate: negate,
			Value: fmt.Sprint(bucket * (guidon.FineBuckets / s.Buckets())),
		}
	}
	if s.Start > 0 {
		g.Constraints = append(g.Constraints, below(s.Start, true))
	}
	if s.End < s.Buckets() {
		g.Constraints = append(g.Constraints, below(s.End, false))
	}
	return guidon.CompileSegment(g)
}

// hasValue returns the constraint that the property has a value.
func hasValue(property string) *guidon.Constraint {
	return &guidon.Constraint{Type: guidon.StringComparison, Property: property, Operator: guidon.OpNEQ} // than ""
}

// dimensions are the dimensions of the shares of one analysis.
type dimensions struct {
	counted []dimension // of shares whose buckets can be counted for each group of entities
	others  []dimension // of shares that are conditions
	fine    bool        // there are fine buckets
}

// addRequired adds those of the flags that the flag requires, which are conditions.
func (d *dimensions) addRequired(f *guidon.CompiledFlag) {
	for _, required := range f.WithRequired()[1:] {
		var of dimensions
		of.add(required.Flag(), stepsOf(required))
		d.others = slices.Concat(d.others, of.others, of.counted)
	}
}

// add adds the shares of the steps.
func (d *dimensions) add(f *guidon.Flag, steps []step) {
	for i := range steps {
		s := &steps[i]
		if c := s.Conditions; c != nil && c.Portion != nil {
			d.others = append(d.others, dimensionOf(&c.Portion.Bucketer))
		}
		switch {
		case s.share != nil && (s.share.Empty() || s.share.Takes()):
		case s.share != nil && (s.share.Start > 0 || s.share.By != ""):
			d.others = append(d.others, dimensionOf(&s.share.Bucketer))
		case s.share != nil:
			d.count(&s.share.Bucketer)
		case s.rule != nil && s.Audience != nil && s.divides(f):
			d.count(&s.divider)
		}
	}
}

// divides reports whether the rule gives different outcomes to different buckets.
func (s *step) divides(f *guidon.Flag) bool {
	if s.rule.CodeDefault {
		return false
	}
	for share := range eachShare(f, s.rule, &s.divider) {
		if share.Buckets() > 0 {
			return share.Buckets() < share.Of
		}
	}
	return false
}

// main returns the dimension whose buckets are counted: that of the flag's own shares, if there
// are any. It reports false if shares of each are conditions too, or there are no shares.
func (d *dimensions) main(own dimension) (dimension, bool) {
	free := func(c dimension) bool { return !slices.Contains(d.others, c) }
	if slices.Contains(d.counted, own) && free(own) {
		return own, true
	}
	if i := slices.IndexFunc(d.counted, free); i >= 0 {
		return d.counted[i], true
	}
	return dimension{}, false
}

func (d *dimensions) count(b *guidon.Bucketer) {
	d.counted, d.fine = append(d.counted, dimensionOf(b)), d.fine || b.Buckets() == guidon.FineBuckets
}
