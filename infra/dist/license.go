package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/licenseclassifier/v2/assets"
)

// dependency is a module, or the standard library, of which the program contains code.
type dependency struct {
	path, version string
	texts         []licenseText
	licenses      []string // SPDX identifiers, in alphabetical order
}

// licenseText is one file that says under which license code may be used.
type licenseText struct {
	name    string // relative to the module
	content []byte
}

// classify sets the licenses by the texts.
func (d *dependency) classify() error {
	for _, text := range d.texts {
		names, err := classify(string(text.content))
		if err != nil {
			return err
		}
		d.licenses = append(d.licenses, names...)
	}
	slices.Sort(d.licenses)
	d.licenses = slices.Compact(d.licenses)
	if len(d.licenses) == 0 {
		return fmt.Errorf("%s %s has no license that is known: it may not be distributed", d.path, d.version)
	}
	return nil
}

var (
	classifier = sync.OnceValues(assets.DefaultClassifier)
	classified = map[string][]string{} // platforms share most of the texts
)

// classify returns the SPDX identifiers of the licenses in a text.
func classify(text string) ([]string, error) {
	if names, ok := classified[text]; ok {
		return names, nil
	}
	known, err := classifier()
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, match := range known.Match([]byte(text)).Matches {
		if match.MatchType == "License" || match.MatchType == "Header" {
			names = append(names, match.Name)
		}
	}
	classified[text] = names
	return names, nil
}

// listed holds what `go list` prints about a package.
type listed struct {
	Dir      string
	Standard bool
	Module   *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// dependencies returns the modules of which the program contains packages, with the license
// texts of these packages: those in their folders, and above, up to the module's.
func (o origin) dependencies(p *program) ([]dependency, error) {
	packages, err := o.listPackages(p)
	if err != nil {
		return nil, err
	}
	byPath := map[string]*dependency{}
	seen := map[string]bool{}
	for _, one := range packages {
		if one.Standard || one.Module == nil || one.Module.Main {
			continue
		}
		d := byPath[one.Module.Path]
		if d == nil {
			d = &dependency{path: one.Module.Path, version: one.Module.Version}
			byPath[d.path] = d
		}
		if err := d.collect(one.Module.Dir, one.Dir, seen); err != nil {
			return nil, err
		}
	}
	library, err := o.standardLibrary(p)
	if err != nil {
		return nil, err
	}
	all := []dependency{library}
	for _, d := range byPath {
		slices.SortFunc(d.texts, func(a, b licenseText) int { return cmp.Compare(a.name, b.name) })
		all = append(all, *d)
	}
	slices.SortFunc(all, func(a, b dependency) int { return cmp.Compare(a.path, b.path) })
	for i := range all {
		if err := all[i].classify(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// listPackages lists the packages of the program.
func (o origin) listPackages(p *program) ([]listed, error) {
	command := exec.Command("go", "list", "-deps", "-json=Dir,Standard,Module", "-tags="+p.setting("-tags"), p.info.Path)
	command.Dir = o.root
	command.Env = buildEnvironment(p.platform)
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, problems.Bytes())
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var one listed
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			return packages, nil
		}
		if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, one)
	}
}

// licenseName matches the names of license files, and of the notices that belong to them.
var licenseName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|third.?party)`)

// collect adds the license texts in the folders from that of a package up to that of its module.
func (d *dependency) collect(module, folder string, seen map[string]bool) error {
	for !seen[folder] {
		seen[folder] = true
		entries, err := os.ReadDir(folder)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if !entry.Type().IsRegular() || !licenseName.MatchString(entry.Name()) || strings.HasSuffix(entry.Name(), ".go") {
				continue
			}
			path := filepath.Join(folder, entry.Name())
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(module, path)
			if err != nil {
				return err
			}
			d.texts = append(d.texts, licenseText{name: filepath.ToSlash(name), content: content})
		}
		if folder == module {
			return nil
		}
		folder = filepath.Dir(folder)
	}
	return nil
}

// standardPath is the name under which databases of vulnerabilities know the standard library.
const standardPath = "stdlib"

// standardLibrary returns Go's own code in the program.
func (o origin) standardLibrary(p *program) (dependency, error) {
	command := exec.Command("go", "env", "GOROOT")
	command.Dir = o.root
	out, err := command.Output()
	if err != nil {
		return dependency{}, fmt.Errorf("go env: %w", err)
	}
	content, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "LICENSE"))
	if err != nil {
		return dependency{}, fmt.Errorf("license of Go: %w", err)
	}
	version := strings.TrimPrefix(p.info.GoVersion, "go")
	return dependency{path: standardPath, version: version, texts: []licenseText{{name: "LICENSE", content: content}}}, nil
}

// noticesOf returns the text of THIRD_PARTY_LICENSES.txt.
func noticesOf(dependencies []dependency) []byte {
	var text bytes.Buffer
	fmt.Fprint(&text, "This program contains the following software of others.\n")
	for _, d := range dependencies {
		fmt.Fprintf(&text, "\n%s\n%s %s (%s)\n", strings.Repeat("=", 80), title(d.path), d.version, strings.Join(d.licenses, ", "))
		for _, t := range d.texts {
			content := bytes.TrimSpace(bytes.ReplaceAll(t.content, []byte("\r\n"), []byte("\n")))
			fmt.Fprintf(&text, "%s\n%s:\n\n%s\n", strings.Repeat("-", 80), t.name, content)
		}
	}
	return text.Bytes()
}

func title(path string) string {
	if path == standardPath {
		return "The Go standard library"
	}
	return path
}
