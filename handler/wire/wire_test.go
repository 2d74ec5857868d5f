package wire_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "github.com/guidonhq/guidon/handler/wire/analytics"
	_ "github.com/guidonhq/guidon/handler/wire/auth"
	_ "github.com/guidonhq/guidon/handler/wire/evaluation"
	_ "github.com/guidonhq/guidon/handler/wire/flipt"
	_ "github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// TestMethods compares all services with the method tables of contract 12: additional
// names are errors as much as missing ones.
func TestMethods(t *testing.T) {
	want := []string{
		"flipt.Flipt: Evaluate BatchEvaluate GetNamespace ListNamespaces CreateNamespace UpdateNamespace " +
			"DeleteNamespace GetFlag ListFlags CreateFlag UpdateFlag DeleteFlag CreateVariant " +
			"UpdateVariant DeleteVariant GetRule ListRules CreateRule UpdateRule OrderRules DeleteRule " +
			"GetRollout ListRollouts CreateRollout UpdateRollout DeleteRollout OrderRollouts " +
			"CreateDistribution UpdateDistribution DeleteDistribution GetSegment ListSegments " +
			"CreateSegment UpdateSegment DeleteSegment CreateConstraint UpdateConstraint " +
			"DeleteConstraint",
		"flipt.evaluation.EvaluationService: Boolean Variant Batch",
		"flipt.evaluation.DataService: EvaluationSnapshotNamespace",
		"flipt.auth.PublicAuthenticationService: ListAuthenticationMethods",
		"flipt.auth.AuthenticationService: GetAuthenticationSelf GetAuthentication ListAuthentications DeleteAuthentication " +
			"ExpireAuthenticationSelf RevokeAuthenticationSelf",
		"flipt.auth.AuthenticationMethodTokenService: CreateToken",
		"flipt.auth.AuthenticationMethodOIDCService: AuthorizeURL Callback Revoke",
		"flipt.auth.AuthenticationMethodKubernetesService: VerifyServiceAccount",
		"flipt.auth.AuthenticationMethodGithubService: AuthorizeURL Callback",
		"flipt.meta.MetadataService: GetConfiguration GetInfo",
		"flipt.analytics.AnalyticsService: GetFlagEvaluationsCount",
		"guidon.v1.AccessService: ListBindings CreateBinding DeleteBinding DeleteAuthentications",
		"guidon.v1.SessionService: ListSessions CreateSession DeleteSession CreateGrant ExchangeGrant",
		"guidon.v1.WebhookService: ListWebhooks CreateWebhook GetWebhook UpdateWebhook DeleteWebhook RotateWebhookSecret TestWebhook PauseWebhook ResumeWebhook ReplayWebhook ListDeliveries",
		"guidon.v1.ChangeService: ListChanges ListAllChanges LatestChanges",
		"guidon.v1.DocumentService: Import Export",
		"guidon.v1.EditService: GetFlagContent GetSegmentContent ReplaceFlag ReplaceSegment TurnFlagOff TurnFlagOn ControlRamp MergeFlag MergeSegment Patch",
		"guidon.v1.PlanService: Plan Apply",
		"guidon.v1.AnalysisService: GetSegmentUsage PreviewSegment PreviewFlag GetFlagReach PreviewFlagReach GetFlagTimeline ListFlagUses",
		"guidon.v1.AnalyticsService: GetFlagEvaluations GetEvaluations ReportEvaluations",
		"guidon.v1.CatalogService: ListFlagSummaries ListSegmentSummaries ListUnusedFlags ListProperties GetCatalogCounts Search ListFlagNamespaces",
		"guidon.v1.CompareService: Compare",
		"guidon.v1.ExplainService: Explain ExplainBatch ExplainSegment ExplainFlags",
	}
	var got []string
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if ours(file.Package()) {
			got = append(got, services(file)...)
		}
		return true
	})
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("services and methods (-want +got):\n%s", diff)
	}
}

func ours(name protoreflect.FullName) bool {
	return name == "flipt" || name.Parent() == "flipt" || name.Parent() == "guidon"
}

// services describes the services of a file, each as "name: method method".
func services(file protoreflect.FileDescriptor) []string {
	var all []string
	for i := range file.Services().Len() {
		service := file.Services().Get(i)
		var methods []string
		for j := range service.Methods().Len() {
			methods = append(methods, string(service.Methods().Get(j).Name()))
		}
		all = append(all, fmt.Sprintf("%s: %s", service.FullName(), strings.Join(methods, " ")))
	}
	return all
}

