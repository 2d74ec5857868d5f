package flag

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/flipt"
)

// needs are the flags that a flag or a rule requires, as a form has them.
type needs struct {
	Requires []requirement `json:",omitempty"`

	asked     bool   // the form shows the box for one more
	typedFlag string // into that
}

// requirement is a required flag.
type requirement struct {
	Flag string
	Is   []string `json:",omitempty"` // "true" and "false", or keys of variants; none if that is to be chosen
}

func needsOf(stored []*flipt.Requirement) (n needs) {
	for _, r := range convert.RequirementsOf(stored) {
		n.Requires = append(n.Requires, requirement{r.FlagKey, slices.Clone(r.Stated())})
	}
	return n
}

// wire returns the required flags as they are stored.
func (n *needs) wire() (all []*flipt.Requirement) {
	for _, r := range n.Requires {
		m := &flipt.Requirement{FlagKey: r.Flag, Answers: r.Is}
		if slices.Equal(r.Is, []string{"true"}) {
			m.Answers = nil
		}
		all = append(all, m)
	}
	return all
}

// needName returns the name of a field of a required flag.
func needName(at string, j int, field string) string {
	return at + "requires." + strconv.Itoa(j) + "." + field
}

// readNeeds returns the required flags in the fields of a form, whose names begin with at. Those
// that had the same answers before, in another order, stay as they were.
func readNeeds(at string, form url.Values, was needs) needs {
	n := needs{asked: form.Get(at+"needs") != "", typedFlag: form.Get(at + "requires-add")}
	for j := 0; form.Has(needName(at, j, "flag")); j++ {
		r := requirement{form.Get(needName(at, j, "flag")), form[needName(at, j, "is")]}
		for _, before := range was.Requires {
			if before.Flag == r.Flag && slices.Equal(slices.Sorted(slices.Values(before.Is)), slices.Sorted(slices.Values(r.Is))) {
				r = before
			}
		}
		n.Requires = append(n.Requires, r)
	}
	return n
}

// needFields returns the fields of required flags that a form does not show.
func (n *needs) needFields(at string) (all []field) {
	for j, r := range n.Requires {
		all = append(all, field{needName(at, j, "flag"), r.Flag})
		for _, answer := range r.Is {
			all = append(all, field{needName(at, j, "is"), answer})
		}
	}
	return all
}

// needing reports whether a form shows the required flags.
func (n *needs) needing() bool {
	return n.asked || len(n.Requires) > 0 || strings.TrimSpace(n.typedFlag) != ""
}
