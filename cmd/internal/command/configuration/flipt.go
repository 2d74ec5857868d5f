package configuration

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/guidonhq/guidon/cmd/internal/config"
)

// fliptSource is the configuration of a Flipt server.
type fliptSource struct {
	Name    string   // of the file, for messages
	File    []byte   // in YAML or JSON; nil without a file
	Environ []string // its variables take precedence over the file; nil without them
}

// fliptResult is a configuration of Guidon.
type fliptResult struct {
	// Text is a YAML file, which may contain secrets.
	Text []byte
	// Findings name the keys that have no counterpart, and those whose meaning differs from
	// before. They contain no values.
	Findings []string
	// Refused are the keys whose values Guidon does not accept, with the reasons. They are
	// comments in Text, which then has a line that Guidon rejects.
	Refused []string
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
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("cannot translate %s: %w", t.sourceName(), err)
	}
	head := "# Translated from " + t.sourceName() + " of Flipt v1 by \"guidon config import\".\n"
	if len(t.Refused) > 0 {
		head += unfinishedHead
	}
	t.Text = append([]byte(head+"\n"), t.out.text()...)
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

// unfinished is the key that keeps a server from starting with a file in which keys are
// refused: without one of them, it may be open to more people than before.
const unfinished = "unfinished"

const unfinishedHead = `
# Guidon refuses some keys. They are comments that begin with "Refused". Correct each of
# them, and then remove the next line, with which no server starts.
` + unfinished + ": true\n"

// check makes comments of the keys that Guidon does not accept, until it accepts the rest or
// only misses something.
func (t *translation) check() error {
	seen := make(map[string]bool)
	for {
		err := config.Check("the translation", t.out.text())
		problems, ok := errors.AsType[*config.Error](err)
		if !ok {
			return err
		}
		before := len(seen)
		for _, problem := range problems.Problems {
			if problem.Key == "" {
				return err
			}
			if id := problem.Key + ": " + problem.Rule; !seen[id] {
				seen[id] = true
				t.refuse(problem.Key, problem.Rule)
			}
		}
		if len(seen) == before {
			return nil
		}
	}
}

// refuse makes a comment of the key of the result, or adds one if it is missing.
func (t *translation) refuse(key, rule string) {
	e := t.out.find(key)
	switch {
	case e == nil:
		t.out.remark(parent(key), "Refused: "+key+": "+rule)
	case e.refused:
		return // that it is missing follows from that
	default:
		e.comments = append(e.comments, "Refused: "+rule)
		// A switch such as authentication.required is refused because of others.
		e.refused = e.value == nil || e.value.Value != "true"
	}
	t.Refused = append(t.Refused, t.originOf(key)+key+": refused: "+rule)
}

// originOf returns where the key of the result comes from, as the beginning of a message.
func (t *translation) originOf(key string) string {
	for _, s := range t.order {
		if (s.key == key || s.entry.To == key) && s.origin != s.key {
			return s.origin + ": "
		}
	}
	return ""
}

// refuseSetting adds a comment for a key of the source that cannot be read.
func (t *translation) refuseSetting(key string, name, value *yaml.Node, rule string) {
	t.out.refuse(key, value, "Refused: "+rule)
	t.Refused = append(t.Refused, fmt.Sprintf("%s line %d: %s: refused: %s", t.source.Name, name.Line, key, rule))
}