// TestSignatures checks methods whose messages do not follow from their names (contract
// 12.1 to 12.4), and that no method streams (contract 12).
func TestSignatures(t *testing.T) {
	tests := []struct {
		method        protoreflect.FullName
		input, output protoreflect.FullName
	}{
		{"flipt.Flipt.ListFlags", "flipt.ListFlagRequest", "flipt.FlagList"},
		{"flipt.Flipt.DeleteFlag", "flipt.DeleteFlagRequest", "google.protobuf.Empty"},
		{"flipt.Flipt.OrderRollouts", "flipt.OrderRolloutsRequest", "google.protobuf.Empty"},
		{"flipt.Flipt.Evaluate", "flipt.EvaluationRequest", "flipt.EvaluationResponse"},
		{"flipt.evaluation.EvaluationService.Boolean", "flipt.evaluation.EvaluationRequest", "flipt.evaluation.BooleanEvaluationResponse"},
		{"flipt.evaluation.DataService.EvaluationSnapshotNamespace", "flipt.evaluation.EvaluationNamespaceSnapshotRequest", "flipt.evaluation.EvaluationNamespaceSnapshot"},
		{"flipt.auth.AuthenticationService.GetAuthenticationSelf", "google.protobuf.Empty", "flipt.auth.Authentication"},
		{"flipt.auth.AuthenticationService.ExpireAuthenticationSelf", "flipt.auth.ExpireAuthenticationSelfRequest", "google.protobuf.Empty"},
		{"flipt.meta.MetadataService.GetInfo", "google.protobuf.Empty", "google.api.HttpBody"},
		{"guidon.v1.DocumentService.Export", "guidon.v1.ExportRequest", "guidon.v1.Document"},
	}
	for _, tt := range tests {
		t.Run(string(tt.method), func(t *testing.T) {
			method := find[protoreflect.MethodDescriptor](t, tt.method)
			if got := method.Input().FullName(); got != tt.input {
				t.Errorf("input: got %s, want %s", got, tt.input)
			}
			if got := method.Output().FullName(); got != tt.output {
				t.Errorf("output: got %s, want %s", got, tt.output)
			}
			if method.IsStreamingClient() || method.IsStreamingServer() {
				t.Error("is a streaming method, want a unary one")
			}
		})
	}
}

