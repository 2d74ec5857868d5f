package main

import "fmt"

// The flags: even ones are boolean with a threshold of 50 %, odd ones have a rule
// on one segment and two variants, half and half. All segments have the same three
// constraints, which all entities meet: so every evaluation goes the longest way.
const (
	segmentCount = 10
	entityCount  = 1000
	pageFlags    = 50     // of a batch, and of the namespace that bulk requests are about
	pageSpace    = "page" // that namespace
)

type object = map[string]any

func booleanKey(i int) string { return fmt.Sprintf("bool-%05d", i) }
func variantKey(i int) string { return fmt.Sprintf("var-%05d", i) }

func flagKey(i int) string {
	if i%2 == 0 {
		return booleanKey(i)
	}
	return variantKey(i)
}

// document returns n flags for the import call of the service.
func document(n int) object {
	flags, segments := make([]object, n), make([]object, segmentCount)
	for i := range segments {
		segments[i] = object{
			"key": segmentKey(i), "name": segmentKey(i), "matchType": "ALL_MATCH_TYPE",
			"constraints": []object{
				{"type": "STRING_COMPARISON_TYPE", "property": "country", "operator": "eq", "value": "US"},
				{"type": "NUMBER_COMPARISON_TYPE", "property": "age", "operator": "gte", "value": "18"},
				{"type": "BOOLEAN_COMPARISON_TYPE", "property": "beta", "operator": "true"},
			},
		}
	}
	for i := range flags {
		flags[i] = object{"key": flagKey(i), "name": flagKey(i)}
		if i%2 == 0 {
			flags[i]["type"] = "BOOLEAN_FLAG_TYPE"
			flags[i]["rollouts"] = []object{{"threshold": object{"percentage": 50, "value": true}}}
			continue
		}
		flags[i]["enabled"] = true
		flags[i]["variants"] = []object{{"key": "a"}, {"key": "b"}}
		flags[i]["rules"] = []object{{
			"segmentKeys":   []string{segmentKey(i)},
			"distributions": []object{{"variant": "a", "rollout": 50}, {"variant": "b", "rollout": 50}},
		}}
	}
	return object{"flags": flags, "segments": segments}
}

func segmentKey(i int) string { return fmt.Sprintf("segment-%d", i%segmentCount) }

// entity is who a flag is evaluated for.
type entity struct {
	id  string
	age int
}

func entityOf(i int) entity { return entity{id: fmt.Sprintf("user-%04d", i), age: 18 + i%50} }

// evaluation is a request for one flag over the Flipt interface.
func (e entity) evaluation(flag string) object {
	return object{
		"namespaceKey": "default", "flagKey": flag, "entityId": e.id,
		"context": map[string]string{"country": "US", "age": fmt.Sprint(e.age), "beta": "true"},
	}
}

// context is what OFREP says of the entity.
func (e entity) context() object {
	return object{"context": object{"targetingKey": e.id, "country": "US", "age": e.age, "beta": true}}
}
