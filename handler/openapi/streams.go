package openapi

// streamItems is ofrepItems for the event streams.
var streamItems = map[string]object{
	"/ofrep/v1/events": {
		{"tags", []any{ofrepTag}},
		{"operationId", "ofrep_Events"},
		{"security", append([]any{object{{"capability", []any{}}}}, ofrepSecurity...)},
		{"parameters", []any{ofrepNamespaceHeader, ofrepNamespaceQuery, lastEventID}},
		{"responses", object{
			{"200", eventStream("Events of the type refetchEvaluation")},
			{"default", ofrepAnswer("Error", "OFREPError")},
		}},
	},
	"/api/v1/namespaces/{namespace_key}/changes/stream": {
		{"tags", []any{"guidon.v1.ChangeService"}},
		{"operationId", "ChangeService_StreamChanges"},
		{"parameters", []any{
			object{{"name", "namespaceKey"}, {"in", "path"}, {"required", true}, {"schema", object{{"type", "string"}}}},
			object{
				{"name", "from"}, {"in", "query"},
				{"description", "A revision or the id of an event: the stream starts after it; if absent, it starts with the next change"},
				{"schema", object{{"type", "string"}}},
			},
			lastEventID,
			object{{"$ref", "#/components/parameters/MinRevision"}},
		}},
		{"responses", object{
			{"200", eventStream("Events named change, whose data are guidon.v1.Change and whose ids are revision and sequence")},
			{"401", object{{"$ref", "#/components/responses/Unauthenticated"}}},
			{"default", object{{"$ref", "#/components/responses/Error"}}},
		}},
	},
}

var lastEventID = object{
	{"name", "Last-Event-ID"}, {"in", "header"},
	{"description", "The id of the last event that the client has received; browsers send it automatically"},
	{"schema", object{{"type", "string"}}},
}

func eventStream(description string) object {
	return textResponse(description, "text/event-stream")
}
