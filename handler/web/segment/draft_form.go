package segment

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
)

// name returns the name of a field of the constraint with the index, which is also the id of
// its element.
func name(index int, field string) string {
	return "constraint." + strconv.Itoa(index) + "." + field
}

// errForm is the error for a form that no page of this service has.
var errForm = guidon.Errorf(guidon.InvalidArgument, "the form is not complete")

// readDraft returns the draft in a form. Constraints that are shown as fields have what was
// entered; values that were added to their lists are in the lists.
func readDraft(form url.Values, zone *time.Location) (*draft, error) {
	d := &draft{
		Key: form.Get("key"), Name: form.Get("name"), Description: page.Lines("", form.Get("description")),
		Naming: form.Get("naming") != "", Message: form.Get("message"),
		Everyone: form.Get("everyone") != "",
		Entity:   form.Get("entity"), Context: form.Get("context"),
	}
	if text := form.Get("revision"); text != "" {
		revision, err := strconv.ParseInt(text, 10, 64)
		if err != nil || revision < 0 {
			return nil, errForm
		}
		d.Revision = revision
	}
	var err error
	d.Group, err = ReadGroup(form, "", zone)
	return d, err
}

// ReadGroup returns the group in a form, whose fields have the prefix.
func ReadGroup(form url.Values, prefix string, zone *time.Location) (Group, error) {
	g := Group{Any: form.Get(prefix+"match") == "any"}
	for i := 0; form.Has(prefix + name(i, "type")); i++ {
		if i == maxConstraints {
			return g, guidon.Errorf(guidon.InvalidArgument, "there are more than %d constraints", maxConstraints)
		}
		c, err := readConstraint(form, prefix+name(i, ""), zone)
		if err != nil {
			return g, err
		}
		g.Constraints = append(g.Constraints, c)
	}
	return g, nil
}

func readConstraint(form url.Values, at string, zone *time.Location) (constraint, error) {
	get := func(field string) string { return form.Get(at + field) }
	kind, err := strconv.ParseInt(get("type"), 10, 32)
	if err != nil {
		return constraint{}, errForm
	}
	from, err := strconv.Atoi(get("from"))
	if err != nil {
		from = -1
	}
	c := constraint{
		From: from, Open: get("open") != "", Type: flipt.ComparisonType(kind), Property: get("property"), Operator: get("operator"),
		Value: get("value"), Negate: get("not") != "", Note: get("note"),
	}
	if !c.Open {
		c.enter(zone)
		return c, nil
	}
	kindWas, operatorWas, _ := strings.Cut(get("was"), " ")
	was, err := strconv.ParseInt(kindWas, 10, 32)
	if err != nil {
		return constraint{}, errForm
	}
	to, operator := c.Type, c.Operator
	c.Type, c.Operator = flipt.ComparisonType(was), operatorWas
	c.Text, c.Date = get("text"), dateEntry{get("date"), get("clock"), get("zone")}
	if entryOf(c.Type, c.Operator) == entryList {
		c.Text = page.Lines("", get("list"))
	}
	c.turn(to, operator, zone)
	c.accept(zone)
	return c, nil
}
