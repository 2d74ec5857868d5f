package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/instance"
	"github.com/guidonhq/guidon/handler/diagnostics"
)

// Set by the release build: -ldflags "-X main.version=v1.2.3 -X main.commit=… -X main.date=…".
// If they are empty, the build information recorded by Go is used.
var version, commit, date string

func buildInfo() diagnostics.Info { return instance.BuildInfo(version, commit, date) }

func (p *program) versionCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  "Print the version of this program, the commit it was built from, and the Go version and platform.",
		Example: `  guidon version
  guidon version --json`,
		Args: cobra.NoArgs,
		RunE: p.action(func(context.Context, []string) error {
			info := buildInfo()
			if asJSON {
				return p.printJSON(map[string]string{
					"version": info.Version, "commit": info.Commit, "buildDate": info.BuildDate,
					"goVersion": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			fmt.Fprintf(p.out, "guidon %s", info.Version)
			if info.Commit != "" {
				fmt.Fprintf(p.out, " (commit %s %s)", info.Commit, info.BuildDate)
			}
			fmt.Fprintf(p.out, " %s %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		}),
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return command
}

// printJSON prints the value, indented, on the standard output.
func (p *program) printJSON(value any) error {
	encoder := json.NewEncoder(p.out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
