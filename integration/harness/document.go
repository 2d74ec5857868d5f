package harness

// Document is a small document to import: a variant flag and a boolean flag, both with a
// segment. The tests of the published clients evaluate these.
var Document = map[string]any{
	"segments": []any{map[string]any{
		"key": "segment1", "name": "Segment 1",
		"constraints": []any{map[string]any{
			"type": "STRING_COMPARISON_TYPE", "property": "fizz", "operator": "eq", "value": "buzz",
		}},
	}},
	"flags": []any{
		map[string]any{
			"key": "flag1", "name": "Flag 1", "enabled": true,
			"variants": []any{map[string]any{"key": "variant1", "attachment": `{"colour":"teal"}`}},
			"rules": []any{map[string]any{
				"segmentKeys":   []any{"segment1"},
				"distributions": []any{map[string]any{"variant": "variant1", "rollout": 100}},
			}},
		},
		map[string]any{
			"key": "flag_boolean", "name": "Boolean", "type": "BOOLEAN_FLAG_TYPE",
			"rollouts": []any{map[string]any{"segment": map[string]any{"segmentKeys": []any{"segment1"}, "value": true}}},
		},
	},
}
