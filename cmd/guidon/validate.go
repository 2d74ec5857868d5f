package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/document"
)

const validateHelp = `Check files of flags and segments without a server or a database.

Errors are what an import would reject: syntax, members and values that it does not
know, validation rules, references. Warnings are what it would accept, although it
hardly does what was meant: constraints that never match, segments without
constraints, and rules and rollouts that nobody reaches.

All findings are printed with file, line and column. The exit code is 3 if there are
errors, or with --strict, any findings.

Files are YAML or JSON, by their extension, or else by their content.`

// maxPrintedFindings is how many findings are printed.
const maxPrintedFindings = 1000

func (p *program) validateCommand() *cobra.Command {
	var input inputFormat
	format, strict := choice{words: []string{"text", "json", "github"}, word: "text"}, false
	command := &cobra.Command{
		Use:   "validate <file>... | -",
		Short: "Check files of flags and segments",
		Long:  validateHelp,
		Example: `  guidon validate shop.yaml
  guidon validate --strict flags/*.yaml
  guidon validate --format github flags/*.yaml   # annotations, in a workflow of GitHub
  guidon export | guidon validate -`,
		RunE: p.action(func(_ context.Context, paths []string) error { return p.validate(paths, &input, format.word, strict) }),
	}
	input.flag(command)
	command.Flags().Var(&format, "format", "how to print the findings: text, json or github (workflow commands)")
	format.complete(command, "format")
	command.Flags().BoolVar(&strict, "strict", false, "exit with 3 also if there are only warnings")
	return command
}

// lintedFile holds the findings of validate in one file.
type lintedFile struct {
	path string
	document.Report
}

func (p *program) validate(paths []string, input *inputFormat, format string, strict bool) error {
	if err := checkFiles(paths); err != nil {
		return err
	}
	errors, warnings := 0, 0
	printer := p.newFindingPrinter(format)
	for _, path := range paths {
		file := lintedFile{path: path, Report: p.lintFile(path, input)}
		errors += file.Errors()
		warnings += len(file.Findings) - file.Errors()
		printer.file(file)
	}
	if err := printer.end(); err != nil {
		return err
	}
	if errors > 0 || strict && warnings > 0 {
		return findings
	}
	return nil
}

// lintFile returns the problems of the file, which include that it cannot be read.
func (p *program) lintFile(path string, input *inputFormat) document.Report {
	text, format, err := p.readText(path, input)
	if err != nil {
		return document.Report{Findings: []document.Finding{{Message: plainReason(err).Error()}}}
	}
	report := document.Lint(text, format, input.unknown())
	if report.Documents == 0 && len(report.Findings) == 0 {
		report.Findings = []document.Finding{{Message: noDocument}}
	}
	return report
}

// findingPrinter prints the findings of files, up to a limit.
type findingPrinter interface {
	file(f lintedFile)
	end() error
}

func (p *program) newFindingPrinter(format string) findingPrinter {
	switch format {
	case "json":
		return &jsonFindings{program: p, report: findingsReport{Findings: []jsonFinding{}}}
	case "github":
		return &githubFindings{program: p, left: maxPrintedFindings}
	}
	return &textFindings{program: p, left: maxPrintedFindings}
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

// textOf returns the message of the finding with the path.
func textOf(f document.Finding) string {
	if f.Path == "" {
		return f.Message
	}
	return f.Path + ": " + f.Message
}

// textFindings prints one line for each finding, and one for each valid file.
type textFindings struct {
	*program
	left, omitted int
}

func (t *textFindings) file(f lintedFile) {
	for _, finding := range taken(f, &t.left, &t.omitted) {
		place := streamName(f.path)
		if finding.Line > 0 {
			place += fmt.Sprintf(":%d", finding.Line)
		}
		if finding.Column > 0 {
			place += fmt.Sprintf(":%d", finding.Column)
		}
		fmt.Fprintf(t.out, "%s: %s: %s\n", place, severity(finding), printable(textOf(finding)))
	}
	if f.Errors() > 0 {
		return
	}
	warnings := ""
	if n := len(f.Findings); n > 0 {
		warnings = fmt.Sprintf("; warnings %d", n)
	}
	fmt.Fprintf(t.out, "%s: valid (namespaces %d, flags %d, segments %d%s)\n", streamName(f.path), f.Documents, f.Flags, f.Segments, warnings)
}

func (t *textFindings) end() error {
	if t.omitted > 0 {
		fmt.Fprintf(t.out, "and %d more findings\n", t.omitted)
	}
	return nil
}
