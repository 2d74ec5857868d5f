//go:build linux

// Package docs tests what README and docs tell readers to do: it runs every shell block as it
// can be copied, page by page, and compares what is printed with what the page shows.
//
// The blocks of a page run in one bash, in the order of the page and with nothing that the
// page does not show: in an empty home, and in a directory that has what a reader has, the
// program, which docs/README.md says how to find, and examples. Each page has a network of its
// own without a server. A block that ends in `guidon server` or `make run` runs in another
// terminal, and starts one at 127.0.0.1:8080 and :9000, instead of the one above, if any. HTML
// comments above a block, which readers do not see, say what else the test must know; see marks.
package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == asShell {
		fmt.Fprintln(os.Stderr, becomeShell())
		os.Exit(1)
	}
	var err error
	switch filepath.Base(os.Args[0]) {
	default:
		os.Exit(harness.Run(m))
	case asBrowser:
		err = browse(os.Args[1])
	case asForwarder:
		err = forward(os.Args[1], os.Args[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// elsewhere are the pages whose commands other tests run, and why not this one.
var elsewhere = map[string]string{
	"docs/deploy-machine.md": "its commands install a service on the machine; integration/release installs the packages",
	"docs/from-flipt.md":     "its commands need a Flipt v1; integration/database moves from one",
	"docs/releases.md":       "its commands need a release; integration/release makes and installs one",
}

// TestPages runs the shell blocks of all pages.
func TestPages(t *testing.T) {
	root := harness.ModuleDir(t)
	for _, p := range readPages(t, root) {
		if reason := elsewhere[p.name]; reason != "" {
			harness.Omit(t, "%s: the blocks of the page are not run: %s", p.name, reason)
			continue
		}
		t.Run(strings.TrimSuffix(p.name, ".md"), func(t *testing.T) {
			t.Parallel()
			run := p.toRun(t)
			if len(run) == 0 {
				return
			}
			p.require(t, root)
			s := openSession(t, root)
			if err := p.backing(t, s); err != nil {
				t.Fatal(err)
			}
			for _, b := range run {
				if err := p.try(s, b); err != nil {
					t.Fatalf("%s:%d: %v", p.name, b.line, err)
				}
			}
		})
	}
}

// toRun returns the shell blocks of a page that run, and what they print. It lists the others.
func (p *page) toRun(t *testing.T) []*block {
	var run []*block
	for _, b := range p.blocks {
		switch {
		case b.markers["not run"] != "":
			harness.Omit(t, "%s:%d: a block of a page is not run: %s", p.name, b.line, b.markers["not run"])
		case b.isShell(), b.markers["output of"] != "":
			run = append(run, b)
		}
	}
	return run
}

// try runs one block, and compares what it prints with the blocks below it.
func (p *page) try(s *session, b *block) error {
	printed, err := p.output(s, b)
	if err != nil {
		return err
	}
	if b.language == "console" || b.markers["output of"] != "" {
		if b.markers["not compared"] == "" && !shows(printed, b.printed()) {
			return fmt.Errorf("printed\n%s\nbut the page shows\n%s", brief(printed), b.printed())
		}
	}
	for _, shown := range p.blocks {
		if shown.follows == b && shown.isOutput() && shown.markers["output of"] == "" && shown.markers["not compared"] == "" && !shows(printed, shown.text) {
			return fmt.Errorf("printed\n%s\nbut line %d shows\n%s", brief(printed), shown.line, shown.text)
		}
	}
	return nil
}

func (p *page) output(s *session, b *block) (string, error) {
	if command := b.markers["output of"]; command != "" {
		out, _, err := s.run(command+"\n", 0)
		return out, err
	}
	commands := b.commands()
	fails := exitCode.FindStringSubmatch(commands)
	if fails == nil && endsInServer.MatchString(commands) {
		return "", s.serve(commands)
	}
	if url := b.markers["background"]; url != "" {
		return "", s.background(commands, url)
	}
	if answer := b.markers["answer"]; answer != "" {
		return s.answer(commands, answer)
	}
	code := 0
	if fails != nil {
		code, _ = strconv.Atoi(fails[1])
	}
	out, errs, err := s.run(commands, code)
	return out + errs, err
}

// TestFiles compares the programs in pages with those in the examples, which TestPages runs.
func TestFiles(t *testing.T) {
	root := harness.ModuleDir(t)
	for _, p := range readPages(t, root) {
		for _, b := range p.blocks {
			name := b.markers["file"]
			if name == "" {
				continue
			}
			text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
			if err != nil {
				t.Error(err)
			} else if string(text) != b.text {
				t.Errorf("%s:%d: the block differs from %s", p.name, b.line, name)
			}
		}
	}
}
