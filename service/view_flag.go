package service

import (
	"cmp"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/lists"
)

// Flags returns a page of the flags, in creation order. It omits those that are unreadable,
// which [View.Unreadable] returns.
func (v View) Flags(request PageRequest) ([]*guidon.Flag, Page, error) {
	if err := request.Validate(); err != nil {
		return nil, Page{}, err
	}
	if len(v.Snapshot.Unreadable()) > 0 {
		return paginate(readable(v, v.Snapshot.Flags()), request, func(f *guidon.Flag) string { return f.Key })
	}
	compiled, page, err := paginateSorted(v.Snapshot.CompiledFlags(), request, func(c *guidon.CompiledFlag) string { return c.Flag().Key })
	return lists.Map(compiled, (*guidon.CompiledFlag).Flag), page, err
}

// readable returns the objects that are not unreadable.
func readable[T any](v View, objects []*T) []*T {
	if len(v.Snapshot.Unreadable()) == 0 {
		return objects
	}
	return slices.DeleteFunc(slices.Clone(objects), func(object *T) bool { return change.Unreadable(object) != nil })
}

// maxUnreadable limits the keys that [View.Unreadable] returns.
const maxUnreadable = 1000

// Unreadable returns the keys of unreadable flags and segments, the first 1000 of each in
// creation order.
func (v View) Unreadable() (flags, segments []string) {
	if len(v.Snapshot.Unreadable()) == 0 {
		return nil, nil
	}
	for _, f := range v.Snapshot.Flags() {
		if f.Unreadable != nil && len(flags) < maxUnreadable {
			flags = append(flags, f.Key)
		}
	}
	for _, g := range v.Snapshot.Segments() {
		if g.Unreadable != nil && len(segments) < maxUnreadable {
			segments = append(segments, g.Key)
		}
	}
	return flags, segments
}

// Flag returns the flag. It returns NotFound if it does not exist, and Unimplemented if it is
// unreadable.
func (v View) Flag(key string) (*guidon.Flag, error) {
	if err := NotEmpty("key", key); err != nil {
		return nil, err
	}
	if f := v.Snapshot.Flag(key); f != nil {
		return f, change.MustBeReadable(f)
	}
	return nil, guidon.FlagNotFound(v.Namespace, key)
}

// Rules returns a page of the flag's rules, sorted by rank. A flag that does not exist
// has none.
func (v View) Rules(flagKey string, request PageRequest) ([]*guidon.Rule, Page, error) {
	if err := cmp.Or(NotEmpty("flagKey", flagKey), request.Validate()); err != nil {
		return nil, Page{}, err
	}
	f, err := v.flagOrEmpty(flagKey)
	if err != nil {
		return nil, Page{}, err
	}
	return paginate(f.Rules, request, func(r *guidon.Rule) string { return r.ID })
}

// Rule returns the rule. It returns NotFound if the rule or its flag does not exist.
func (v View) Rule(flagKey, id string) (*guidon.Rule, error) {
	if err := RuleKeys(id, flagKey); err != nil {
		return nil, err
	}
	f, err := v.flagOrEmpty(flagKey)
	if err != nil {
		return nil, err
	}
	if r := f.Rule(id); r != nil {
		return r, nil
	}
	return nil, ruleNotFound(v.Namespace, id)
}

// RuleKeys returns InvalidArgument if a rule cannot have the id, or a flag the key.
func RuleKeys(id, flagKey string) error {
	return requireAll(field{"id", id}, field{"flagKey", flagKey})
}

// Rollouts returns a page of the flag's rollouts, sorted by rank. A flag that does not
// exist has none.
func (v View) Rollouts(flagKey string, request PageRequest) ([]*guidon.Rollout, Page, error) {
	if err := request.ValidateTokenFirst(); err != nil {
		return nil, Page{}, err
	}
	f, err := v.flagOrEmpty(flagKey)
	if err != nil {
		return nil, Page{}, err
	}
	return paginate(f.Rollouts, request, func(r *guidon.Rollout) string { return r.ID })
}

// Rollout returns the rollout and the key of its flag. It returns NotFound if the rollout
// does not exist. If flagKey is empty, it searches all flags, because contract 4.1 does
// not require the key.
func (v View) Rollout(flagKey, id string) (*guidon.Rollout, string, error) {
	flags := v.Snapshot.Flags()
	if flagKey != "" {
		f, err := v.flagOrEmpty(flagKey)
		if err != nil {
			return nil, "", err
		}
		flags = []*guidon.Flag{f}
	}
	for _, f := range flags {
		if r := f.Rollout(id); r != nil {
			return r, f.Key, nil
		}
	}
	return nil, "", rolloutNotFound(v.Namespace, id)
}

// flagOrEmpty returns the flag, or an empty one if it does not exist.
func (v View) flagOrEmpty(key string) (*guidon.Flag, error) {
	if f := v.Snapshot.Flag(key); f != nil {
		return f, change.MustBeReadable(f)
	}
	return &guidon.Flag{}, nil
}
