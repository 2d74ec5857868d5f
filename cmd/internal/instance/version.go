package instance

import (
	"cmp"
	"regexp"
	"runtime/debug"

	"github.com/guidonhq/guidon/handler/diagnostics"
)

// BuildInfo returns the values set by the linker or, if they are empty, those recorded
// by Go.
func BuildInfo(version, commit, date string) diagnostics.Info {
	info := diagnostics.Info{Version: version, Commit: commit, BuildDate: date}
	if build, ok := debug.ReadBuildInfo(); ok {
		fillFromBuild(&info, build)
	}
	info.Version = cmp.Or(info.Version, "devel")
	info.Release = releaseVersion.MatchString(info.Version)
	return info
}

// releaseVersion matches the versions of releases, but not of builds between them.
var releaseVersion = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+$`)

func fillFromBuild(info *diagnostics.Info, build *debug.BuildInfo) {
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
