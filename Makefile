# Two commands for a newcomer: `make run` and `make test`. `make help` lists the rest.

PORT ?= 8080
SWIFT ?= swift
BUILD := $(SWIFT) build
STATE_DIR := $(or $(POI_STATE_DIR),.local)

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: bootstrap ## install what is missing, build, start a private PostgreSQL and serve (PORT=9000, IMPORT=places.csv)
	$(BUILD) -c release --product poi
	@exec "$$($(BUILD) -c release --show-bin-path)/poi" dev --port $(PORT) $(if $(IMPORT),--import "$(IMPORT)")

.PHONY: test
test: bootstrap ## run every test, against the real server and the real database
	@scripts/test

.PHONY: bootstrap
bootstrap:
	@scripts/bootstrap

.PHONY: mock
mock: bootstrap ## serve fixtures without a database, for UI tests (PORT=9000 for another port)
	$(BUILD) -c release --product poi-mock
	@exec "$$($(BUILD) -c release --show-bin-path)/poi-mock" --port $(PORT)

.PHONY: cluster
cluster: ## run three PostgreSQL that fail over by themselves, and two servers, and say how to break them
	@scripts/bootstrap checks
	@scripts/cluster

.PHONY: restore-drill
restore-drill: ## back up a database, lose it, restore it, and check what it serves (as root)
	@scripts/bootstrap checks
	@scripts/test-system deployment/test_restore_drill.py -s

.PHONY: psql
psql: ## open the private database of a running `make run`
	@test -s $(STATE_DIR)/database-url || { echo "no private database: start it with make run" >&2; exit 1; }
	@exec psql "$$(cat $(STATE_DIR)/database-url)"

.PHONY: lint
lint: ## check the format and the rules of the house
	@scripts/lint

.PHONY: test-release
test-release: bootstrap ## test the programs as they are shipped, in release mode
	@scripts/test-release

.PHONY: test-tsan
test-tsan: bootstrap ## run the tests of what has threads in release mode under ThreadSanitizer
	@scripts/test-threads

.PHONY: test-deployment
test-deployment: ## run several servers behind balancers and before replicas and poolers
	@scripts/bootstrap checks
	@scripts/test-deployment

.PHONY: test-system
test-system: ## run the programs beside databases, balancers and browsers, by pytest (OPTIONS='-k import')
	@scripts/bootstrap checks
	@scripts/test-system -m ci $(OPTIONS)

.PHONY: check-client
check-client: ## build the client alone, from a package outside
	@scripts/checks/check-client-alone

.PHONY: check-apple-platforms
check-apple-platforms: ## compile and test what is for Apple's platforms, against stand-ins
	@scripts/checks/check-apple-platforms

.PHONY: contract-test
contract-test: ## run the contract tests against URL=https://…, with a JUnit report (REPORT=file EXPECT=file STRICT=true)
	@scripts/contract-test $(if $(STRICT),--strict) $(if $(EXPECT),--expect "$(EXPECT)") \
		"$(or $(URL),$(error usage: make contract-test URL=https://… [REPORT=file] [EXPECT=file] [STRICT=true]))" $(REPORT)

.PHONY: contract-mutations
contract-mutations: ## show which changes of responses the contract suite notices (OPTIONS=--list, see --help)
	@scripts/bootstrap checks
	@scripts/checks/contract-mutations $(OPTIONS)

.PHONY: soak
soak: ## list what takes longer than CI may, or run a part of it (PART=cluster, PART=all)
	@$(if $(PART),scripts/bootstrap checks)
	@scripts/soak $(PART)

.PHONY: bench
bench: bootstrap ## measure beside nginx, pgbench, Redis, Go and FastAPI (OPTIONS=--quick for a few minutes)
	@Benchmarks/run $(OPTIONS)

.PHONY: clean
clean: ## remove what was built; the private database stays
	rm -rf .build
