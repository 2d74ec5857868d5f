#!/bin/sh
# Checks the chart with helm lint, the manifests against the schemas of Kubernetes and of
# the Prometheus operator and the Gateway API, and the configuration with the program. It also checks that
# invalid values are rejected. It needs network access only to the Go module proxy.
set -eu
cd "$(dirname "$0")"
helm() { go run helm.sh/helm/v3/cmd/helm@v3.22.0 "$@"; }
validate() { go run sigs.k8s.io/kubectl-validate@v0.0.4 --version 1.30 --local-crds "$work/crds" "$1"; }
operator=github.com/prometheus-operator/prometheus-operator@v0.85.0
gateway=sigs.k8s.io/gateway-api@v1.2.1
kubernetes="--kube-version 1.30.0"
die() { echo "check.sh: $*" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/crds" "$work/secrets" "$work/tls"
# The content of the secrets in testdata/full.yaml.
echo postgres://guidon@db/guidon >"$work/secrets/GUIDON_DB_URL"
echo redis://redis:6379 >"$work/secrets/GUIDON_CACHE_REDIS_URL"
for name in TOKEN_BOOTSTRAP_TOKEN OIDC_PROVIDERS_AUTH0_CLIENT_SECRET CODEHOST_CLIENT_SECRET; do
  echo not-a-secret >"$work/secrets/GUIDON_AUTHENTICATION_METHODS_$name"
done
touch "$work/tls/tls.crt" "$work/tls/tls.key"
go mod download "$operator" "$gateway"
cp "$(go env GOMODCACHE)/$operator/example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml" "$work/crds"
for kind in httproutes grpcroutes; do
  cp "$(go env GOMODCACHE)/$gateway/config/crd/standard/gateway.networking.k8s.io_$kind.yaml" "$work/crds"
done
(cd ../.. && go build -o "$work/guidon" ./cmd/guidon)

# accepted NAME FLAGS: the chart with these values is valid.
accepted() {
  name=$1; shift
  echo "chart with $name values"
  # shellcheck disable=SC2086 -- a flag and its value
  helm lint $kubernetes --strict --quiet guidon "$@"
  # shellcheck disable=SC2086
  helm template $kubernetes flags guidon "$@" >"$work/$name.yaml"
  validate "$work/$name.yaml" >"$work/problems" 2>&1 || { cat "$work/problems"; die "invalid manifests"; }
  configuration "$work/$name.yaml"
}

# configuration MANIFESTS: the program accepts the configuration file and the variables of
# its containers.
configuration() {
  awk '/^  default.yml: \|$/ {inside = !seen++; next} /^[^ ]/ {inside = 0} inside {print substr($0, 5)}' "$1" >"$work/default.yml"
  grep -q '^version:' "$work/default.yml" || die "no configuration in $1"
  sed -n 's/^ *- {name: \(GUIDON_[A-Z0-9_]*\), value: "\{0,1\}\([^"}]*\)"\{0,1\}}$/\1=\2/p' "$1" | sort -u |
    sed -e "s,=/etc/guidon/,=$work/," >"$work/environment"
  grep -q '^GUIDON_DB_URL_FILE=' "$work/environment" || die "no database in $1"
  # shellcheck disable=SC2046 -- variables without spaces
  env -i $(cat "$work/environment") "$work/guidon" config check --config "$work/default.yml"
}

# has TEXT NAME: the manifests of the chart contain the text, a regular expression.
has_text() { grep -q -e "$1" "$work/$2.yaml"; }
has() { has_text "$@" || die "the chart with $2 values has no $1"; }

# rejected TEXT FLAGS: the values are rejected with an error that contains the text.
rejected() {
  text=$1; shift
  # shellcheck disable=SC2086
  if helm template $kubernetes flags guidon "$@" >"$work/rejected" 2>&1; then die "accepted: $*"; fi
  grep -q -e "$text" "$work/rejected" || { cat "$work/rejected"; die "not rejected with \"$text\": $*"; }
}

accepted minimal --set database.secret=flags-database
accepted full -f testdata/full.yaml
accepted token-review --set database.secret=d,apiServerToken.enabled=true
has 'serviceAccountName: flags-guidon$' token-review
has 'name: system:auth-delegator$' token-review
has 'name: system:auth-delegator$' full
accepted keys --set database.secret=d,apiServerToken.enabled=true,apiServerToken.tokenReview=false
! has_text "^kind: ClusterRoleBinding\$" keys || die "a role that nobody needs is bound"
accepted ingress --set database.secret=d,config.server.public_url=https://flags.example,ingress.enabled=true,ingress.grpc.host=grpc.flags.example
has 'host: flags.example$' ingress
has 'port: {name: grpc}' ingress
has 'appProtocol: kubernetes.io/h2c' ingress
accepted gateway --set database.secret=d,config.server.public_url=https://flags.example,gateway.enabled=true,gateway.parentRefs[0].name=public
has 'request: 0s$' gateway
! has_text "^kind: GRPCRoute\$" gateway || die "a route that nobody needs is created"
has "^kind: GRPCRoute\$" full
! has_text "h2c" full || die "a port with TLS is said to have none"
! has_text "^kind: ServiceAccount\$" minimal || die "a service account that nobody needs is created"

rejected '/database/secret' --set replicas=2
rejected "'replica' not allowed" --set database.secret=d,replica=2
rejected '/config/db' --set database.secret=d,config.db.url=postgres://user:password@db/guidon
rejected "invalid propertyName 'http_port'" --set database.secret=d,config.server.http_port=80
rejected "invalid propertyName 'diagnostics_address'" --set database.secret=d,config.server.diagnostics_address=:80
rejected 'requires networkPolicy.metricsFrom' --set database.secret=d,serviceMonitor.enabled=true,networkPolicy.enabled=true
rejected '/config/authentication/methods/oidc/providers/google' --set database.secret=d,config.authentication.methods.oidc.providers.google.client_secret=s
rejected '/config/authentication/methods/codehost' --set database.secret=d,config.authentication.methods.codehost.client_secret=s
for route in ingress gateway; do
  public=config.server.public_url=https://flags.example
  rejected 'require config.server.public_url' --set "database.secret=d,$route.enabled=true,gateway.parentRefs[0].name=public"
  rejected 'require config.server.public_url' --set "database.secret=d,$public/base,$route.enabled=true,gateway.parentRefs[0].name=public"
  rejected 'must differ from' --set "database.secret=d,$public,$route.enabled=true,$route.grpc.host=flags.example,gateway.parentRefs[0].name=public"
done
rejected '/gateway/parentRefs' --set "database.secret=d,$public,gateway.enabled=true"
rejected "'token' not allowed" --set database.secret=d,serviceMonitor.token.secret=t
rejected 'greater than autoscaling.maxReplicas' --set database.secret=d,autoscaling.enabled=true,autoscaling.minReplicas=30

# Mistakes that the checks must find.
sed 's/readinessProbe/readynessProbe/' "$work/full.yaml" >"$work/broken.yaml"
if validate "$work/broken.yaml" >/dev/null 2>&1; then die "a misspelled field was not found"; fi
sed 's/^      path: \/metrics/      paht: \/metrics/' "$work/full.yaml" >"$work/broken.yaml"
if validate "$work/broken.yaml" >/dev/null 2>&1; then die "a misspelled field of the operator was not found"; fi
sed 's/request: 0s/request: never/' "$work/gateway.yaml" >"$work/broken.yaml"
if validate "$work/broken.yaml" >/dev/null 2>&1; then die "an invalid timeout of a route was not found"; fi
echo "the chart is valid"
