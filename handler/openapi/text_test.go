package openapi

const introduction = "Feature flags: management, evaluation, change records and tokens. " +
	"Field names are accepted in camelCase and in snake_case, " +
	"unknown fields are ignored in requests of Flipt v1 that create no token and refused in others, enums may be given by number. " +
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

// operationText is the text about one operation.
type operationText struct{ summary, description string }

// texts say of each operation what it does, and what that leaves out.
var texts = map[string]operationText{ // #nosec G101 -- about tokens, not tokens
	"/flipt.Flipt/ListNamespaces":  {"List namespaces", "Returns the namespaces that the caller may read, in creation order."},
	"/flipt.Flipt/CreateNamespace": {"Create a namespace", "The key must be free, and cannot be changed later."},
	"/flipt.Flipt/GetNamespace":    {"Get a namespace", "Returns the namespace itself, without its flags and segments."},
	"/flipt.Flipt/UpdateNamespace": {"Update a namespace", "Replaces name and description. Color and confirmChanges stay as they are unless the request has them."},
	"/flipt.Flipt/DeleteNamespace": {"Delete a namespace; if it has flags, only with force", "Deletes the namespace with its segments. If it is protected or has flags, force is needed."},

	"/flipt.Flipt/ListFlags":     {"List the flags of a namespace", "Returns flags with their variants, in creation order, without rules and rollouts. The list of a namespace that does not exist is empty."},
	"/flipt.Flipt/CreateFlag":    {"Create a flag", "The flag has no variants, rules or rollouts yet. Its key must be free in the namespace; key and type cannot be changed later."},
	"/flipt.Flipt/GetFlag":       {"Get a flag", "Returns the flag with its variants, without rules and rollouts."},
	"/flipt.Flipt/UpdateFlag":    {"Replace the mutable fields of a flag", "Fields that the request does not have become empty, except the metadata, which stay as they are."},
	"/flipt.Flipt/DeleteFlag":    {"Delete a flag with everything under it", "Deletes the flag with its variants, rules and rollouts. To delete a flag that does not exist changes nothing and succeeds."},
	"/flipt.Flipt/CreateVariant": {"Create a variant of a flag", "The key must be free in the flag. Nobody gets the variant until a rule or the default gives it."},
	"/flipt.Flipt/UpdateVariant": {"Replace a variant", "Fields that the request does not have become empty."},
	"/flipt.Flipt/DeleteVariant": {"Delete a variant and the distributions that use it", "A default variant is removed from its flag as well. To delete a variant that does not exist changes nothing and succeeds."},

	"/flipt.Flipt/ListRules":          {"List the rules of a variant flag by rank", "Returns the rules with their distributions. The list of a flag that does not exist is empty."},
	"/flipt.Flipt/CreateRule":         {"Create a rule for one segment or several", "The rule gives nobody a variant until it has distributions."},
	"/flipt.Flipt/OrderRules":         {"Rank rules in the order of a list", "The rules of the list get the ranks 1, 2 and so on. Rules that are not in it keep theirs."},
	"/flipt.Flipt/GetRule":            {"Get a rule", "Returns the rule with its distributions."},
	"/flipt.Flipt/UpdateRule":         {"Replace the segments of a rule", "Rank and distributions stay as they are."},
	"/flipt.Flipt/DeleteRule":         {"Delete a rule", "The others get the ranks 1, 2 and so on. To delete a rule that does not exist changes nothing and succeeds."},
	"/flipt.Flipt/CreateDistribution": {"Assign a variant its share of a rule", "The distributions of a rule share its entities in the order in which they were created. What is left over gets no variant."},
	"/flipt.Flipt/UpdateDistribution": {"Replace a distribution", "Replaces variant and share."},
	"/flipt.Flipt/DeleteDistribution": {"Delete a distribution", "The variant must be that of the distribution. To delete a distribution that does not exist changes nothing and succeeds."},

	"/flipt.Flipt/ListRollouts":  {"List the rollouts of a boolean flag by rank", "The list is called rules. That of a flag that does not exist is empty."},
	"/flipt.Flipt/CreateRollout": {"Create a rollout for segments or for a percentage", "The rollout has either a segment or a threshold. Its rank must be free."},
	"/flipt.Flipt/OrderRollouts": {"Rank rollouts in the order of a list", "The rollouts of the list get the ranks 1, 2 and so on. Rollouts that are not in it keep theirs."},
	"/flipt.Flipt/GetRollout":    {"Get a rollout", "Returns the rollout, which has either a segment or a threshold."},
	"/flipt.Flipt/UpdateRollout": {"Replace the contents of a rollout, but not its type", "The rank stays as it is."},
	"/flipt.Flipt/DeleteRollout": {"Delete a rollout", "The others get the ranks 1, 2 and so on. To delete a rollout that does not exist changes nothing and succeeds."},

	"/flipt.Flipt/ListSegments":     {"List the segments of a namespace", "Returns segments with their constraints, in creation order. The list of a namespace that does not exist is empty."},
	"/flipt.Flipt/CreateSegment":    {"Create a segment", "The segment has no constraints yet, and so takes everyone. Its key must be free in the namespace, and cannot be changed later."},
	"/flipt.Flipt/GetSegment":       {"Get a segment", "Returns the segment with its constraints."},
	"/flipt.Flipt/UpdateSegment":    {"Replace the mutable fields of a segment", "Fields that the request does not have become empty. Constraints stay as they are."},
	"/flipt.Flipt/DeleteSegment":    {"Delete a segment that nothing uses", "A segment that a rule or rollout refers to cannot be deleted. To delete a segment that does not exist changes nothing and succeeds."},
	"/flipt.Flipt/CreateConstraint": {"Create a constraint of a segment", "The operator must be one of the type, and the value must suit the operator."},
	"/flipt.Flipt/UpdateConstraint": {"Replace a constraint", "Fields that the request does not have become empty."},
	"/flipt.Flipt/DeleteConstraint": {"Delete a constraint", "A segment without constraints takes everyone. To delete a constraint that does not exist changes nothing and succeeds."},

	"/flipt.evaluation.EvaluationService/Variant":               {"Evaluate a variant flag for an entity", "The first rule that matches decides. A disabled flag returns its default variant, with match false."},
	"/flipt.evaluation.EvaluationService/Boolean":               {"Evaluate a boolean flag for an entity", "The first rollout that matches decides. If none does, the value is the field enabled of the flag."},
	"/flipt.evaluation.EvaluationService/Batch":                 {"Evaluate several flags of either type", "At most 1,000 evaluations, in any namespaces. A flag that does not exist is an item with an error; any other error fails the batch."},
	"/flipt.evaluation.DataService/EvaluationSnapshotNamespace": {"Get everything needed for evaluation in a namespace", "For clients that evaluate by themselves. They send the ETag that they have, and get 304 while it is current."},
	"/flipt.Flipt/Evaluate":                                     {"Evaluate a variant flag (legacy)", "For older clients. Others use evaluateVariant."},
	"/flipt.Flipt/BatchEvaluate":                                {"Evaluate several variant flags (legacy)", "For older clients. Others use evaluateBatch."},

	"/guidon.v1.ChangeService/ListAllChanges": {"List the changes of all namespaces that the caller may view", "Includes those of namespaces that have been deleted since. The work for one page is limited, so there may be few or no changes, although there is a next page. Records of earlier releases have no event until the server has added it in the background."},
	"/guidon.v1.ChangeService/ListChanges":    {"List the change records of a namespace, newest first", "A record has the object before and after the change, who made it, when and why. With kind authentication, binding or webhook, the records are those of tokens and sessions, bindings or webhooks, which belong to no namespace and need the role admin."},
	"/guidon.v1.ChangeService/LatestChanges":  {"Get the newest change record of each of up to 500 flags or segments, without the objects before and after", "The records are in the order of the keys. Those of objects that do not exist are missing."},
	"/guidon.v1.DocumentService/Import":       {"Import a document into a namespace, all of it or nothing", "Creates the namespace if it does not exist, which needs the role admin. With dryRun the response says what would change."},
	"/guidon.v1.DocumentService/Export":       {"Export a namespace as a document", "The document is what an import takes."},

	"/guidon.v1.EditService/GetFlagContent":    {"Get a flag with everything under it, as PUT takes it", "The variants and rules have no ids and times."},
	"/guidon.v1.EditService/GetSegmentContent": {"Get a segment with its constraints, as PUT takes it", "The constraints have no ids and times."},
	"/guidon.v1.EditService/ReplaceFlag":       {"Create or replace a flag with everything under it, possibly unless it changed since a revision", "Parts that stay keep their ids. With unlessChangedSince, the status is 412 if the flag has changed after that revision."},
	"/guidon.v1.EditService/ReplaceSegment":    {"Create or replace a segment with its constraints, possibly unless it changed since a revision", "Constraints that stay keep their ids. With unlessChangedSince, the status is 412 if the segment has changed after that revision."},
	"/guidon.v1.EditService/TurnFlagOff":       {"Turn a flag off for everyone", "A boolean flag gets a rule before all others that makes it false. A variant flag becomes not enabled, and its metadata get guidon.turnedOff. Nothing else changes, so turning it on again restores what was before."},
	"/guidon.v1.EditService/TurnFlagOn":        {"Restore what a flag was before it was turned off", "Changes nothing if the flag is not off. A flag that is off but has not been turned off is enabled with everyone, and the status is 400 without."},
	"/guidon.v1.EditService/ControlRamp":       {"Pause, resume, reverse, confirm, stop or finish the ramp of a rule", "The status is 400 if the rule has no ramp, and 412 if the action does not fit what the ramp does. stop and finish end the ramp."},
	"/guidon.v1.EditService/MergeFlag":         {"Bring an edited flag together with what has been saved since the edit began, without saving it", "What one side alone has changed is taken from it. What both have changed differently is a conflict, which the request can resolve."},
	"/guidon.v1.EditService/MergeSegment":      {"Bring an edited segment together with what has been saved since the edit began, without saving it", "What one side alone has changed is taken from it. What both have changed differently is a conflict, which the request can resolve."},
	"/guidon.v1.EditService/Patch":             {"Put, delete and turn off up to 100 flags and segments in one revision, all of them or none", "All problems are reported together. An item with unlessChangedSince fails with 412 if its object has changed after that revision."},
	"/guidon.v1.PlanService/Plan":              {"Plan what bringing objects of a document or a state into a namespace, or undoing changes, would change", "The source is a document, a namespace or an earlier state of one, or changes to undo. The digest of the plan is needed to apply it."},
	"/guidon.v1.PlanService/Apply":             {"Apply a plan, all of it or nothing, if it would still be the same", "The request is that of the plan with its digest. If the plan would be different now, the status is 412, and nothing changes."},

	"/guidon.v1.AnalysisService/GetSegmentUsage":  {"List the flags that refer to a segment, and what would change without it", "The effects say what would change for users if the rules that refer to the segment never matched."},
	"/guidon.v1.AnalysisService/PreviewSegment":   {"Preview what saving an edited segment changes for users of the flags that refer to it", "Saves nothing. The segment is in the form of a document."},
	"/guidon.v1.AnalysisService/PreviewFlag":      {"Preview what saving an edited flag, or turning it on or off, changes for its users", "Saves nothing. The request has a flag in the form of a document, turnOn or ramp. Within each group of users, the shares are exact."},
	"/guidon.v1.AnalysisService/GetFlagReach":     {"Get what a flag can never do, and how its percentages are rounded", "Lists rules and variants that nobody gets, and why. Only what is certain is reported."},
	"/guidon.v1.AnalysisService/GetFlagTimeline":  {"List when rules of a flag begin and end, and when their shares change", "The instants to come, from the time of the state on. Nothing is stored for them: they follow from the rules."},
	"/guidon.v1.AnalysisService/ListFlagUses":     {"List the flags that require a flag", "A flag can require others as a whole, in rules, or both. Those that require such a flag in turn are not listed."},
	"/guidon.v1.AnalysisService/PreviewFlagReach": {"Preview what an edited flag could never do, and how its percentages would be rounded", "Saves nothing. The flag is in the form of a document."},

	"/guidon.v1.AnalyticsService/GetFlagEvaluations": {"Get how often a flag was evaluated over time, by answer and reason", "Evaluations of single flags are counted, over HTTP, gRPC and OFREP, by all instances. A minute appears when the instances have written it, usually within 90 seconds."},
	"/guidon.v1.AnalyticsService/GetEvaluations":     {"Get how often flags, or the flags of a namespace, were evaluated over time", "Evaluations of all flags at once, and snapshots for clients that evaluate themselves, count for the namespace only: they say nothing of one flag."},
	"/guidon.v1.AnalyticsService/ReportEvaluations":  {"Report how often a client evaluated flags by itself", "Clients that evaluate flags themselves send what they counted here, about once a minute."},

	"/flipt.analytics.AnalyticsService/GetFlagEvaluationsCount": {"Get how often a flag was evaluated over time", "As in Flipt v1. The times are those of RFC 3339, or like 2006-01-02 15:04:05 in UTC."},

	"/guidon.v1.CatalogService/ListFlagSummaries":    {"List flags that match filters: what each does in short, and how many other filters would leave", "A flag must match the query and each filter, and it matches a filter by any of its values."},
	"/guidon.v1.CatalogService/ListSegmentSummaries": {"List segments that match words, with their constraints in words", "All words of the query must occur in a segment."},
	"/guidon.v1.CatalogService/ListUnusedFlags":      {"List the flags that may no longer be needed, and why", "Everybody gets the same from them, nobody evaluates them, or their review date has passed. The longest unchanged is first."},
	"/guidon.v1.CatalogService/ListProperties":       {"List the properties that constraints compare, with known values", "Those in the most constraints are first. The values are those that constraints compare with for equality."},
	"/guidon.v1.CatalogService/GetCatalogCounts":     {"Count the flags, the segments, and the flags that may no longer be needed", "A namespace that does not exist has none."},
	"/guidon.v1.CatalogService/ListFlagNamespaces":   {"List what a flag is in each namespace that the caller may view", "Namespaces without the flag are listed too. One that cannot be read at the moment says why."},
	"/guidon.v1.CatalogService/Search":               {"Find flags, segments, owners, tags and namespaces, in all namespaces that the caller may view", "Finds keys and names that contain the text: exact keys first, then beginnings. At most 100 namespaces are searched."},

	"/guidon.v1.CompareService/Compare": {"Compare two namespaces: which flags and segments differ, field by field", "Either may be an earlier state. The differences say what makes the second from the first."},

	"/guidon.v1.ExplainService/Explain":        {"Explain how a flag, as it is or as it would be after an edit, comes to its result for an entity, and the changes needed for its other results", "Says which rule decided, and what each constraint compared. It is not counted as an evaluation."},
	"/guidon.v1.ExplainService/ExplainBatch":   {"Evaluate a flag for up to 1,000 entities and count the results", "The results are not counted as evaluations."},
	"/guidon.v1.ExplainService/ExplainFlags":   {"Evaluate the flags of a namespace for one entity", "The results are in order of the names of the flags, and not counted as evaluations."},
	"/guidon.v1.ExplainService/ExplainSegment": {"Explain whether an entity belongs to a segment, as it is or as it would be after an edit", "Says what each constraint compared."},

	"/flipt.auth.PublicAuthenticationService/ListAuthenticationMethods": {"List the sign-in methods", "Lists all methods, and says which are enabled."},
	"/flipt.auth.AuthenticationMethodTokenService/CreateToken":          {"Create a token; only this response contains the secret", "The token is stored as a hash. Without a role it may do everything."},
	"/flipt.auth.AuthenticationService/ListAuthentications":             {"List tokens and sessions", "They are without secrets, in creation order."},
	"/flipt.auth.AuthenticationService/GetAuthentication":               {"Get a token or session, without the secret", "Returns what is known of it, such as name and expiry."},
	"/flipt.auth.AuthenticationService/DeleteAuthentication":            {"Delete a token or session", "It is rejected from the next request on, by other instances as soon as the mode of the cache says."},
	"/flipt.auth.AuthenticationService/GetAuthenticationSelf":           {"Get the token or session of the caller", "The response also says what the caller may do."},
	"/flipt.auth.AuthenticationService/ExpireAuthenticationSelf":        {"Expire the token or session of the caller, now or at a given time", "One that expires already can only shorten its life."},

	"/flipt.auth.AuthenticationService/RevokeAuthenticationSelf": {"End the token or session of the caller, or all of the caller", "The response makes a browser forget the session."},

	"/flipt.auth.AuthenticationMethodOIDCService/AuthorizeURL":               {"Begin to sign in with an OpenID provider", "Returns the page of the provider, or sends the browser there with redirect."},
	"/flipt.auth.AuthenticationMethodOIDCService/Callback":                   {"End an attempt to sign in with an OpenID provider", "The provider sends the browser here. The session is in a cookie, and the browser goes on to the page that the attempt names."},
	"/flipt.auth.AuthenticationMethodOIDCService/Revoke":                     {"End the sessions of somebody who signed out at an OpenID provider", "The provider calls this by itself (OpenID Connect Back-Channel Logout 1.0)."},
	"/flipt.auth.AuthenticationMethodGithubService/AuthorizeURL":             {"Begin to sign in with the code host", "Returns the page of the code host, or sends the browser there with redirect."},
	"/flipt.auth.AuthenticationMethodGithubService/Callback":                 {"End an attempt to sign in with the code host", "The code host sends the browser here. The session is in a cookie, and the browser goes on to the page that the attempt names."},
	"/flipt.auth.AuthenticationMethodKubernetesService/VerifyServiceAccount": {"Exchange the token of a Kubernetes service account for a client token", "The client token is valid for some time, and is then exchanged for the next one."},

	"/guidon.v1.SessionService/ListSessions":         {"List the sessions of the caller", "The oldest is first."},
	"/guidon.v1.SessionService/CreateSession":        {"Begin a browser session with the static token of the request", "The response sets the cookie of the session, and has no secret in its body."},
	"/guidon.v1.SessionService/DeleteSession":        {"End a session of the caller", "It must be one of those that listSessions returns."},
	"/guidon.v1.SessionService/CreateGrant":          {"Allow a command line to sign in as the caller, once and within a minute", "Needs the session of a browser. The command line exchanges the code together with its verifier."},
	"/guidon.v1.SessionService/ExchangeGrant":        {"Exchange the code of a grant for a client token", "The verifier proves that it is the command line that asked for the grant."},
	"/guidon.v1.AccessService/ListBindings":          {"List the bindings of roles to subjects", "Those of the configuration are first, and cannot be changed here."},
	"/guidon.v1.AccessService/CreateBinding":         {"Give a role to a subject", "If there is such a binding, the response is that one."},
	"/guidon.v1.AccessService/DeleteBinding":         {"Delete a binding of a role to a subject", "Sessions of the subject stay, without the role."},
	"/guidon.v1.AccessService/DeleteAuthentications": {"End all sessions and tokens of a subject", "The subject keeps its bindings, and can sign in again."},

	"/guidon.v1.WebhookService/ListWebhooks":        {"List webhooks", "Without namespaceKey it lists all webhooks, for which the role is needed everywhere; so it is with the other operations on webhooks."},
	"/guidon.v1.WebhookService/CreateWebhook":       {"Create a webhook", "It sends what is changed from now on. The secret is in this response only."},
	"/guidon.v1.WebhookService/GetWebhook":          {"Get a webhook", "Of the URL only the host is shown, and of headers only the names."},
	"/guidon.v1.WebhookService/UpdateWebhook":       {"Update a webhook", "Replaces everything but the secret. An empty url or value of a header means the present one."},
	"/guidon.v1.WebhookService/DeleteWebhook":       {"Delete a webhook with its deliveries", "What has not been sent yet is not sent any more."},
	"/guidon.v1.WebhookService/RotateWebhookSecret": {"Give a webhook a new secret", "The present secret signs too, for the overlap. The new one is in this response only."},
	"/guidon.v1.WebhookService/TestWebhook":         {"Send a test to a webhook at once", "The body has the type test. It is sent whatever the state of the webhook."},
	"/guidon.v1.WebhookService/PauseWebhook":        {"Pause a webhook", "After 30 days without being active, what happens is no longer kept for the webhook."},
	"/guidon.v1.WebhookService/ResumeWebhook":       {"Make a webhook send again that is paused, stopped or failing", "It goes on where it was. What failed is tried again at once."},
	"/guidon.v1.WebhookService/ReplayWebhook":       {"Send changes to a webhook again", "Deliveries have the same ids as the first time. Records that a retention has deleted are not sent."},
	"/guidon.v1.WebhookService/ListDeliveries":      {"List what a webhook has sent", "The last 1,000 of at most 7 days are kept."},

	"/flipt.meta.MetadataService/GetInfo":          {"Get version and build", "Says what the program is, and what clients must know of its configuration."},
	"/flipt.meta.MetadataService/GetConfiguration": {"Get the effective configuration, without secrets", "Secrets are left out."},

	"/ofrep/v1/evaluate/flags/{key}":                    {"Evaluate a flag for a context", "The context may have any JSON. The targeting key may be missing unless the result depends on a percentage."},
	"/ofrep/v1/evaluate/flags":                          {"Evaluate all flags of a namespace for a context", "Evaluates the flags that the context names in flags, or else all. A flag that fails is an error in the list."},
	"/ofrep/v1/configuration":                           {"Get the OFREP capabilities of this server, for older tools", "OpenFeature providers do not need it any more."},
	"/ofrep/v1/events":                                  {"Stream change events of a namespace, at the URL from a bulk response", "Clients evaluate again after an event. The stream sends a comment when nothing has happened for 20 seconds. Over gRPC there is none."},
	"/api/v1/namespaces/{namespace_key}/changes/stream": {"Stream the change records of a namespace, each once and in order", "First those after the position of the client, then new ones as they are committed. The stream sends a comment when nothing has happened for 20 seconds, and ends when the server stops: clients connect again with the id of the last event. Over gRPC there is none."},
}
