package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// origin is what a release is made from. Nothing else must have an influence on its files,
// except for the Go version.
type origin struct {
	root    string // folder of the source
	version string // such as v1.2.3
	commit  string // hash
	time    time.Time
}

// number is the version as file names and packages have it.
func (o origin) number() string { return strings.TrimPrefix(o.version, "v") }

// name is the first part of the names of files for the platform. It has no characters that a
// page of releases would replace.
func (o origin) name(p platform) string {
	return fmt.Sprintf("guidon_%s_%s_%s", o.number(), p.os, p.arch)
}

// findOrigin asks git for the version, commit and time that are not given. A version that is
// given names a release, which must be made from a commit and nothing else.
func findOrigin(source, version, commit string, seconds int64) (origin, error) {
	root, err := filepath.Abs(source)
	if err != nil {
		return origin{}, err
	}
	if version != "" {
		if err := checkVersion(version); err != nil {
			return origin{}, err
		}
	}
	if (commit != "") != (seconds != 0) {
		return origin{}, errors.New("-commit and -time belong together: both are needed for a source without git")
	}
	if commit != "" {
		return withoutGit(origin{root: root, version: version, commit: commit, time: time.Unix(seconds, 0).UTC()})
	}
	return fromGit(root, version)
}

// checkVersion reports why the version cannot be that of a release. Build metadata is not
// allowed, because neither packages nor images can be named after it.
func checkVersion(version string) error {
	if !semver.IsValid(version) || semver.Canonical(version) != version {
		return fmt.Errorf("invalid version %q: must be like v1.2.3 or v1.2.3-rc.1", version)
	}
	return nil
}

var commitHash = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

func withoutGit(o origin) (origin, error) {
	switch {
	case o.version == "":
		return origin{}, errors.New("-version is missing: it is needed for a source without git")
	case !commitHash.MatchString(o.commit):
		return origin{}, fmt.Errorf("invalid -commit %q: must be the whole hash of the commit", o.commit)
	case o.time.Unix() < 0 || o.time.Year() > 2100:
		return origin{}, errors.New("invalid -time: must be a time from 1970 to 2100, in seconds")
	}
	return o, nil
}

func fromGit(root, version string) (origin, error) {
	commit, err := git(root, "rev-parse", "HEAD")
	if err != nil {
		return origin{}, fmt.Errorf("%w\nA source without git needs -version, -commit and -time", err)
	}
	committed, err := git(root, "log", "-1", "--format=%ct")
	if err != nil {
		return origin{}, err
	}
	seconds, err := strconv.ParseInt(committed, 10, 64)
	if err != nil {
		return origin{}, fmt.Errorf("time of the commit: %w", err)
	}
	changes, err := git(root, "status", "--porcelain")
	if err != nil {
		return origin{}, err
	}
	o := origin{root: root, version: version, commit: commit, time: time.Unix(seconds, 0).UTC()}
	if version != "" && changes != "" {
		return origin{}, fmt.Errorf("%s cannot be made from files that are not committed:\n%s", version, changes)
	}
	if version == "" {
		o.version = versionOf(root, o, changes != "")
	}
	return o, nil
}

// versionOf returns the tag of the commit. For a commit without tag it is a version between the
// last tag and the next, as Go makes them; so it is for a tree with changes, which it mentions.
func versionOf(root string, o origin, changed bool) string {
	const release = "v[0-9]*.[0-9]*.[0-9]*"
	tag, err := git(root, "describe", "--tags", "--exact-match", "--match", release)
	if err == nil && checkVersion(tag) == nil && !changed {
		return tag
	}
	last, err := git(root, "describe", "--tags", "--abbrev=0", "--match", release)
	if err != nil || checkVersion(last) != nil {
		last = ""
	}
	revision := o.commit[:12]
	if changed {
		revision += "-changed"
	}
	return module.PseudoVersion(semver.Major(last), last, o.time, revision)
}

// git returns the trimmed output of a git command in the folder.
func git(folder string, args ...string) (string, error) {
	command := exec.Command("git", append([]string{"-C", folder}, args...)...)
	out, err := command.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(failed.Stderr)))
	}
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(out)), nil
}
