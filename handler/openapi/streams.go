package openapi

import "net/http"

// streamRoutes are the routes that answer with server-sent events.
var streamRoutes = []otherRoute{
	{http.MethodGet, ofrepPrefix + "/events", object{
		{"tags", []any{ofrepTag}},
		{"summary", "Listen for changes of a namespace, at the URL that a bulk answer states"},
		{"operationId", "ofrep_Events"},
		{"security", append([]any{object{{"capability", []any{}}}}, ofrepSecurity...)},
		{"parameters", []any{ofrepNamespaceHeader, ofrepNamespaceQuery, lastEventID}},
		{"responses", object{
			{"200", eventStream("Events of the type refetchEvaluation")},
			{"default", ofrepAnswer("Refused or failed", "OFREPError")},
		}},
	}},
	{http.MethodGet, "/api/v1/namespaces/{namespaceKey}/changes/stream", object{
		{"tags", []any{"guidon.v1.ChangeService"}},
		{"summary", "Follow what is changed in a namespace, each change record once and in order"},
		{"operationId", "ChangeService_StreamChanges"},
		{"parameters", []any{
			object{{"name", "namespaceKey"}, {"in", "path"}, {"required", true}, {"schema", object{{"type", "string"}}}},
			object{
				{"name", "from"}, {"in", "query"},
				{"description", "A revision, or the id of an event: the records after it follow; otherwise those from now on"},
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
	}},
}

var lastEventID = object{
	{"name", "Last-Event-ID"}, {"in", "header"},
	{"description", "The id of the last event that the client has seen; browsers send it by themselves"},
	{"schema", object{{"type", "string"}}},
}

func eventStream(description string) object {
	return textResponse(description, "text/event-stream")
}
