# `make` alone prints this help. Every target works from a clean checkout.

GO      ?= go
FUZZTIME ?= 10s
OUT     ?= bin/guidon
DURATION ?= 2s
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
TOOL    := $(GO) tool -modfile=infra/tools/go.mod
GOSEC   := $(GO) run github.com/securego/gosec/v2/cmd/gosec@v2.29.0

# The programs are built without C, and so is all that is tested with them.
export CGO_ENABLED := 0

# One set of flags for all that is built, so that each package is compiled once, and once more
# for the race detector. Programs do not depend on where they are built. The tags exclude what nobody
# uses: net/rpc of the library for AWS Lambda, and grpc-go's pages about its own calls, which are
# templates that may call any method by name: the binary would contain all methods of all its types, 10 MB more.
TAGS := grpcnotrace,lambda.norpc
export GOFLAGS := $(strip $(filter-out -trimpath -tags=%,$(GOFLAGS)) -trimpath -tags=$(TAGS))

# RACE=1 tests with the race detector, which needs a C compiler and three times as long. It leaves out
# SQLite, which is C in the form of Go, and would take most of the time. The packages around that have
# generic functions, of which the linker keeps one copy for the program, so they are not left out; but the
# conversions of their many pointers are not checked.
RACE  ?=
RACED := $(if $(filter 1,$(RACE)),-race -gcflags=modernc.org/...=-d=checkptr=0 -gcflags=modernc.org/sqlite/lib=-race=false)

# These packages and their tests compute for long and, but for document, run on one goroutine: the race
# detector would find nothing, ten times as slowly. Tests of cmd/guidon read long documents.
SEQUENTIAL := /guidon/(analysis|change|docs|document|document/unleash)

# FULL=1 makes make integration try all combinations instead of each case once.
export FULL ?=

.DEFAULT_GOAL := help

.PHONY: help
help: ## print this help
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: build ## run the service: http://127.0.0.1:8080, gRPC on 9000, data in guidon.db
	@GUIDON_DB_URL=$${GUIDON_DB_URL:-file:guidon.db} \
	  GUIDON_SERVER_HOST=$${GUIDON_SERVER_HOST:-127.0.0.1} \
	  GUIDON_LOG_ENCODING=$${GUIDON_LOG_ENCODING:-console} ./bin/guidon server

# A release names its commit itself: what Go records about it depends on the tags that a clone
# has. All other builds leave it to Go.
RELEASE := $(if $(COMMIT),-buildvcs=false) -ldflags "-s -w -X main.version=$(VERSION)$(if $(COMMIT), -X main.commit=$(COMMIT) -X main.date=$(DATE))"

.PHONY: build
build: ## build bin/guidon, one static binary
	$(GO) build $(RELEASE) -o $(OUT) ./cmd/guidon

.PHONY: image
image: ## build the container image guidon:VERSION; see docs/deploy-containers.md
	infra/docker/build.sh guidon:$(VERSION)

BOOTSTRAP ?= bin/bootstrap
.PHONY: build-lambda
build-lambda: ## build bin/bootstrap, the AWS Lambda function; GOARCH=arm64 or amd64
	$(GO) build $(RELEASE) -o $(BOOTSTRAP) ./cmd/guidon-lambda

DIST ?= bin/dist
PLATFORMS ?=
.PHONY: dist
dist: ## make the files of a release in DIST (default bin/dist); see docs/releases.md
	cd infra/dist && $(GO) run . release -source "$(CURDIR)" -output "$(abspath $(DIST))" \
	  $(if $(filter-out file,$(origin VERSION)),-version "$(VERSION)") $(if $(PLATFORMS),-platforms "$(PLATFORMS)") \
	  $(if $(COMMIT),-commit "$(COMMIT)" -time "$(SOURCE_DATE_EPOCH)")

.PHONY: test
test: ## run the tests without external dependencies; RACE=1 uses the race detector
	$(if $(RACED),CGO_ENABLED=1) $(GO) test -vet=off $(RACED) -shuffle=on $$($(GO) list ./... | \
	  grep -vE '/(integration|bench/store)(/|$$)' $(if $(RACED),| grep -vE '$(SEQUENTIAL)$$'))
	$(if $(RACED),$(GO) test -vet=off -shuffle=on $$($(GO) list ./... | grep -E '$(SEQUENTIAL)$$'))
	cd infra/dist && $(GO) test ./...
	@# the race detector makes pools drop items, so allocations are counted without it
	$(if $(RACED),$(GO) test -vet=off -run Allocations ./handler)
	@# without the fast paths (handler/codec/quick, runtimes/server/quick*), everything must work the same
	$(GO) test -vet=off -tags simple,$(TAGS) ./handler ./handler/codec/... ./runtimes/...

.PHONY: integration
integration: ## run the tests with real databases, servers and clients; FULL=1 tries all combinations
	@made=$$(mktemp -d); skipped=$$made/skipped; trap 'sort -u "$$skipped"; rm -rf "$$made"' EXIT; touch "$$skipped"; \
	  $(GO) build -o "$$made/guidon" ./cmd/guidon && $(GO) build $(RELEASE) -o "$$made/bootstrap" ./cmd/guidon-lambda && \
	  export TEST_SKIPPED="$$skipped" TEST_PROGRAMS="$$made" && \
	  $(GO) test -vet=off -count=1 -p 2 -timeout 45m $$($(GO) list ./integration/... $(if $(RACED),| grep -vE '/(database|cluster)$$')) \
	  $(if $(RACED),&& CGO_ENABLED=1 $(GO) test -vet=off $(RACED) -count=1 -p 1 -timeout 45m ./integration/database ./integration/cluster)

