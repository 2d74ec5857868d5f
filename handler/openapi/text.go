package openapi

const introduction = "Feature flags: management, evaluation, change records and tokens. " +
	"Field names are accepted in camelCase and in snake_case, unknown fields are ignored, enums may be given by number. " +
	"A path variable takes precedence over the same field in the body. An empty namespace is the one called default. " +
	"With the parameter pretty, responses are indented and omit zero values. " +
	"The header X-Request-Id of a request becomes that of the response; Grpc-Timeout is its deadline, such as 500m for 500 milliseconds.\n\n" +
	"Every change gives its namespace the next revision, which responses state in the header Guidon-Revision. " +
	"All operations are available over gRPC too, but for OFREP and event streams."

// services describes each service.
var services = map[string]string{
	"flipt.Flipt":                                      "Management of namespaces, flags and segments; legacy evaluation",
	"flipt.evaluation.EvaluationService":               "Evaluation of flags for an entity",
	"flipt.evaluation.DataService":                     "Snapshots of whole namespaces, for evaluation by the client",
	"flipt.auth.PublicAuthenticationService":           "Sign-in methods",
	"flipt.auth.AuthenticationService":                 "Tokens and sessions, and the caller's own",
	"guidon.v1.SessionService":                         "The sessions of the caller",
	"guidon.v1.AccessService":                          "Who may do what",
	"flipt.auth.AuthenticationMethodOIDCService":       "Signing in with OpenID providers",
	"flipt.auth.AuthenticationMethodGithubService":     "Signing in with a code host",
	"flipt.auth.AuthenticationMethodKubernetesService": "Signing in with Kubernetes service accounts",
	"flipt.auth.AuthenticationMethodTokenService":      "Creation of static tokens",
	"guidon.v1.WebhookService":                         "URLs to which changes are sent",
	"flipt.meta.MetadataService":                       "Information about the running instance",
	"guidon.v1.ChangeService":                          "Change records",
	"guidon.v1.DocumentService":                        "Import and export of whole namespaces",
	"guidon.v1.CatalogService":                         "Lists of flags and segments in short, and the search",
	"guidon.v1.CompareService":                         "Differences between states",
	"guidon.v1.EditService":                            "Changes of whole flags and segments",
	"guidon.v1.PlanService":                            "Plans that bring objects of a document or a state into a namespace, or undo changes",
	"guidon.v1.AnalysisService":                        "Effects of edits, what is never reached, and uses of segments",
	"guidon.v1.AnalyticsService":                       "How often flags were evaluated",
	"flipt.analytics.AnalyticsService":                 "How often flags were evaluated, as in Flipt v1",
	"guidon.v1.ExplainService":                         "Explanations of evaluations",
}

