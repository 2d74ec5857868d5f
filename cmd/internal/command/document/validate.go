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
	format, strict := cli.Choice{Words: []string{"text", "json", "github"}, Word: "text"}, false
	command := &cobra.Command{
		Use:   "validate <file>... | -",
		Short: "Check files of flags and segments",
		Long:  validateHelp,
		Example: `  guidon validate shop.yaml
  guidon validate --strict flags/*.yaml
  guidon validate -o github flags/*.yaml   # annotations, in a workflow of GitHub
  guidon export | guidon validate -`,
		RunE: p.Action(func(_ context.Context, paths []string) error { return validate(p, paths, &input, format.Word, strict) }),
	}
	cli.Finds(command, "there are errors or, with --strict, any findings")
	input.Flag(command)
	cli.OutputChoice(command, &format, format.Words, "how to print the findings: text, json or github (workflow commands)")
	command.Flags().BoolVar(&strict, "strict", false, "exit with 3 also if there are only warnings")
	return command
}

// lintedFile holds the findings of validate in one file.
type lintedFile struct {
	path string
	document.Report
}

func validate(p *cli.Program, paths []string, input *cli.InputFormat, format string, strict bool) error {
	if err := cli.CheckFiles(paths); err != nil {
		return err
	}
	errors, warnings := 0, 0
	printer := newFindingPrinter(p, format)
	for _, path := range paths {
		file := lintedFile{path: path, Report: lintFile(p, path, input)}
		errors += file.Errors()
		warnings += len(file.Findings) - file.Errors()
		printer.file(file)
	}
	if err := printer.end(); err != nil {
		return err
	}
	if errors > 0 || strict && warnings > 0 {
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

// findingPrinter prints the findings of files, up to a limit.
type findingPrinter interface {
	file(f lintedFile)
	end() error
}

func newFindingPrinter(p *cli.Program, format string) findingPrinter {
	switch format {
	case "json":
		return &jsonFindings{Program: p, report: findingsReport{Findings: []jsonFinding{}}}
	case "github":
		return &githubFindings{Program: p, left: maxPrintedFindings}
	}
	return &textFindings{Program: p, left: maxPrintedFindings}
}

// taken returns those of the findings that may still be printed, and counts them.
func taken(f lintedFile, left, omitted *int) []document.Finding {
	n := min(*left, len(f.Findings))
	*left -= n
	*omitted += len(f.Findings) - n + f.More
	return f.Findings[:n]
}

func severity(f document.Finding) string {
	if f.Warning {
		return "warning"
	}
	return "error"
}

// textFindings prints one line for each finding, and one for each valid file.
type textFindings struct {
	*cli.Program
	left, omitted int
}

func (t *textFindings) file(f lintedFile) {
	for _, finding := range taken(f, &t.left, &t.omitted) {
		place := cli.StreamName(f.path)
		if finding.Line > 0 {
			place += fmt.Sprintf(":%d", finding.Line)
		}
		if finding.Column > 0 {
			place += fmt.Sprintf(":%d", finding.Column)
		}
		fmt.Fprintf(t.Out, "%s: %s: %s\n", place, severity(finding), cli.Printable(cli.FindingText(finding)))
	}
	if f.Errors() > 0 {
		return
	}
	warnings := ""
	if n := len(f.Findings); n > 0 {
		warnings = fmt.Sprintf("; warnings %d", n)
	}
	fmt.Fprintf(t.Out, "%s: valid (namespaces %d, flags %d, segments %d%s)\n",
		cli.StreamName(f.path), f.Documents, f.Flags, f.Segments, warnings)
}

func (t *textFindings) end() error {
	if t.omitted > 0 {
		fmt.Fprintf(t.Out, "and %d more findings\n", t.omitted)
	}
	return nil
}

// githubFindings prints commands of workflows of GitHub, which become annotations.
type githubFindings struct {
	*cli.Program
	left, omitted int
}

func (g *githubFindings) file(f lintedFile) {
	for _, finding := range taken(f, &g.left, &g.omitted) {
		var properties []string
		if f.path != cli.StandardStream {
			properties = append(properties, "file="+githubProperty.Replace(f.path))
		}
		if finding.Line > 0 {
			properties = append(properties, fmt.Sprintf("line=%d", finding.Line))
		}
		if finding.Column > 0 {
			properties = append(properties, fmt.Sprintf("col=%d", finding.Column))
		}
		g.command(severity(finding), properties, cli.FindingText(finding))
	}
}

func (g *githubFindings) end() error {
	if g.omitted > 0 {
		g.command("warning", nil, fmt.Sprintf("and %d more findings", g.omitted))
	}
	return nil
}

func (g *githubFindings) command(name string, properties []string, message string) {
	if len(properties) > 0 {
		name += " " + strings.Join(properties, ",")
	}
	fmt.Fprintf(g.Out, "::%s::%s\n", name, githubData.Replace(message))
}

// What must be escaped in a command of a workflow of GitHub.
var (
	githubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// jsonFindings prints one object with all findings.
type jsonFindings struct {
	*cli.Program
	report findingsReport
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

func (j *jsonFindings) file(f lintedFile) {
	j.report.Errors += f.Errors()
	j.report.Warnings += len(f.Findings) - f.Errors()
	left := maxPrintedFindings - len(j.report.Findings)
	for _, finding := range taken(f, &left, &j.report.Omitted) {
		j.report.Findings = append(j.report.Findings, jsonFinding{
			File: f.path, Line: finding.Line, Column: finding.Column,
			Severity: severity(finding), Path: finding.Path, Message: finding.Message,
		})
	}
}

func (j *jsonFindings) end() error {
	return j.Show(cli.FormatJSON, cli.Output{Data: cli.DataOfValue(j.report)})
}
