package codec

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec/jsontext"
	"github.com/guidonhq/guidon/handler/codec/quick"
)

// EvaluationContext is the context of an OFREP request. Each property is the string that
// constraints are compared with.
type EvaluationContext struct {
	TargetingKey string            // also among the properties
	Flags        string            // the property flags if it is a string, also among the properties
	Properties   map[string]string // empty or nil for none
}

// maxProperties limits the properties of a context, and maxContextValues the members
// and elements of everything in it.
const (
	maxProperties    = 1000
	maxContextValues = 100_000
)

// ErrContext is wrapped by the errors of [UnmarshalContext] that are about the context,
// while the body is well-formed JSON.
var ErrContext = errors.New("invalid evaluation context")

// UnmarshalContext reads the body of an OFREP request: a JSON object whose member
// context is an object with values of any kind (OFREP 2). Without that member the
// context is empty; other members are ignored. If a name occurs several times, the last
// value counts.
//
//   - A string is unchanged, a boolean becomes true or false.
//   - A number becomes its shortest decimal form, as encoding/json and browsers write
//     it: 1.50 and 15e-1 become 1.5. A number written as an integer keeps all its digits.
//   - null is the same as a missing property.
//   - A list or an object becomes its JSON, compact, with the members of objects sorted
//     and numbers as above.
//
// The targeting key must be a string or a number. A context has at most 1000
// properties; the other limits are those of [Unmarshal].
//
// spare is an empty map to be used for the properties, or nil. The caller must not use
// it afterwards.
//
// The error is a *guidon.Error with code InvalidArgument, or TooLarge for too many
// values. It wraps [ErrContext] if it is about the context.
func UnmarshalContext(body []byte, spare map[string]string) (EvaluationContext, error) {
	if targetingKey, flags, properties, ok := quick.Context(body, spare, maxProperties); ok {
		return EvaluationContext{TargetingKey: targetingKey, Flags: flags, Properties: properties}, nil
	}
	return contextGeneral(body)
}

func contextGeneral(body []byte) (EvaluationContext, error) {
	s := &scanner{data: body, left: maxContextValues}
	c, err := s.contextBody()
	if err == nil && !s.atEnd() {
		err = jsontext.ErrSyntax
	}
	if err == nil && !utf8.Valid(body) {
		err = errNotUTF8
	}
	switch {
	case err == nil:
		return c, nil
	case errors.Is(err, ErrContext) && utf8.Valid(body) && isJSON(body):
		return EvaluationContext{}, err
	case err == errDepth, err == errMany, err == errNotUTF8:
		return EvaluationContext{}, explain(err, body, maxContextValues)
	}
	return EvaluationContext{}, guidon.Errorf(guidon.InvalidArgument, "the request body must be a JSON object")
}

// isJSON reports whether the body is one JSON value within the limits, so that an error
// about its contents makes sense.
func isJSON(body []byte) bool {
	s := &scanner{data: body, left: maxContextValues}
	return s.skip() == nil && s.atEnd()
}

// atEnd reports whether only white space follows.
func (s *scanner) atEnd() bool { return s.peek() == 0 && s.pos == len(s.data) }

func invalidContext(field, rule string) error {
	return &guidon.Error{Code: guidon.InvalidArgument, Message: "invalid field " + field + ": " + rule, Err: ErrContext}
}

func (s *scanner) contextBody() (EvaluationContext, error) {
	var c EvaluationContext
	err := s.object(func(name []byte) error {
		if string(name) != "context" {
			return s.skip()
		}
		c = EvaluationContext{}
		return s.context(&c)
	})
	return c, err
}

func (s *scanner) context(c *EvaluationContext) error {
	if s.peek() != '{' {
		return invalidContext("context", "must be an object")
	}
	flagsIsText := false
	err := s.object(func(name []byte) error {
		property, kind := string(name), s.peek()
		if property == "flags" {
			flagsIsText = kind == '"'
		}
		if kind == 'n' {
			delete(c.Properties, property)
			return s.literal("null")
		}
		value, err := s.canonicalText(kind)
		if err != nil {
			return err
		}
		if property == "targetingKey" && kind != '"' && kind != '-' && !jsontext.IsDigit(kind) {
			return invalidContext("context.targetingKey", "must be a string or a number")
		}
		if c.Properties == nil {
			c.Properties = make(map[string]string, 8)
		}
		c.Properties[property] = value
		if len(c.Properties) > maxProperties {
			return invalidContext("context", "must not have more than 1000 properties")
		}
		return nil
	})
	c.TargetingKey = c.Properties["targetingKey"]
	if flagsIsText {
		c.Flags = c.Properties["flags"]
	}
	return err
}

// canonicalText reads a value that starts with kind and returns it as a string.
func (s *scanner) canonicalText(kind byte) (string, error) {
	if kind == '"' {
		text, err := s.text()
		return string(text), err
	}
	text, err := s.appendCanonical(nil)
	return string(text), err
}

// appendCanonical reads any value and appends its canonical JSON.
func (s *scanner) appendCanonical(b []byte) ([]byte, error) {
	switch s.peek() {
	case '{':
		return s.appendObject(b)
	case '[':
		return s.appendArray(b)
	case '"':
		text, err := s.text()
		return jsontext.AppendString(b, string(text)), err
	case 't', 'f', 'n':
		start := s.pos
		err := s.skip()
		return append(b, s.data[start:s.pos]...), err
	default:
		number, err := s.number()
		if err != nil {
			return b, err
		}
		return appendNumber(b, number), nil
	}
}

func (s *scanner) appendArray(b []byte) ([]byte, error) {
	b = append(b, '[')
	first := true
	err := s.array(func() (err error) {
		if !first {
			b = append(b, ',')
		}
		first = false
		b, err = s.appendCanonical(b)
		return err
	})
	return append(b, ']'), err
}

// appendObject appends the members sorted by name. Of members with the same name it
// appends the last.
func (s *scanner) appendObject(b []byte) ([]byte, error) {
	type member struct {
		name string
		text []byte
	}
	var members []member
	err := s.object(func(name []byte) error {
		m := member{name: string(name)}
		text, err := s.appendCanonical(nil)
		m.text = text
		members = append(members, m)
		return err
	})
	if err != nil {
		return b, err
	}
	slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(a.name, b.name) })
	b = append(b, '{')
	for i, m := range members {
		if i+1 < len(members) && members[i+1].name == m.name {
			continue
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(jsontext.AppendString(b, m.name), ':')
		b = append(b, m.text...)
	}
	return append(b, '}'), nil
}

// appendNumber appends the canonical form of a JSON number.
func appendNumber(b, number []byte) []byte {
	if bytes.ContainsAny(number, ".eE") {
		f, err := strconv.ParseFloat(string(number), 64)
		if err != nil {
			return append(b, number...) // out of range for a float: keep it as written
		}
		b = jsontext.AppendFloat(b, f+0, 64) // -0 is 0
		if n := len(b); n > 4 && b[n-4] == 'e' && b[n-2] == '0' {
			b = append(b[:n-2], b[n-1]) // 1e-7, not 1e-07
		}
		return b
	}
	if string(number) == "-0" {
		return append(b, '0')
	}
	return append(b, number...)
}
