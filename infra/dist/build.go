package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// program is a binary with its build information.
type program struct {
	platform platform
	content  []byte
	info     *buildinfo.BuildInfo
}

// build makes a target of the Makefile, whose variable says where the binary goes, for the
// platform. The flags of the compiler are in the Makefile only.
func (o origin) build(target, variable string, p platform) (*program, error) {
	folder, err := os.MkdirTemp("", "guidon-dist-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "program")
	command := exec.Command("make", "-s", "-C", o.root, target, variable+"="+path,
		"VERSION="+o.version, "COMMIT="+o.commit, "DATE="+o.time.Format(time.RFC3339))
	command.Env = buildEnvironment(p)
	if out, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make %s for %s: %w\n%s", target, p, err, out)
	}
	return loadProgram(path)
}

// loadProgram reads a binary that Go has built.
func loadProgram(path string) (*program, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.Read(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	loaded := &program{content: content, info: info}
	loaded.platform = platform{os: loaded.setting("GOOS"), arch: loaded.setting("GOARCH")}
	return loaded, nil
}

// setting returns a build setting that Go has recorded, or "".
func (p *program) setting(key string) string {
	for _, s := range p.info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// buildEnvironment is the environment without what would change the binary, or what a make
// that runs dist says to its children. An empty variable would let `go env -w` decide.
func buildEnvironment(p platform) []string {
	ours := []string{
		"GOOS=" + p.os, "GOARCH=" + p.arch, "GOAMD64=v1", "GOARM64=v8.0", "CGO_ENABLED=0",
		"GOFLAGS=-mod=readonly", "GOWORK=off", "GOFIPS140=off", "GOEXPERIMENT=",
	}
	inherited := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{"MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL"}, name)
	})
	return append(inherited, ours...)
}

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
