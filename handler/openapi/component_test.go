package openapi

// errorSchema allows no other members (contract 5.1).
var errorSchema = object{
	{"type", "object"},
	{"description", "An error."},
	{"properties", object{
		{"code", object{{"type", "integer"}, {"format", "int32"}, {"description", "The number of the gRPC code."}}},
		{"message", textSchema("What is wrong. It names the field and the rule.")},
		{"details", object{{"type", "array"}, {"description", "Always empty."}, {"items", object{}}, {"maxItems", 0}}},
	}},
	{"required", []any{"code", "message", "details"}},
	{"additionalProperties", false},
}

// responses are the components of responses, but for errors.
var responses = object{
	{"NotModified", object{
		{"description", "The ETag in If-None-Match is current; there is no body."},
		{"headers", object{{"Guidon-Revision", headerRef("GuidonRevision")}, {"ETag", headerRef("ETag")}}},
	}},
	{"SameState", object{
		{"description", "The state that was named by a reference has the ETag in If-None-Match; there is no body."},
		{"headers", object{{"Guidon-Revision", headerRef("GuidonRevision")}, {"ETag", headerRef("StateETag")}}},
	}},
	{"Redirect", object{
		{"description", "A browser goes on to another page."},
		{"headers", object{{"Location", headerRef("Location")}}},
	}},
}

// parameters are the components of parameters, all of them optional.
var parameters = object{
	header("IfMatch", "If-Match", "Write only if this is still the revision of the namespace.", object{{"type", "string"}}, "5"),
	header("Message", "Guidon-Message", "Why the change is made, kept in its records: at most 1,000 characters without line breaks, as UTF-8 of which any byte may be percent-encoded (a percent sign must be).",
		object{{"type", "string"}}, "Black Friday"),
	header("DryRun", "Guidon-Dry-Run", "With true, the change is checked and answered, and nothing is stored.", object{{"type", "boolean"}, {"default", false}}, true),
	header("MinRevision", "Guidon-Min-Revision", "The response is from this revision of the namespace or a later one, or 503 if there is none in time.",
		object{{"type", "integer"}, {"format", "int64"}, {"minimum", 0}}, 5),
	header("CacheControl", "Cache-Control", "With no-cache the response is from the current state of the database; other directives have no effect.", object{{"type", "string"}}, "no-cache"),
	header("IfNoneMatch", "If-None-Match", "The ETag of the response that the client has; if it is current, there is no body.", object{{"type", "string"}}, nil),
	header("ClientVersion", "X-Flipt-Accept-Server-Version", "The server version that the client was made for; the response has nothing that was added later.",
		object{{"type", "string"}, {"default", "1.37.1"}}, "1.47.0"),
	header("LastEventId", "Last-Event-ID", "The id of the last event that the client has received; browsers send it by themselves.", object{{"type", "string"}}, nil),
	header("NamespaceHeader", "X-Flipt-Namespace", "The namespace; if absent, that of the query, of the token, or the default one. X-Guidon-Namespace is an alias.",
		object{{"type", "string"}}, "default"),
	{"NamespaceQuery", object{
		{"name", "namespace"}, {"in", "query"}, {"description", "The namespace, unless a header names it."}, {"schema", object{{"type", "string"}}},
	}},
}

// header returns the component of a parameter that is a header. Its example may be nil.
func header(component, name, description string, schema object, example any) member {
	parameter := object{{"name", name}, {"in", "header"}, {"description", description}, {"schema", schema}}
	if example != nil {
		parameter = parameter.with("example", example)
	}
	return member{component, parameter}
}

// headers are the components of headers of responses.
var headers = object{
	responseHeader("RequestId", "The id of the request, which is in the log: that of the request's own header X-Request-Id, or a new one.", object{{"type", "string"}}),
	responseHeader("GuidonRevision", "The revision of the namespace that the response is about; absent if it is about none or several.", object{{"type", "integer"}, {"format", "int64"}}),
	responseHeader("GuidonStale", "Present while the database is unavailable: how many seconds ago the response was last known to be current.", object{{"type", "integer"}}),
	responseHeader("ETag", "Identifies the state and the form of the response, without quotes; absent for a namespace that does not exist.", object{{"type", "string"}}),
	responseHeader("StateETag", "Identifies the state, if the request has named it by a reference.", object{{"type", "string"}}),
	responseHeader("OFREPETag", "Identifies the response: it depends on state, namespace and context.", object{{"type", "string"}}),
	responseHeader("RetryAfter", "After how many seconds the client may try again.", object{{"type", "integer"}}),
	responseHeader("WWWAuthenticate", "The message of the error.", object{{"type", "string"}}),
	responseHeader("Location", "The page.", object{{"type", "string"}}),
}

func responseHeader(component, description string, schema object) member {
	return member{component, object{{"description", description}, {"schema", schema}}}
}

// referenceText describes the key of a namespace whose states can be read.
const referenceText = "The key of the namespace, or a reference to one of its states: key@revision, or key@time in RFC 3339."

var securitySchemes = object{
	{"bearer", object{{"type", "http"}, {"scheme", "bearer"}, {"description", "A token, of a program or of somebody who has signed in. Needed only if the server requires credentials."}}},
	{"apiKey", object{{"type", "apiKey"}, {"in", "header"}, {"name", "X-API-Key"}, {"description", "A token, as OFREP clients send it"}}},
	{"capability", object{
		{"type", "apiKey"}, {"in", "query"}, {"name", "capability"},
		{"description", "Access to the event stream of one namespace for some hours, from a bulk response; invalid once the token behind it is"},
	}},
	{"cookie", object{
		{"type", "apiKey"}, {"in", "cookie"}, {"name", "service_client_token"},
		{"description", "Used when there is no Authorization header"},
	}},
}
