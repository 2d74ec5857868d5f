package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// release collects the files.
type release struct {
	origin
	shared      *shared
	authorities []byte
	files       []file
	archives    map[platform]file
	images      []v1.Image
}

// makeRelease makes all files for the platforms, and writes them into the folder.
func makeRelease(o origin, platforms []platform, folder string, out io.Writer) error {
	r := &release{origin: o, archives: map[platform]file{}}
	var err error
	if r.authorities, err = publicAuthorities(); err != nil {
		return err
	}
	var programs []*program
	for _, p := range platforms {
		fmt.Fprintf(out, "%s: building for %s\n", o.version, p)
		built, err := o.build("build", "OUT", p)
		if err != nil {
			return err
		}
		programs = append(programs, built)
	}
	if r.shared, err = o.loadShared(programs); err != nil {
		return err
	}
	for _, p := range programs {
		fmt.Fprintf(out, "%s: packing for %s\n", o.version, p.platform)
		if err := r.add(p); err != nil {
			return fmt.Errorf("%s: %w", p.platform, err)
		}
	}
	if err := r.addCombined(); err != nil {
		return err
	}
	if err := writeFiles(folder, r.files); err != nil {
		return err
	}
	fmt.Fprintln(out, folder)
	return nil
}

// add adds the files of one program.
func (r *release) add(p *program) error {
	dependencies, err := r.dependencies(p)
	if err != nil {
		return err
	}
	notices := noticesOf(dependencies)
	archive, err := r.archive(p, r.shared, notices)
	if err != nil {
		return err
	}
	r.archives[p.platform] = archive
	r.files = append(r.files, archive)
	if err := r.addMaterials("guidon", p, dependencies); err != nil {
		return err
	}
	if p.platform.os != "linux" {
		return nil
	}
	packages, err := r.packages(p, r.shared, notices)
	if err != nil {
		return err
	}
	r.files = append(r.files, packages...)
	if err := r.addImage(p, notices); err != nil {
		return err
	}
	return r.addFunction(p.platform)
}

func (r *release) addMaterials(name string, p *program, dependencies []dependency) error {
	content, err := r.materials(name, p, dependencies)
	if err != nil {
		return err
	}
	r.files = append(r.files, file{name: fmt.Sprintf("%s_%s_%s_%s.cdx.json", name, r.number(), p.platform.os, p.platform.arch), content: content})
	return nil
}

func (r *release) addImage(p *program, notices []byte) error {
	image, err := r.image(p, r.shared.license, notices, r.authorities)
	if err != nil {
		return err
	}
	content, err := imageFile(image, "guidon:"+r.version)
	if err != nil {
		return err
	}
	r.images = append(r.images, image)
	r.files = append(r.files, file{name: r.name(p.platform) + "_image.tar", content: content})
	return nil
}

// addFunction builds and adds the AWS Lambda function.
func (r *release) addFunction(on platform) error {
	p, err := r.build("build-lambda", "BOOTSTRAP", on)
	if err != nil {
		return err
	}
	dependencies, err := r.dependencies(p)
	if err != nil {
		return err
	}
	archive, err := r.functionArchive(p, r.shared, noticesOf(dependencies))
	if err != nil {
		return err
	}
	r.files = append(r.files, archive)
	return r.addMaterials("guidon-lambda", p, dependencies)
}

// addCombined adds the files that concern several platforms, if all of these are made.
func (r *release) addCombined() error {
	has := func(system string) bool {
		for _, p := range every {
			if _, ok := r.archives[p]; p.os == system && !ok {
				return false
			}
		}
		return true
	}
	if has("linux") {
		content, err := r.layoutFile(r.images)
		if err != nil {
			return err
		}
		r.files = append(r.files, file{name: fmt.Sprintf("guidon_%s_image.oci.tar", r.number()), content: content})
	}
	if has("linux") && has("darwin") {
		formula, err := r.formula(r.archives)
		if err != nil {
			return err
		}
		r.files = append(r.files, formula)
	}
	return nil
}

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
