package openapi_test

// sent is one request of the scenario. The first one of each operation is its example.
type sent struct {
	operation string // the full name, or the path of a route without messages
	request   string // the message in JSON; {name} is an id that was saved
	save      string // the name of the id in the response
}

// scenario is every request of the examples, in an order in which they work: those of a
// shop that introduces a new checkout. {token} is the id of the token that sends them.
var scenario = []sent{
	// Flags and segments.
	{"/flipt.Flipt/CreateNamespace", `{"key":"staging","name":"Staging","description":"For tests of the shop","color":"teal"}`, ""},
	{"/flipt.Flipt/ListNamespaces", `{"limit":20}`, ""},
	{"/flipt.Flipt/UpdateNamespace", `{"key":"default","name":"Production","description":"The shop","confirmChanges":true}`, ""},
	{"/flipt.Flipt/GetNamespace", `{"key":"default"}`, ""},
	{"/flipt.Flipt/CreateFlag", `{"namespaceKey":"default","key":"new-checkout","name":"New checkout","description":"One page instead of four","type":"BOOLEAN_FLAG_TYPE","metadata":{"owner":"team-pay"}}`, ""},
	{"/flipt.Flipt/CreateFlag", `{"namespaceKey":"default","key":"payment-page","name":"Payment page","enabled":true,"type":"VARIANT_FLAG_TYPE"}`, ""},
	{"/flipt.Flipt/UpdateFlag", `{"namespaceKey":"default","key":"new-checkout","name":"New checkout","description":"One page","enabled":false}`, ""},
	{"/flipt.Flipt/CreateVariant", `{"namespaceKey":"default","flagKey":"payment-page","key":"classic","name":"Classic","attachment":"{\"columns\":2}"}`, "classic"},
	{"/flipt.Flipt/CreateVariant", `{"namespaceKey":"default","flagKey":"payment-page","key":"express","name":"Express"}`, "express"},
	{"/flipt.Flipt/CreateVariant", `{"namespaceKey":"default","flagKey":"payment-page","key":"old"}`, "old"},
	{"/flipt.Flipt/UpdateVariant", `{"namespaceKey":"default","flagKey":"payment-page","id":"{classic}","key":"classic","name":"Classic","attachment":"{\"columns\":1}"}`, ""},
	{"/flipt.Flipt/DeleteVariant", `{"namespaceKey":"default","flagKey":"payment-page","id":"{old}"}`, ""},
	{"/flipt.Flipt/CreateSegment", `{"namespaceKey":"default","key":"germany","name":"Germany","description":"Customers in Germany","matchType":"ALL_MATCH_TYPE"}`, ""},
	{"/flipt.Flipt/CreateSegment", `{"namespaceKey":"default","key":"staff","name":"Staff"}`, ""},
	{"/flipt.Flipt/UpdateSegment", `{"namespaceKey":"default","key":"staff","name":"Staff","description":"Who works here","matchType":"ANY_MATCH_TYPE"}`, ""},
	{"/flipt.Flipt/CreateConstraint", `{"namespaceKey":"default","segmentKey":"germany","type":"STRING_COMPARISON_TYPE","property":"country","operator":"eq","value":"DE"}`, "constraint"},
	{"/flipt.Flipt/CreateConstraint", `{"namespaceKey":"default","segmentKey":"staff","type":"STRING_COMPARISON_TYPE","property":"email","operator":"suffix","value":"@shop.example"}`, ""},
	{"/flipt.Flipt/CreateConstraint", `{"namespaceKey":"default","segmentKey":"staff","type":"BOOLEAN_COMPARISON_TYPE","property":"staff","operator":"true"}`, "staff"},
	{"/flipt.Flipt/UpdateConstraint", `{"namespaceKey":"default","segmentKey":"germany","id":"{constraint}","type":"STRING_COMPARISON_TYPE","property":"country","operator":"isoneof","value":"[\"DE\",\"AT\"]"}`, ""},
	{"/flipt.Flipt/DeleteConstraint", `{"namespaceKey":"default","segmentKey":"staff","id":"{staff}"}`, ""},
	{"/flipt.Flipt/GetSegment", `{"namespaceKey":"default","key":"germany"}`, ""},
	{"/flipt.Flipt/ListSegments", `{"namespaceKey":"default","limit":20}`, ""},

	// Rules and rollouts.
	{"/flipt.Flipt/CreateRule", `{"namespaceKey":"default","flagKey":"payment-page","rank":1,"segmentKeys":["germany"]}`, "rule"},
	{"/flipt.Flipt/CreateRule", `{"namespaceKey":"default","flagKey":"payment-page","rank":2,"segmentKeys":["staff"]}`, "second"},
	{"/flipt.Flipt/CreateRule", `{"namespaceKey":"default","flagKey":"payment-page","rank":3,"segmentKeys":["staff"]}`, "third"},
	{"/flipt.Flipt/CreateDistribution", `{"namespaceKey":"default","flagKey":"payment-page","ruleId":"{rule}","variantId":"{classic}","rollout":50}`, "share"},
	{"/flipt.Flipt/CreateDistribution", `{"namespaceKey":"default","flagKey":"payment-page","ruleId":"{rule}","variantId":"{express}","rollout":20}`, ""},
	{"/flipt.Flipt/CreateDistribution", `{"namespaceKey":"default","flagKey":"payment-page","ruleId":"{second}","variantId":"{express}","rollout":100}`, "all"},
	{"/flipt.Flipt/UpdateDistribution", `{"namespaceKey":"default","flagKey":"payment-page","ruleId":"{rule}","id":"{share}","variantId":"{classic}","rollout":80}`, ""},
	{"/flipt.Flipt/DeleteDistribution", `{"namespaceKey":"default","flagKey":"payment-page","ruleId":"{second}","id":"{all}","variantId":"{express}"}`, ""},
	{"/flipt.Flipt/OrderRules", `{"namespaceKey":"default","flagKey":"payment-page","ruleIds":["{second}","{rule}"]}`, ""},
	{"/flipt.Flipt/UpdateRule", `{"namespaceKey":"default","flagKey":"payment-page","id":"{second}","segmentKeys":["germany","staff"],"segmentOperator":"AND_SEGMENT_OPERATOR"}`, ""},
	{"/flipt.Flipt/GetRule", `{"namespaceKey":"default","flagKey":"payment-page","id":"{rule}"}`, ""},
	{"/flipt.Flipt/DeleteRule", `{"namespaceKey":"default","flagKey":"payment-page","id":"{second}"}`, ""},
	{"/flipt.Flipt/ListRules", `{"namespaceKey":"default","flagKey":"payment-page"}`, ""},
	{"/flipt.Flipt/CreateRollout", `{"namespaceKey":"default","flagKey":"new-checkout","rank":1,"description":"Half of all","threshold":{"percentage":50,"value":true}}`, "half"},
	{"/flipt.Flipt/CreateRollout", `{"namespaceKey":"default","flagKey":"new-checkout","rank":2,"segment":{"segmentKeys":["staff"],"value":true}}`, "ours"},
	{"/flipt.Flipt/CreateRollout", `{"namespaceKey":"default","flagKey":"new-checkout","rank":3,"segment":{"segmentKeys":["germany"],"value":true}}`, "last"},
	{"/flipt.Flipt/OrderRollouts", `{"namespaceKey":"default","flagKey":"new-checkout","rolloutIds":["{ours}","{half}"]}`, ""},
	{"/flipt.Flipt/UpdateRollout", `{"namespaceKey":"default","flagKey":"new-checkout","id":"{half}","description":"More","threshold":{"percentage":75,"value":true}}`, ""},
	{"/flipt.Flipt/GetRollout", `{"namespaceKey":"default","flagKey":"new-checkout","id":"{half}"}`, ""},
	{"/flipt.Flipt/DeleteRollout", `{"namespaceKey":"default","flagKey":"new-checkout","id":"{last}"}`, ""},
	{"/flipt.Flipt/ListRollouts", `{"namespaceKey":"default","flagKey":"new-checkout"}`, ""},
	{"/flipt.Flipt/GetFlag", `{"namespaceKey":"default","key":"payment-page"}`, ""},
	{"/flipt.Flipt/ListFlags", `{"namespaceKey":"default","limit":20}`, ""},

	// Evaluation.
	{"/flipt.evaluation.EvaluationService/Boolean", `{"namespaceKey":"default","flagKey":"new-checkout","entityId":"user-1","context":{"email":"ann@shop.example"}}`, ""},
	{"/flipt.evaluation.EvaluationService/Variant", `{"namespaceKey":"default","flagKey":"payment-page","entityId":"user-1","context":{"country":"DE"}}`, ""},
	{"/flipt.evaluation.EvaluationService/Batch", `{"requests":[{"flagKey":"new-checkout","entityId":"user-1"},{"flagKey":"payment-page","entityId":"user-1","context":{"country":"DE"}},{"flagKey":"nope","entityId":"user-1"}]}`, ""},
	{"/flipt.evaluation.DataService/EvaluationSnapshotNamespace", `{"key":"default"}`, ""},
	{"/flipt.Flipt/Evaluate", `{"namespaceKey":"default","flagKey":"payment-page","entityId":"user-1","context":{"country":"DE"}}`, ""},
	{"/flipt.Flipt/BatchEvaluate", `{"namespaceKey":"default","requests":[{"flagKey":"payment-page","entityId":"user-1","context":{"country":"DE"}}],"excludeNotFound":true}`, ""},
	{"/ofrep/v1/evaluate/flags/{key}", `{"context":{"targetingKey":"user-1","email":"ann@shop.example"}}`, ""},
	{"/ofrep/v1/evaluate/flags", `{"context":{"targetingKey":"user-1","country":"DE"}}`, ""},
	{"/ofrep/v1/configuration", ``, ""},
	{"/ofrep/v1/events", ``, ""},

	// Explanations and lists.
	{"/guidon.v1.ExplainService/Explain", `{"namespaceKey":"default","key":"payment-page","entityId":"user-1","context":{"country":"SE"}}`, ""},
	{"/guidon.v1.ExplainService/ExplainBatch", `{"namespaceKey":"default","key":"payment-page","entities":[{"entityId":"user-1","context":{"country":"DE"}},{"entityId":"user-2"}]}`, ""},
	{"/guidon.v1.ExplainService/ExplainSegment", `{"namespaceKey":"default","key":"germany","entityId":"user-1","context":{"country":"DE"}}`, ""},
	{"/guidon.v1.ExplainService/ExplainFlags", `{"namespaceKey":"default","entityId":"user-1","context":{"country":"DE"}}`, ""},
	{"/guidon.v1.AnalysisService/GetSegmentUsage", `{"namespaceKey":"default","key":"germany"}`, ""},
	{"/guidon.v1.AnalysisService/PreviewSegment", `{"namespaceKey":"default","key":"germany","segment":{"name":"Germany","constraints":[{"type":"STRING_COMPARISON_TYPE","property":"country","operator":"eq","value":"DE"}]}}`, ""},
	{"/guidon.v1.AnalysisService/PreviewFlag", `{"namespaceKey":"default","key":"new-checkout","flag":{"name":"New checkout","type":"BOOLEAN_FLAG_TYPE","rollouts":[{"threshold":{"percentage":25,"value":true}}]}}`, ""},
	{"/guidon.v1.AnalysisService/GetFlagReach", `{"namespaceKey":"default","key":"payment-page"}`, ""},
	{"/guidon.v1.AnalysisService/GetFlagTimeline", `{"namespaceKey":"default","key":"payment-page"}`, ""},
	{"/guidon.v1.AnalysisService/PreviewFlagReach", `{"namespaceKey":"default","key":"new-checkout","flag":{"name":"New checkout","type":"BOOLEAN_FLAG_TYPE","rollouts":[{"threshold":{"percentage":12.5,"value":true}}]}}`, ""},
	{"/guidon.v1.CatalogService/ListFlagSummaries", `{"namespaceKey":"default","query":"checkout","sort":"CHANGED_FLAG_SORT"}`, ""},
	{"/guidon.v1.CatalogService/ListSegmentSummaries", `{"namespaceKey":"default","query":"country"}`, ""},
	{"/guidon.v1.CatalogService/ListUnusedFlags", `{"namespaceKey":"default"}`, ""},
	{"/guidon.v1.CatalogService/ListProperties", `{"namespaceKey":"default","prefix":"c"}`, ""},
	{"/guidon.v1.CatalogService/GetCatalogCounts", `{"namespaceKey":"default"}`, ""},
	{"/guidon.v1.CatalogService/ListFlagNamespaces", `{"key":"new-checkout","reference":"default"}`, ""},
	{"/guidon.v1.CatalogService/Search", `{"query":"checkout"}`, ""},

	// Edits, plans and changes.
	{"/guidon.v1.EditService/GetFlagContent", `{"namespaceKey":"default","key":"new-checkout"}`, ""},
	{"/guidon.v1.EditService/GetSegmentContent", `{"namespaceKey":"default","key":"germany"}`, ""},
	{"/guidon.v1.EditService/ReplaceFlag", `{"namespaceKey":"default","key":"free-shipping","flag":{"name":"Free shipping","type":"BOOLEAN_FLAG_TYPE","requires":[{"flagKey":"new-checkout"}],"rollouts":[{"segment":{"segmentKeys":["germany"],"value":true}}]},"unlessChangedSince":0}`, ""},
	{"/guidon.v1.AnalysisService/ListFlagUses", `{"namespaceKey":"default","key":"new-checkout"}`, ""},
	{"/guidon.v1.EditService/ReplaceSegment", `{"namespaceKey":"default","key":"nordics","segment":{"name":"Nordics","constraints":[{"type":"STRING_COMPARISON_TYPE","property":"country","operator":"isoneof","value":"[\"DK\",\"SE\"]"}]},"message":"Shipping to the north"}`, ""},
	{"/guidon.v1.EditService/TurnFlagOff", `{"namespaceKey":"default","key":"new-checkout","message":"Too many failed payments"}`, ""},
	{"/guidon.v1.EditService/TurnFlagOn", `{"namespaceKey":"default","key":"new-checkout"}`, ""},
	{"/guidon.v1.EditService/ReplaceFlag", `{"namespaceKey":"default","key":"free-shipping","flag":{"name":"Free shipping","type":"BOOLEAN_FLAG_TYPE","rollouts":[{"threshold":{"percentage":100,"value":true,"ramp":{"start":"2026-12-01T09:00:00Z","over":"259200s"}}}]}}`, ""},
	{"/guidon.v1.EditService/ControlRamp", `{"namespaceKey":"default","key":"free-shipping","rule":1,"action":"PAUSE_RAMP_ACTION"}`, ""},
	{"/guidon.v1.EditService/MergeFlag", `{"namespaceKey":"default","key":"free-shipping","since":1,"flag":{"name":"Shipping for free","type":"BOOLEAN_FLAG_TYPE"}}`, ""},
	{"/guidon.v1.EditService/MergeSegment", `{"namespaceKey":"default","key":"nordics","since":1,"segment":{"name":"The north"}}`, ""},
	{"/guidon.v1.EditService/Patch", `{"namespaceKey":"default","flags":[{"put":{"key":"banner","name":"Banner","type":"BOOLEAN_FLAG_TYPE"}},{"turnOff":"free-shipping"}],"segments":[{"delete":"nordics"}]}`, ""},
	{"/guidon.v1.DocumentService/Export", `{"namespaceKey":"default","sortByKey":true}`, ""},
	{"/guidon.v1.DocumentService/Import", `{"namespaceKey":"staging","document":{"flags":[{"key":"new-checkout","name":"New checkout","type":"BOOLEAN_FLAG_TYPE","enabled":true}]},"mode":"UPDATE_IMPORT_MODE","message":"Before the test"}`, ""},
	{"/guidon.v1.CompareService/Compare", `{"namespaceKey":"default","with":"staging"}`, ""},
	{"/guidon.v1.PlanService/Plan", `{"namespaceKey":"staging","sourceNamespaceKey":"default","flagKeys":["banner"]}`, "plan"},
	{"/guidon.v1.PlanService/Apply", `{"namespaceKey":"staging","sourceNamespaceKey":"default","flagKeys":["banner"],"digest":"{plan}"}`, ""},
	{"/guidon.v1.ChangeService/ListAllChanges", `{"since":"2026-11-01T09:00:00Z","events":["turned-off","turned-on"],"maxObjectBytes":1}`, ""},
	{"/guidon.v1.ChangeService/ListChanges", `{"namespaceKey":"default","kind":"flag","limit":1}`, ""},
	{"/guidon.v1.ChangeService/LatestChanges", `{"namespaceKey":"default","kind":"flag","keys":["new-checkout","banner"]}`, ""},
	{"/api/v1/namespaces/{namespace_key}/changes/stream", ``, ""},
	{"/flipt.Flipt/DeleteFlag", `{"namespaceKey":"default","key":"banner"}`, ""},
	{"/flipt.Flipt/DeleteSegment", `{"namespaceKey":"default","key":"nordics"}`, ""},
	{"/flipt.Flipt/DeleteNamespace", `{"key":"staging","force":true}`, ""},

	// Tokens, sessions and bindings.
	{"/flipt.auth.PublicAuthenticationService/ListAuthenticationMethods", ``, ""},
	{"/flipt.auth.AuthenticationMethodTokenService/CreateToken", `{"name":"dashboard","description":"Shows flags on the wall","role":"viewer","namespaceKeys":["default"],"expiresAt":"2040-01-01T00:00:00Z"}`, "created"},
	{"/flipt.auth.AuthenticationService/ListAuthentications", `{"method":"METHOD_TOKEN","limit":10}`, ""},
	{"/flipt.auth.AuthenticationService/GetAuthentication", `{"id":"{created}"}`, ""},
	{"/flipt.auth.AuthenticationService/DeleteAuthentication", `{"id":"{created}"}`, ""},
	{"/flipt.auth.AuthenticationService/GetAuthenticationSelf", ``, ""},
	{"/guidon.v1.SessionService/CreateSession", ``, "session"},
	{"/guidon.v1.SessionService/ListSessions", ``, ""},
	{"/guidon.v1.SessionService/DeleteSession", `{"id":"{session}"}`, ""},
	{"/guidon.v1.AccessService/CreateBinding", `{"role":"editor","subject":"oidc:google:group:payments","namespaceKeys":["default","pay-*"]}`, "binding"},
	{"/guidon.v1.AccessService/ListBindings", ``, ""},
	{"/guidon.v1.AccessService/DeleteBinding", `{"id":"{binding}"}`, ""},
	{"/guidon.v1.AccessService/DeleteAuthentications", `{"subject":"oidc:google:sub:1234"}`, ""},

	// Signing in. What a provider would send is made up.
	{"/flipt.auth.AuthenticationMethodOIDCService/AuthorizeURL", `{"provider":"google","returnTo":"/flags"}`, ""},
	{"/flipt.auth.AuthenticationMethodOIDCService/Callback", `{"provider":"google","code":"SplxlOBeZQQYbYS6WxSbIA","state":"af0ifjsldkj"}`, ""},
	{"/flipt.auth.AuthenticationMethodOIDCService/Revoke", `{"provider":"google","logout_token":"header.claims.signature"}`, ""},
	{"/flipt.auth.AuthenticationMethodGithubService/AuthorizeURL", `{"returnTo":"/flags"}`, ""},
	{"/flipt.auth.AuthenticationMethodGithubService/Callback", `{"code":"SplxlOBeZQQYbYS6WxSbIA","state":"af0ifjsldkj"}`, ""},
	{"/flipt.auth.AuthenticationMethodKubernetesService/VerifyServiceAccount", `{"serviceAccountToken":"header.claims.signature"}`, ""},
	{"/guidon.v1.SessionService/CreateGrant", `{"codeChallenge":"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM","name":"laptop"}`, ""},
	{"/guidon.v1.SessionService/ExchangeGrant", `{"code":"SplxlOBeZQQYbYS6WxSbIA","codeVerifier":"dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"}`, ""},

	// The instance.
	{"/flipt.meta.MetadataService/GetInfo", ``, ""},
	{"/flipt.meta.MetadataService/GetConfiguration", ``, ""},
	{"/health", ``, ""},
	{"/metrics", ``, ""},

	// The end of the token.
	{"/flipt.auth.AuthenticationService/ExpireAuthenticationSelf", `{"expiresAt":"2040-01-01T00:00:00Z"}`, ""},
	{"/flipt.auth.AuthenticationService/RevokeAuthenticationSelf", ``, ""},
}
