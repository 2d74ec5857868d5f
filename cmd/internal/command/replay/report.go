package replay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/internal/lists"
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

func (r *replayCommand) print(result *Report) error {
	names := lists.Map(result.Flags, func(f *FlagReport) string { return f.Namespace + "/" + f.Flag })
	return r.Show(r.Output, cli.Output{
		Data: cli.DataOfValue(result), Names: names,
		Table: func(out io.Writer) error { return printReplay(out, result) },
	})
}

func printReplay(out io.Writer, result *Report) error {
	fmt.Fprintf(out, "%d evaluations of %d flags: %d equal, %d different\n",
		result.Evaluations, result.FlagCount, result.Equal, result.Different)
	if result.Failed > 0 {
		fmt.Fprintf(out, "%d of the equal ones failed on both servers, such as for a flag that neither has\n", result.Failed)
	}
	if result.SkippedLines > 0 {
		fmt.Fprintf(out, "%d lines were skipped, because they are no requests\n", result.SkippedLines)
	}
	if result.CutFlags > 0 {
		fmt.Fprintf(out, "%d flags would have more requests; see --per-flag\n", result.CutFlags)
	}
	for _, f := range result.Flags {
		printReplayed(out, f)
	}
	if result.MoreFlags > 0 {
		fmt.Fprintf(out, "\nand %d more flags with differences\n", result.MoreFlags)
	}
	return nil
}

func printReplayed(out io.Writer, f *FlagReport) {
	fields := make([]string, 0, len(f.Fields))
	for _, field := range slices.Sorted(maps.Keys(f.Fields)) {
		fields = append(fields, fmt.Sprintf("%s %d", field, f.Fields[field]))
	}
	fmt.Fprintf(out, "\n%s/%s: %d of %d different (%s)\n", f.Namespace, f.Flag, f.Different, f.Evaluations, strings.Join(fields, ", "))
	for _, e := range f.Examples {
		values, err := json.Marshal(e.Request.Context)
		if err != nil {
			values = nil // impossible: only strings
		}
		fmt.Fprintf(out, "  entity %q, context %s\n", e.Request.Entity, values)
		for _, d := range e.Differences {
			fmt.Fprintf(out, "    %s: %q became %q\n", d.Field, d.From, d.To)
		}
	}
}
