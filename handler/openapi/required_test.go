package openapi

import "google.golang.org/protobuf/reflect/protoreflect"

// requiredFields are the fields without which a request fails, besides the variables of
// the path.
var requiredFields = map[protoreflect.FullName][]protoreflect.Name{
	"flipt.CreateNamespaceRequest":    {"key", "name"},
	"flipt.UpdateNamespaceRequest":    {"name"},
	"flipt.CreateFlagRequest":         {"key", "name"},
	"flipt.UpdateFlagRequest":         {"name"},
	"flipt.CreateVariantRequest":      {"key"},
	"flipt.UpdateVariantRequest":      {"key"},
	"flipt.CreateRuleRequest":         {"rank"},
	"flipt.OrderRulesRequest":         {"rule_ids"},
	"flipt.CreateDistributionRequest": {"variant_id"},
	"flipt.UpdateDistributionRequest": {"variant_id"},
	"flipt.DeleteDistributionRequest": {"variant_id"},
	"flipt.OrderRolloutsRequest":      {"rollout_ids"},
	"flipt.CreateSegmentRequest":      {"key", "name"},
	"flipt.UpdateSegmentRequest":      {"name"},
	"flipt.CreateConstraintRequest":   {"type", "property", "operator"},
	"flipt.UpdateConstraintRequest":   {"type", "property", "operator"},

	"flipt.evaluation.EvaluationRequest": {"flag_key"},

	"flipt.auth.CreateTokenRequest": {"name"},

	"guidon.v1.CompareRequest":               {"with"},
	"guidon.v1.LatestChangesRequest":         {"kind", "keys"},
	"guidon.v1.ReplaceFlagRequest":           {"flag"},
	"guidon.v1.ReplaceSegmentRequest":        {"segment"},
	"guidon.v1.PreviewSegmentRequest":        {"segment"},
	"guidon.v1.ApplyRequest":                 {"digest"},
	"guidon.v1.CreateBindingRequest":         {"role", "subject"},
	"guidon.v1.DeleteAuthenticationsRequest": {"subject"},
	"guidon.v1.CreateWebhookRequest":         {"name", "url"},
	"guidon.v1.UpdateWebhookRequest":         {"name"},
	"guidon.v1.ReplayWebhookRequest":         {"namespace_key", "revision"},
}
