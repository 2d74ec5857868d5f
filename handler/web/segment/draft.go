package segment

import (
	"net/url"
	"regexp"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

// Limits of the segments that the editor takes: constraints, and bytes of their values as a form
// has them, which sends those of a constraint that is open twice.
const (
	maxConstraints = 200
	maxFormValues  = page.MaxForm / 2
)

// isTooLarge reports whether the editor does not take the segment.
func isTooLarge(g *guidonv1.DocumentSegment) bool {
	size := 0
	for _, c := range g.GetConstraints() {
		size += len(url.QueryEscape(c.GetValue()))
	}
	return len(g.GetConstraints()) > maxConstraints || size > maxFormValues
}

// draft is a segment as it is edited, with the other fields of the form.
type draft struct {
	Key         string // of the segment; of a new one, as it was entered
	Revision    int64  // of the namespace, from which the draft began
	Name        string
	Description string
	Naming      bool // the fields of name and description are shown
	Group
	Message  string // why the change is made
	Everyone bool   // it may be without constraints: the visitor was asked

	Entity, Context string // who may be in it
}

// constraint is a constraint of the segment as it is edited.
type constraint struct {
	From     int  // the index of the saved constraint, or -1
	Open     bool // it is shown as fields
	Type     flipt.ComparisonType
	Property string
	Operator string
	Value    string // as it is stored
	Negate   bool
	Note     string

	// What was entered as the value of an open constraint.
	Text    string    `json:"-"` // of a list, its values as lines
	Date    dateEntry `json:"-"`
	Doubles int       `json:"-"` // how many values of the list were dropped, as it has them already
	Bad     string    `json:"-"` // why Text is no list
	Turned  bool      `json:"-"` // the way of comparing changed after the fields were shown
	Halves  []string  `json:"-"` // two numbers in the list that may be meant as one with a decimal comma
}

// newConstraint returns the constraint that is added.
func newConstraint(zone *time.Location) constraint {
	c := constraint{From: -1, Open: true, Type: typeText, Operator: operators[typeText][0]}
	c.enter(zone)
	return c
}

// draftOf returns the draft that begins with a saved segment.
func draftOf(g *guidonv1.DocumentSegment, revision int64, zone *time.Location) *draft {
	d := &draft{
		Key: g.GetKey(), Revision: revision, Name: g.GetName(), Description: g.GetDescription(),
		Group: groupOf(g.GetMatchType(), g.GetConstraints(), zone),
	}
	return d
}

func constraintOf(c *guidonv1.DocumentConstraint, from int, zone *time.Location) constraint {
	out := constraint{
		From: from, Type: c.GetType(), Property: c.GetProperty(), Operator: c.GetOperator(), Value: c.GetValue(),
		Negate: c.GetNegate(), Note: c.GetDescription(),
	}
	if out.Type == typeEntity {
		out.Property = ""
	}
	out.enter(zone)
	return out
}

// enter sets the fields of the value from the value.
func (c *constraint) enter(zone *time.Location) {
	c.Text, c.Date = "", dateEntry{Zone: zone.String()}
	switch entryOf(c.Type, c.Operator) {
	case entryText, entryNumber:
		c.Text = c.Value
	case entryDate:
		c.Date = dateEntryOf(c.Value, zone)
	case entryList:
		items, _ := itemsOf(c.Value, c.Type)
		c.Text = linesOf(items)
	}
}

// accept sets the value from its fields. A value that means the same keeps its spelling.
func (c *constraint) accept(zone *time.Location) {
	switch entryOf(c.Type, c.Operator) {
	case entryNone:
		c.Value = ""
	case entryText, entryNumber:
		c.Value = c.Text
	case entryDate:
		if dateEntryOf(c.Value, zone) == c.Date {
			return
		}
		c.Value, _ = c.Date.value(zone)
	case entryList:
		c.acceptList()
	}
}

// items returns the values that were entered for the list.
func (c *constraint) items() []string {
	items, _ := pasted(c.Text)
	return items
}

// decimalComma matches two numbers between which there is only a comma, unless a list goes on like that.
var decimalComma = regexp.MustCompile(`(?:^|[\s;])([+-]?\d+),(\d+)(?:[\s;]|$)`)

func (c *constraint) acceptList() {
	entered, err := pasted(c.Text)
	if err != nil {
		c.Bad = page.Sentence(err.Error())
		return
	}
	if halves := decimalComma.FindStringSubmatch(c.Text); halves != nil && c.Type == typeNumber {
		c.Halves = halves[1:]
	}
	was, ok := itemsOf(c.Value, c.Type)
	if ok && slices.Equal(was, entered) {
		return
	}
	items := lists.Distinct(entered)
	c.Text, c.Doubles = linesOf(items), len(entered)-len(items)
	c.Value = listOf(items, c.Type)
}

// turn makes the constraint compare otherwise, and keeps what was entered as far as that has a
// place in the new fields.
func (c *constraint) turn(t flipt.ComparisonType, operator string, zone *time.Location) {
	if t == c.Type && operator == c.Operator {
		return
	}
	was := entryOf(c.Type, c.Operator)
	var texts []string
	switch was {
	case entryText, entryNumber:
		texts, _ = pasted(c.Text)
		if entryOf(t, operator) != entryList && c.Text != "" {
			texts = []string{c.Text}
		}
	case entryDate:
		if value, ok := c.Date.value(zone); ok {
			texts = []string{value}
		}
	case entryList:
		texts = c.items()
	}
	wanted := operator
	operator = operatorFor(t, operator)
	is := entryOf(t, operator)
	c.Turned = is != was || operator != wanted
	c.Type, c.Operator = t, operator
	if is == was {
		return
	}
	c.Text, c.Date = "", dateEntry{Zone: zone.String()}
	switch {
	case len(texts) == 0:
	case is == entryList:
		c.Text = linesOf(texts)
	case is == entryDate:
		c.Date = dateEntryOf(texts[0], zone)
	default:
		c.Text = texts[0]
	}
}

// document returns the segment as it would be saved.
func (d *draft) document() *guidonv1.DocumentSegment {
	g := &guidonv1.DocumentSegment{Key: d.Key, Name: d.Name, Description: d.Description, MatchType: d.match()}
	g.Constraints = d.Documents()
	return g
}

func (g *Group) match() flipt.MatchType {
	if g.Any {
		return flipt.MatchType_ANY_MATCH_TYPE
	}
	return flipt.MatchType_ALL_MATCH_TYPE
}

func (c *constraint) document() *guidonv1.DocumentConstraint {
	return &guidonv1.DocumentConstraint{
		Type: c.Type, Property: c.property(), Operator: c.Operator, Value: c.Value, Negate: c.Negate, Description: c.Note,
	}
}

// property returns the property that the constraint compares.
func (c *constraint) property() string {
	if c.Type == typeEntity {
		return guidon.EntityProperty
	}
	return c.Property
}

// keepSpelling replaces texts that differ from the saved ones only in a way that forms make:
// they change line breaks, and fields of one line have none.
func (d *draft) keepSpelling(saved *guidonv1.DocumentSegment) {
	d.Name, d.Description = page.Line(saved.GetName(), d.Name), page.Lines(saved.GetDescription(), d.Description)
	d.KeepSpelling(saved.GetConstraints())
}

// KeepSpelling is keepSpelling of the constraints.
func (g *Group) KeepSpelling(saved []*guidonv1.DocumentConstraint) {
	for i := range g.Constraints {
		c := &g.Constraints[i]
		if c.From < 0 || c.From >= len(saved) {
			c.From = -1
			continue
		}
		from := saved[c.From]
		c.Property, c.Note = page.Line(from.GetProperty(), c.Property), page.Line(from.GetDescription(), c.Note)
		c.Value, c.Text = page.Line(from.GetValue(), c.Value), page.Line(from.GetValue(), c.Text)
	}
}