.PHONY: browser
browser: ## test the web pages in Chromium; requires it, and Node.js for npm
	$(GO) test -count=1 -p 1 -timeout 20m ./integration/browser

PICTURES ?= bin/screenshots
.PHONY: screenshots
screenshots: ## take pictures of all web pages, in light and dark, wide and narrow, into PICTURES
	$(GO) test -count=1 -run '^TestScreenshots$$' ./integration/browser -args -screenshots "$(abspath $(PICTURES))"
	@echo "$(PICTURES)"

.PHONY: pictures
pictures: ## draw and take the pictures of README and docs; requires Chromium
	$(GO) test ./docs -run '^Test(Buckets|Ramps)$$' -update
	@pictures=$$(mktemp -d) && trap 'rm -rf "$$pictures"' EXIT && \
	  $(GO) test -count=1 -run '^TestScreenshots$$/^(variant|boolean|segment|answer|conditions)$$' ./integration/browser -args -screenshots "$$pictures" && \
	  for theme in light dark; do \
	    install -m 644 "$$pictures/variant-$$theme-1440.png" docs/pictures/flag-$$theme.png && \
	    for page in boolean segment answer conditions; do install -m 644 "$$pictures/$$page-$$theme-1440.png" docs/pictures/$$page-$$theme.png || exit 1; done; \
	  done

.PHONY: containers
containers: ## test newer PostgreSQL, MariaDB and Redis, in containers; make integration has MySQL in one
	TEST_DATABASES=containers INTEGRATION=1 $(GO) test -vet=off -count=1 -p 1 -timeout 20m ./integration/database ./integration/cluster \
	  -run '^Test(Store|Migrate.*|RedisContainers$(if $(filter 1,$(FULL)),|StoreStrict|StoreSerializable|Cleanup.*|TenServersAtOnce|Linearizable))$$' -skip 'Pooled|/mysql'

.PHONY: infra
infra: ## check the Helm chart, the CloudFormation template and openapi.yaml; requires Node.js
	infra/helm/check.sh
	cd infra/cloudformation && npm ci --silent && npm test --silent
	cd infra/openapi && npm ci --silent && npm test --silent

.PHONY: lint
lint: ## check formatting, go.mod, vet, staticcheck, gosec, and that other systems are supported
	@files=$$(git ls-files --cached --others --exclude-standard '*.go' | xargs gofmt -l); \
	  if [ -n "$$files" ]; then echo "gofmt would change: $$files"; exit 1; fi
	$(GO) mod tidy -diff
	cd infra/tools && $(GO) mod tidy -diff
	cd infra/dist && $(GO) mod tidy -diff
	cd integration/clients/generated && $(GO) mod tidy -diff
	$(GO) vet ./...
	$(GO) vet -tags simple,$(TAGS) ./handler/codec/quick ./runtimes/server/...
	cd infra/dist && $(GO) vet ./...
	$(TOOL) staticcheck ./...
	cd infra/dist && $(GO) tool -modfile=../tools/go.mod staticcheck ./...
	$(GOSEC) -quiet -exclude-generated -exclude-dir=infra/tools -exclude-dir=infra/dist -exclude-dir=integration/clients/generated -exclude-dir=bench ./...
	@# releases are also for these systems, which no test runs on
	cd infra/tools && $(GO) run ./typecheck ../.. windows/amd64,darwin/arm64 ./cmd/guidon

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (default 10s), or those of FUZZPART, such as 2/3
	GO="$(GO)" infra/fuzz.sh $(FUZZTIME) $(FUZZPART)

.PHONY: bench-grpc
bench-grpc: build ## compare the service with a bare grpc-go server under load (h2load), for DURATION (default 2s) per run
	$(GO) run ./bench/load grpc -duration $(DURATION)

.PHONY: bench
bench: ## run the Go benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

.PHONY: bench-lambda
bench-lambda: ## compare the AWS Lambda function with an empty function
	$(GO) test -run '^$$' -bench 'Invoke' -benchmem ./runtimes/lambda
	$(GO) test -run '^$$' -bench 'BenchmarkLambda' -benchtime 1x ./integration/lambda

.PHONY: bench-http
bench-http: build ## compare the service with a bare net/http server under load (wrk), for DURATION (default 2s) per run
	$(GO) run ./bench/load http -duration $(DURATION)

.PHONY: generate
generate: ## regenerate the wire messages, pages, openapi.yaml, the configuration reference and docs/scale.md
	cd infra/tools && $(GO) run ./protogen ../../handler/wire
	$(TOOL) templ fmt -log-level warn handler/web
	$(TOOL) templ generate -log-level warn -include-version=false -path handler/web
	$(GO) test ./handler/openapi ./cmd/internal/config -update
	$(GO) test ./docs -run TestScale -update

.PHONY: check
check: lint test integration fuzz ## run lint, test, integration and fuzz
