# SPDX-License-Identifier: MIT
# Builds, tests and runs urlmode; `make help` lists what there is.

CC ?= cc
PKG_CONFIG ?= pkg-config
# With sanitizers the compiler takes a third of its time less at -O1, and a fifth of the rest
# when it says the lines of code, which their reports name, and nothing else for a debugger.
CFLAGS ?= $(if $(SANITIZE),-O1 -g1,-O2 -g)
SANITIZE ?=
BUILD ?= build$(if $(SANITIZE),/asan)
VERSION := $(shell nginx/dist/version)
RUN_DIR ?= build/run
PORT ?= 8080
PROGRAM_DIR ?= $(BUILD)/bin
PROVIDERS_DIR ?= $(CURDIR)/lib/providers
SERVER ?= node

export RUN_DIR PORT PROGRAM_DIR

# As many jobs as there are processors, unless a make above this one says.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif

PACKAGES := libpq jansson libcrypto
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wredundant-decls -Werror
# Control flow goes only where it is expected, on processors that can watch over it.
MACHINE := $(shell $(CC) -dumpmachine)
BRANCHES := $(if $(MACHINE:x86_64-%=),,-fcf-protection)$(if $(MACHINE:aarch64-%=),,-mbranch-protection=standard)
HARDENING := -fstack-protector-strong -fstack-clash-protection -fPIE \
	-fvisibility=hidden $(BRANCHES)
LDHARDENING := -pie -Wl,-z,relro,-z,now,-z,noexecstack
ifdef SANITIZE
# Counters of lines that were run, which gcov reads: clang's are others. At -O1 gcc
# knows less of lengths; the other build warns of what is cut off.
GCC := $(if $(findstring clang,$(shell $(CC) --version)),,gcc)
COVERAGE := $(if $(GCC),--coverage)
HARDENING += -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer $(if $(GCC),-Wno-format-truncation) $(COVERAGE)
LDHARDENING += -fsanitize=address,undefined $(COVERAGE)
else
HARDENING += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
endif

# Quotes its argument for the shell.
quote = '$(subst ','\'',$(1))'

# Asked when they are first needed, because the packages may come with `make deps` in the
# same run, and once, because a process for each file takes seconds.
PACKAGE_FLAGS = $(eval PACKAGE_FLAGS := $$(shell $(PKG_CONFIG) --cflags $(PACKAGES)))$(PACKAGE_FLAGS)
PACKAGE_LIBS = $(eval PACKAGE_LIBS := $$(shell $(PKG_CONFIG) --libs $(PACKAGES)))$(PACKAGE_LIBS)
C_FLAGS = -std=c11 -D_GNU_SOURCE -Ilib -I$(COMMON)/texts \
	$(PACKAGE_FLAGS) $(WARNINGS) $(HARDENING) $(CPPFLAGS) $(CFLAGS)
PLACES = -DUM_PROVIDERS_DIR=$(call quote,"$(PROVIDERS_DIR)") \
	-DUM_CONFIG_FILE=$(call quote,"$(sysconfdir)/urlmode/config.json") \
	-DUM_API_CONFIG_FILE=$(call quote,"$(sysconfdir)/urlmode-api/api.json") \
	-DUM_CONSOLE_CONFIG_FILE=$(call quote,"$(sysconfdir)/urlmode-console/console.json") \
	-DUM_METRICS_FILE=$(call quote,"$(runstatedir)/urlmode/metrics/counters")
LIBS = -lfcgi $(PACKAGE_LIBS) -lm

LIBRARY := $(BUILD)/liburlmode.a
PROGRAMS := $(patsubst cgi-bin/%.c,$(BUILD)/bin/%,$(wildcard cgi-bin/*.c))
OPERATE := $(BUILD)/libexec/operate
PAGES := $(patsubst nginx/man/%.in,$(BUILD)/man/%,$(wildcard nginx/man/*.in))
TEXTS = $(COMMON)/texts/http/texts.inc
SCHEMA = $(COMMON)/texts/form/schema.inc
# The files in which these places stand. `make release` compiles them for itself, and has
# the others in common with `make build` (COMMON).
PLACED := lib/config/api.c lib/config/config.c lib/config/console.c lib/operate/main.c lib/server/main.c lib/server/metrics.c \
	lib/server/metrics_page.c
COMMON ?= $(BUILD)
object = $(patsubst %.c,$(COMMON)/obj/%.o,$(filter-out $(PLACED),$(1))) \
	$(patsubst %.c,$(BUILD)/obj/%.o,$(filter $(PLACED),$(1)))

define link
@mkdir -p $(@D)
$(call say,LD,$@)
$(Q)$(CC) $(LDHARDENING) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIBS)
endef

ifneq ($(V),1)
Q := @
say = @printf '  %-5s%s\n' $(1) $(2);
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: FORCE

## The product
.PHONY: help deps build run up down demo migrate
help:           ## this list
	@awk -F ' *## ' '/^## /{print "\n" $$2} /^[a-z0-9-]+:.*## /{sub(/:.*/, "", $$1); printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILES_READ)
	@printf '\nRUN_DIR= and PORT= say where a stack stands, SANITIZE=1 builds with ASan, UBSan\nand coverage, CC= takes gcc or clang, V=1 shows the commands.\n'

