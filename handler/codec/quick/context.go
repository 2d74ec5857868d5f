package quick

import "github.com/guidonhq/guidon/handler/codec/jsontext"

// Context reads an OFREP context in the usual form: strings, booleans and numbers that
// are written as integers, which it returns as strings. flags is the property of that
// name if it is a string. spare is nil, or an empty map for the properties. It reports
// whether the body had that form and at most maxProperties properties.
func Context(body []byte, spare map[string]string, maxProperties int) (targetingKey, flags string, properties map[string]string, ok bool) {
	if !Enabled || len(body) > maxQuick {
		return "", "", nil, false
	}
	c := contextReader{reader: reader{text: string(body), spare: spare}, maxProperties: maxProperties}
	ok = c.take('{') && c.name() == "context" && c.read() && c.take('}') && c.peek() == 0 && c.pos == len(c.text) && c.valid()
	return c.targetingKey, c.flags, c.properties, ok
}

// contextReader reads the properties of a context.
type contextReader struct {
	reader
	maxProperties       int
	targetingKey, flags string
	properties          map[string]string
}

func (c *contextReader) read() (ok bool) {
	for more := c.open('{', '}', &ok); more; more = c.more('}', &ok) {
		name, ok := c.string()
		if !ok || !c.take(':') {
			return false
		}
		kind := c.peek()
		value, ok := c.property(kind)
		if !ok || len(c.properties) == c.maxProperties {
			return false
		}
		switch name {
		case "targetingKey":
			if kind == 't' || kind == 'f' {
				return false
			}
			c.targetingKey = value
		case "flags":
			c.flags = ""
			if kind == '"' {
				c.flags = value
			}
		}
		if c.properties == nil {
			c.properties = c.newMap()
		}
		c.properties[name] = value
	}
	return ok
}

// property reads the value that starts with kind and returns it as a string.
func (q *reader) property(kind byte) (text string, ok bool) {
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
func (q *reader) integer() (text string, ok bool) {
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
