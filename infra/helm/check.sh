#!/bin/sh
# Checks the chart: helm's own lint, every manifest against the schemas of Kubernetes
# and of the Prometheus operator, the configuration against the program, and that
# values which make no sense are refused. Reaches nothing but the Go module proxy.
set -eu
cd "$(dirname "$0")"
helm() { go run helm.sh/helm/v3/cmd/helm@v3.22.0 "$@"; }
validate() { go run sigs.k8s.io/kubectl-validate@v0.0.4 --version 1.30 --local-crds "$work/crds" "$1"; }
operator=github.com/prometheus-operator/prometheus-operator@v0.85.0
kubernetes="--kube-version 1.30.0"
die() { echo "check.sh: $*" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/crds" "$work/secrets" "$work/tls"
# What the secrets hold that testdata/full.yaml names.
echo postgres://guidon@db/guidon >"$work/secrets/GUIDON_DB_URL"
echo redis://redis:6379 >"$work/secrets/GUIDON_CACHE_REDIS_URL"
echo not-a-secret >"$work/secrets/GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN"
touch "$work/tls/tls.crt" "$work/tls/tls.key"
go mod download "$operator"
cp "$(go env GOMODCACHE)/$operator/example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml" "$work/crds"
(cd ../.. && go build -o "$work/guidon" ./cmd/guidon)

# accepted NAME FLAGS: the chart with the values is right.
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

# configuration MANIFESTS: the program accepts the file and the variables that its
# containers get.
configuration() {
  awk '/^  default.yml: \|$/ {inside = !seen++; next} /^[^ ]/ {inside = 0} inside {print substr($0, 5)}' "$1" >"$work/default.yml"
  grep -q '^version:' "$work/default.yml" || die "no configuration in $1"
  sed -n 's/^ *- {name: \(GUIDON_[A-Z_]*\), value: "\{0,1\}\([^"}]*\)"\{0,1\}}$/\1=\2/p' "$1" | sort -u |
    sed -e "s,=/etc/guidon/,=$work/," >"$work/environment"
  grep -q '^GUIDON_DB_URL_FILE=' "$work/environment" || die "no database in $1"
  # shellcheck disable=SC2046 -- variables without spaces
  env -i $(cat "$work/environment") "$work/guidon" config check --config "$work/default.yml"
}

# refused TEXT FLAGS: the values are refused with the text.
refused() {
  text=$1; shift
  # shellcheck disable=SC2086
  if helm template $kubernetes flags guidon "$@" >"$work/refused" 2>&1; then die "accepted: $*"; fi
  grep -q -e "$text" "$work/refused" || { cat "$work/refused"; die "not refused for \"$text\": $*"; }
}

accepted minimal --set database.secret=flags-database
accepted full -f testdata/full.yaml

refused '/database/secret' --set replicas=2
refused "'replica' not allowed" --set database.secret=d,replica=2
refused '/config/db' --set database.secret=d,config.db.url=postgres://user:password@db/guidon
refused "invalid propertyName 'http_port'" --set database.secret=d,config.server.http_port=80
refused "invalid propertyName 'diagnostics_address'" --set database.secret=d,config.server.diagnostics_address=:80
refused 'needs networkPolicy.metricsFrom' --set database.secret=d,serviceMonitor.enabled=true,networkPolicy.enabled=true
refused "'token' not allowed" --set database.secret=d,serviceMonitor.token.secret=t
refused 'more than autoscaling.maxReplicas' --set database.secret=d,autoscaling.enabled=true,autoscaling.minReplicas=30

# A mistake that the checks must find, so that they are known to look.
sed 's/readinessProbe/readynessProbe/' "$work/full.yaml" >"$work/broken.yaml"
if validate "$work/broken.yaml" >/dev/null 2>&1; then die "a misspelt field is not found"; fi
sed 's/^      path: \/metrics/      paht: \/metrics/' "$work/full.yaml" >"$work/broken.yaml"
if validate "$work/broken.yaml" >/dev/null 2>&1; then die "a misspelt field of the operator's is not found"; fi
echo "the chart is fine"
