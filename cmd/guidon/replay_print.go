package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/cmd/internal/replay"
)

func (r *replaying) print(result *replay.Report) error {
	if r.output == "json" {
		return r.printJSON(result)
	}
	fmt.Fprintf(r.out, "%d evaluations of %d flags: %d equal, %d different\n", result.Evaluations, result.FlagCount, result.Equal, result.Different)
	if result.Failed > 0 {
		fmt.Fprintf(r.out, "%d of the equal ones failed on both servers, such as for a flag that neither has\n", result.Failed)
	}
	if result.SkippedLines > 0 {
		fmt.Fprintf(r.out, "%d lines were skipped, because they are no requests\n", result.SkippedLines)
	}
	if result.CutFlags > 0 {
		fmt.Fprintf(r.out, "%d flags would have more requests; see --per-flag\n", result.CutFlags)
	}
	for _, f := range result.Flags {
		r.printFlag(f)
	}
	if result.MoreFlags > 0 {
		fmt.Fprintf(r.out, "\nand %d more flags with differences\n", result.MoreFlags)
	}
	return nil
}

func (r *replaying) printFlag(f *replay.FlagReport) {
	fields := make([]string, 0, len(f.Fields))
	for _, field := range slices.Sorted(maps.Keys(f.Fields)) {
		fields = append(fields, fmt.Sprintf("%s %d", field, f.Fields[field]))
	}
	fmt.Fprintf(r.out, "\n%s/%s: %d of %d different (%s)\n", f.Namespace, f.Flag, f.Different, f.Evaluations, strings.Join(fields, ", "))
	for _, e := range f.Examples {
		values, err := json.Marshal(e.Request.Context)
		if err != nil {
			values = nil // impossible: only strings
		}
		fmt.Fprintf(r.out, "  entity %q, context %s\n", e.Request.Entity, values)
		for _, d := range e.Differences {
			fmt.Fprintf(r.out, "    %s: %q became %q\n", d.Field, d.From, d.To)
		}
	}
}
