// Package valuewords says values of the API in the words of pages.
package valuewords

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
)

// Object is the flag or segment that has the values. The zero value names everything by its key.
type Object struct {
	Variants []string                // the keys of the variants of the flag, which have colors
	Segment  func(key string) string // returns the name of a segment; may be nil
}

// Max limits the values that are shown, in bytes.
const Max = 2 << 10

// Shortened returns the text for people, and only its beginning if it is long.
func Shortened(text string) string {
	if shown := page.Printable(text, Max); len(text) <= Max {
		return shown
	} else {
		return shown + "…"
	}
}

// Order returns an order of the API in words. Variants have their keys. Other parts have ids
// there; they are numbered as in the order first.
func Order(path string, value, first *structpb.Value) string {
	ids, _ := textsOf(value.GetListValue())
	if path == "variants.order" {
		return Shortened(strings.Join(ids, ", "))
	}
	before, _ := textsOf(first.GetListValue())
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.Itoa(slices.Index(before, id) + 1)
	}
	return Shortened(strings.Join(words, ", "))
}

// IsOrder reports whether the path is that of an order.
func IsOrder(path string) bool { return strings.HasSuffix(path, ".order") }

// IsShares reports whether the path is that of the shares of a rule.
func IsShares(path string) bool { return member(path) == "distributions" }

// member returns the last member of a path, such as "rollout".
func member(path string) string {
	if i := strings.LastIndexByte(path, '.'); i >= 0 && !strings.HasSuffix(path, `"]`) {
		return path[i+1:]
	}
	return path
}

// enums are values of the API in words.
var enums = map[string]string{
	"OR_SEGMENT_OPERATOR": "in any of them", "AND_SEGMENT_OPERATOR": "in all of them",
	"ALL_MATCH_TYPE": "All of them match", "ANY_MATCH_TYPE": "Any of them matches",
	"VARIANT_FLAG_TYPE": "Variant", "BOOLEAN_FLAG_TYPE": "Boolean",
	"STRING_COMPARISON_TYPE": "Text", "NUMBER_COMPARISON_TYPE": "Number", "BOOLEAN_COMPARISON_TYPE": "Yes or no",
	"DATETIME_COMPARISON_TYPE": "Date", "ENTITY_ID_COMPARISON_TYPE": "Entity",
}

// Value returns a value of the part with a path in words; "" if there is none.
func (o Object) Value(path string, value *structpb.Value) string {
	at := member(path)
	switch kind := value.GetKind().(type) {
	case nil:
		return ""
	case *structpb.Value_BoolValue:
		if at == "enabled" || at == "value" {
			return onOff(kind.BoolValue)
		}
	case *structpb.Value_NumberValue:
		if at == "rollout" || at == "percentage" {
			return page.Percent(kind.NumberValue)
		}
	case *structpb.Value_StringValue:
		if word := enums[kind.StringValue]; word != "" && at != "description" && at != "name" {
			return word
		}
		return Shortened(kind.StringValue)
	case *structpb.Value_ListValue:
		if IsShares(path) {
			return Shortened(sharesText(o.Shares(value)))
		}
		if texts, ok := textsOf(kind.ListValue); ok {
			if at == "segmentKeys" {
				texts = o.SegmentNames(texts)
			}
			return Shortened(strings.Join(texts, ", "))
		}
	case *structpb.Value_StructValue:
		if text := o.object(kind.StructValue.GetFields()); text != "" {
			return Shortened(text)
		}
	}
	text, err := json.Marshal(value.AsInterface())
	if err != nil {
		return ""
	}
	return Shortened(string(text))
}

func onOff(on bool) string {
	if on {
		return "On"
	}
	return "Off"
}

func textsOf(list *structpb.ListValue) (texts []string, ok bool) {
	for _, v := range list.GetValues() {
		if _, text := v.GetKind().(*structpb.Value_StringValue); !text {
			return nil, false
		}
		texts = append(texts, v.GetStringValue())
	}
	return texts, true
}

// SegmentNames returns the names of the segments with the keys.
func (o Object) SegmentNames(keys []string) []string {
	if o.Segment == nil {
		return keys
	}
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = o.Segment(key)
	}
	return names
}

// object returns a rule, a step, a condition or a variant in words; "" if it is something else.
func (o Object) object(fields map[string]*structpb.Value) string {
	switch {
	case fields["segmentKeys"] != nil:
		text := o.Value("segmentKeys", fields["segmentKeys"])
		if shares := o.Shares(fields["distributions"]); len(shares) > 0 {
			return text + ": " + sharesText(shares)
		}
		if fields["value"] != nil {
			return text + ": " + onOff(fields["value"].GetBoolValue())
		}
		return text
	case fields["segment"] != nil:
		return o.Value("segment", fields["segment"])
	case fields["threshold"] != nil:
		t := fields["threshold"].GetStructValue().GetFields()
		return page.Percent(t["percentage"].GetNumberValue()) + " of everyone: " + onOff(t["value"].GetBoolValue())
	case fields["operator"] != nil:
		return conditionText(&structpb.Struct{Fields: fields})
	}
	return ""
}

// Shares returns the shares in a list of the API, or nil.
func (o Object) Shares(list *structpb.Value) (shares []part.Share) {
	for _, v := range list.GetListValue().GetValues() {
		key, percent := v.GetStructValue().GetFields()["variant"].GetStringValue(), v.GetStructValue().GetFields()["rollout"].GetNumberValue()
		color := -1
		for i, variant := range o.Variants {
			if variant == key {
				color = i
			}
		}
		shares = append(shares, part.Share{
			Name: page.Printable(key, Max), Color: part.VariantColor(color), Percent: percent, Text: page.Percent(percent),
		})
	}
	return shares
}

func sharesText(shares []part.Share) string {
	words := make([]string, len(shares))
	for i, s := range shares {
		words[i] = s.Name + " " + s.Text
	}
	return strings.Join(words, ", ")
}

// conditionText returns a condition in words; "" if it is something else.
func conditionText(object *structpb.Struct) string {
	var c guidon.Constraint
	text, err := object.MarshalJSON()
	if err != nil || json.Unmarshal(text, &c) != nil {
		return ""
	}
	return analysis.DescribeConstraint(&c)
}
