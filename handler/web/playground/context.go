package playground

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Limits of a context.
const (
	maxJSON     = 256 << 10 // bytes
	maxValues   = 100_000
	maxProperty = 1000
)

// context returns the properties of the entity, as they are compared, and adds their
// problems.
func (f *form) context(problems *part.Problems) map[string]string {
	if f.AsJSON {
		properties, problem := readJSON(f.JSON)
		problems.Add(fieldJSON, problem)
		return properties
	}
	properties := make(map[string]string, len(f.Rows))
	for i, r := range f.Rows {
		_, twice := properties[r.Key]
		switch id := fieldKey + strconv.Itoa(i); {
		case r.empty():
		case r.Key == "":
			problems.Add(id, "A property needs a name.")
		case twice:
			problems.Add(id, fmt.Sprintf("%s is there twice. Remove one of them.", guidon.Shorten(r.Key, 60)))
		default:
			properties[r.Key] = r.Value
		}
	}
	return properties
}

// toJSON writes the rows as JSON. It leaves everything as it is if there is a problem.
func (f *form) toJSON(problems *part.Problems) {
	f.context(problems)
	if f.AsJSON || len(*problems) > 0 {
		return
	}
	var b strings.Builder
	b.WriteString("{")
	for _, r := range f.Rows {
		if r.empty() {
			continue
		}
		if b.Len() > 1 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "\n  %s: %s", page.JSONText(r.Key), valueJSON(r.Value))
	}
	if b.Len() > 1 {
		b.WriteString("\n")
	}
	f.JSON, f.AsJSON = b.String()+"}", true
}

// toRows writes the JSON as rows. It leaves everything as it is if there is a problem.
func (f *form) toRows(problems *part.Problems) {
	if !f.AsJSON {
		return
	}
	properties := f.context(problems)
	if len(*problems) > 0 {
		return
	}
	if len(properties) > maxRows {
		problems.Add(fieldJSON, fmt.Sprintf("These are %d properties. More than %d can only be written as JSON.", len(properties), maxRows))
		return
	}
	f.Rows, f.AsJSON = nil, false
	for _, m := range page.Members(f.JSON) {
		if value, ok := properties[m.Key]; ok {
			f.Rows = append(f.Rows, row{m.Key, value})
			delete(properties, m.Key)
		}
	}
}

// valueJSON returns the value of a row as JSON that is compared as the same text: a number,
// boolean, list or object if it is written as one.
func valueJSON(text string) string {
	if text != "null" && json.Valid([]byte(text)) {
		if properties, problem := readJSON(`{"a":` + text + `}`); problem == "" && properties["a"] == text {
			return text
		}
	}
	return page.JSONText(text)
}

// readJSON returns the properties of a context in JSON, or the problem if it is invalid. Nothing is
// the same as an empty object.
func readJSON(text string) (map[string]string, string) {
	if strings.TrimSpace(text) == "" {
		return map[string]string{}, ""
	}
	if len(text) > maxJSON {
		return nil, fmt.Sprintf("A context may have %d KB at most. This has %d.", maxJSON>>10, (len(text)+1023)>>10)
	}
	if problem := faultIn(text); problem != "" {
		return nil, problem
	}
	m := new(guidonv1.ExplainEntity)
	if err := codec.Unmarshal([]byte(`{"context":`+text+`}`), m, maxValues); err != nil {
		return nil, guidon.PublicMessage(err)
	}
	if n := len(m.GetContext()); n > maxProperty {
		return nil, fmt.Sprintf("A context may have %d properties at most. This has %d.", maxProperty, n)
	}
	return m.GetContext(), ""
}

// faultIn returns the syntax error of a JSON object with its position, or "".
func faultIn(text string) string {
	if fault := page.JSONFault(text); fault != "" {
		return fault
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &object); err != nil || object == nil {
		return `A context is an object, such as {"country": "DE"}.`
	}
	return ""
}
