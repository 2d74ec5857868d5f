package openapi

// streamItems describe the operations whose responses are event streams.
var streamItems = map[string]func(*schemas, Example) operationParts{
	"/ofrep/v1/events": func(_ *schemas, e Example) operationParts {
		return operationParts{
			tag:        ofrepTag,
			security:   append([]any{object{{"capability", []any{}}}}, ofrepSecurity...),
			parameters: []any{parameterRef("NamespaceHeader"), parameterRef("NamespaceQuery"), parameterRef("LastEventId")},
			responses:  eventStream("Server-sent events of the type refetchEvaluation, without values", e),
		}
	},
	"/api/v1/namespaces/{namespace_key}/changes/stream": func(_ *schemas, e Example) operationParts {
		return operationParts{
			tag: "guidon.v1.ChangeService",
			parameters: []any{
				object{
					{"name", "namespaceKey"}, {"in", "path"}, {"required", true}, {"description", "The namespace."},
					{"schema", object{{"type", "string"}}}, {"example", "default"},
				},
				object{
					{"name", "from"}, {"in", "query"},
					{"description", "A revision or the id of an event: the stream starts after it. If absent, it starts with the next change."},
					{"schema", object{{"type", "string"}}}, {"example", "1"},
				},
				parameterRef("LastEventId"), parameterRef("MinRevision"),
			},
			responses: eventStream("Server-sent events named change. The data of each is a Change in JSON, its id the revision and the sequence of the change", e),
		}
	},
}

func eventStream(description string, e Example) object {
	return object{{"200", object{
		{"description", description}, {"headers", object{{"X-Request-Id", headerRef("RequestId")}}}, {"content", e.text("text/event-stream")},
	}}}
}
