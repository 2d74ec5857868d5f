package openapi

// ofrepTag is the tag of the OpenFeature Remote Evaluation Protocol, whose routes have
// their own errors and messages.
const ofrepTag = "OFREP"

// ofrepItems describe the operations of OFREP.
var ofrepItems = map[string]func(*schemas, Example) operationParts{
	"/ofrep/v1/evaluate/flags/{key}": func(_ *schemas, e Example) operationParts {
		key := object{
			{"name", "key"}, {"in", "path"}, {"required", true}, {"description", "The key of the flag."},
			{"schema", object{{"type", "string"}}}, {"example", "new-checkout"},
		}
		return operationParts{
			tag: ofrepTag, security: ofrepSecurity,
			parameters: []any{key, parameterRef("NamespaceHeader"), parameterRef("NamespaceQuery")},
			body:       ofrepBody(e),
			responses:  ofrepSuccess("The value of the flag", e.json(schemaRef("OFREPFlag"))),
		}
	},
	"/ofrep/v1/evaluate/flags": func(_ *schemas, e Example) operationParts {
		version := object{
			{"name", "flagConfigEtag"}, {"in", "query"},
			{"description", "A version that a change event has reported; the response is from that version or a later one."},
			{"schema", object{{"type", "string"}}},
		}
		return operationParts{
			tag: ofrepTag, security: ofrepSecurity,
			parameters: []any{parameterRef("NamespaceHeader"), parameterRef("NamespaceQuery"), parameterRef("IfNoneMatch"), version},
			body:       ofrepBody(e),
			responses: object{
				{"200", object{
					{"description", "The values of the flags, sorted by key"},
					{"headers", object{{"X-Request-Id", headerRef("RequestId")}, {"ETag", headerRef("OFREPETag")}}},
					{"content", e.json(schemaRef("OFREPFlags"))},
				}},
				{"304", object{{"description", "The ETag in If-None-Match is current; there is no body."}}},
			},
		}
	},
	"/ofrep/v1/configuration": func(_ *schemas, e Example) operationParts {
		return operationParts{
			tag: ofrepTag, security: ofrepSecurity,
			responses: ofrepSuccess("The capabilities", e.json(anyObject())),
		}
	},
}

func ofrepBody(e Example) object {
	media := object{{"schema", schemaRef("OFREPRequest")}}
	if len(e.Request) > 0 {
		media = media.with("example", e.request())
	}
	return object{{"required", true}, {"content", object{{"application/json", media}}}}
}

func ofrepSuccess(description string, content object) object {
	return object{{"200", object{
		{"description", description}, {"headers", object{{"X-Request-Id", headerRef("RequestId")}}}, {"content", content},
	}}}
}

var ofrepSecurity = []any{object{{"bearer", []any{}}}, object{{"apiKey", []any{}}}, object{{"cookie", []any{}}}, object{}}

func schemaRef(name string) object {
	return object{{"$ref", "#/components/schemas/" + name}}
}

// text is the schema of a described string.
func textSchema(description string) object {
	return object{{"type", "string"}, {"description", description}}
}

// ofrepSchemas are the schemas of the OFREP messages.
var ofrepSchemas = object{
	{"OFREPRequest", record("An entity that flags are evaluated for.", object{{"context", object{
		{"type", "object"},
		{"description", "Properties of any kind."},
		{"properties", object{
			{"targetingKey", textSchema("The id of the entity, which decides its share of a percentage. A number is accepted too.")},
			{"flags", textSchema("Keys of the flags to evaluate, separated by commas, if not all.")},
		}},
		{"additionalProperties", true},
		{"maxProperties", 1000},
	}}})},
	{"OFREPFlag", record("The value of a flag.", object{
		{"key", textSchema("The key of the flag.")},
		{"value", object{{"description", "Any JSON but null. Absent if the default in the client's code applies."}}},
		{"variant", textSchema("The key of the variant; true or false for a boolean flag.")},
		{"reason", schemaRef("OFREPReason").with("description", "Why the flag has the value.")},
		{"metadata", anyObject().with("description", "The metadata of the flag, and what the evaluation adds: texts, numbers and booleans.")},
	}, "key", "variant", "reason")},
	{"OFREPReason", object{
		{"type", "string"},
		{"description", "Why a flag has its value.\n\n- `STATIC`: it has no rules.\n- `DEFAULT`: nothing matched.\n- `TARGETING_MATCH`: a rule matched.\n- `SPLIT`: a percentage decided.\n- `DISABLED`: the variant flag is disabled."},
		{"enum", []any{"STATIC", "DEFAULT", "TARGETING_MATCH", "SPLIT", "DISABLED"}},
		{"x-enum-varnames", []any{"Static", "Default", "TargetingMatch", "Split", "Disabled"}},
	}},
	{"OFREPFlags", record("The values of flags.", object{
		{"flags", object{
			{"type", "array"},
			{"description", "The values, and the errors of flags that failed."},
			{"items", object{{"oneOf", []any{schemaRef("OFREPFlag"), schemaRef("OFREPError")}}}},
		}},
		{"eventStreams", object{
			{"type", "array"},
			{"description", "Streams of change events; absent if none is available."},
			{"items", schemaRef("OFREPEventStream")},
		}},
		{"metadata", object{
			{"type", "object"},
			{"description", "What the values are of."},
			{"properties", object{
				{"flagSetId", textSchema("The namespace.")},
				{"version", textSchema("Its revision.")},
			}},
			{"additionalProperties", true},
		}},
	}, "flags")},
	{"OFREPEventStream", record("Where to listen for change events.", object{
		{"type", object{{"type", "string"}, {"description", "Server-sent events."}, {"const", "sse"}}},
		{"url", textSchema("The address, if the server knows its public one.")},
		{"endpoint", record("The address without an origin, otherwise.", object{{"requestUri", textSchema("Path and query, at the origin of the request.")}})},
		{"inactivityDelaySec", object{{"type", "integer"}, {"description", "After how many seconds in the background a client may disconnect."}}},
	}, "type")},
	{"OFREPError", record("An error of OFREP.", object{
		{"key", textSchema("The flag, if the error is about one.")},
		{"errorCode", schemaRef("OFREPErrorCode").with("description", "What is wrong.")},
		{"errorDetails", textSchema("The same in words.")},
	}, "errorCode", "errorDetails")},
	{"OFREPErrorCode", object{
		{"type", "string"},
		{"description", "What is wrong, as OpenFeature has it."},
		{"enum", []any{"PARSE_ERROR", "INVALID_CONTEXT", "TARGETING_KEY_MISSING", "FLAG_NOT_FOUND", "GENERAL"}},
		{"x-enum-varnames", []any{"ParseError", "InvalidContext", "TargetingKeyMissing", "FlagNotFound", "General"}},
	}},
}
