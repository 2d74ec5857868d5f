package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

const noticesName = "THIRD_PARTY_LICENSES.txt"

// file is a file of the release.
type file struct {
	name    string
	content []byte
}

// shared are the files that are the same on all platforms.
type shared struct {
	license, shop               []byte
	unit, settings, environment []byte            // for systemd
	completions                 map[string][]byte // by shell
}

// loadShared reads the shared files. Completions are printed by a program for this machine, which
// is built if programs has none.
func (o origin) loadShared(programs []*program) (*shared, error) {
	s := new(shared)
	for path, content := range map[string]*[]byte{
		"LICENSE": &s.license, "examples/shop.yaml": &s.shop, "infra/systemd/guidon.service": &s.unit,
		"infra/systemd/default.yml": &s.settings, "infra/systemd/environment": &s.environment,
	} {
		var err error
		if *content, err = os.ReadFile(filepath.Join(o.root, path)); err != nil {
			return nil, err
		}
	}
	here, err := o.programForHere(programs)
	if err != nil {
		return nil, err
	}
	s.completions, err = printCompletions(here)
	return s, err
}

func (o origin) programForHere(programs []*program) (*program, error) {
	here := platform{os: runtime.GOOS, arch: runtime.GOARCH}
	for _, p := range programs {
		if p.platform == here {
			return p, nil
		}
	}
	return o.build("build", "OUT", here)
}

// printCompletions runs the program, which must be for this machine.
func printCompletions(p *program) (map[string][]byte, error) {
	folder, err := os.MkdirTemp("", "guidon-dist-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, p.platform.executable("guidon"))
	if err := os.WriteFile(path, p.content, 0o700); err != nil {
		return nil, err
	}
	completions := map[string][]byte{}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		// The environment must not decide what is printed.
		command := exec.Command(path, "completion", shell)
		command.Env = []string{"HOME=" + folder, "USERPROFILE=" + folder, "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
		if completions[shell], err = command.Output(); err != nil {
			return nil, fmt.Errorf("guidon completion %s: %w", shell, err)
		}
	}
	return completions, nil
}
