// Command dist makes the files of a release from a checkout, or a container image from a
// program. docs/releases.md describes them. The same commit and Go version result in the
// same bytes, wherever and whenever it runs.
//
//	dist release -output FOLDER [-source FOLDER] [-version vX.Y.Z] [-platforms LIST] [-commit HASH -time SECONDS]
//	dist image -binary FILE -name NAME:TAG [-source FOLDER] [-authorities FILE]
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "dist:", err)
		}
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("a command is missing: release or image")
	}
	switch args[0] {
	case "release":
		return runRelease(args[1:], out)
	case "image":
		return runImage(args[1:], out)
	}
	return fmt.Errorf("unknown command %q; there are release and image", args[0])
}

func runRelease(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	source := flags.String("source", "../..", "`folder` of the checkout")
	output := flags.String("output", "", "`folder` for the files; it must be empty, or contain a release that is replaced")
	version := flags.String("version", "", "version, such as v1.2.3 (default: the tag of the commit, or a version made from its time and hash)")
	commit := flags.String("commit", "", "`hash` of the commit, for a source without git")
	seconds := flags.Int64("time", 0, "time of the commit in `seconds` since 1970, for a source without git")
	platforms := flags.String("platforms", allPlatforms(), "comma-separated `list` of platforms")
	if err := parse(flags, args); err != nil {
		return err
	}
	if *output == "" {
		return errors.New("-output is missing: name the folder for the files")
	}
	chosen, err := parsePlatforms(*platforms)
	if err != nil {
		return err
	}
	origin, err := findOrigin(*source, *version, *commit, *seconds)
	if err != nil {
		return err
	}
	folder, err := prepareOutput(*output)
	if err != nil {
		return err
	}
	return makeRelease(origin, chosen, folder, out)
}

func runImage(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	source := flags.String("source", "../..", "`folder` of the checkout")
	binary := flags.String("binary", "", "`file` of the program, built for Linux")
	name := flags.String("name", "", "name and tag of the image, such as `guidon:v1.2.3`")
	authorities := flags.String("authorities", "", "`file` with the certificate authorities in PEM format (default: those of Mozilla)")
	if err := parse(flags, args); err != nil {
		return err
	}
	if *binary == "" || *name == "" {
		return errors.New("-binary and -name are both required")
	}
	root, err := filepath.Abs(*source)
	if err != nil {
		return err
	}
	return writeOneImage(root, *binary, *name, *authorities, out)
}

func parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected arguments: %s", strings.Join(flags.Args(), " "))
	}
	return nil
}