deps:           ## install what is missing to build, run and test
	@tests/stack/deps run test

build: $(PROGRAMS) $(OPERATE) $(PAGES) $(LIBRARY) ## compile the library and the programs into build/

run:            ## install, build and start everything; Ctrl-C stops it
	@tests/stack/deps run
	+@$(MAKE) --no-print-directory build
	@exec tests/stack/run

up:             ## the same in the background
	@tests/stack/deps run
	+@$(MAKE) --no-print-directory build
	@tests/stack/up

down:           ## stop what `make up` started
	@tests/stack/down

demo:           ## walk the demo from the tool call to its result, and say each step; SERVER=python or go (node)
	$(if $(filter $(SERVER),node python go),,$(error SERVER=$(SERVER): the demo has servers in node, python, go))
	@tests/stack/deps run $(filter python,$(SERVER))
	+@$(MAKE) --no-print-directory build
	@SERVER=$(SERVER) node tests/demo/walk.mjs

migrate:        ## apply sql/ to the database of URLMODE_ADMIN_DATABASE_URL
	@command -v psql >/dev/null || { \
		echo 'make migrate: psql is missing; install postgresql-client' >&2; exit 1; }
	@sql/migrate

# A source package has no tests.
include nginx/install.mk $(wildcard tests/build.mk)
# Those of the compiler's (-MMD) come at the end.
MAKEFILES_READ := $(MAKEFILE_LIST)

.PHONY: contract
contract: $(DELIVERIES) ## write what each language has of the contract and of the providers, from the data in lib/
	@node lib/contract/generate.mjs
	@[ ! -d tests ] || node tests/support/provider-tables.mjs

.PHONY: go-path go-version
go-path:        ## GO_PATH=github.com/you/urlmode/lib/go: the path of the modules in Go, in every file, as a commit
	@lib/go/publish path '$(GO_PATH)'

go-version:     ## GO_VERSION=1.2.3: the modules in Go require each other at this version, as a commit with their tags
	@lib/go/publish version '$(GO_VERSION)'

.PHONY: clean
clean:          ## remove build/ (stop the stack first: make down)
	@[ ! -d tests ] || tests/stack/down
	rm -rf build lib/node/types

$(LIBRARY): $(call object,$(wildcard lib/*/*.c))
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(PROGRAMS): $(BUILD)/bin/%: $(COMMON)/obj/cgi-bin/%.o $(LIBRARY)
$(OPERATE): $(BUILD)/libexec/%: $(COMMON)/obj/nginx/command/%.o $(LIBRARY)
$(PROGRAMS) $(OPERATE):
	$(link)

$(TEXTS): lib/pages/texts.awk $(sort $(wildcard lib/pages/*.json))
	@mkdir -p $(@D)
	$(call say,TEXT,$@)
	$(Q)awk -v names=$(@D)/names.inc -f $^ >$@
# Written with it: without this rule, what includes it would be built a run late.
$(dir $(TEXTS))names.inc: $(TEXTS) ;

# As numbers, because a literal of C99 has at most 4,095 characters.
$(SCHEMA): lib/contract/form.schema.json
	@mkdir -p $(@D)
	$(call say,TEXT,$@)
	$(Q)tr -d '\t\n' <$< | od -An -v -tu1 | sed 's/[0-9][0-9]*/&,/g' >$@

$(PAGES): $(BUILD)/man/%: nginx/man/%.in nginx/man/page.awk nginx/CONFIGURATION.md $(wildcard nginx/command/*)
	@mkdir -p $(@D)
	$(call say,MAN,$@)
	$(Q)awk -f nginx/man/page.awk $< >$@

define compile
$(1)/obj/%.o: %.c $(1)/flags | $$(TEXTS) $$(SCHEMA)
	@mkdir -p $$(@D)
	$$(call say,CC,$$<)
	$$(Q)$$(CC) $$(C_FLAGS) -MMD -MP -c -o $$@ $$<
endef
$(foreach folder,$(sort $(BUILD) $(COMMON)),$(eval $(call compile,$(folder))))
placed := $(PLACED:%.c=$(BUILD)/obj/%.o)
$(placed): private C_FLAGS += $(PLACES)
$(placed): $(BUILD)/places

# The one file that knows the version.
$(BUILD)/obj/lib/server/main.o: private C_FLAGS += -DUM_VERSION=$(call quote,"$(VERSION)")
$(BUILD)/obj/lib/server/main.o: $(BUILD)/version

# Another compiler or other flags: everything again. Other places or another version: what they stand in.
flags := $(patsubst %,%/flags,$(sort $(BUILD) $(COMMON)))
$(flags): private export WANTED = $(CC) $(C_FLAGS) $(LDFLAGS)
$(BUILD)/places: private export WANTED = $(PLACES)
$(BUILD)/version: private export WANTED = $(VERSION)
$(flags) $(BUILD)/places $(BUILD)/version: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' "$$WANTED" | cmp -s - $@ || printf '%s\n' "$$WANTED" >$@

-include $(shell find $(sort $(BUILD)/obj $(COMMON)/obj) -name '*.d' 2>/dev/null)
