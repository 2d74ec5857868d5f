package config

import (
	"strings"
	"sync"

	"github.com/guidonhq/guidon/internal/lists"
)

const codehostHint = "use authentication.methods.codehost, whose type is github by default, and write allowed_teams as a list such as acme/backend"

// fliptRows are the keys of Flipt v1, and some groups of them. Keys with the same fate share a row.
var fliptRows = []FliptKey{
	{`
		version
		server.host server.protocol server.http_port server.https_port server.grpc_port server.cert_file server.cert_key
		server.grpc_conn_max_idle_time server.grpc_conn_max_age server.grpc_conn_max_age_grace
		ui.enabled ui.default_theme ui.topbar.color ui.topbar.label
		cors.enabled cors.allowed_headers
		log.level log.file log.encoding log.grpc_level log.keys.time log.keys.level log.keys.message
		db.protocol db.host db.port db.user db.password db.max_idle_conn db.max_open_conn db.conn_max_lifetime
		cache.redis.ca_cert_path cache.redis.prefix cache.redis.mode cache.redis.pool_size cache.redis.min_idle_conn
		cache.redis.conn_max_idle_time
		tracing.enabled tracing.exporter tracing.sampling_ratio tracing.propagators tracing.otlp.endpoint tracing.otlp.headers
		metrics.exporter metrics.otlp.endpoint metrics.otlp.headers
		analytics.buffer.flush_period
		audit.sinks.log.enabled audit.sinks.log.file audit.sinks.webhook.enabled audit.sinks.webhook.url
		audit.sinks.kafka.enabled audit.sinks.kafka.topic audit.sinks.kafka.bootstrap_servers audit.sinks.kafka.require_tls
		audit.sinks.kafka.authentication.username audit.sinks.kafka.authentication.password
		authentication.required authentication.exclude.evaluation authentication.exclude.ofrep authentication.session.secure
		authentication.session.token_lifetime authentication.session.state_lifetime
		authentication.session.csrf.trusted_origins
		authentication.methods.token.enabled authentication.methods.token.cleanup.interval
		authentication.methods.token.cleanup.grace_period authentication.methods.token.bootstrap.expiration
		authentication.methods.token.bootstrap.metadata
		authentication.methods.oidc.enabled authentication.methods.oidc.cleanup.interval
		authentication.methods.oidc.cleanup.grace_period authentication.methods.oidc.providers.*.issuer_url
		authentication.methods.oidc.providers.*.client_id authentication.methods.oidc.providers.*.client_secret
		authentication.methods.oidc.providers.*.redirect_address authentication.methods.oidc.providers.*.scopes
		authentication.methods.oidc.providers.*.use_pkce
		authentication.methods.kubernetes.enabled authentication.methods.kubernetes.cleanup.interval
		authentication.methods.kubernetes.cleanup.grace_period authentication.methods.kubernetes.discovery_url
		authentication.methods.kubernetes.ca_path authentication.methods.kubernetes.service_account_token_path
		authentication.methods.jwt.enabled authentication.methods.jwt.jwks_url authentication.methods.jwt.public_key_file
		authentication.methods.jwt.validate_claims.issuer authentication.methods.jwt.validate_claims.subject
		authentication.methods.jwt.validate_claims.audiences
	`, FliptKept, "", ""},

	{"diagnostics.profiling.enabled", FliptKept, "",
		"the profiler is no longer open to everybody: it is on the listener of server.diagnostics_address, or for tokens"},
	{"meta", FliptNeedless, "", "nothing is sent to anybody"},

	{"cors.allowed_origins", FliptKept, "", "if no token is required, pages of an origin may write only if it is listed without a star"},

	{"db.url db.name", FliptKept, "", "Guidon needs a database of its own"},
	{"db.prepared_statements_enabled", FliptNeedless, "", "nothing is prepared, so poolers such as PgBouncer work as they are"},

	{"cache.enabled cache.ttl cache.memory", FliptNeedless, "",
		"evaluations are always served from memory, and by default never stale; cache.mode and cache.max_age are about that"},
	{"cache.backend", FliptKept, "", "Redis is for servers that share a database; responses are as fresh as with memory"},
	{"cache.redis.host cache.redis.port cache.redis.username cache.redis.password cache.redis.db", FliptCombined, "cache.redis.url",
		"it is a part of cache.redis.url"},
	{"cache.redis.require_tls", FliptCombined, "cache.redis.url", "it is the scheme rediss of cache.redis.url"},
	{"cache.redis.insecure_skip_tls", FliptDropped, "", "certificates are always verified; cache.redis.ca_cert_path names the authorities"},
	{"cache.redis.ca_cert_bytes", FliptDropped, "", "write the certificates to the file that cache.redis.ca_cert_path names"},
	{"cache.redis.net_timeout", FliptKept, "", "after it, the request queries the database; it is at most 1s"},

	{"storage", FliptDropped, "", "flags are in the database of db.url; server.read_only replaces storage.read_only"},
	{"storage.type storage.local storage.git storage.object storage.oci", FliptDropped, "",
		"flags are in the database of db.url, and change through the interface and the API; to keep them in files, apply these with guidon plan and guidon apply"},
	{"storage.read_only", FliptMoved, "server.read_only", "server.read_only replaces storage.read_only"},

	{"tracing.jaeger tracing.zipkin", FliptDropped, "", "spans are sent by OTLP, which Jaeger accepts too; use tracing.otlp.endpoint"},
	{"metrics.enabled", FliptKept, "", "metrics are no longer open to everybody (metrics.public), and their names begin with guidon_"},
	{"analytics.storage", FliptDropped, "", "evaluations are counted in the database of db.url (analytics.enabled)"},
	{"audit.events", FliptKept, "", "parts of flags and segments have no events of their own"},
	{"audit.sinks.log.encoding", FliptNeedless, "", "lines are always JSON"},
	{"audit.sinks.webhook.signing_secret", FliptKept, "", "signatures are those of Standard Webhooks; webhooks.flipt_signature adds that of Flipt"},
	{"audit.sinks.webhook.max_backoff_duration", FliptNeedless, "", "what fails is tried again until it succeeds, at least once an hour"},
	{"audit.sinks.webhook.templates", FliptDropped, "", "guidon webhook create makes webhooks, with formats for chats"},
	{"audit.buffer", FliptNeedless, "", "there is no buffer: records are read from the change log, which loses none"},
	{"audit.sinks.kafka.encoding audit.sinks.kafka.schema_registry", FliptDropped, "", "records are CloudEvents in JSON"},
	{"audit.sinks.kafka.insecure_skip_tls", FliptDropped, "", "audit.sinks.kafka.ca_path names the authority of the brokers' certificates"},
	{"experimental authentication.exclude.metadata", FliptNeedless, "", "it had no effect in Flipt either"},

	{"authentication.exclude.management", FliptKept, "", "it must be false while roles are enforced"},
	{"authentication.session.domain", FliptKept, "", "without it, the cookie is for the host that people use only, which is the best choice"},
	{"authentication.session.csrf.key", FliptNeedless, "",
		"writes from pages of other origins are always checked; authentication.session.csrf.trusted_origins names exceptions"},
	{"authentication.session.csrf.secure", FliptNeedless, "", "it had no effect in Flipt either; authentication.session.secure is for all cookies"},
	{"authentication.methods.token.bootstrap.token", FliptKept, "", "it is for a database that never had a token; those that are imported count"},
	{"authentication.methods.oidc.email_matches", FliptKept, "", "each expression must end in $, and the address must be verified"},
	{"authentication.methods.oidc.providers.*.nonce", FliptNeedless, "", "each sign-in has a random nonce"},

	{"authentication.methods.github", FliptMoved, "authentication.methods.codehost", codehostHint},
	{FliptTeams, FliptCombined, ourTeams, codehostHint},
	// No key of Flipt, but its map may be written in the place of the list.
	{ourTeams, FliptCombined, ourTeams,
		"write each team with its organization, such as acme/backend, in the list authentication.methods.codehost.allowed_teams"},

	{"authorization.required", FliptKept, "", "roles decide instead of policies: authorization.bindings and authorization.default_roles"},
	{"authorization.backend authorization.local authorization.object authorization.bundle", FliptDropped, "",
		"there are no policies; give roles with authorization.bindings and authorization.default_roles"},
}

// movedKeys are the keys below authentication.methods.github, which are below codehost here.
const movedKeys = "enabled cleanup.interval cleanup.grace_period server_url api_url " +
	"client_id client_secret redirect_address scopes allowed_organizations"

// fliptKeys returns all keys of Flipt v1, and some groups of them, one by one. Few programs need them.
var fliptKeys = sync.OnceValue(func() []FliptKey {
	return append(apart(fliptRows), lists.Map(strings.Fields(movedKeys), func(name string) FliptKey {
		return FliptKey{"authentication.methods.github." + name, FliptMoved, "authentication.methods.codehost." + name, codehostHint}
	})...)
})

// apart returns a row for each of the keys that share one.
func apart(rows []FliptKey) (all []FliptKey) {
	for _, row := range rows {
		for key := range strings.FieldsSeq(row.Key) {
			all = append(all, FliptKey{key, row.Status, row.To, row.Note})
		}
	}
	return all
}
