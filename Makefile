# gonogo: should this Node.js service be rewritten in Go?  `make help` lists the targets.
BUDGET ?= 12m
SOAK ?= 2h
CRASH ?= 200
ARGS ?=
ID ?= latest
# The race detector needs cgo; without a C compiler the tests run without it, and say so.
RACE := $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)

# Where the race detector would find nothing and cost most of the time: packages that start no
# goroutine, and the commands, whose tests are sessions of a program that is built without it.
NORACE := /runner(/(capacity|decision|diff|findings|formats|histogram|page|plan|recount|record|report|stats))?$$

.PHONY: vulnerabilities profile memory-floor docs-memory-floor help build compare quick report memory calibrate capacity capacity-truth docs-capacity bench-load bench-truth soak faults faults-mutants crash overload test check readme docs schema examples clean variants docs-variants variant-servers runtimes
help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## bin/gonogo and bin/server-go
	go build -o bin/gonogo ./runner
	go build -o bin/server-go ./server-go

compare: build ## measure, archive, report (BUDGET=30m for more blocks, TARGETS=go-1,node-1, ARGS for flags of gonogo compare)
	bin/gonogo compare --budget $(BUDGET) $(if $(TARGETS),--targets $(TARGETS)) $(ARGS)

quick: build ## the same as a smoke run under two minutes; not evidence
	bin/gonogo compare --quick $(ARGS)

.PHONY: compare-postgres postgres-servers
compare-postgres: postgres-servers ## the pair on one core with its users in a PostgreSQL of its own; skipped where there is none
	@bin/gonogo postgres --budget $(BUDGET) $(ARGS); code=$$?; if [ $$code -eq 3 ]; then echo "SKIPPED: compare-postgres"; else exit $$code; fi

postgres-servers: build ## what that needs beside: a build of server-go with pgx, and pg from npm
	@go build -tags postgres -o bin/server-go-postgres ./server-go || echo "left out: go-postgres needs pgx from the Go module proxy"
	@npm ci --silent --no-audit --no-fund --prefix server-node/postgres || echo "left out: node-postgres needs npm and its registry"

report: build ## the report of the newest session again
	bin/gonogo report latest

memory: build ## memory alone: stored users, rests, growth, sampler; about 1h40m (ARGS="--quick go-1 node-1" for a minute)
	bin/gonogo memory $(ARGS)

variants: variant-servers ## what each named variant of the servers is worth, beside the plain one; 15 minutes (ARGS="typed express" for some)
	bin/gonogo variants $(ARGS)

docs-variants: ## puts the figures of a session of variants into docs/variants.md (ID=latest)
	GONOGO_VARIANTS=$(ID) go test -count=1 -run TestDocsOfVariants ./runner -update

variant-servers: build ## what variants need beside: a build with GOEXPERIMENT=jsonv2, Express and Fastify from npm
	@if GOEXPERIMENT=jsonv2 go list encoding/json/v2 >/dev/null 2>&1; then GOEXPERIMENT=jsonv2 go build -o bin/server-go-json2 ./server-go; \
	else echo "left out: json2 needs a toolchain that knows GOEXPERIMENT=jsonv2, $$(go version) does not"; fi
	@npm ci --silent --no-audit --no-fund --prefix server-node/variants || echo "left out: express and fastify need npm and its registry"

