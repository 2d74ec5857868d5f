package replay

import (
	"cmp"
	"slices"
)

// Report is the result of a comparison.
type Report struct {
	Evaluations int           `json:"evaluations"`
	Equal       int           `json:"equal"`
	Different   int           `json:"different"`
	Failed      int           `json:"failed"`    // equally on both services, such as for a flag that neither has
	FlagCount   int           `json:"flagCount"` // of all flags evaluated
	Flags       []*FlagReport `json:"flags"`     // with differences, those with most first
	MoreFlags   int           `json:"moreFlags,omitempty"`

	SkippedLines int `json:"skippedLines,omitempty"`
	CutFlags     int `json:"cutFlags,omitempty"` // that would have more requests

	examples int
	flags    map[[2]string]*FlagReport
}

// FlagReport is about the differences of one flag.
type FlagReport struct {
	Namespace   string         `json:"namespaceKey"`
	Flag        string         `json:"flagKey"`
	Evaluations int            `json:"evaluations"`
	Different   int            `json:"different"`
	Fields      map[string]int `json:"fields"` // differences by field
	Examples    []Example      `json:"examples"`
}

// Example is one request with different results.
type Example struct {
	Request     Request      `json:"request"`
	Differences []Difference `json:"differences"`
	From        Outcome      `json:"from"`
	To          Outcome      `json:"to"`
}

// maxFlags is how many flags are counted apart, and maxReported how many of them are
// reported.
const (
	maxFlags    = 100_000
	maxReported = 1000
)

// add counts one request.
func (r *Report) add(request Request, from, to Outcome) {
	f := r.flag(request)
	r.Evaluations++
	f.Evaluations++
	list := differences(from, to)
	if len(list) == 0 {
		r.Equal++
		if from.Error != "" {
			r.Failed++
		}
		return
	}
	r.Different++
	f.Different++
	for _, d := range list {
		f.Fields[d.Field]++
	}
	if len(f.Examples) < r.examples {
		f.Examples = append(f.Examples, Example{Request: request, Differences: list, From: from, To: to})
	}
}

// flag returns the counts of the flag; beyond the maximum, flags share one.
func (r *Report) flag(request Request) *FlagReport {
	key := [2]string{request.Namespace, request.Flag}
	f := r.flags[key]
	if f == nil && len(r.flags) >= maxFlags {
		key = [2]string{"", "(further flags)"}
		f = r.flags[key]
	}
	if f == nil {
		f = &FlagReport{Namespace: key[0], Flag: key[1], Fields: make(map[string]int)}
		r.flags[key] = f
	}
	return f
}

// finish computes the fields that depend on all flags.
func (r *Report) finish() {
	r.FlagCount = len(r.flags)
	r.Flags = []*FlagReport{}
	for _, f := range r.flags {
		if f.Different > 0 {
			r.Flags = append(r.Flags, f)
		}
	}
	slices.SortFunc(r.Flags, func(a, b *FlagReport) int {
		return cmp.Or(cmp.Compare(b.Different, a.Different), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Flag, b.Flag))
	})
	if n := len(r.Flags) - maxReported; n > 0 {
		r.Flags, r.MoreFlags = r.Flags[:maxReported], n
	}
}
