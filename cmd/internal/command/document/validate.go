package document

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/document"
)

const validateHelp = `Check files of flags and segments without a server or a database.

Errors are what an import would reject: syntax, members and values that it does not
know, validation rules, references. Warnings are what it would accept, although it
hardly does what was meant: constraints that never match, segments without
constraints, and rules that nobody reaches.

All findings are printed with file, line and column.

Files are YAML or JSON, by their extension, or else by their content.`

// maxPrintedFindings is how many findings are printed.
const maxPrintedFindings = 1000

// ValidateCommand returns the command "validate".
func ValidateCommand(p *cli.Program) *cobra.Command {
	var input cli.InputFormat
	format, strict := "text", false
	return p.Command(cli.Verb{
		Use: "validate <file>... | -", Short: "Check files of flags and segments", Long: validateHelp, Args: cobra.ArbitraryArgs,
		Example: `  guidon validate shop.yaml
  guidon validate --strict flags/*.yaml
  guidon validate -o github flags/*.yaml   # annotations, in a workflow of GitHub
  guidon export | guidon validate -`,
		Options: func(command *cobra.Command) {
			cli.Finds(command, "there are errors or, with --strict, any findings")
			input.Flag(command)
			cli.OutputChoice(command, &format, "how to print the findings: text, json or github (workflow commands)", "", "text", "json", "github")
			command.Flags().BoolVar(&strict, "strict", false, "exit with 3 also if there are only warnings")
		},
		Run: func(_ context.Context, paths []string) error { return validate(p, paths, &input, format, strict) },
	})
}

func validate(p *cli.Program, paths []string, input *cli.InputFormat, format string, strict bool) error {
	if err := cli.CheckFiles(paths); err != nil {
		return err
	}
	printer := &findingPrinter{
		Program: p, format: format, left: maxPrintedFindings, findingsReport: findingsReport{Findings: []jsonFinding{}},
	}
	for _, path := range paths {
		printer.file(path, lintFile(p, path, input))
	}
	if err := printer.end(); err != nil {
		return err
	}
	if printer.Errors > 0 || strict && printer.Warnings > 0 {
		return cli.ErrFindings
	}
	return nil
}

// lintFile returns the problems of the file, which include that it cannot be read.
func lintFile(p *cli.Program, path string, input *cli.InputFormat) document.Report {
	text, format, err := p.ReadText(path, input)
	if err != nil {
		return document.Report{Findings: []document.Finding{{Message: cli.PlainReason(err).Error()}}}
	}
	report := document.Lint(text, format, input.Unknown())
	if report.Documents == 0 && len(report.Findings) == 0 {
		report.Findings = []document.Finding{{Message: cli.NoDocument}}
	}
	return report
}

// findingsReport is the JSON of "validate". Without errors, an import accepts the files.
type findingsReport struct {
	Errors   int           `json:"errors"`
	Warnings int           `json:"warnings"`
	Findings []jsonFinding `json:"findings"`
	Omitted  int           `json:"omitted,omitempty"` // findings beyond the limit
}

type jsonFinding struct {
	File     string `json:"file"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Severity string `json:"severity"`
	Path     string `json:"path,omitempty"`
	Message  string `json:"message"`
}

// findingPrinter prints the findings of files, up to a limit.
type findingPrinter struct {
	*cli.Program
	findingsReport // has no findings unless the format is json
	format         string
	left           int // findings that may still be printed
}

// file prints the findings of one file. As text, it has a line for each, and one for a valid file.
func (p *findingPrinter) file(path string, r document.Report) {
	p.Errors += r.Errors()
	p.Warnings += len(r.Findings) - r.Errors()
	printed := r.Findings[:min(p.left, len(r.Findings))]
	p.left -= len(printed)
	p.Omitted += len(r.Findings) - len(printed) + r.More
	for _, f := range printed {
		switch p.format {
		case "json":
			p.Findings = append(p.Findings, jsonFinding{
				File: path, Line: f.Line, Column: f.Column, Severity: severity(f), Path: f.Path, Message: f.Message,
			})
		case "github":
			p.annotate(path, f)
		default:
			p.printLine(path, f)
		}
	}
	if p.format != "text" || r.Errors() > 0 {
		return
	}
	warnings := ""
	if n := len(r.Findings); n > 0 {
		warnings = fmt.Sprintf("; warnings %d", n)
	}
	fmt.Fprintf(p.Out, "%s: valid (namespaces %d, flags %d, segments %d%s)\n",
		cli.StreamName(path), r.Documents, r.Flags, r.Segments, warnings)
}

// end prints what is about all files.
func (p *findingPrinter) end() error {
	more := fmt.Sprintf("and %d more findings", p.Omitted)
	switch {
	case p.format == "json":
		return p.Show(cli.FormatJSON, cli.Output{Data: cli.DataOfValue(p.findingsReport)})
	case p.Omitted == 0:
	case p.format == "github":
		p.command("warning", nil, more)
	default:
		fmt.Fprintln(p.Out, more)
	}
	return nil
}

func severity(f document.Finding) string {
	if f.Warning {
		return "warning"
	}
	return "error"
}

func (p *findingPrinter) printLine(path string, f document.Finding) {
	place := cli.StreamName(path)
	if f.Line > 0 {
		place += fmt.Sprintf(":%d", f.Line)
	}
	if f.Column > 0 {
		place += fmt.Sprintf(":%d", f.Column)
	}
	fmt.Fprintf(p.Out, "%s: %s: %s\n", place, severity(f), cli.Printable(cli.FindingText(f)))
}

// annotate prints a command of workflows of GitHub, which becomes an annotation.
func (p *findingPrinter) annotate(path string, f document.Finding) {
	var properties []string
	if path != cli.StandardStream {
		properties = append(properties, "file="+githubProperty.Replace(path))
	}
	if f.Line > 0 {
		properties = append(properties, fmt.Sprintf("line=%d", f.Line))
	}
	if f.Column > 0 {
		properties = append(properties, fmt.Sprintf("col=%d", f.Column))
	}
	p.command(severity(f), properties, cli.FindingText(f))
}

func (p *findingPrinter) command(name string, properties []string, message string) {
	if len(properties) > 0 {
		name += " " + strings.Join(properties, ",")
	}
	fmt.Fprintf(p.Out, "::%s::%s\n", name, githubData.Replace(message))
}

// What must be escaped in a command of a workflow of GitHub.
var (
	githubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
