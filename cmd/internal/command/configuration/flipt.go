package configuration

import (
	"fmt"
	"strconv"
	"strings"
)

// fliptSource is the configuration of a Flipt server.
type fliptSource struct {
	Name    string   // of the file, for messages
	File    []byte   // in YAML or JSON; nil without a file
	Environ []string // its variables take precedence over the file; nil without them
}

// fliptResult is a configuration of Guidon.
type fliptResult struct {
	// Text is a YAML file, which may contain secrets, and values that Guidon does not accept.
	Text []byte
	// Findings name the keys that have no counterpart, and those whose meaning differs from
	// before. They contain no values.
	Findings []string
	// Old is Flipt's database, which may contain a password, or "" if it is not known here.
	Old string
	// Server reports whether the new database must be created on a database server.
	Server bool
}

// translateFlipt translates the configuration. Its errors contain no values of secrets.
func translateFlipt(source fliptSource) (*fliptResult, error) {
	t := &translation{source: source, out: new(tree), settings: make(map[string]*setting)}
	if err := t.read(); err != nil {
		return nil, err
	}
	t.translate()
	text, err := t.out.text()
	if err != nil {
		return nil, fmt.Errorf("cannot translate %s: %w", t.sourceName(), err)
	}
	t.Text = append([]byte("# Translated from "+t.sourceName()+" of Flipt v1 by \"guidon config import\".\n\n"), text...)
	return &t.fliptResult, nil
}

// translation is the state of one translation.
type translation struct {
	fliptResult
	source   fliptSource
	order    []*setting          // as in the file, then the variables
	settings map[string]*setting // by key
	out      *tree

	db         *database
	redisDone  bool // cache.redis.url is written
	githubTold bool
	restricted bool // the code host admits only organizations or teams
}

func (t *translation) sourceName() string {
	switch {
	case t.source.File == nil:
		return "the environment"
	case t.source.Environ != nil:
		return strconv.Quote(t.source.Name) + " and the environment"
	}
	return strconv.Quote(t.source.Name)
}

// find adds a finding about the setting, and a comment in its place.
func (t *translation) find(s *setting, text string) {
	t.found(s, text)
	t.out.remark(parent(s.key), s.names()+": "+text)
}

// found adds a finding about the setting, whose comment is elsewhere.
func (t *translation) found(s *setting, text string) {
	if s.origin == s.key { // a variable of a group without counterpart
		t.Findings = append(t.Findings, s.key+": "+text)
		return
	}
	t.Findings = append(t.Findings, fmt.Sprintf("%s: %s: %s", s.origin, s.names(), text))
}

// added adds a key that Flipt does not have, and a finding.
func (t *translation) added(key, value, why string) {
	t.out.put(key, scalar(value), "Not in Flipt: "+why)
	t.Findings = append(t.Findings, fmt.Sprintf("added %s: %s: %s", key, value, why))
}

// text returns the value of a setting that is a single value, or "".
func (t *translation) text(key string) string {
	if s := t.settings[key]; s != nil && s.value != nil {
		return s.value.Value
	}
	return ""
}

// isTrue reports whether the setting is true.
func (t *translation) isTrue(key string) bool {
	return strings.EqualFold(t.text(key), "true") || t.text(key) == "1"
}

// isReference reports whether the text stands for a variable.
func isReference(text string) bool {
	return strings.HasPrefix(text, "${") && strings.HasSuffix(text, "}")
}

// parent returns the group of the key, or "".
func parent(key string) string {
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		return key[:i]
	}
	return ""
}
