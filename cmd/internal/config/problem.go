package config

import (
	"fmt"
	"strings"
)

// Error lists everything that is wrong with a configuration.
type Error struct {
	Problems []string // one sentence each, naming key and variable; no secrets
}

// Error returns the problems, one on each line.
func (e *Error) Error() string {
	if len(e.Problems) == 1 {
		return "configuration: " + e.Problems[0]
	}
	var text strings.Builder
	fmt.Fprintf(&text, "configuration: %d problems:", len(e.Problems))
	for _, problem := range e.Problems {
		text.WriteString("\n  " + problem)
	}
	return text.String()
}

// problems gathers what is wrong.
type problems struct {
	list    []string
	unknown map[string]bool // the keys whose values are not there to be judged
}

func (p *problems) add(format string, args ...any) {
	p.list = append(p.list, fmt.Sprintf(format, args...))
}

// key adds a problem of one key, named with its variable.
func (p *problems) key(key, rule string) {
	if p.unknown[key] {
		return
	}
	p.add("%s (%s): %s", key, variableOf(key), rule)
}

// without says that the value of the key is not there: no rule is broken by that.
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
