package document

import (
	"encoding"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/clock"
)

func textNode(value string) *node { return &node{kind: text, text: value} }

// asText is the form of strings. Other scalars are strings as written.
var asText = form[string]{
	read: func(d *decoder, n *node, to *string) {
		switch n.kind {
		case text, number, boolean:
			*to = n.raw
		default:
			d.fail(n, "must be a string, not %s", n.kind)
		}
	},
	write: func(_ *encoder, from *string) *node { return textNode(*from) },
}

var asInstant = form[time.Time]{
	read: func(d *decoder, n *node, to *time.Time) {
		readText(d, n, to, "must be a time in RFC 3339, such as 2026-12-01T09:00:00Z",
			func(text string) (time.Time, error) { return time.Parse(time.RFC3339, text) })
	},
	write: func(_ *encoder, from *time.Time) *node { return textNode(from.Format(time.RFC3339)) },
}

var asDuration = form[time.Duration]{
	read: func(d *decoder, n *node, to *time.Duration) {
		readText(d, n, to, "must be a duration, such as 72h or 30m", time.ParseDuration)
	},
	write: func(_ *encoder, from *time.Duration) *node { return textNode(clock.Text(*from)) },
}

// readText reads a value that is parsed from a text, unless that is empty.
func readText[T any](d *decoder, n *node, to *T, must string, parse func(text string) (T, error)) {
	var text string
	if asText.read(d, n, &text); text == "" {
		return
	}
	value, err := parse(text)
	if err != nil {
		d.fail(n, "%s", must)
	}
	*to = value
}

var asBoolean = form[bool]{
	read: func(d *decoder, n *node, to *bool) {
		word := strings.ToLower(n.text)
		switch {
		case n.kind == boolean:
			*to = word == "true"
		case n.plain && slices.Contains(yaml11Booleans, word): // YAML 1.1
			*to = word == "y" || word == "yes" || word == "on"
		default:
			d.fail(n, "must be true or false, not %s", n.kind)
		}
	},
	write: func(_ *encoder, from *bool) *node { return &node{kind: boolean, text: strconv.FormatBool(*from)} },
}

// asPercentage writes the shortest number that is read as the value. Validate checks its range.
var asPercentage = form[float32]{
	read: func(d *decoder, n *node, to *float32) {
		value, err := strconv.ParseFloat(n.text, 32)
		if n.kind != number || err != nil {
			d.fail(n, "must be a number, not %s", n.describe())
			return
		}
		*to = float32(value)
	},
	write: func(e *encoder, from *float32) *node {
		literal := strconv.FormatFloat(float64(*from), 'f', -1, 32)
		if !jsonNumber.MatchString(literal) && e.err == nil {
			e.err = fmt.Errorf("%s is not a valid JSON number", literal)
		}
		return &node{kind: number, text: literal}
	},
}

// asRank is the form of ranks, which are not written: the position of a rule replaces its rank.
var asRank = form[int32]{
	read: func(d *decoder, n *node, to *int32) {
		value, err := strconv.ParseInt(n.text, 10, 32)
		if n.kind != number || err != nil {
			d.fail(n, "must be a 32-bit integer, not %s", n.describe())
			return
		}
		*to = int32(value)
	},
	write: func(*encoder, *int32) *node { return nil },
}

// asJSON is the form of any value as JSON.
var asJSON = form[string]{
	read: func(d *decoder, n *node, to *string) {
		out, err := appendJSON(nil, n)
		if err != nil {
			d.fail(n, "%v", err)
		}
		*to = string(out)
	},
	write: func(e *encoder, from *string) *node {
		n, err := parseJSON(*from)
		if err != nil {
			if e.err == nil {
				e.err = fmt.Errorf("attachment or metadata is not valid JSON: %w", err)
			}
			return &node{}
		}
		return n
	},
}

// enum is a type whose values have names.
type enum interface {
	~uint8 | ~uint16
	encoding.TextMarshaler
	String() string
}

// asEnum returns the form of the names of values. Without a name it is the first value
// (contract 13.2).
func asEnum[E enum]() form[E] {
	return form[E]{
		read: func(d *decoder, n *node, to *E) {
			var name string
			asText.read(d, n, &name)
			err := any(to).(encoding.TextUnmarshaler).UnmarshalText([]byte(name))
			if err != nil && name != "" {
				names, required := namesOf[E]()
				d.unknownValue(n, name, names, required)
			}
		},
		write: func(_ *encoder, from *E) *node { return textNode((*from).String()) },
	}
}

// namesOf returns the names of the values of an enum, and whether a document must state one.
func namesOf[E enum]() (names []string, required bool) {
	if _, isType := any(E(0)).(guidon.ComparisonType); isType {
		for _, t := range guidon.ComparisonTypes() {
			names = append(names, t.String())
		}
		return names, true
	}
	for value := E(0); ; value++ {
		name, err := value.MarshalText()
		if err != nil {
			return names, false
		}
		if len(name) > 0 {
			names = append(names, string(name))
		}
	}
}

// maxRaw is how much of a number an error quotes, in bytes.
const maxRaw = 100

func (n *node) describe() string {
	if n.kind == number {
		return guidon.Shorten(n.raw, maxRaw)
	}
	return n.kind.String()
}
