package openapi

// ofrepTag is the tag of the OpenFeature Remote Evaluation Protocol, whose routes have
// their own errors and messages.
const ofrepTag = "OFREP"

// ofrepItems has the items of the operations of OFREP, but for their summaries.
var ofrepItems = map[string]object{
	"/ofrep/v1/evaluate/flags/{key}": {
		{"tags", []any{ofrepTag}},
		{"operationId", "ofrep_EvaluateFlag"},
		{"security", ofrepSecurity},
		{"parameters", []any{
			object{{"name", "key"}, {"in", "path"}, {"required", true}, {"schema", object{{"type", "string"}}}},
			ofrepNamespaceHeader, ofrepNamespaceQuery,
		}},
		{"requestBody", object{{"required", true}, {"content", jsonContent(schemaRef("OFREPRequest"))}}},
		{"responses", object{
			{"200", ofrepAnswer("The value of the flag", "OFREPFlag")},
			{"default", ofrepAnswer("Error", "OFREPError")},
		}},
	},
	"/ofrep/v1/evaluate/flags": {
		{"tags", []any{ofrepTag}},
		{"operationId", "ofrep_EvaluateFlags"},
		{"security", ofrepSecurity},
		{"parameters", []any{
			ofrepNamespaceHeader, ofrepNamespaceQuery,
			object{{"$ref", "#/components/parameters/IfNoneMatch"}},
			object{
				{"name", "flagConfigEtag"}, {"in", "query"},
				{"description", "A version reported by a change event; the response is from that version or a later one"},
				{"schema", object{{"type", "string"}}},
			},
		}},
		{"requestBody", object{{"required", true}, {"content", jsonContent(schemaRef("OFREPRequest"))}}},
		{"responses", object{
			{"200", object{
				{"description", "The values of the flags, sorted by key; a flag that fails is an error in the list"},
				{"headers", object{{"ETag", object{
					{"description", "Identifies the response; depends on state, namespace and context"}, {"schema", object{{"type", "string"}}},
				}}}},
				{"content", jsonContent(schemaRef("OFREPFlags"))},
			}},
			{"304", object{{"description", "The ETag in If-None-Match is current; there is no body"}}},
			{"default", ofrepAnswer("Error", "OFREPError")},
		}},
	},
	"/ofrep/v1/configuration": {
		{"tags", []any{ofrepTag}},
		{"operationId", "ofrep_Configuration"},
		{"security", ofrepSecurity},
		{"responses", object{
			{"200", object{{"description", "The capabilities"}, {"content", jsonContent(object{{"type", "object"}})}}},
			{"default", ofrepAnswer("Error", "OFREPError")},
		}},
	},
}

var ofrepSecurity = []any{object{{"bearer", []any{}}}, object{{"apiKey", []any{}}}, object{{"cookie", []any{}}}, object{}}

var ofrepNamespaceHeader = object{
	{"name", "X-Flipt-Namespace"}, {"in", "header"},
	{"description", "The namespace; if absent, that of the query, of the token, or the default one. X-Guidon-Namespace is an alias"},
	{"schema", object{{"type", "string"}}},
}

var ofrepNamespaceQuery = object{
	{"name", "namespace"}, {"in", "query"}, {"schema", object{{"type", "string"}}},
}

func ofrepAnswer(description, schema string) object {
	return object{{"description", description}, {"content", jsonContent(schemaRef(schema))}}
}

func schemaRef(name string) object {
	return object{{"$ref", "#/components/schemas/" + name}}
}

// ofrepSchemas are the schemas of the OFREP messages.
var ofrepSchemas = object{
	{"OFREPRequest", object{
		{"type", "object"},
		{"properties", object{{"context", object{
			{"type", "object"},
			{"description", "Properties of any kind"},
			{"properties", object{
				{"targetingKey", object{{"type", []any{"string", "number"}}, {"description", "The id of the entity; required only by flags with a percentage split"}}},
				{"flags", object{{"type", "string"}, {"description", "Keys of the flags to evaluate in bulk, separated by commas"}}},
			}},
			{"additionalProperties", true},
			{"maxProperties", 1000},
		}}}},
	}},
	{"OFREPFlag", object{
		{"type", "object"},
		{"properties", object{
			{"key", object{{"type", "string"}}},
			{"value", object{{"description", "Absent if the default in the client's code applies; never null"}}},
			{"variant", object{{"type", "string"}}},
			{"reason", object{{"type", "string"}, {"enum", []any{"STATIC", "DEFAULT", "TARGETING_MATCH", "SPLIT", "DISABLED"}}}},
			{"metadata", object{{"type", "object"}, {"additionalProperties", object{{"type", []any{"string", "number", "boolean"}}}}}},
		}},
		{"required", []any{"key", "variant", "reason"}},
	}},
	{"OFREPFlags", object{
		{"type", "object"},
		{"properties", object{
			{"flags", object{{"type", "array"}, {"items", object{{"anyOf", []any{schemaRef("OFREPFlag"), schemaRef("OFREPError")}}}}}},
			{"eventStreams", object{
				{"type", "array"},
				{"description", "Streams of change events; absent if none is available"},
				{"items", object{
					{"type", "object"},
					{"properties", object{
						{"type", object{{"const", "sse"}}},
						{"url", object{{"type", "string"}, {"description", "Set if the server knows its public URL"}}},
						{"endpoint", object{
							{"type", "object"},
							{"properties", object{{"requestUri", object{{"type", "string"}, {"description", "Path and query, at the origin of the request"}}}}},
						}},
						{"inactivityDelaySec", object{{"type", "integer"}}},
					}},
					{"required", []any{"type"}},
				}},
			}},
			{"metadata", object{
				{"type", "object"},
				{"properties", object{
					{"flagSetId", object{{"type", "string"}, {"description", "The namespace"}}},
					{"version", object{{"type", "string"}, {"description", "Its revision"}}},
				}},
			}},
		}},
		{"required", []any{"flags"}},
	}},
	{"OFREPError", object{
		{"type", "object"},
		{"properties", object{
			{"key", object{{"type", "string"}, {"description", "The flag, if the error is about one"}}},
			{"errorCode", object{{"type", "string"}, {"enum", []any{"PARSE_ERROR", "INVALID_CONTEXT", "TARGETING_KEY_MISSING", "FLAG_NOT_FOUND", "GENERAL"}}}},
			{"errorDetails", object{{"type", "string"}}},
		}},
		{"required", []any{"errorCode", "errorDetails"}},
	}},
}
