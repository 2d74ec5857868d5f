package codec

import "github.com/guidonhq/guidon/handler/codec/jsontext"

// contextQuick is [UnmarshalContext] for a usual body, and reports whether the body was
// one: only a context of strings, booleans and numbers that are written as integers.
func contextQuick(body []byte, spare map[string]string) (c EvaluationContext, ok bool) {
	if len(body) > maxQuick {
		return c, false
	}
	q := quick{text: string(body), spare: spare}
	ok = q.take('{') && q.name() == "context" && q.properties(&c) && q.take('}') && q.peek() == 0 && q.pos == len(q.text) && q.valid()
	return c, ok
}

func (q *quick) properties(c *EvaluationContext) (ok bool) {
	for more := q.open('{', '}', &ok); more; more = q.more('}', &ok) {
		name, ok := q.string()
		if !ok || !q.take(':') {
			return false
		}
		kind := q.peek()
		value, ok := q.property(kind)
		if !ok || len(c.Properties) == maxProperties {
			return false
		}
		switch name {
		case "targetingKey":
			if kind == 't' || kind == 'f' {
				return false
			}
			c.TargetingKey = value
		case "flags":
			c.Flags = ""
			if kind == '"' {
				c.Flags = value
			}
		}
		if c.Properties == nil {
			c.Properties = q.newMap()
		}
		c.Properties[name] = value
	}
	return ok
}

// property reads the value that starts with kind and returns it as a string.
func (q *quick) property(kind byte) (text string, ok bool) {
	switch kind {
	case '"':
		return q.string()
	case 't':
		return "true", q.literal("true")
	case 'f':
		return "false", q.literal("false")
	}
	return q.integer()
}

// integer reads a number without point and exponent, and returns it as written.
func (q *quick) integer() (text string, ok bool) {
	end := q.pos
	if end < len(q.text) && q.text[end] == '-' {
		end++
	}
	first := end
	for end < len(q.text) && jsontext.IsDigit(q.text[end]) {
		end++
	}
	if end == first || q.text[first] == '0' && end-q.pos > 1 { // nothing, 01, -0
		return "", false
	}
	text, q.pos = q.text[q.pos:end], end
	return text, true
}
