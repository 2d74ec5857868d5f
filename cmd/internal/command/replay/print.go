package replay

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/internal/lists"
)

func (r *replayCommand) print(result *Report) error {
	names := lists.Map(result.Flags, func(f *FlagReport) string { return f.Namespace + "/" + f.Flag })
	return r.Show(r.output, cli.Output{
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