// summaries has the summary of each operation.
var summaries = map[string]string{ // #nosec G101 -- text about tokens, not tokens
	"/flipt.Flipt/ListNamespaces":  "List namespaces",
	"/flipt.Flipt/CreateNamespace": "Create a namespace",
	"/flipt.Flipt/GetNamespace":    "Get a namespace",
	"/flipt.Flipt/UpdateNamespace": "Update a namespace",
	"/flipt.Flipt/DeleteNamespace": "Delete a namespace; if it has flags, only with force",

	"/flipt.Flipt/ListFlags":     "List the flags of a namespace",
	"/flipt.Flipt/CreateFlag":    "Create a flag",
	"/flipt.Flipt/GetFlag":       "Get a flag",
	"/flipt.Flipt/UpdateFlag":    "Replace the mutable fields of a flag",
	"/flipt.Flipt/DeleteFlag":    "Delete a flag with everything under it",
	"/flipt.Flipt/CreateVariant": "Create a variant of a flag",
	"/flipt.Flipt/UpdateVariant": "Replace a variant",
	"/flipt.Flipt/DeleteVariant": "Delete a variant and the distributions that use it",

	"/flipt.Flipt/ListRules":          "List the rules of a variant flag by rank",
	"/flipt.Flipt/CreateRule":         "Create a rule for one segment or several",
	"/flipt.Flipt/OrderRules":         "Rank rules in the order of a list",
	"/flipt.Flipt/GetRule":            "Get a rule",
	"/flipt.Flipt/UpdateRule":         "Replace the segments of a rule",
	"/flipt.Flipt/DeleteRule":         "Delete a rule",
	"/flipt.Flipt/CreateDistribution": "Assign a variant its share of a rule",
	"/flipt.Flipt/UpdateDistribution": "Replace a distribution",
	"/flipt.Flipt/DeleteDistribution": "Delete a distribution",

	"/flipt.Flipt/ListRollouts":  "List the rollouts of a boolean flag by rank",
	"/flipt.Flipt/CreateRollout": "Create a rollout for segments or for a percentage",
	"/flipt.Flipt/OrderRollouts": "Rank rollouts in the order of a list",
	"/flipt.Flipt/GetRollout":    "Get a rollout",
	"/flipt.Flipt/UpdateRollout": "Replace the contents of a rollout, but not its type",
	"/flipt.Flipt/DeleteRollout": "Delete a rollout",

	"/flipt.Flipt/ListSegments":     "List the segments of a namespace",
	"/flipt.Flipt/CreateSegment":    "Create a segment",
	"/flipt.Flipt/GetSegment":       "Get a segment",
	"/flipt.Flipt/UpdateSegment":    "Replace the mutable fields of a segment",
	"/flipt.Flipt/DeleteSegment":    "Delete a segment that nothing uses",
	"/flipt.Flipt/CreateConstraint": "Create a constraint of a segment",
	"/flipt.Flipt/UpdateConstraint": "Replace a constraint",
	"/flipt.Flipt/DeleteConstraint": "Delete a constraint",

	"/flipt.evaluation.EvaluationService/Variant":               "Evaluate a variant flag for an entity",
	"/flipt.evaluation.EvaluationService/Boolean":               "Evaluate a boolean flag for an entity",
	"/flipt.evaluation.EvaluationService/Batch":                 "Evaluate several flags of either type",
	"/flipt.evaluation.DataService/EvaluationSnapshotNamespace": "Get everything needed for evaluation in a namespace",
	"/flipt.Flipt/Evaluate":                                     "Evaluate a variant flag (legacy)",
	"/flipt.Flipt/BatchEvaluate":                                "Evaluate several variant flags (legacy)",

	"/guidon.v1.ChangeService/ListAllChanges": "List the changes of all namespaces that the caller may view",
	"/guidon.v1.ChangeService/ListChanges":    "List the change records of a namespace, newest first",
	"/guidon.v1.ChangeService/LatestChanges":  "Get the newest change record of each of up to 500 flags or segments, without the objects before and after",
	"/guidon.v1.DocumentService/Import":       "Import a document into a namespace, all of it or nothing",
	"/guidon.v1.DocumentService/Export":       "Export a namespace as a document",

	"/guidon.v1.EditService/GetFlagContent":    "Get a flag with everything under it, as PUT takes it",
	"/guidon.v1.EditService/GetSegmentContent": "Get a segment with its constraints, as PUT takes it",
	"/guidon.v1.EditService/ReplaceFlag":       "Create or replace a flag with everything under it, possibly unless it changed since a revision",
	"/guidon.v1.EditService/ReplaceSegment":    "Create or replace a segment with its constraints, possibly unless it changed since a revision",
	"/guidon.v1.EditService/TurnFlagOff":       "Turn a flag off for everyone",
	"/guidon.v1.EditService/TurnFlagOn":        "Restore what a flag was before it was turned off",
	"/guidon.v1.EditService/ControlRamp":       "Pause, resume, reverse, confirm, stop or finish the ramp of a rule",
	"/guidon.v1.EditService/MergeFlag":         "Bring an edited flag together with what has been saved since the edit began, without saving it",
	"/guidon.v1.EditService/MergeSegment":      "Bring an edited segment together with what has been saved since the edit began, without saving it",
	"/guidon.v1.EditService/Patch":             "Put, delete and turn off up to 100 flags and segments in one revision, all of them or none",
	"/guidon.v1.PlanService/Plan":              "Plan what bringing objects of a document or a state into a namespace, or undoing changes, would change",
	"/guidon.v1.PlanService/Apply":             "Apply a plan, all of it or nothing, if it would still be the same",

	"/guidon.v1.AnalysisService/GetSegmentUsage":  "List the flags that refer to a segment, and what would change without it",
	"/guidon.v1.AnalysisService/PreviewSegment":   "Preview what saving an edited segment changes for users of the flags that refer to it",
	"/guidon.v1.AnalysisService/PreviewFlag":      "Preview what saving an edited flag, or turning it on or off, changes for its users",
	"/guidon.v1.AnalysisService/GetFlagReach":     "Get what a flag can never do, and how its percentages are rounded",
	"/guidon.v1.AnalysisService/GetFlagTimeline":  "List when rules of a flag begin and end, and when their shares change",
	"/guidon.v1.AnalysisService/ListFlagUses":     "List the flags that require a flag",
	"/guidon.v1.AnalysisService/PreviewFlagReach": "Preview what an edited flag could never do, and how its percentages would be rounded",

	"/guidon.v1.AnalyticsService/GetFlagEvaluations": "Get how often a flag was evaluated over time, by answer and reason",
	"/guidon.v1.AnalyticsService/GetEvaluations":     "Get how often flags, or the flags of a namespace, were evaluated over time",
	"/guidon.v1.AnalyticsService/ReportEvaluations":  "Report how often a client evaluated flags by itself",

	"/flipt.analytics.AnalyticsService/GetFlagEvaluationsCount": "Get how often a flag was evaluated over time",

	"/guidon.v1.CatalogService/ListFlagSummaries":    "List flags that match filters: what each does in short, and how many other filters would leave",
	"/guidon.v1.CatalogService/ListSegmentSummaries": "List segments that match words, with their constraints in words",
	"/guidon.v1.CatalogService/ListUnusedFlags":      "List the flags that may no longer be needed, and why",
	"/guidon.v1.CatalogService/ListProperties":       "List the properties that constraints compare, with known values",
	"/guidon.v1.CatalogService/GetCatalogCounts":     "Count the flags, the segments, and the flags that may no longer be needed",
	"/guidon.v1.CatalogService/ListFlagNamespaces":   "List what a flag is in each namespace that the caller may view",
	"/guidon.v1.CatalogService/Search":               "Find flags, segments, owners, tags and namespaces, in all namespaces that the caller may view",

	"/guidon.v1.CompareService/Compare": "Compare two namespaces: which flags and segments differ, field by field",

	"/guidon.v1.ExplainService/Explain":        "Explain how a flag, as it is or as it would be after an edit, comes to its result for an entity, and the changes needed for its other results",
	"/guidon.v1.ExplainService/ExplainBatch":   "Evaluate a flag for up to 1,000 entities and count the results",
	"/guidon.v1.ExplainService/ExplainFlags":   "Evaluate the flags of a namespace for one entity",
	"/guidon.v1.ExplainService/ExplainSegment": "Explain whether an entity belongs to a segment, as it is or as it would be after an edit",

	"/flipt.auth.PublicAuthenticationService/ListAuthenticationMethods": "List the sign-in methods",
	"/flipt.auth.AuthenticationMethodTokenService/CreateToken":          "Create a token; only this response contains the secret",
	"/flipt.auth.AuthenticationService/ListAuthentications":             "List tokens and sessions",
	"/flipt.auth.AuthenticationService/GetAuthentication":               "Get a token or session, without the secret",
	"/flipt.auth.AuthenticationService/DeleteAuthentication":            "Delete a token or session",
	"/flipt.auth.AuthenticationService/GetAuthenticationSelf":           "Get the token or session of the caller",
	"/flipt.auth.AuthenticationService/ExpireAuthenticationSelf":        "Expire the token or session of the caller, now or at a given time",

	"/flipt.auth.AuthenticationService/RevokeAuthenticationSelf": "End the token or session of the caller, or all of the caller",

	"/flipt.auth.AuthenticationMethodOIDCService/AuthorizeURL":               "Begin to sign in with an OpenID provider",
	"/flipt.auth.AuthenticationMethodOIDCService/Callback":                   "End an attempt to sign in with an OpenID provider",
	"/flipt.auth.AuthenticationMethodOIDCService/Revoke":                     "End the sessions of somebody who signed out at an OpenID provider",
	"/flipt.auth.AuthenticationMethodGithubService/AuthorizeURL":             "Begin to sign in with the code host",
	"/flipt.auth.AuthenticationMethodGithubService/Callback":                 "End an attempt to sign in with the code host",
	"/flipt.auth.AuthenticationMethodKubernetesService/VerifyServiceAccount": "Exchange the token of a Kubernetes service account for a client token",

	"/guidon.v1.SessionService/ListSessions":         "List the sessions of the caller",
	"/guidon.v1.SessionService/CreateSession":        "Begin a browser session with the static token of the request",
	"/guidon.v1.SessionService/DeleteSession":        "End a session of the caller",
	"/guidon.v1.SessionService/CreateGrant":          "Allow a command line to sign in as the caller, once and within a minute",
	"/guidon.v1.SessionService/ExchangeGrant":        "Exchange the code of a grant for a client token",
	"/guidon.v1.AccessService/ListBindings":          "List the bindings of roles to subjects",
	"/guidon.v1.AccessService/CreateBinding":         "Give a role to a subject",
	"/guidon.v1.AccessService/DeleteBinding":         "Delete a binding of a role to a subject",
	"/guidon.v1.AccessService/DeleteAuthentications": "End all sessions and tokens of a subject",

	"/guidon.v1.WebhookService/ListWebhooks":        "List webhooks",
	"/guidon.v1.WebhookService/CreateWebhook":       "Create a webhook",
	"/guidon.v1.WebhookService/GetWebhook":          "Get a webhook",
	"/guidon.v1.WebhookService/UpdateWebhook":       "Update a webhook",
	"/guidon.v1.WebhookService/DeleteWebhook":       "Delete a webhook with its deliveries",
	"/guidon.v1.WebhookService/RotateWebhookSecret": "Give a webhook a new secret",
	"/guidon.v1.WebhookService/TestWebhook":         "Send a test to a webhook at once",
	"/guidon.v1.WebhookService/PauseWebhook":        "Pause a webhook",
	"/guidon.v1.WebhookService/ResumeWebhook":       "Make a webhook send again that is paused, stopped or failing",
	"/guidon.v1.WebhookService/ReplayWebhook":       "Send changes to a webhook again",
	"/guidon.v1.WebhookService/ListDeliveries":      "List what a webhook has sent",

	"/flipt.meta.MetadataService/GetInfo":          "Get version and build",
	"/flipt.meta.MetadataService/GetConfiguration": "Get the effective configuration, without secrets",

	"/ofrep/v1/evaluate/flags/{key}":                    "Evaluate a flag for a context",
	"/ofrep/v1/evaluate/flags":                          "Evaluate all flags of a namespace for a context",
	"/ofrep/v1/configuration":                           "Get the OFREP capabilities of this server, for older tools",
	"/ofrep/v1/events":                                  "Stream change events of a namespace, at the URL from a bulk response",
	"/api/v1/namespaces/{namespace_key}/changes/stream": "Stream the change records of a namespace, each once and in order",
}
