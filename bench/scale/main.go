// Command scale calculates docs/scale.md from measurements (inputs.json), by arithmetic
// and a small simulation:
//
//	go run ./bench/scale > docs/scale.md
package main

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/template"
)

//go:embed scale.md.tmpl
var page string

func main() {
	if err := render(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// render writes the page.
func render(w io.Writer) error {
	in, err := readInputs()
	if err != nil {
		return err
	}
	t, err := template.New("scale").Funcs(template.FuncMap{"n": number, "ms": milliseconds, "dollars": dollars}).Parse(page)
	if err != nil {
		return err
	}
	m := in.Measured
	return t.Execute(w, map[string]any{
		"In": in, "Shared": sharedRows(), "Fleets": in.fleets(), "Forms": in.forms(), "Regions": in.regions(),
		"PerCore": 1e6 / m.Single.CPU, "PerCoreStrict": 1e6 / m.Strict.CPU, "PerCoreBatch": 50e6 / m.Batch.CPU,
		"QueriesPerCore": 1e6 / m.QueryPostgres.CPU, "WritesPerCore": 1e6 / m.WritePostgres.CPU,
		"Clients": 1e6 / in.Assumed.EvaluationsPerClient, "Download": in.download(),
	})
}

// number formats a figure with at most two significant digits: measurements that are repeated
// differ in the second one.
func number(f float64) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 2, 64), 64)
	text := strconv.FormatFloat(rounded, 'f', -1, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

func milliseconds(seconds float64) string { return number(seconds*1000) + " ms" }

func dollars(amount float64) string { return "$" + number(amount) }
