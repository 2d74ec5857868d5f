package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/handler/login/provider"
)

// Problem is a problem of a configuration, without secrets.
type Problem struct {
	At       string // such as the line of a file, or ""
	Key      string // "" if it is not about a key
	Variable string // of the key, or ""
	Rule     string
}

// String returns the problem on one line.
func (p Problem) String() string {
	key := p.Key
	if p.Variable != "" {
		key += " (" + p.Variable + ")"
	}
	parts := slices.DeleteFunc([]string{p.At, key, p.Rule}, func(part string) bool { return part == "" })
	return strings.Join(parts, ": ")
}

// Error lists all problems of a configuration.
type Error struct {
	Problems []Problem
}

// Error returns the problems, one on each line.
func (e *Error) Error() string {
	if len(e.Problems) == 1 {
		return "configuration: " + e.Problems[0].String()
	}
	var text strings.Builder
	fmt.Fprintf(&text, "configuration: %d problems:", len(e.Problems))
	for _, problem := range e.Problems {
		text.WriteString("\n  " + problem.String())
	}
	return text.String()
}

// problems collects the problems of a configuration.
type problems struct {
	list    []Problem
	unknown map[string]bool // keys whose values could not be fetched
}

func (p *problems) add(format string, args ...any) {
	p.list = append(p.list, Problem{Rule: fmt.Sprintf(format, args...)})
}

// key adds a problem of a key, unless its value is unknown.
func (p *problems) key(key, rule string) {
	if p.unknown[key] {
		return
	}
	p.list = append(p.list, Problem{Key: key, Variable: variableOf(key), Rule: rule})
}

// check adds a problem of a key unless err is nil.
func (p *problems) check(key string, err error) {
	if err != nil {
		p.key(key, err.Error())
	}
}

// without records that the value of the key could not be fetched, so that no further
// problems of it are added.
func (p *problems) without(key string) {
	if p.unknown == nil {
		p.unknown = make(map[string]bool)
	}
	p.unknown[key] = true
}

func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	return &Error{Problems: p.list}
}

// scope adds the problems of the keys of one group.
type scope struct {
	found *problems
	group string
}

func (p *problems) in(group string) scope { return scope{found: p, group: group} }

func (s scope) key(name, rule string) { s.found.key(s.group+"."+name, rule) }

// check adds a problem unless err is nil.
func (s scope) check(name string, err error) { s.found.check(s.group+"."+name, err) }

// fields adds a problem for each field that the error is about.
func (s scope) fields(err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range joined.Unwrap() {
			s.fields(one)
		}
		return
	}
	if invalid, ok := errors.AsType[*provider.FieldError](err); ok {
		s.check(invalid.Field, invalid.Err)
		return
	}
	s.found.check(s.group, err)
}
