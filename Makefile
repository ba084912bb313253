# Every check of the project, by name. `make help` lists them.

SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS   += --no-print-directory

export CGO_ENABLED = 0

BIN     := bin/sextant
TOOLS   := $(CURDIR)/.cache/bin
SOURCES := $(shell git ls-files --cached --others --exclude-standard '*.go' 2>/dev/null)
# What ships: no debug tables, no paths of the machine that built it.
RELEASE := -trimpath -ldflags='-s -w'
MAX_MB  := 90
CROSS   := linux/arm64 darwin/arm64 windows/amd64
# Where goroutines share state. The rest of the module has none, and the race detector
# makes the embedded SQLite many times slower.
RACE    := $(wildcard store/sqlite lexical ingest pipeline httpapi cmd/sextant trace llm retrieve)
PAGE    := web/ui/node_modules/.package-lock.json
FUZZTIME ?= 5s
GENERATED ?= 100000
BENCH    ?= .

.PHONY: help build quick test crash torture nightly generated models race lint fmt fmt-check vet unit integration cross size fuzz bench peers browser page live live-server clean outage

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

build: ## the binary, as it ships: bin/sextant
	go build $(RELEASE) -o $(BIN) ./cmd/sextant

quick: fmt-check vet build unit ## format, vet, build and all tests that need no other process and no network; under a minute with a warm cache

test: lint quick crash race integration browser cross size ## everything

nightly: test torture outage generated models ## everything, the embedded store for hours, a hundred thousand generated questions, and each fuzz target for 30 s
	$(MAKE) fuzz FUZZTIME=30s

generated: ## questions made of fields, operators and values of the corpus, counted by the store and by looking at every document
	SEXTANT_GENERATED=$(GENERATED) go test -count=1 -timeout 3h -v -run '^TestGeneratedQuestions$$' ./aviation

models: ## every fault of a model's server at every stage, and 5,200 injected documents before a model that obeys
	go test -count=1 -timeout 1h -v -run '^(TestEveryFaultOfAModelAtEveryStage|TestAnObeyingModelChangesNothing)$$' ./pipeline

unit: ## tests inside the process: unit, property, conformance
	go test -short ./...

integration: build ## tests against real processes and servers, which they install themselves below .cache
	SEXTANT_BINARY=$(CURDIR)/$(BIN) go test -tags integration -count=1 -timeout 30m -run '^TestIntegration' \
	  $$(grep -rl --include='*_test.go' '^//go:build integration' . | xargs -n1 dirname | sort -u)

# checkptr, which -race turns on, refuses the pointers SQLite's translation to Go lives by.
race: ## the race detector where goroutines share state (needs cgo and a C compiler)
	.ci/need gcc
	CGO_ENABLED=1 go test -race -gcflags=all=-d=checkptr=0 -short $(addprefix ./,$(addsuffix /...,$(RACE)))

lint: $(TOOLS)/golangci-lint $(TOOLS)/actionlint ## golangci-lint and actionlint as pinned below tools, and a tidy go.mod
	$(TOOLS)/golangci-lint run ./...
	$(TOOLS)/actionlint
	go mod tidy -diff
	bash -n .ci/run .ci/need

# Built in modules of their own: a linter's two hundred dependencies are none of the product's.
$(TOOLS)/golangci-lint: tools/lint/go.mod tools/lint/go.sum
	GOBIN=$(TOOLS) go -C tools/lint install tool && touch $@

$(TOOLS)/actionlint: tools/actionlint/go.mod tools/actionlint/go.sum
	GOBIN=$(TOOLS) go -C tools/actionlint install tool && touch $@

browser: $(PAGE) ## the page: its types, its unit tests, and Chromium before the served page (needs Node 20)
	.ci/need chromium
	npm --prefix web/ui run check
	npm --prefix web/ui test
	SEXTANT_BROWSER=1 go test -count=1 -run TestBrowser ./httpapi

