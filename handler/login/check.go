package login

import (
	"context"
	"maps"
	"slices"
)

// Checked is the result of the check of one provider.
type Checked struct {
	Name string   // such as "oidc google"
	URLs []string // that this service must be able to reach, as far as they are known
	Err  error    // nil if it is usable
}

// checker is a provider that can be asked whether it is usable.
type checker interface {
	Check(ctx context.Context) (urls []string, err error)
}

// Check asks all providers for what signing in needs, one after the other.
func (s *SignIn) Check(ctx context.Context) []Checked {
	var all []Checked
	add := func(name string, c any) {
		if c, ok := c.(checker); ok {
			urls, err := c.Check(ctx)
			all = append(all, Checked{Name: name, URLs: urls, Err: err})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.config.OIDC)) {
		add(methodOIDC+" "+name, s.config.OIDC[name].Provider)
	}
	if s.config.Codehost != nil {
		add(methodCodehost, s.config.Codehost.People)
	}
	if s.config.Cluster != nil {
		add(methodKubernetes, s.config.Cluster)
	}
	if s.config.JWT != nil {
		add("jwt", s.config.JWT)
	}
	return all
}