// TestFields checks field numbers that are error-prone: gaps, numbers out of order, and
// fields added later (contract 12.1 to 12.6).
func TestFields(t *testing.T) {
	const (
		boolean   = "bool"
		integer   = "int32"
		float     = "float"
		double    = "double"
		text      = "string"
		texts     = "repeated string"
		textMap   = "map<string, string>"
		timestamp = "google.protobuf.Timestamp"
		object    = "google.protobuf.Struct"
	)
	tests := []struct {
		message protoreflect.FullName
		field   protoreflect.Name
		number  protoreflect.FieldNumber
		kind    string
	}{
		{"flipt.EvaluationRequest", "namespace_key", 5, text},
		{"flipt.EvaluationRequest", "context", 4, textMap},
		{"flipt.BatchEvaluationRequest", "exclude_not_found", 3, boolean},
		{"flipt.EvaluationResponse", "request_context", 3, textMap},
		{"flipt.EvaluationResponse", "reason", 11, "enum flipt.EvaluationReason"},
		{"flipt.EvaluationResponse", "segment_keys", 13, texts},
		{"flipt.Namespace", "protected", 4, boolean},
		{"flipt.NamespaceList", "total_count", 3, integer},
		{"flipt.Flag", "type", 9, "enum flipt.FlagType"},
		{"flipt.Flag", "default_variant", 10, "flipt.Variant"},
		{"flipt.Flag", "metadata", 11, object},
		{"flipt.UpdateFlagRequest", "default_variant_id", 6, text},
		{"flipt.Variant", "attachment", 8, text},
		{"flipt.Constraint", "description", 10, text},
		{"flipt.CreateConstraintRequest", "namespace_key", 6, text},
		{"flipt.Rollout", "segment", 20, "flipt.RolloutSegment in rule"},
		{"flipt.Rollout", "threshold", 21, "flipt.RolloutThreshold in rule"},
		{"flipt.CreateRolloutRequest", "segment", 20, "flipt.RolloutSegment in rule"},
		{"flipt.UpdateRolloutRequest", "threshold", 21, "flipt.RolloutThreshold in rule"},
		{"flipt.RolloutSegment", "segment_keys", 3, texts},
		{"flipt.RolloutThreshold", "percentage", 1, float},
		{"flipt.RolloutList", "rules", 1, "repeated flipt.Rollout"}, // not "rollouts" (contract 15)
		{"flipt.Rule", "segment_operator", 10, "enum flipt.SegmentOperator"},
		{"flipt.OrderRulesRequest", "rule_ids", 2, texts},
		{"flipt.OrderRolloutsRequest", "rollout_ids", 3, texts},
		{"flipt.UpdateDistributionRequest", "rollout", 5, float},
		{"flipt.evaluation.EvaluationRequest", "namespace_key", 2, text},
		{"flipt.evaluation.EvaluationRequest", "context", 5, textMap},
		{"flipt.evaluation.BatchEvaluationRequest", "requests", 3, "repeated flipt.evaluation.EvaluationRequest"},
		{"flipt.evaluation.BatchEvaluationResponse", "request_duration_millis", 3, double},
		{"flipt.evaluation.EvaluationResponse", "error_response", 4, "flipt.evaluation.ErrorEvaluationResponse in response"},
		{"flipt.evaluation.BooleanEvaluationResponse", "segment_keys", 7, texts},
		{"flipt.evaluation.VariantEvaluationResponse", "flag_key", 9, text},
		{"flipt.evaluation.EvaluationRollout", "segment", 3, "flipt.evaluation.EvaluationRolloutSegment in rule"},
		{"flipt.evaluation.EvaluationRolloutSegment", "segments", 3, "repeated flipt.evaluation.EvaluationSegment"},
		{"flipt.evaluation.EvaluationFlag", "default_variant", 10, "flipt.evaluation.EvaluationVariant"},
		{"flipt.auth.CreateTokenRequest", "metadata", 7, textMap},
		{"flipt.auth.Authentication", "expires_at", 3, timestamp},
		{"flipt.auth.MethodInfo", "metadata", 4, object},
		{"flipt.analytics.GetFlagEvaluationsCountResponse", "values", 2, "repeated float"},
		{"guidon.v1.Change", "revision", 2, "int64"},
		{"guidon.v1.Change", "after", 11, object},
		{"guidon.v1.DocumentFlag", "metadata", 6, text},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s.%s", tt.message, tt.field), func(t *testing.T) {
			message := find[protoreflect.MessageDescriptor](t, tt.message)
			field := message.Fields().ByName(tt.field)
			if field == nil {
				t.Fatal("no such field")
			}
			if got := field.Number(); got != tt.number {
				t.Errorf("number: got %d, want %d", got, tt.number)
			}
			if got := kind(field); got != tt.kind {
				t.Errorf("kind: got %s, want %s", got, tt.kind)
			}
		})
	}
}

// TestCodeHost checks the only name that differs from the contract: the number of the
// enum value is that of contract 12.3, its name is not.
func TestCodeHost(t *testing.T) {
	got := find[protoreflect.EnumDescriptor](t, "flipt.auth.Method").Values().ByNumber(4).Name()
	if want := protoreflect.Name("METHOD_CODEHOST"); got != want {
		t.Errorf("flipt.auth.Method 4: got %s, want %s", got, want)
	}
}

func find[D protoreflect.Descriptor](t *testing.T, name protoreflect.FullName) D {
	t.Helper()
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	descriptor, ok := found.(D)
	if !ok {
		t.Fatalf("%s is a %T", name, found)
	}
	return descriptor
}

// kind describes a field's type in the notation of the tests above.
func kind(field protoreflect.FieldDescriptor) string {
	if field.IsMap() {
		return fmt.Sprintf("map<%s, %s>", kind(field.MapKey()), kind(field.MapValue()))
	}
	name := field.Kind().String()
	if message := field.Message(); message != nil {
		name = string(message.FullName())
	}
	if enum := field.Enum(); enum != nil {
		name = "enum " + string(enum.FullName())
	}
	if field.IsList() {
		name = "repeated " + name
	}
	if oneof := field.ContainingOneof(); oneof != nil {
		name += " in " + string(oneof.Name())
	}
	return name
}