page: $(PAGE) ## build the page again from web/ui into web/dist
	npm --prefix web/ui run build

$(PAGE): web/ui/package-lock.json
	npm --prefix web/ui ci --no-audit --no-fund

# A live test talks to a real service that costs money or is somebody's, or to a model
# server that takes minutes to build: it has the build tag live, and a line
# "// needs: NAME, ..." for what it wants, without which it is skipped.
live-server: ## build the local model server of the live tests, once: about ten minutes
	.ci/live-server

live: ## tests against real services of yours; prints what they need
	@files=$$(grep -rl --include='*_test.go' '^//go:build live' . || true); \
	if [ -z "$$files" ]; then echo "there is no live test yet"; exit 0; fi; \
	grep -h '^// needs: ' $$files | sort -u; \
	go test -tags live -count=1 -v -run '^TestLive' $$(dirname $$files | sort -u)

vet:
	go vet ./...

fmt: ## format all Go files
	gofmt -w $(SOURCES)

fmt-check:
	@bad=$$(gofmt -l $(SOURCES)); if [ -n "$$bad" ]; then echo "not formatted, run make fmt:"; echo "$$bad"; exit 1; fi

cross: ## build and vet for the other platforms: linux/arm64, darwin/arm64, windows/amd64
	@for p in $(CROSS); do \
	  echo "build and vet for $$p"; \
	  GOOS=$${p%/*} GOARCH=$${p#*/} go build ./... && GOOS=$${p%/*} GOARCH=$${p#*/} go vet ./...; \
	done

crash: ## a writing process killed 100 times: nothing acknowledged is lost, nothing is wrong, the store opens
	go test -count=1 -run '^TestKilled$$' ./store/sqlite -crashes=100

outage: build ## a day without MLflow: 100,000 traces on a fake clock, 2,000 with the real server
	SEXTANT_OUTAGE_QUESTIONS=100000 go test -count=1 -timeout 1h -run '^TestAServerThatIsAwayForADay$$' ./trace
	SEXTANT_OUTAGE_QUESTIONS=2000 go test -tags integration -count=1 -timeout 2h -run '^TestIntegrationMLflowOutage$$' ./trace/mlflow

torture: ## the embedded store: 2,000 kills, every file operation failing, 10,000 damages, a million pairs of filter and corpus
	go test -count=1 -timeout 3h -run '^TestKilled$$' ./store/sqlite -crashes=2000
	go test -count=1 -timeout 3h -run '^TestFailingDisk$$' ./store/sqlite -every-fault
	go test -count=1 -timeout 3h -run '^(TestDamage|TestDamagedLog)$$' ./store/sqlite -damages=10000
	go test -count=1 -timeout 3h -run '^TestFiltersMatchTheOracle$$' ./store/sqlite -rapid.checks=20000

size: build
	@mb=$$(( $$(wc -c < $(BIN)) / 1048576 )); echo "$(BIN): $$mb MB of at most $(MAX_MB)"; test $$mb -lt $(MAX_MB)

fuzz: ## every fuzz target for FUZZTIME (5s)
	@for p in $$(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...); do \
	  for f in $$(go test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
	    echo "$$p $$f"; go test -run '^$$' -fuzz "^$$f\$$" -fuzzminimizetime=20x -fuzztime $(FUZZTIME) $$p; \
	  done; \
	done

bench: ## benchmarks; BENCH=pattern picks some
	go test -run '^$$' -bench '$(BENCH)' -benchtime 1s -benchmem ./...

# A module of its own: the peers are none of the product's dependencies. What the product
# raises is raised there too (-mod=mod), as the two are built into one program.
peers: ## the search parts against other engines, see docs/benchmarks.md; PEERS='-md -vectors 10000' are flags
	@go run -C bench -mod=mod . $(PEERS)

clean: ## what this file made; keeps Go's own caches
	rm -rf bin .cache
