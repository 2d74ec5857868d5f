package configuration

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/guidonhq/guidon/cmd/internal/config"
)

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
	t.refused = append(t.refused, t.originOf(key)+key+": refused: "+rule)
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
	t.refused = append(t.refused, fmt.Sprintf("%s line %d: %s: refused: %s", t.source.Name, name.Line, key, rule))
}
