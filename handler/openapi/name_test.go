package openapi

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/guidonhq/guidon/handler/call"
)

// olderTypes are the messages and enums of the older evaluation, whose names the present
// one has as well.
var olderTypes = map[protoreflect.FullName]bool{
	"flipt.EvaluationRequest": true, "flipt.EvaluationResponse": true, "flipt.EvaluationReason": true,
	"flipt.BatchEvaluationRequest": true, "flipt.BatchEvaluationResponse": true,
}

// schemaName returns the name of the schema of a message or enum. Two of them must not have
// the same. It does not end in Response: generated clients name the HTTP responses of
// operations so.
func schemaName(d protoreflect.Descriptor) string {
	name := string(d.Name())
	if message, is := strings.CutSuffix(name, "Response"); is {
		name = message + "Result"
	}
	if olderTypes[d.FullName()] {
		return "Legacy" + name
	}
	return name
}

// operationIDs are the ids of operations that would be ambiguous without their services.
var operationIDs = map[string]string{
	"/flipt.evaluation.EvaluationService/Variant":                "evaluateVariant",
	"/flipt.evaluation.EvaluationService/Boolean":                "evaluateBoolean",
	"/flipt.evaluation.EvaluationService/Batch":                  "evaluateBatch",
	"/flipt.evaluation.DataService/EvaluationSnapshotNamespace":  "getSnapshot",
	"/flipt.Flipt/Evaluate":                                      "legacyEvaluate",
	"/flipt.Flipt/BatchEvaluate":                                 "legacyEvaluateBatch",
	"/flipt.auth.AuthenticationMethodOIDCService/AuthorizeURL":   "beginOIDC",
	"/flipt.auth.AuthenticationMethodOIDCService/Callback":       "endOIDC",
	"/flipt.auth.AuthenticationMethodOIDCService/Revoke":         "logoutOIDC",
	"/flipt.auth.AuthenticationMethodGithubService/AuthorizeURL": "beginCodehost",
	"/flipt.auth.AuthenticationMethodGithubService/Callback":     "endCodehost",
	"/guidon.v1.DocumentService/Import":                          "importDocument",
	"/guidon.v1.DocumentService/Export":                          "exportDocument",
	"/guidon.v1.EditService/Patch":                               "patchNamespace",
	"/guidon.v1.PlanService/Plan":                                "planChanges",
	"/guidon.v1.PlanService/Apply":                               "applyPlan",
	"/guidon.v1.CompareService/Compare":                          "compareNamespaces",
	"/guidon.v1.ExplainService/Explain":                          "explainFlag",
	"/guidon.v1.ExplainService/ExplainBatch":                     "explainEntities",
	"/ofrep/v1/evaluate/flags/{key}":                             "ofrepEvaluateFlag",
	"/ofrep/v1/evaluate/flags":                                   "ofrepEvaluateFlags",
	"/ofrep/v1/configuration":                                    "ofrepConfiguration",
	"/ofrep/v1/events":                                           "ofrepEvents",
	"/api/v1/namespaces/{namespace_key}/changes/stream":          "streamChanges",
}

// operationID returns the id of the operation, or of its older path.
func operationID(o *call.Operation, older bool) string {
	id, ok := operationIDs[o.Name]
	if !ok {
		id = strings.ToLower(o.Method()[:1]) + o.Method()[1:]
	}
	if older {
		id += "AtOlderPath"
	}
	return id
}
