// Package unleash translates flags of Unleash to documents in which every user keeps their
// variant, and proves it by evaluating generated users in both ways.
package unleash

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/guidonhq/guidon"
)

// Limits of the input.
const (
	MaxInput    = 64 << 20 // bytes
	maxFeatures = 20_000
)

// Environment is the flags of Unleash in one of its environments. They must not be modified, nor
// used concurrently.
type Environment struct {
	Name     string // empty if the input does not say it
	Features []Feature
	segments map[int]*segment
	byName   map[string]*Feature // see feature
}

// Feature is a flag of Unleash in one environment.
type Feature struct {
	Name         string
	Description  string
	Enabled      bool
	Archived     bool
	Strategies   []strategy
	Variants     []variant
	Dependencies []dependency
}

type strategy struct {
	Name        string
	Parameters  map[string]text
	Constraints []constraint
	Segments    []int
	Variants    []variant
	Disabled    bool
	lists       map[string][]string // of parameters, see list

	// In exports, where strategies are not within their features.
	ID           string
	StrategyName string // instead of Name
	FeatureName  string
	Environment  string // empty if the export has only one
	SortOrder    float64
}

type constraint struct {
	ContextName     string
	Operator        string
	Values          values
	Value           text
	Inverted        bool
	CaseInsensitive bool
}

type segment struct {
	ID          int
	Name        string
	Constraints *[]constraint // nil if the input has only the name
}

type variant struct {
	Name       string
	Weight     float64
	Stickiness string
	Payload    *payload
	Overrides  []override
}

type payload struct {
	Type  string
	Value text
}

type override struct {
	ContextName string
	Values      []string
}

// text is a JSON string, or a number or boolean as it is written. A null is empty.
type text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(value []byte) error {
	switch value[0] {
	case '"':
		return json.Unmarshal(value, (*string)(t))
	case '{', '[':
		return &json.UnmarshalTypeError{Value: "list or object", Type: reflect.TypeFor[string]()}
	}
	if *t = text(value); *t == "null" {
		*t = ""
	}
	return nil
}

// values are the texts of a constraint, trimmed and without empty ones, as Unleash compares them.
type values []string

// UnmarshalJSON implements json.Unmarshaler.
func (v *values) UnmarshalJSON(list []byte) error {
	var texts []text
	if json.Unmarshal(list, &texts) != nil {
		return &json.UnmarshalTypeError{Value: "value instead of a list of texts", Type: reflect.TypeFor[[]string]()}
	}
	for _, value := range texts {
		if value != "" {
			*v = append(*v, strings.TrimSpace(string(value)))
		}
	}
	return nil
}

// input is a response of Unleash's client API, an export of features, or an export of the
// state. The latter two have lists of environments and strategies of their own.
type input struct {
	Features                []Feature
	Segments                []segment
	Query                   struct{ Environment string }
	FeatureStrategies       []strategy
	FeatureEnvironments     []featureEnvironment
	FeatureStrategySegments []struct {
		FeatureStrategyID string
		SegmentID         int
	}
	Dependencies []struct {
		Feature      string
		Dependencies []dependency
	}
}

type featureEnvironment struct {
	FeatureName string
	Environment string
	Enabled     bool
	Variants    []variant
}

// Read reads a response of Unleash's client API (/api/client/features), an export of
// features, or an export of the state. It returns the environments in their order.
func Read(from []byte) ([]*Environment, error) {
	if len(from) > MaxInput {
		return nil, guidon.Errorf(guidon.TooLarge, "the input is larger than %d MiB", MaxInput>>20)
	}
	var in input
	if err := json.Unmarshal(from, &in); err != nil {
		return nil, placed(from, err)
	}
	switch {
	case in.Features == nil:
		return nil, guidon.Errorf(guidon.InvalidArgument, `this is no export of Unleash: it has no "features"`)
	case in.FeatureEnvironments != nil && len(in.FeatureEnvironments) == 0:
		return nil, guidon.Errorf(guidon.InvalidArgument, `the export has no environment: "featureEnvironments" is empty`)
	case len(in.Features) > maxFeatures:
		return nil, guidon.Errorf(guidon.TooLarge, "there are more than %d features", maxFeatures)
	}
	segments := make(map[int]*segment, len(in.Segments))
	for i := range in.Segments {
		segments[in.Segments[i].ID] = &in.Segments[i]
	}
	all := []*Environment{{Name: in.Query.Environment, Features: in.Features}}
	if in.FeatureEnvironments != nil {
		all = in.environments()
	}
	for _, e := range all {
		e.segments = segments
	}
	return all, nil
}

// placed returns the error of an input with its place.
func placed(from []byte, err error) error {
	offset, message := int64(len(from)), err.Error()
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = syntax.Offset
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		message = fmt.Sprintf("%s: unexpected %s", strings.ToLower(wrong.Field), wrong.Value)
		if offset = wrong.Offset; offset == 0 {
			return guidon.Errorf(guidon.InvalidArgument, "%s", message)
		}
	}
	before := from[:min(offset, int64(len(from)))]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	number := bytes.Count(before, []byte("\n")) + 1
	return guidon.Errorf(guidon.InvalidArgument, "line %d, column %d: %s", number, utf8.RuneCount(line), message)
}

// environments returns the environments of an export.
func (in *input) environments() (all []*Environment) {
	type place struct{ feature, environment string }
	settings, strategies := map[place]featureEnvironment{}, map[place][]strategy{}
	for _, e := range in.FeatureEnvironments {
		settings[place{e.FeatureName, e.Environment}] = e
		if !slices.ContainsFunc(all, func(o *Environment) bool { return o.Name == e.Environment }) {
			all = append(all, &Environment{Name: e.Environment})
		}
	}
	segments := map[string][]int{}
	for _, s := range in.FeatureStrategySegments {
		segments[s.FeatureStrategyID] = append(segments[s.FeatureStrategyID], s.SegmentID)
	}
	slices.SortStableFunc(in.FeatureStrategies, func(a, b strategy) int { return cmp.Compare(a.SortOrder, b.SortOrder) })
	for _, s := range in.FeatureStrategies {
		s.Name = cmp.Or(s.StrategyName, s.Name)
		s.Segments = append(s.Segments, segments[s.ID]...)
		at := place{s.FeatureName, s.Environment}
		strategies[at] = append(strategies[at], s)
	}
	dependencies := map[string][]dependency{}
	for _, d := range in.Dependencies {
		dependencies[d.Feature] = d.Dependencies
	}
	for _, e := range all {
		for _, here := range in.Features {
			at := place{here.Name, e.Name}
			here.Enabled = settings[at].Enabled
			here.Dependencies = append(here.Dependencies, dependencies[here.Name]...)
			here.Strategies = slices.Concat(strategies[at], strategies[place{here.Name, ""}])
			if variants := settings[at].Variants; variants != nil {
				here.Variants = variants
			}
			e.Features = append(e.Features, here)
		}
	}
	return all
}
