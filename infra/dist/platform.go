package main

import (
	"fmt"
	"slices"
	"strings"
)

// platform is an operating system and an architecture that programs are built for.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// every lists the platforms of a complete release.
var every = []platform{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

func allPlatforms() string {
	names := make([]string, len(every))
	for i, p := range every {
		names[i] = p.String()
	}
	return strings.Join(names, ",")
}

// parsePlatforms returns the platforms of a comma-separated list.
func parsePlatforms(list string) ([]platform, error) {
	var chosen []platform
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(every, func(p platform) bool { return p.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown platform %q; there are %s", name, allPlatforms())
		}
		if !slices.Contains(chosen, every[i]) {
			chosen = append(chosen, every[i])
		}
	}
	return chosen, nil
}

// executable is the name of a program on the platform.
func (p platform) executable(name string) string {
	if p.os == "windows" {
		return name + ".exe"
	}
	return name
}
