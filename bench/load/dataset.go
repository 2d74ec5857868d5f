package main

import "fmt"

// segmentCount is the number of segments, which the rules use in turn.
const segmentCount = 10

type object = map[string]any

// flagKey returns the key of a flag. Even flags are boolean, with a threshold of 50 %. Odd
// flags have two variants, and a rule for one segment that distributes them equally. All
// segments have the same three constraints, so that for a matching entity every
// evaluation takes the longest path.
func flagKey(i int) string {
	if i%2 == 0 {
		return fmt.Sprintf("bool-%05d", i)
	}
	return fmt.Sprintf("var-%05d", i)
}

// document returns a document with n flags.
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