runtimes: ## Node 22 and 24, Bun and Deno from npm into runtimes/, for compare TARGETS=go-1,node-1,node22-1,...; 500 MB
	@set -e; for r in node22/node@22 node24/node@24 bun/bun@1 deno/deno@2; do dir=runtimes/$${r%%/*}; \
	mkdir -p $$dir; npm install --silent --no-save --no-audit --no-fund --prefix $$dir $${r#*/}; done; \
	ln -sf node_modules/node/bin/node runtimes/node22/node; ln -sf node_modules/node/bin/node runtimes/node24/node; \
	ln -sf node_modules/bun/bin/bun.exe runtimes/bun/bun; cd runtimes/deno; ln -sf node_modules/@deno/*/deno* deno
	@for r in node22/node node24/node bun/bun deno/deno; do echo "runtimes/$$r: $$(runtimes/$$r --version | head -1)"; done

calibrate: build ## how often the verdicts are right on this machine, 17 minutes; writes docs/calibration.md
	go build -o bin/stub ./runner/internal/stub/cmd
	mkdir -p docs
	bin/gonogo calibrate --markdown docs/calibration.md $(ARGS)

capacity: build ## the highest rate that each server meets p95 < 20 ms at, and what is left at 120 % of it; ten minutes
	bin/gonogo capacity $(ARGS)

memory-floor: build ## the smallest memory limit that three targets still meet 1000 requests/s at, seven minutes; needs control groups
	bin/gonogo memory-floor $(ARGS)

.PHONY: manifests
manifests: ## decodes the exported Kubernetes manifests strictly, by the types of k8s.io/api, which a module of its own brings
	go -C runner/export/kubernetes vet ./...
	go -C runner/export/kubernetes test -count=1 ./...

.PHONY: scale docs-scale
scale: build ## rate, p99, CPU and memory against connections, three servers, 8 minutes (ARGS="--cores 1,2" for cores)
	bin/gonogo scale $(if $(ARGS),$(ARGS),go-1 node-1 node-cluster-2)

docs-scale: ## puts the figures of a session of scale into docs/scale.md (ID=latest)
	GONOGO_SCALE=$(ID) go test -count=1 -run TestDocsOfScale ./runner -update

capacity-truth: ## 500 searches on queues of known capacity
	GONOGO_CAPACITY_FULL=1 go test -count=1 -v -run 'Limit|Exactly' ./runner/capacity

docs-memory-floor: ## puts the figures of a session of memory floors into docs/memory-floor.md (ID=latest)
	GONOGO_FLOOR=$(ID) go test -count=1 -run TestDocsOfMemoryFloor ./runner -update

docs-capacity: ## puts the figures of a session of capacity into docs/capacity.md (ID=latest)
	GONOGO_CAPACITY=$(ID) go test -count=1 -run TestDocsOfCapacity ./runner -update

bench-load: build ## CPU per request of the generator beside every peer on PATH (wrk, hey, ...)
	go run ./runner/internal/bench load bin/gonogo

bench-truth: build ## what the generator reports of a server that freezes, beside the truth
	go run ./runner/internal/bench truth bin/gonogo

profile: build ## where go-1 and node-1 spend CPU time, waits and memory; three minutes (ARGS="go-1 go-1+mutex" for others)
	go build -tags profile -o bin/server-go-profile ./server-go
	bin/gonogo profile $(ARGS)

soak: build ## quick sessions in one process for two hours (SOAK=20m for less): fails if anything grows
	bin/gonogo soak --for $(SOAK) $(ARGS)

faults: build ## plants every fault that a measurement can have, and looks whether its alarm is raised
	go run ./runner/internal/faults

faults-mutants: build ## the same with each check taken out of a copy: every row has to go red
	go run ./runner/internal/faults -mutants

crash: build ## kills a session at 200 moments and at each write, and fails each write; prints "200 of 200" (CRASH=20 for fewer moments)
	GONOGO_CRASH=$(CRASH) go -C runner/archive test -count=1 -run '^TestAFaultAtEveryCall$$'
	GONOGO_CRASH=$(CRASH) go -C runner test -count=1 -timeout 60m -run '^TestCrash$$'

overload: build ## each server beyond what it can do, 5 minutes a server: memory, /healthz, recovery (ARGS="-targets go-1")
	go run ./runner/internal/overload/cmd $(ARGS) bin/gonogo

test: build ## all tests, on loopback only
	$(if $(RACE),,@echo "no C compiler: testing without the race detector")
	go test $(RACE) -timeout 5m $$(go list ./... | grep -vE '$(NORACE)')
	go test -timeout 5m $$(go list ./... | grep -E '$(NORACE)')
	go test -tags profile ./server-go

check: build ## formatting, vet (also for macOS), staticcheck, node --check, import table
	@test -z "$$(gofmt -l server-go runner)" || { echo "gofmt these:"; gofmt -l server-go runner; exit 1; }
	go vet ./...
	GOOS=darwin go vet ./...
	go tool staticcheck ./...
	for f in server-node/*.mjs server-node/variants/*.mjs server-node/postgres/*.mjs; do node --check $$f || exit 1; done
	go vet -tags profile ./server-go
	go test -count=1 -run 'Imports' ./runner
	@$(MAKE) --no-print-directory vulnerabilities

# govulncheck ends with 3 where a known flaw is called, which go run tells as its last line.
vulnerabilities: ## known flaws in what is linked, where the database of Go can be asked
	@out=$$(go run golang.org/x/vuln/cmd/govulncheck@v1.1.4 ./... 2>&1) && echo "govulncheck: no known flaw is called" || \
	case "$$out" in \
	*"exit status 3") echo "$$out"; exit 1 ;; \
	*) echo "govulncheck: NOT CHECKED, for its database could not be asked: $$(echo "$$out" | grep -v '^exit status' | tail -1)" ;; \
	esac

readme: ## puts the report of benchmark.json into README.md
	go test -count=1 -run TestReadmeQuotesTheRecord ./runner -update

docs: ## puts thresholds, inputs and answers of the code into docs/
	go test -count=1 -run TestDocs ./runner -update

examples: build ## Express, Fastify and chi: brings their packages (npm ci, go mod download), proves them alike, makes a smoke run
	for d in express fastify; do (cd examples/frameworks/$$d && npm ci --silent --no-audit --no-fund) || exit 1; done
	cd examples/frameworks/chi && go mod download
	bin/gonogo check --plan examples/frameworks/plan.json
	bin/gonogo compare --quick --plan examples/frameworks/plan.json $(ARGS)

schema: ## writes docs/schema and the tables of docs/format.md from the record types
	go test -count=1 -run TestSchemasAreCurrent ./runner/internal/schema -update

clean: ## removes what was built, never results
	rm -rf bin
