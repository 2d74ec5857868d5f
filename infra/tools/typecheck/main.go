// Command typecheck reports why packages of a module, and those that they import from it, would
// not compile for other platforms than this machine's. It generates no code, so it takes
// seconds where a build takes minutes:
//
//	typecheck FOLDER OS/ARCH,… PACKAGE…
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: typecheck FOLDER OS/ARCH,… PACKAGE…")
		os.Exit(2)
	}
	folder, err := filepath.Abs(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	failed := false
	for platform := range strings.SplitSeq(os.Args[2], ",") {
		problems, err := check(folder, platform, os.Args[3:])
		if err != nil {
			problems = append(problems, err.Error())
		}
		for _, problem := range problems {
			fmt.Fprintf(os.Stderr, "%s: %s\n", platform, problem)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

const needs = packages.NeedName | packages.NeedModule | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedDeps | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax

// check returns the errors of the packages on the platform.
func check(folder, platform string, patterns []string) ([]string, error) {
	system, arch, _ := strings.Cut(platform, "/")
	config := &packages.Config{
		Dir:       folder,
		Env:       append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0"),
		Mode:      needs,
		ParseFile: parse(folder),
	}
	roots, err := packages.Load(config, patterns...)
	if err != nil {
		return nil, err
	}
	var problems []string
	packages.Visit(roots, nil, func(p *packages.Package) {
		if p.Module == nil || !p.Module.Main {
			return // without bodies of functions, imports seem to be unused
		}
		for _, e := range p.Errors {
			problems = append(problems, e.Error())
		}
	})
	return problems, nil
}

// parse returns a parser that leaves out the bodies of functions outside of the folder: what
// others have published compiles.
func parse(folder string) func(*token.FileSet, string, []byte) (*ast.File, error) {
	return func(set *token.FileSet, name string, source []byte) (*ast.File, error) {
		file, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
		if err != nil || strings.HasPrefix(name, folder+string(os.PathSeparator)) {
			return file, err
		}
		for _, declared := range file.Decls {
			if function, ok := declared.(*ast.FuncDecl); ok {
				function.Body = nil
			}
		}
		return file, nil
	}
}
