# SPDX-License-Identifier: MIT
# How the tests, the fuzzers and the benchmark are built and run.

FUZZ_SECONDS ?= 60
UNITS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/test_*.c))
UNIT_HELPERS := $(filter-out tests/unit/test_%,$(wildcard tests/unit/*.c))
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
REPLAYS := $(FUZZERS:%=$(BUILD)/unit/test_fuzz_%)
# One program has most unit tests: a link takes longer than what it links. These put a
# function in the place of another, which is then everybody's.
ALONE := $(patsubst %,$(BUILD)/unit/test_%,connections console main resolve store_send webhook wipe)
TOGETHER := $(BUILD)/tools/units
TOGETHER_OBJECTS := $(patsubst $(BUILD)/unit/%,$(BUILD)/together/%.o,$(filter-out $(ALONE),$(UNITS)) $(REPLAYS))
DELIVERIES := build/deliveries/.made
TOOLS := $(filter-out $(TOGETHER),$(patsubst tests/tools/%.c,$(BUILD)/tools/%,$(wildcard tests/tools/*.c)))
BENCH := load listen null floor ceiling id-token fsync-delay.so
C_FILES := $(wildcard lib/*/*.[ch] cgi-bin/*.[ch] nginx/command/*.c tests/unit/*.[ch] tests/fuzz/*.[ch] \
	tests/tools/*.c tests/chaos/*.c tests/bench/*.c tests/bench/peers/*.c)

## Tests
.PHONY: test test-all test-unit test-valgrind test-e2e test-sanitize test-security test-systemd test-build
.PHONY: conformance clients lint coverage soak mutants model forms chaos postgresql debian python fuzz analysis versions languages chart containers patroni dist-check all-targets
# Most of what a change breaks. The rest takes three times as long, and is in test-all.
TEST_SUITES := python node e2e go waiting unit security lint unit-sanitize stack sql fuzz
test: test-build ## each part and each package, against the real parts
	@tests/run $(TEST_SUITES)

test-all: test-build ## that and the rest: all adapters, faults, the operator, installing, browsers, valgrind, clang-tidy, models, chaos, Java and Rust
	@tests/run

test-unit: test-build ## the modules, in C and JavaScript
	@tests/run unit unit-sanitize node

test-valgrind: test-build ## the C modules under valgrind
	@tests/run unit-valgrind

test-e2e: test-build ## the whole way, through nginx
	@tests/run stack e2e faults e2e-node operate

test-sanitize: test-build ## the C modules and the whole way under ASan and UBSan
	@tests/run unit-sanitize e2e faults

test-security: test-build ## everything hostile, and a real browser
	@tests/run security browser

test-systemd: deps ## the way of an operator under a real systemd, and what breaks there (as root)
	@tests/run systemd

conformance:    ## MCP's conformance suite, and scenarios for URL mode, against a server on urlmode
	@tests/stack/deps run conformance
	+@$(MAKE) --no-print-directory build
	@node tests/conformance/run.mjs

clients: deps   ## what the official clients in TypeScript, Python and Go, and mcp-go, do with each answer; which rows about hosts are old
	@tests/stack/deps test clients
	@node --test --test-reporter=spec tests/e2e/clients.test.mjs
	@node tests/clients/old-hosts.mjs

lint: test-build ## layers, clang-tidy, cppcheck, format, shellcheck, types
	@tests/run tidy lint

coverage: test-build ## how much of lib/ and cgi-bin/ the tests run; under 95 % of lines fails
	@tests/run unit-sanitize e2e faults operate coverage; status=$$?; \
		cat build/test/coverage.log; exit $$status

soak: deps      ## everything at work for SECONDS (3600); 100,000 deliveries; 100,000 of each call; 20,000 random histories of payments, of rechecks and of subscriptions (COUNT, SEED)
	+@$(MAKE) --no-print-directory build units
	@node --test --test-concurrency=1 --test-reporter=spec tests/soak/*.test.mjs
	@LONG=1 node --test --test-reporter=spec tests/chaos/refresh.test.mjs
	@CALLS=$${CALLS:-100000} node --test --test-reporter=spec lib/node/test/memory.test.js
	@CALLS=$${CALLS:-100000} URLMODE_DATABASE_URL=postgresql://127.0.0.1:1/none PYTHONPATH=lib/python/src build/python/bin/python -m pytest \
		-p no:cacheprovider -c lib/python/pyproject.toml --rootdir lib/python lib/python/tests/test_memory.py
	@RUN_DIR=$(CURDIR)/build/soak/run PORT=0 DEMO=0 CALLS=$${CALLS:-100000} tests/reap sh -c 'trap tests/stack/down EXIT; tests/stack/up && . build/soak/run/env && \
		{ ! command -v go >/dev/null || go test -C lib/go -count=1 -run "KeepNothing|TestMemory" .; }'
	@node --test --test-concurrency=1 --test-reporter=spec tests/model/*mistakes.test.mjs
	@COUNT=$${COUNT:-20000} SEED=$${SEED:-$$(date +%s)} ROUNDS=$${ROUNDS:-2000} \
		node --test --test-reporter=spec tests/model/model.test.mjs tests/model/rechecks.test.mjs \
		tests/model/subscriptions.test.mjs tests/model/concurrent.test.mjs

mutants: deps   ## mistakes in the code, which tests must find: named ones, then those of SEED (1) for SECONDS (900)
	+@$(MAKE) --no-print-directory build units
	@RUN_DIR=build/mutants/run PORT=0 DEMO=0 tests/reap sh -c 'trap tests/stack/down EXIT; tests/stack/up && \
		(set -a; . build/mutants/run/env; exec node tests/mutants/mutants.mjs $(MUTANTS))'

model: deps     ## the way from a return to its wait, in every order of events, with SPIN
	@MODEL=all node --test --test-reporter=spec tests/model/completion.test.mjs

forms: deps     ## one verdict of C, Node, Python and Go about 100,000 random forms (COUNT, SEED)
	+@$(MAKE) --no-print-directory build units
	@export COUNT=$${COUNT:-100000} SEED=$${SEED:-$$(date +%s)} && node --test --test-reporter=spec tests/unit/forms.test.mjs && \
		PYTHONPATH=lib/python/src build/python/bin/python -m pytest -q -p no:cacheprovider -c lib/python/pyproject.toml --rootdir lib/python \
			lib/python/tests/test_form.py -k random && \
		{ ! command -v go >/dev/null || go test -C lib/go -count=1 -run TestRandomForms .; }

chaos: deps     ## everything breaks under load in turn, then for SECONDS (120) what SEED picks; a full queue; 30,000 waits; a day of use
	+@$(MAKE) --no-print-directory build units
	@CHAOS=all node --test --test-reporter=spec tests/chaos/*.test.mjs

postgresql: test-build ## the suites of the database on the PostgreSQL of Debian 11 and 13
	@for version in 13 17; do \
		POSTGRES_BIN=$$(tests/stack/postgresql $$version) tests/run sql node model e2e-node || exit 1; \
	done

debian:         ## suites (SUITES) in a root of Debian 13, or of RELEASE, as root
	@tests/stack/debian $${RELEASE:-trixie} $$SUITES

python: test-build ## the Python package under each Python of VERSIONS (3.10 3.11 3.12 3.13), as python3.10 and so on in PATH
	@for version in $${VERSIONS:-3.10 3.11 3.12 3.13}; do \
		tests/stack/deps python$$version && \
		PYTHON_ENV=build/python$$version tests/run python-package || exit 1; \
	done

analysis: test-build ## clang-tidy with all states of a function, pyright, staticcheck and Go's race detector, which read or compile everything once more
	@tests/run analysis

versions: test-build ## the table of scenarios with each version of each framework and each client, that of SDKs with every pair
	@tests/run versions

languages: deps ## servers in Java and Rust, which wait over HTTP, where Maven and Cargo are
	+@$(MAKE) --no-print-directory build
	@tests/run languages

chart: deps     ## the chart for Kubernetes, as Helm lints and renders it; UPDATE=1 writes kubernetes.yaml
	@tests/stack/deps helm
	@node --test --test-reporter=spec tests/containers/chart.test.mjs

containers: deps ## two pods with the memory of the chart, under load, while a certificate, the pods and the database change (AWAY=60), as root
	+@$(MAKE) --no-print-directory build
	@RUN_DIR=$(CURDIR)/build/containers/run PORT=0 DEMO=0 tests/reap sh -c 'trap tests/stack/down EXIT; tests/stack/up && \
		(set -a; . build/containers/run/env; exec node --test --test-reporter=spec tests/containers/load.test.mjs)'

dist-check: deps dist ## the same bytes again from another folder, and each artifact installed in an empty place, as root (20 minutes)
	@tests/stack/deps helm podman
	+@$(MAKE) --no-print-directory build
	@RUN_DIR=$(CURDIR)/build/dist-check PORT=0 DEMO=0 tests/reap sh -c 'trap tests/stack/down EXIT; tests/stack/up && \
		(set -a; . build/dist-check/env; exec node --test --test-reporter=spec $(if $(TESTS),--test-name-pattern="$(TESTS)") tests/install/dist-check.mjs)'

patroni: deps   ## a cluster of Patroni, etcd and HAProxy while users pay: crash, switchover, SIGKILL of Patroni alone, partition (PATRONI: an expression)
	@tests/stack/deps patroni
	+@$(MAKE) --no-print-directory build
	@tests/reap node --test --test-concurrency=1 --test-reporter=spec tests/patroni/patroni.test.mjs

all-targets: test-build ## briefly each target that is not in `make test-all`; a line for each, and the reason of what this machine cannot run
	@tests/all-targets $(TARGETS)

fuzz: deps      ## each parser under libFuzzer, for FUZZ_SECONDS (60)
	+@$(MAKE) --no-print-directory $(call by_clang,build/fuzz,-O1 -g)
	@for name in $(FUZZERS); do \
		mkdir -p build/fuzz/corpus/$$name && printf '  FUZZ %s\n' $$name && \
		build/fuzz/fuzzer/$$name -max_total_time=$(FUZZ_SECONDS) -max_len=4096 \
			-artifact_prefix=build/fuzz/$$name- build/fuzz/corpus/$$name \
			tests/fuzz/corpus/$$name >build/fuzz/$$name.log 2>&1 || \
			{ tail -n 40 build/fuzz/$$name.log; exit 1; }; \
	done

.PHONY: builds units fuzzers format format-check layers clang-tidy cppcheck shellcheck types
# by_clang FOLDER FLAGS: the fuzzers. To optimize takes more than half of the compiler's time, and only who
# lets them run for longer gets it back.
by_clang = CC=clang SANITIZE=1 BUILD=$(1) CFLAGS='$(2) -fsanitize=fuzzer-no-link' fuzzers
units: $(DELIVERIES) $(TOGETHER) $(ALONE) $(TOOLS) build/chaos/faults.so
fuzzers: $(FUZZERS:%=$(BUILD)/fuzzer/%)

# Its own make, since the packages of Debian may bring the compiler. Those of npm and
# Python come while it compiles.
test-build:
	@tests/stack/deps debian
	+@$(MAKE) --no-print-directory deps builds

builds:
	+@$(MAKE) --no-print-directory build units
	+@$(MAKE) --no-print-directory SANITIZE=1 build units
	+@$(MAKE) --no-print-directory $(call by_clang,build/corpus,-O0 -g1)

# On releases whose own are newer, from PyPI (tests/stack/versions). They have no
# headers of a compiler, and do not know the atomics of gcc's.
LINTERS := $(wildcard build/lint/bin)
tidy_include = $(if $(LINTERS),--extra-arg=-isystem --extra-arg=$$(clang -print-resource-dir)/include)
clang_format = $(LINTERS:%=%/)clang-format
clang_tidy = $(LINTERS:%=%/)clang-tidy

format:         ## rewrite the C files in the style of .clang-format
	$(clang_format) -i $(C_FILES)

format-check:   ## fail when `make format` would change a file
	$(Q)$(clang_format) --dry-run --Werror $(C_FILES)

layers:         ## fail when an include points up in lib/, or crypto/ clears what it should wipe
	$(Q)node tests/lint/layers.mjs

# One file a process, where the static analyzer looks at it: clang-tidy 14 takes va_list for
# uninitialized in the second file. A process takes as long to start as it has for a test. The
# object stands for the headers, too.
UNIT_SOURCES := $(filter tests/unit/%.c,$(C_FILES))
# STATES: how many of a function the analyzer looks at, if not as many as .clang-tidy says.
TIDY := $(BUILD)/tidy$(STATES)
clang-tidy: $(patsubst %.c,$(TIDY)/%.ok,$(filter-out $(UNIT_SOURCES),$(filter %.c,$(C_FILES)))) \
	$(TIDY)/tests/unit.ok

$(TIDY)/%.ok: %.c $(BUILD)/obj/%.o .clang-tidy tests/unit/.clang-tidy
	$(call say,TIDY,$<)
	$(Q)$(clang_tidy) --quiet $(tidy_include) $(STATES:%=--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=max-nodes=%) $< -- $(C_FLAGS) 2>/dev/null
	@mkdir -p $(@D) && touch $@

# Those that have changed, or whose object has.
changed_sources = $(sort $(filter %.c,$(1)) $(patsubst $(BUILD)/obj/%.o,%.c,$(filter %.o,$(1))))

$(TIDY)/tests/unit.ok: $(UNIT_SOURCES) $(UNIT_SOURCES:%.c=$(BUILD)/obj/%.o) .clang-tidy tests/unit/.clang-tidy
	$(call say,TIDY,tests/unit)
	$(Q)$(clang_tidy) --quiet $(tidy_include) $(if $(filter %.clang-tidy,$?),$(UNIT_SOURCES),$(call changed_sources,$?)) \
		-- $(C_FLAGS) 2>/dev/null
	@mkdir -p $(@D) && touch $@

# Newer versions want pointers to const where libraries want them without, do not know
# that assert_non_null() and HOLDS() end a test, and say where they looked less far.
# um_error(), um_schema_refuse() and um_expr_eval() fill what they are given; cppcheck takes that for a
# use of it.
cppcheck:
	$(Q)cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr \
		--suppress=ctuuninitvar:lib/core/str.c \
		--suppress=ctuuninitvar:lib/form/schema_fault.c \
		--suppress=ctuuninitvar:lib/webhook/expr.c \
		$(addprefix --suppress=,constParameterPointer constParameterCallback \
			constVariablePointer nullPointerOutOfMemory nullPointerOutOfResources \
			normalCheckLevelMaxBranches) \
		--enable=warning,performance,portability,style \
		-Ilib -I$(COMMON)/texts -D_GNU_SOURCE -D__linux__ \
		$(filter %.c,$(C_FILES))

shellcheck:
	$(Q)shellcheck -x -P SCRIPTDIR $(shell grep -slIE '^\#!/bin/(ba)?sh|^\#!/usr/bin/env bash' \
		.ci/run sql/migrate nginx/install nginx/dist/* nginx/command/* nginx/containers/* nginx/examples/* \
		nginx/debian/urlmode.* tests/run tests/stack/* tests/systemd/* tests/upgrade/*) tests/stack/lib.sh tests/stack/cluster.sh \
		nginx/command/completion.bash

types:
	$(Q)cd lib/node && npm run --silent types

## Benchmark
.PHONY: bench bench-quick bench-check bench-build
bench: bench-build ## everything side by side, into build/bench/ (20 minutes)
	@node tests/bench/bench.mjs

bench-quick: bench-build ## the same in two minutes, each thing once
	@node tests/bench/bench.mjs --quick

bench-check: bench-build ## fail when a completion takes 2% more instructions
	@node tests/bench/check.mjs

bench-build:
	@tests/stack/deps run bench python
	+@$(MAKE) --no-print-directory build $(addprefix build/bench/bin/,$(BENCH))

$(UNITS): $(BUILD)/unit/%: $(BUILD)/obj/tests/unit/%.o \
	$(call object,$(UNIT_HELPERS)) $(LIBRARY)
$(UNITS) $(TOGETHER): LIBS += -lcmocka
$(UNITS): | $(DELIVERIES)
$(DELIVERIES): $(wildcard tests/deliveries/*) tests/unit/keys/rsa-1.pem
	$(call say,MAKE,$(@D))
	$(Q)node tests/deliveries/make.mjs && touch $@
$(BUILD)/unit/test_connections: private LDFLAGS += -Wl,--wrap=calloc
$(BUILD)/unit/test_wipe: private LDFLAGS += -Wl,--wrap=free
$(BUILD)/unit/test_main: private LDFLAGS += -Wl,--wrap=syslog,--wrap=__syslog_chk
$(BUILD)/unit/test_resolve: private LDFLAGS += -Wl,--wrap=getaddrinfo
$(BUILD)/unit/test_store_send: private LDFLAGS += \
	$(foreach end,flush pipelineSync sendPrepare sendQueryParams sendQueryPrepared,-Wl,--wrap=PQ$(end))
# Each target twice: with its corpus for the tests, and with libFuzzer.
$(REPLAYS): $(BUILD)/unit/test_fuzz_%: $(BUILD)/obj/tests/fuzz/fuzz_%.o \
	$(call object,tests/fuzz/fuzz.c tests/fuzz/replay.c) $(LIBRARY)
$(FUZZERS:%=$(BUILD)/fuzzer/%): $(BUILD)/fuzzer/%: $(BUILD)/obj/tests/fuzz/fuzz_%.o \
	$(call object,tests/fuzz/fuzz.c) $(LIBRARY)
$(FUZZERS:%=$(BUILD)/fuzzer/%): LDFLAGS += -fsanitize=fuzzer
$(TOOLS): $(BUILD)/tools/%: $(BUILD)/obj/tests/tools/%.o $(LIBRARY)
$(UNITS) $(TOGETHER) $(REPLAYS) $(TOOLS) $(FUZZERS:%=$(BUILD)/fuzzer/%):
	$(link)

# main() of a test gets the name of the test, and its other globals become local.
own_name = objcopy --redefine-sym main=$(1) --keep-global-symbol=$(1)

$(BUILD)/together/%.o: $(BUILD)/obj/tests/unit/%.o
	@mkdir -p $(@D)
	$(Q)[ -n "$(SANITIZE)" ] || ! nm -g --defined-only $< | grep -vE ' (main|program_main)$$' || \
		{ echo '$< has globals: name $* in ALONE' >&2; exit 1; }
	$(Q)$(call own_name,$*) $< $@

$(BUILD)/together/test_fuzz_%.o: $(BUILD)/obj/tests/fuzz/fuzz_%.o $(call object,tests/fuzz/fuzz.c tests/fuzz/replay.c)
	@mkdir -p $(@D)
	$(Q)$(LD) -r -o $@ $^ && $(call own_name,test_fuzz_$*) $@

$(BUILD)/together/table.o: $(TOGETHER_OBJECTS)
	$(Q){ \
		echo 'extern const struct unit { const char *name; int (*run)(int, char **); } um_units[];'; \
		printf 'int %s(int, char **);\n' $(basename $(notdir $^)); \
		echo 'const struct unit um_units[] = {'; \
		for name in $(basename $(notdir $^)); do echo "{ \"$$name\", $$name },"; done; \
		echo '{ 0, 0 } };'; \
	} | $(CC) $(C_FLAGS) -x c -c -o $@ -

$(TOGETHER): $(BUILD)/obj/tests/tools/units.o $(BUILD)/together/table.o $(TOGETHER_OBJECTS) \
	$(call object,$(UNIT_HELPERS)) $(LIBRARY)

build/bench/bin/id-token: $(LIBRARY)
build/bench/bin/%: tests/bench/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(C_FLAGS) $(LDHARDENING) $(LDFLAGS) -o $@ $^ $(LIBS)
build/bench/bin/%: tests/bench/peers/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(C_FLAGS) $(LDHARDENING) $(LDFLAGS) -o $@ $< $(LIBS)
build/bench/bin/%.so: tests/bench/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(C_FLAGS) -fPIC -fvisibility=default -shared -o $@ $<

build/chaos/faults.so: tests/chaos/faults.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(filter-out -fsanitize=% --coverage -fno-sanitize-recover=%,$(C_FLAGS)) \
		-fPIC -fvisibility=default -shared -o $@ $<

# The compiler takes most of its time to optimize, and the time of a test is that of
# lib/. The warnings that need it are left to valgrind and the sanitizers.
$(BUILD)/obj/tests/%.o: private C_FLAGS += -O0 -U_FORTIFY_SOURCE
