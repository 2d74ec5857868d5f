package code

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// maxSegments limits the segments of a flag that are read.
const maxSegments = 50

// Facts has the names of the segments of a flag and the properties that they compare.
type Facts struct {
	names      map[string]string
	Properties []Property // that they compare, by name
	Partial    bool       // the flag has more segments than those that were read
}

// Property is a property of contexts.
type Property struct {
	Name   string
	Type   flipt.ComparisonType
	Sample string // a value in JSON that says something
}

// FactsOf returns the facts about the segments that the flag refers to, as they are now.
func FactsOf(v *page.Visit, f *guidonv1.DocumentFlag) (*Facts, error) {
	facts := &Facts{names: make(map[string]string)}
	keys := page.SegmentKeys(f)
	if len(keys) > maxSegments {
		keys, facts.Partial = keys[:maxSegments], true
	}
	for _, key := range keys {
		segment, err := page.GetSegment.Run(v, &flipt.GetSegmentRequest{NamespaceKey: v.Key(), Key: key})
		if guidon.CodeOf(err) == guidon.NotFound || guidon.IsUnreadable(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		facts.names[key] = cmp.Or(segment.GetName(), key)
		facts.add(segment.GetConstraints())
	}
	slices.SortFunc(facts.Properties, func(a, b Property) int { return strings.Compare(a.Name, b.Name) })
	return facts, nil
}

func (i *Facts) add(constraints []*flipt.Constraint) {
	for _, c := range constraints {
		known := func(p Property) bool { return p.Name == c.GetProperty() }
		if c.GetType() != flipt.ComparisonType_ENTITY_ID_COMPARISON_TYPE && !slices.ContainsFunc(i.Properties, known) {
			i.Properties = append(i.Properties, Property{c.GetProperty(), c.GetType(), sample(c)})
		}
	}
}

// SegmentName returns the name of the segment, and whether it exists.
func (i *Facts) SegmentName(key string) (string, bool) {
	name, ok := i.names[key]
	return cmp.Or(name, key), ok
}

// TypeText returns the type in words.
func (p Property) TypeText() string {
	return cmp.Or(analysis.TypeWords(guidon.ComparisonType(p.Type)), "unknown type") // #nosec G115 -- the enums are the same
}

// maxSample limits a sample, in bytes.
const maxSample = 60

// sample returns a value of the type that the constraint compares, if possible its own.
func sample(c *flipt.Constraint) string {
	own := guidon.Constraint{Type: guidon.ComparisonType(c.GetType()), Operator: c.GetOperator(), Value: c.GetValue()} // #nosec G115 -- an enum
	value := c.GetValue()
	switch values := analysis.ComparedValues(&own); {
	case len(values) > 0:
		value = values[0]
	case own.Type.Addition() && own.Type != guidon.VersionComparison:
		value = "" // what they compare with is no value of the property
	}
	if len(value) > maxSample || !utf8.ValidString(value) {
		value = ""
	}
	switch c.GetType() {
	case flipt.ComparisonType_BOOLEAN_COMPARISON_TYPE:
		return "true"
	case flipt.ComparisonType_NUMBER_COMPARISON_TYPE:
		if _, err := strconv.ParseFloat(value, 64); err == nil && json.Valid([]byte(value)) {
			return value
		}
		return "1"
	case flipt.ComparisonType_ADDRESS_COMPARISON_TYPE:
		value = cmp.Or(value, "192.0.2.1")
	}
	return textIn(cmp.Or(value, "text"))
}
