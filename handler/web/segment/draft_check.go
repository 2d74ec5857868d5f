package segment

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// check returns the problems of the draft. Constraints that are as they were saved are not
// checked.
func (d *draft) check(saved *guidonv1.DocumentSegment, zone *time.Location) part.Problems {
	return append(d.checkName(), d.Check("", saved.GetConstraints(), zone)...)
}

func (d *draft) checkName() (problems part.Problems) {
	problems.Add("name", page.CheckText(d.Name, "A name is needed."))
	return problems
}

// check returns the problems of the constraint, whose fields have names that begin with at.
func (c *constraint) check(at string, saved []*guidonv1.DocumentConstraint, zone *time.Location) (problems part.Problems) {
	if c.Bad == "" && !c.Turned && c.savedIn(saved) {
		return nil
	}
	if !slices.Contains(everyType, c.Type) {
		problems.Add(at+"type", "This type is not known. Choose one, or remove the constraint.")
		return problems
	}
	if c.Type != typeEntity {
		if c.Property == "" {
			problems.Add(at+"property", "A property is needed.")
		}
		problems.Add(at+"property", page.TooLong(c.Property, page.MaxText))
	}
	if c.Turned {
		problems.Add(at+"operator", "The way of comparing has changed, and so have the fields. Look at the value, then save.")
		return problems
	}
	if !slices.Contains(operators[c.Type], c.Operator) && entryOf(c.Type, c.Operator) != entryDate {
		problems.Add(at+"operator", typeName(c.Type)+" cannot be compared in this way. Choose another one.")
		return problems
	}
	field, message := c.checkValue(zone)
	problems.Add(at+field, message)
	return problems
}

// savedIn reports whether the constraint is as it was saved.
func (c *constraint) savedIn(saved []*guidonv1.DocumentConstraint) bool {
	is := c.document()
	return slices.ContainsFunc(saved, func(was *guidonv1.DocumentConstraint) bool { return proto.Equal(is, was) })
}

// checkValue returns the field of a value and its problem, or "". It makes numbers
// of lists such as JSON has them.
func (c *constraint) checkValue(zone *time.Location) (field, message string) {
	switch entryOf(c.Type, c.Operator) {
	case entryText:
		return "text", c.checkText()
	case entryNumber:
		if c.Text == "" {
			return "text", "A number is needed."
		}
		return "text", notNumber(c.Text)
	case entryDate:
		if _, ok := c.Date.value(zone); !ok {
			return "date", "Write 2026-12-01 or 2026-12-01T18:00:00Z."
		}
	case entryList:
		return "list", c.checkList()
	}
	return "", ""
}

func (c *constraint) checkText() string {
	if c.Text == "" {
		if o := whenMissing(c.Type); o != "" {
			return "A value is needed. For a missing property there is the operator “" + operatorName(c.Type, o) + "”."
		}
		return "A value is needed."
	}
	switch c.Type {
	case typeVersion:
		if _, err := guidon.ParseVersion(c.Text); err != nil {
			return "Not a version: " + page.Printable(c.Text, maxQuoted) + ". Write 2.4.1."
		}
	case typePattern:
		if _, err := guidon.CompilePattern(c.Text); err != nil {
			return page.Sentence(page.Printable(err.Error(), 2*maxQuoted))
		}
	}
	return ""
}

// maxQuoted limits how much of a wrong value a problem has, in characters.
const maxQuoted = 60

func (c *constraint) checkList() string {
	items := c.items()
	switch {
	case c.Bad != "":
		return c.Bad
	case len(items) == 0:
		return "Add at least one value."
	case len(items) > maxValues:
		return page.Number(maxValues) + " values at most, these are " + page.Number(len(items)) + "."
	case c.Type == typeAddress:
		return checkAddresses(items)
	case c.Type != typeNumber:
		return ""
	}
	for i, item := range items {
		if message := notNumber(item); message != "" {
			return message
		}
		if !json.Valid([]byte(item)) {
			n, _ := strconv.ParseFloat(item, 64)
			if math.IsInf(n, 0) {
				return notANumber(item)
			}
			items[i] = strconv.FormatFloat(n, 'f', -1, 64)
		}
	}
	c.Text, c.Value = linesOf(items), listOf(items, c.Type)
	if h := c.Halves; h != nil { // the page shows them on two lines now, which the next form has
		return h[0] + "," + h[1] + " is two values. Save again if you mean both, or write " + h[0] + "." + h[1] + "."
	}
	return ""
}

// checkAddresses returns the problem of a list of addresses, or "".
func checkAddresses(items []string) string {
	for _, item := range items {
		if _, err := guidon.ParseAddresses(page.JSONText([]string{item})); err != nil {
			return "Not an address: " + page.Printable(item, maxQuoted) + ". Write 192.0.2.1, 192.0.2.0/24 or 2001:db8::/32."
		}
	}
	return ""
}

// notNumber returns the problem of a number, or "".
func notNumber(text string) string {
	if n, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(n) {
		return ""
	}
	return notANumber(text)
}

func notANumber(text string) string {
	message := "Not a number: " + page.Printable(text, maxQuoted) + "."
	repaired := strings.Replace(strings.TrimSpace(text), ",", ".", 1)
	if n, err := strconv.ParseFloat(repaired, 64); err == nil && !math.IsNaN(n) {
		message += " Write " + repaired + "."
	}
	return message
}
