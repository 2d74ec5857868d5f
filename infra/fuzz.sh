#!/bin/sh
# Runs every fuzz target for the time that is given, "10s".
set -eu

time=$1
go=${GO:-go}
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# fuzz runs the target of the package.
fuzz() {
  status=0
  # Otherwise an input that has found something is made smaller for a minute.
  "$go" test -run '^$' -fuzz "^$2\$" -fuzztime "$time" -fuzzminimizetime 1s "$1" >"$output" 2>&1 || status=$?
  cat "$output"
  return "$status"
}

# unfounded tells whether the failure is one of Go's own: before Go 1.27 the end of
# the time may be reported as that of a target in which nothing was found
# (go.dev/issue/75804).
unfounded() {
  grep -q '^ *context deadline exceeded$' "$output" && ! grep -Eqi 'failing input|seed corpus|panic' "$output"
}

"$go" list ./... | while read -r package; do
  "$go" test -list '^Fuzz' "$package" | { grep '^Fuzz' || true; } | while read -r target; do
    echo "$package $target"
    fuzz "$package" "$target" </dev/null || {
      unfounded || exit 1
      echo "nothing was found: once more"
      fuzz "$package" "$target" </dev/null || exit 1
    }
  done || exit 1
done
