package main

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/instance"
	"github.com/guidonhq/guidon/handler/diagnostics"
)

// Set by the release build: -ldflags "-X main.version=v1.2.3 -X main.commit=… -X main.date=…".
// If they are empty, the build information recorded by Go is used.
var version, commit, date string

func buildInfo() diagnostics.Info { return instance.BuildInfo(version, commit, date) }

func versionCommand(p *cli.Program) *cobra.Command {
	return p.Command(cli.Verb{
		Use: "version", Short: "Print the version", Names: "the version",
		Long: "Print the version of this program, the commit it was built from, and the Go version and platform.",
		Example: `  guidon version
  guidon version --output json`,
		Read: func(context.Context, client.Client, []string) (cli.Output, error) {
			info := buildInfo()
			return cli.Output{
				Data: cli.DataOfValue(map[string]string{
					"version": info.Version, "commit": info.Commit, "buildDate": info.BuildDate,
					"goVersion": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				}),
				Names: []string{info.Version},
				Table: func(out io.Writer) error { return printVersion(out, info) },
			}, nil
		},
	})
}

func printVersion(out io.Writer, info diagnostics.Info) error {
	built := ""
	if info.Commit != "" {
		built = fmt.Sprintf(" (commit %s %s)", info.Commit, info.BuildDate)
	}
	_, err := fmt.Fprintf(out, "guidon %s%s %s %s/%s\n", info.Version, built, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
