package service

import (
	"cmp"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
)

// PropertyQuery selects properties.
type PropertyQuery struct {
	Prefix string // whatever the case
	Limit  int32  // 0 means 200
}

// Validate returns InvalidArgument if the query breaks a rule, whatever the namespace.
func (q *PropertyQuery) Validate() error {
	return cmp.Or(checkLength("prefix", q.Prefix), Window{Limit: q.Limit}.Validate())
}

// Property is a property that the constraints of a namespace compare. It is shared.
type Property struct {
	Name   string         // empty for the entity id
	Types  []PropertyType // the most frequent first
	Values []string       // compared with for equality, the most frequent first
	More   bool           // there are other values
	uses   int
}

// PropertyType is a type by which constraints compare a property.
type PropertyType struct {
	Type  guidon.ComparisonType
	Count int // of constraints
}

// Limits of the known values of a property.
const (
	maxKnownValues  = 50
	maxCountedTexts = 1000 // different ones, of which the most frequent are known
	maxKnownValue   = maxSummaryText
)

// properties are the properties of a snapshot, those in the most constraints first.
var properties = guidon.NewSegmentsDerivation(newProperties)

// Properties returns the properties that begin with the prefix, those in the most
// constraints first, and how many there are.
func (v View) Properties(q PropertyQuery) ([]*Property, int, error) {
	if err := q.Validate(); err != nil {
		return nil, 0, err
	}
	limit := cmp.Or(int(q.Limit), maxWindow)
	var list []*Property
	total := 0
	for _, p := range properties.Of(v.Snapshot) {
		if len(q.Prefix) > len(p.Name) || !strings.EqualFold(p.Name[:len(q.Prefix)], q.Prefix) {
			continue
		}
		if total++; len(list) < limit {
			list = append(list, p)
		}
	}
	return list, total, nil
}

// propertyUse collects the uses of a property.
type propertyUse struct {
	types  map[guidon.ComparisonType]int
	values map[string]int
	more   bool
}

func newProperties(segments []*guidon.Segment) []*Property {
	uses := map[string]*propertyUse{}
	for _, g := range segments {
		for _, c := range g.Constraints {
			name := c.Property
			if c.Type == guidon.EntityIDComparison {
				name = ""
			}
			if uses[name] == nil {
				uses[name] = &propertyUse{types: map[guidon.ComparisonType]int{}, values: map[string]int{}}
			}
			uses[name].add(c)
		}
	}
	list := make([]*Property, 0, len(uses))
	for name, u := range uses {
		list = append(list, u.property(name))
	}
	slices.SortFunc(list, func(a, b *Property) int {
		return cmp.Or(cmp.Compare(b.uses, a.uses), strings.Compare(a.Name, b.Name))
	})
	return list
}

func (u *propertyUse) add(c *guidon.Constraint) {
	u.types[c.Type]++
	for _, value := range analysis.ComparedValues(c) {
		if value == "" {
			continue
		}
		_, known := u.values[value]
		if len(value) > maxKnownValue || !known && len(u.values) == maxCountedTexts {
			u.more = true
			continue
		}
		u.values[value]++
	}
}

func (u *propertyUse) property(name string) *Property {
	p := &Property{Name: name}
	for t, n := range u.types {
		p.Types = append(p.Types, PropertyType{t, n})
		p.uses += n
	}
	slices.SortFunc(p.Types, func(a, b PropertyType) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Type, b.Type))
	})
	best := newTop(maxKnownValues, byCount)
	for value, n := range u.values {
		best.add(FacetCount{value, n})
	}
	p.More = u.more || best.total > len(best.items)
	for _, one := range best.items {
		p.Values = append(p.Values, one.Value)
	}
	return p
}
