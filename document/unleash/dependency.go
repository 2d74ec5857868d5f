package unleash

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// dependency is a parent of a feature, which is off for those for whom the parent is not as stated.
type dependency struct {
	Feature  string
	Enabled  *bool    // nil means on
	Variants []string // one of which it must give; none means any
}

func (d *dependency) off() bool { return d.Enabled != nil && !*d.Enabled }

// feature returns the first feature with the name, or nil.
func (e *Environment) feature(name string) *Feature {
	if e.byName == nil {
		e.byName = make(map[string]*Feature, len(e.Features))
		for i := range slices.Backward(e.Features) {
			e.byName[e.Features[i].Name] = &e.Features[i]
		}
	}
	return e.byName[name]
}

// satisfied reports whether the parents of the feature are as it depends on. One that has parents
// itself never is.
func (e *Environment) satisfied(f *Feature, u *User) bool {
	for i := range f.Dependencies {
		d := &f.Dependencies[i]
		parent := e.feature(d.Feature)
		if parent == nil || len(parent.Dependencies) > 0 {
			return false
		}
		switch is := e.Evaluate(parent, u); {
		case is.Enabled == d.off():
			return false
		case is.Enabled && len(d.Variants) > 0 && !slices.Contains(d.Variants, is.Variant):
			return false
		}
	}
	return true
}

// require adds the parent to the document, and that its first flag requires it. It adds the segments of
// the parent to used. The error continues the name of the parent.
func (t *translator) require(d *service.Document, on *dependency, used segments) error {
	parent := t.environment.feature(on.Feature)
	switch {
	case parent == nil:
		return errors.New(", which is not in the input")
	case len(parent.Dependencies) > 0:
		return errors.New(", which depends on another feature")
	}
	as, its, err := t.flag(parent)
	if err != nil {
		return fmt.Errorf(", which is left out: %w", err)
	}
	r, err := on.requirement(as)
	if err != nil {
		return err
	}
	maps.Copy(used, its)
	d.Flags[0].Requires = append(d.Flags[0].Requires, r)
	if !slices.ContainsFunc(d.Flags, func(f *guidon.Flag) bool { return f.Key == as.Key }) {
		d.Flags = append(d.Flags, as)
	}
	return nil
}

// requirement returns the dependency as a requirement of the flag that the parent became. A variant flag
// gives a variant to all for whom the parent is on.
func (d *dependency) requirement(parent *guidon.Flag) (guidon.Requirement, error) {
	r := guidon.Requirement{FlagKey: parent.Key}
	boolean := parent.Type == guidon.BooleanFlag
	switch {
	case boolean && d.off():
		r.Answers = []string{"false"}
		return r, nil
	case d.off():
		return r, errors.New(" being off, which has variants")
	case boolean && len(d.Variants) == 0:
		return r, nil
	}
	for _, v := range parent.Variants {
		if len(d.Variants) == 0 || slices.Contains(d.Variants, v.Key) {
			r.Answers = append(r.Answers, v.Key)
		}
	}
	if len(r.Answers) == 0 {
		return r, errors.New(" giving a variant that it does not have")
	}
	return r, nil
}
