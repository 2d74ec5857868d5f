package openapi

import (
	"net/http"
	"slices"
)

// instanceTag is the tag of the routes that are not operations.
const instanceTag = "instance"

// otherRoute is a route that is not an operation.
type otherRoute struct {
	method, path string
	item         func(Example) object
}

// others are the routes about the running process.
var others = []otherRoute{
	{http.MethodGet, "/health", func(e Example) object {
		return object{
			{"tags", []any{instanceTag}},
			{"summary", "Check whether the instance, or one of its services, is serving"},
			{"description", "For load balancers. It needs no credential. The instance serves while the database is unavailable, because it can still evaluate."},
			{"operationId", "getHealth"},
			{"security", []any{object{}}},
			{"parameters", []any{
				object{
					{"name", "service"}, {"in", "query"}, {"description", "The full name of a gRPC service; the instance as a whole if absent."},
					{"schema", object{{"type", "string"}}}, {"example", "flipt.Flipt"},
				},
				object{
					{"name", "full"}, {"in", "query"}, {"description", "Whether the response says how the database is. The value makes no difference."},
					{"schema", object{{"type", "boolean"}}},
				},
			}},
			{"responses", otherResponses("Serving", e.json(healthSchema), http.StatusNotFound, http.StatusServiceUnavailable)},
		}
	}},
	{http.MethodGet, "/metrics", func(e Example) object {
		return object{
			{"tags", []any{instanceTag}},
			{"summary", "Get metrics, if they are enabled"},
			{"description", "Needs a credential for all namespaces with the role viewer, unless metrics.public is set; if credentials are not required, it needs that setting. There are none on AWS Lambda."},
			{"operationId", "getMetrics"},
			{"responses", otherResponses("Metrics in the text format of Prometheus", e.text("text/plain"),
				http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests, http.StatusServiceUnavailable)},
		}
	}},
	{http.MethodGet, "/openapi.yaml", func(Example) object {
		return object{
			{"tags", []any{instanceTag}},
			{"summary", "Get this description"},
			{"description", "It needs no credential."},
			{"operationId", "getOpenAPI"},
			{"security", []any{object{}}},
			{"responses", otherResponses("This description", textExample("application/yaml", "openapi: \"3.1.0\"\n…\n"), http.StatusForbidden)},
		}
	}},
}

var healthSchema = object{
	{"type", "object"},
	{"properties", object{
		{"status", object{{"type", "string"}, {"description", "That the instance serves."}, {"const", "SERVING"}}},
		{"database", record("The database, if the request asks for it.", object{
			{"status", object{{"type", "string"}, {"description", "Whether it is available."}, {"enum", []any{"SERVING", "NOT_SERVING"}}}},
			{"staleSeconds", object{{"type", "integer"}, {"description", "How many seconds it has been unavailable, if it is."}}},
		}, "status")},
	}},
	{"required", []any{"status"}},
}

// infoSchema is the schema of the information about an instance.
var infoSchema = record("The build of the program, and what clients must know of its configuration.", object{
	{"version", textSchema("The version.")},
	{"commit", textSchema("The commit that it was built from.")},
	{"buildDate", textSchema("When it was built.")},
	{"goVersion", textSchema("The version of Go that it was built with.")},
	{"os", textSchema("The operating system, as Go calls it.")},
	{"arch", textSchema("The processor, as Go calls it.")},
	{"updateAvailable", object{{"type", "boolean"}, {"description", "Always false: the program does not look for updates."}}},
	{"isRelease", object{{"type", "boolean"}, {"description", "Whether it is a release."}}},
	{"authentication", record("Who may call the service.", object{{"required", object{{"type", "boolean"}, {"description", "Whether credentials are required."}}}}, "required")},
	{"storage", record("Where flags are kept.", object{{"type", textSchema("Always database.")}}, "type")},
	{"analytics", anyObject().with("description", "Always empty: there are no analytics.")},
	{"ui", record("The look of the web interface.", object{
		{"theme", textSchema("The theme of people who have not chosen one.")},
		{"topbarColor", textSchema("The color of its top, such as #1f6feb; empty for the usual one.")},
	}, "theme", "topbarColor")},
	{"dryRun", object{{"type", "boolean"}, {"description", "Whether the service respects the header Guidon-Dry-Run."}}},
	{"readOnly", object{{"type", "boolean"}, {"description", "Present if namespaces, flags and segments cannot be changed."}}},
}, "goVersion", "os", "arch", "updateAvailable", "isRelease", "authentication", "storage", "analytics", "ui")

// otherResponses returns the responses of a route that is not an operation.
func otherResponses(description string, content object, failing ...int) object {
	all := object{{"200", object{{"description", description}, {"content", content}}}}
	for _, f := range failures {
		if slices.Contains(failing, f.status) {
			all = all.with(f.key(), object{{"$ref", "#/components/responses/" + f.name}})
		}
	}
	return all
}
