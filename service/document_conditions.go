package service

import (
	"encoding/json"
	"slices"

	"github.com/guidonhq/guidon"
)

// additions reports whether Flipt, or a release without additions, does not know a part of the
// flag.
func (f *DocumentFlag) additions() bool {
	return len(f.Requires) > 0 || slices.ContainsFunc(f.Rules, func(r *DocumentRule) bool {
		return r != nil && (&guidon.Rule{Split: r.Split, CodeDefault: r.CodeDefault, Conditions: r.Conditions}).Additions()
	}) || slices.ContainsFunc(f.Rollouts, func(r *DocumentRollout) bool {
		return r != nil && (&guidon.Rollout{Threshold: r.Threshold, Conditions: r.Conditions}).Additions()
	})
}

// cloneOf returns a copy of what p points to, or nil.
func cloneOf[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

// contentOf returns a text that is the same for the same content.
func contentOf(parts ...any) string {
	text, err := json.Marshal(parts)
	if err != nil {
		return err.Error() // an enum without a name, which is not valid
	}
	return string(text)
}
