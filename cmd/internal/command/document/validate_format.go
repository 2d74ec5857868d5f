package document

import (
	"fmt"
	"strings"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

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
