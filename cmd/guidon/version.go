package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/handler"
)

// Set by the release build: -ldflags "-X main.version=v1.2.3 -X main.commit=… -X main.date=…".
// Where they are empty, the build information that Go records speaks.
var version, commit, date string

// buildInfo tells what was built.
func buildInfo() handler.Info {
	info := handler.Info{Version: version, Commit: commit, BuildDate: date}
	if build, ok := debug.ReadBuildInfo(); ok {
		fillFromBuild(&info, build)
	}
	if info.Version == "" {
		info.Version = "devel"
	}
	info.Release = releaseVersion.MatchString(info.Version)
	return info
}

// releaseVersion tells a release from a build of some commit in between.
var releaseVersion = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+$`)

func fillFromBuild(info *handler.Info, build *debug.BuildInfo) {
	if v := build.Main.Version; info.Version == "" && v != "" && v != "(devel)" {
		info.Version = v
	}
	for _, setting := range build.Settings {
		switch {
		case setting.Key == "vcs.revision" && info.Commit == "":
			info.Commit = setting.Value
		case setting.Key == "vcs.time" && info.BuildDate == "":
			info.BuildDate = setting.Value
		}
	}
}

func (p *program) versionCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  "Print the version of this program, what it was built from and with what.",
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
