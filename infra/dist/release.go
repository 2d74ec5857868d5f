package main

import (
	"fmt"
	"io"

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
