# SPDX-License-Identifier: Apache-2.0
#
# Plain GNU make, no configure step.  Everything that is built goes to build/<variant>/.
#
#   VARIANT   release (default), debug, asan, tsan, coverage, fuzz (clang)
#   CC        gcc or clang; CFLAGS and LDFLAGS are appended to ours
#   V=1       shows the commands
#   DESTDIR PREFIX BINDIR LIBDIR INCLUDEDIR MANDIR DATADIR   for install

VARIANT ?= release
CC ?= cc
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
BINDIR ?= $(PREFIX)/bin
DATADIR ?= $(PREFIX)/share

# The header has the version; whoever raises it there is told where else it stands.
VERSION := $(shell sed -n 's/^.define IMGCHECK_VERSION "\(.*\)"/\1/p' libimgcheck/imgcheck.h)
SOVERSION := 0
AGREES := $(shell grep -q '^LIBIMGCHECK_$(basename $(VERSION)) {' libimgcheck/libimgcheck.map && \
	grep -q '^libimgcheck $(VERSION)$$' libimgcheck/NEWS && \
	sed -n 1p hooks/packaging/debian/changelog | grep -q '^imgcheck .$(VERSION)-' && echo yes)
$(if $(AGREES),,$(error version $(VERSION) of imgcheck.h is not that of libimgcheck.map, NEWS and hooks/packaging/debian/changelog))
BUILD := build/$(VARIANT)
Q := $(if $(V),,@)
CORES := $(shell nproc)

# ---------------------------------------------------------------- flags

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes -Wmissing-prototypes \
	-Wcast-qual -Wwrite-strings -Wformat=2 -Wvla -Wundef $(if $(WERROR),-Werror)
COMMON := -std=c11 -D_GNU_SOURCE -Ilibimgcheck $(WARNINGS) -g -fPIC -fvisibility=hidden -fno-common
CONTROL_FLOW := $(if $(filter x86_64-% i%86-%,$(shell $(CC) -dumpmachine 2>/dev/null)),-fcf-protection)
HARDENING := -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection $(CONTROL_FLOW)
SANITIZE := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

# The folder of the build is in nothing that is released: two builds are byte-equal.
VARIANT_CFLAGS_release := $(HARDENING) "-ffile-prefix-map=$(CURDIR)=."
VARIANT_CFLAGS_debug := -O0
VARIANT_CFLAGS_asan := $(SANITIZE)
VARIANT_CFLAGS_tsan := -O1 -fsanitize=thread -fno-omit-frame-pointer
VARIANT_CFLAGS_fuzz := $(SANITIZE) -fsanitize=fuzzer-no-link
VARIANT_CFLAGS_coverage := -O0 --coverage -fprofile-update=atomic
VARIANT_LDFLAGS_release := -Wl,-z,relro,-z,now -Wl,-z,noexecstack
VARIANT_LDFLAGS_asan := -fsanitize=address,undefined
VARIANT_LDFLAGS_tsan := -fsanitize=thread
VARIANT_LDFLAGS_fuzz := -fsanitize=address,undefined
VARIANT_LDFLAGS_coverage := --coverage -Wl,--wrap=_exit

ALL_CFLAGS := $(COMMON) $(VARIANT_CFLAGS_$(VARIANT)) $(CPPFLAGS) $(CFLAGS)
ALL_LDFLAGS := $(VARIANT_LDFLAGS_$(VARIANT)) $(LDFLAGS)
LIBS := -lcurl -ljansson -lyaml -lcrypto -lm

# ---------------------------------------------------------------- sources

LIB_SOURCES := $(sort $(wildcard libimgcheck/*.c libimgcheck/*/*.c))
LIB_SOURCES := $(filter-out libimgcheck/examples/%,$(LIB_SOURCES))
HOOK_SOURCES := $(sort $(wildcard hooks/*.c hooks/*/*.c))
UNIT_SOURCES := $(sort $(wildcard tests/unit/test_*.c))
EXAMPLE_SOURCES := $(sort $(wildcard libimgcheck/examples/*.c))
FUZZ_SOURCES := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FAULT_SOURCES := $(sort $(wildcard tests/fault/*.c))

COMMA := ,
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
LIB_OBJECTS := $(call objects,$(LIB_SOURCES))
COVERAGE_EXIT := $(if $(filter coverage,$(VARIANT)),$(call objects,tests/coverage/exit.c))
HOOK_OBJECTS := $(call objects,$(HOOK_SOURCES)) $(COVERAGE_EXIT)
UNIT_SUPPORT := $(call objects,$(filter-out $(UNIT_SOURCES),$(wildcard tests/unit/*.c)))
UNIT_PROGRAMS := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(UNIT_SOURCES))
EXAMPLES := $(patsubst libimgcheck/examples/%.c,$(BUILD)/examples/%,$(EXAMPLE_SOURCES))
FUZZ_PROGRAMS := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(FUZZ_SOURCES))
FAULT_SERVER := $(if $(FAULT_SOURCES),$(BUILD)/tests/faultserver)
OOM_SOURCES := $(sort $(wildcard tests/oom/*.c))
OOM_PROGRAMS := $(BUILD)/tests/oom $(BUILD)/oom/imgcheck
BENCH_SOURCES := $(sort $(wildcard tests/bench/*.c))
BENCH_PROGRAMS := $(addprefix $(BUILD)/bench/,link measure reference standin yamlloop)

LIB_REAL := libimgcheck.so.$(VERSION)
LIB_SONAME := libimgcheck.so.$(SOVERSION)
LIB_SHARED := $(BUILD)/$(LIB_REAL)

.PHONY: all
all: $(BUILD)/imgcheck $(BUILD)/libimgcheck.so $(BUILD)/imgcheck.pc $(BUILD)/imgcheck.bash ## builds the library and the imgcheck command (default)

.DELETE_ON_ERROR:
.SUFFIXES:

# ---------------------------------------------------------------- rules

# Changes only when the flags do, so that a change of flags builds everything anew; -Werror changes nothing built.
STAMP := $(BUILD)/flags
FLAGS := $(CC) $(filter-out -Werror,$(ALL_CFLAGS)) $(ALL_LDFLAGS)
$(shell mkdir -p $(BUILD); printf '%s\n' '$(FLAGS)' | cmp -s - $(STAMP) || printf '%s\n' '$(FLAGS)' > $(STAMP))

$(BUILD)/obj/%.o: %.c $(STAMP)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC      $<")
	$(Q)$(CC) $(ALL_CFLAGS) $(EXTRA_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/obj/hooks/%.o: EXTRA_CFLAGS := -Ihooks
$(BUILD)/obj/tests/%.o: EXTRA_CFLAGS := -Itests/unit -Itests -Ihooks -Wno-pedantic

$(LIB_SHARED): $(LIB_OBJECTS) libimgcheck/libimgcheck.map
	$(if $(V),,@echo "  LD      $@")
	$(Q)$(CC) -shared -Wl,-soname,$(LIB_SONAME) -Wl,--version-script=libimgcheck/libimgcheck.map -Wl,-z,defs \
		$(ALL_LDFLAGS) -o $@ $(LIB_OBJECTS) $(LIBS)

$(BUILD)/$(LIB_SONAME): $(LIB_SHARED)
	$(Q)ln -sf $(LIB_REAL) $@

$(BUILD)/libimgcheck.so: $(BUILD)/$(LIB_SONAME)
	$(Q)ln -sf $(LIB_SONAME) $@

# For unit tests only, which reach behind the public header.
$(BUILD)/libimgcheck-internal.a: $(LIB_OBJECTS)
	$(Q)rm -f $@ && ar rcs $@ $(LIB_OBJECTS)

# All of the programs but main(), likewise.
$(BUILD)/libhooks.a: $(filter-out %/hooks/imgcheck.o,$(HOOK_OBJECTS))
	$(Q)rm -f $@ && ar rcs $@ $^

# In the build folder the programs find the library beside themselves; installed ones take it from the system.
$(BUILD)/imgcheck: $(HOOK_OBJECTS) $(BUILD)/libimgcheck.so
	$(if $(V),,@echo "  LD      $@")
	$(Q)$(CC) -pie $(ALL_LDFLAGS) -Wl,-rpath,'$$ORIGIN' -o $@ $(HOOK_OBJECTS) -L$(BUILD) -limgcheck -ljansson -lcurl

$(BUILD)/imgcheck.bash: hooks/completion/generate $(BUILD)/imgcheck
	$(Q)hooks/completion/generate $(BUILD)/imgcheck > $@

$(BUILD)/install/imgcheck: $(HOOK_OBJECTS) $(BUILD)/libimgcheck.so
	@mkdir -p $(@D)
	$(Q)$(CC) -pie $(ALL_LDFLAGS) -o $@ $(HOOK_OBJECTS) -L$(BUILD) -limgcheck -ljansson -lcurl

$(BUILD)/examples/%: $(BUILD)/obj/libimgcheck/examples/%.o $(BUILD)/libimgcheck.so
	@mkdir -p $(@D)
	$(Q)$(CC) -pie $(ALL_LDFLAGS) -Wl,-rpath,'$$ORIGIN/..' -o $@ $< -L$(BUILD) -limgcheck

define write-pc
	@mkdir -p $(@D)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR:$(PREFIX)/%=$${prefix}/%)|' \
		-e 's|@INCLUDEDIR@|$(INCLUDEDIR:$(PREFIX)/%=$${prefix}/%)|' -e 's|@VERSION@|$(VERSION)|' $< > $@
endef

$(BUILD)/imgcheck.pc: libimgcheck/imgcheck.pc.in libimgcheck/imgcheck.h Makefile
	$(write-pc)

# Made anew each time, since it depends on what the caller says of the folders.
.PHONY: FORCE
$(BUILD)/install/imgcheck.pc: libimgcheck/imgcheck.pc.in FORCE
	$(write-pc)

$(BUILD)/tests/%: $(BUILD)/obj/tests/unit/%.o $(UNIT_SUPPORT) $(BUILD)/libhooks.a $(BUILD)/libimgcheck-internal.a
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LD      $@")
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(UNIT_SUPPORT) $(BUILD)/libhooks.a $(BUILD)/libimgcheck-internal.a $(LIBS) -lcriterion

# With libFuzzer in the variant of that name, else with a main that replays files.
FUZZ_DRIVER := $(if $(filter fuzz,$(VARIANT)),,$(BUILD)/obj/tests/fuzz/replay.o)

$(BUILD)/fuzz/%: $(BUILD)/obj/tests/fuzz/%.o $(FUZZ_DRIVER) $(BUILD)/libhooks.a $(BUILD)/libimgcheck-internal.a
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LD      $@")
	$(Q)$(CC) $(ALL_LDFLAGS) $(if $(FUZZ_DRIVER),,-fsanitize=fuzzer) -o $@ $^ $(LIBS)

$(BUILD)/tests/faultserver: $(call objects,$(FAULT_SOURCES))
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LD      $@")
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ -lssl -lcrypto

# What our objects and libyaml's call is ours here, so that it can fail when told to (tests/oom/alloc.h).
OOM_WRAPPED := malloc calloc realloc reallocarray strdup free realpath vasprintf scandir open_memstream opendir tsearch \
	curl_easy_init curl_multi_init curl_share_init curl_url curl_url_set curl_url_get curl_slist_append \
	curl_multi_add_handle EVP_MD_CTX_new
OOM_LINK = $(addprefix -Wl$(COMMA)--wrap=,$(OOM_WRAPPED)) $(ALL_LDFLAGS)
OOM_LIBS := -lcurl -ljansson -l:libyaml.a -lcrypto -lm

$(BUILD)/tests/threads: $(BUILD)/obj/tests/threads/threads.o $(COVERAGE_EXIT) $(BUILD)/libimgcheck.so
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LD      $@")
	$(Q)$(CC) $(ALL_LDFLAGS) -Wl,-rpath,'$$ORIGIN/..' -o $@ $(filter %.o,$^) -L$(BUILD) -limgcheck -lpthread

OOM_ALLOC := $(call objects,tests/oom/alloc.c)
OOM_PROGRAM := $(call objects,tests/oom/program.c)

$(BUILD)/tests/oom: $(filter-out $(OOM_PROGRAM),$(call objects,$(OOM_SOURCES))) $(BUILD)/libimgcheck-internal.a
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LD      $@")
	$(Q)$(CC) $(OOM_LINK) -o $@ $^ $(OOM_LIBS)

# The command, which fails an allocation as its environment says.
$(BUILD)/oom/imgcheck: $(HOOK_OBJECTS) $(OOM_ALLOC) $(OOM_PROGRAM) $(BUILD)/libimgcheck-internal.a
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LD      $@")
	$(Q)$(CC) $(OOM_LINK) -o $@ $^ $(OOM_LIBS)

$(BUILD)/bench/standin: $(call objects,tests/bench/documents.c tests/bench/jwt.c)
$(BUILD)/bench/link $(BUILD)/bench/measure: LIBS :=
$(BUILD)/bench/reference: LIBS := -lcurl -ljansson

$(BUILD)/bench/%: $(BUILD)/obj/tests/bench/%.o $(BUILD)/libimgcheck-internal.a
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LD      $@")
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

-include $(patsubst %.o,%.d,$(LIB_OBJECTS) $(HOOK_OBJECTS) $(UNIT_SUPPORT) $(call objects,$(UNIT_SOURCES) $(EXAMPLE_SOURCES) $(FAULT_SOURCES) $(FUZZ_SOURCES) $(OOM_SOURCES) tests/threads/threads.c $(BENCH_SOURCES)))

.SECONDARY:

# ---------------------------------------------------------------- what people call

.PHONY: deps
deps: ## installs the packages that building and testing need (apt, as root or by sudo)
	@tests/support/deps.sh

.PHONY: demo
demo: deps ## shows the main job: a refresh vetoed for a missing image, then let through
	@$(MAKE) --no-print-directory -j$(CORES) VARIANT=release all
	@tests/demo/run build/release/imgcheck

.PHONY: test
test: deps ## runs all tests but the long ones
	@$(MAKE) --no-print-directory -j$(CORES) VARIANT=asan WERROR=1 all tests
	@$(MAKE) --no-print-directory -j$(CORES) VARIANT=release WERROR=1 all tests
	@tests/run all

.PHONY: test-unit
test-unit: tests ## runs the unit tests of this VARIANT
	@tests/run unit $(VARIANT)

.PHONY: tests
tests: test-programs $(FUZZ_PROGRAMS) ## builds the test programs of this VARIANT

.PHONY: test-programs
test-programs: $(UNIT_PROGRAMS) $(OOM_PROGRAMS) $(BUILD)/tests/threads $(FAULT_SERVER) $(EXAMPLES)

.PHONY: test-slow
test-slow: deps ## runs the long tests: browser, killed gate, old base (root), packages, every allocation, valgrind, mutants
	@$(MAKE) --no-print-directory -j$(CORES) VARIANT=release WERROR=1 all tests
	@$(MAKE) --no-print-directory -j$(CORES) VARIANT=asan WERROR=1 all tests
	@$(MAKE) --no-print-directory -j$(CORES) VARIANT=tsan WERROR=1 thread-tests
	@tests/run slow

.PHONY: thread-tests
thread-tests: $(BUILD)/tests/threads $(FAULT_SERVER)

.PHONY: mutants
mutants: deps ## plants deliberate bugs in a copy of the tree; each has to be caught by the tests
	@tests/mutants/run

.PHONY: coverage
coverage: deps ## runs the tests with line counts; fails below 90 %, 95 % in the pure layers
	@$(MAKE) --no-print-directory -j$(CORES) VARIANT=release all
	@$(MAKE) --no-print-directory -j$(CORES) VARIANT=coverage all test-programs
	@tests/coverage/run

.PHONY: test-vm
test-vm: deps ## runs the hooks under an enforcing AppArmor, in an emulated machine: a few minutes (root, x86-64)
	@$(MAKE) --no-print-directory -j$(CORES) VARIANT=release WERROR=1 all
	@BUILD=build/release tests/vm/run

.PHONY: bench
bench: deps ## measures against skopeo and bare libcurl, on loopback and over a 50 ms link; BENCH=full for all sizes (root)
	@$(MAKE) --no-print-directory -j$(CORES) VARIANT=release all bench-programs
	@tests/bench/run $(BENCH)
	@tests/bench/fleet
	@tests/bench/manifests

.PHONY: bench-programs
bench-programs: $(BENCH_PROGRAMS)

.PHONY: fuzz-smoke
fuzz-smoke: deps ## fuzzes every parser, 60 s in all
	@$(MAKE) --no-print-directory -j$(CORES) VARIANT=fuzz CC=clang fuzzers
	@tests/fuzz/run 60

FUZZ_SECONDS ?= 3600

.PHONY: fuzz
fuzz: deps ## fuzzes every parser, FUZZ_SECONDS in all (an hour)
	@$(MAKE) --no-print-directory -j$(CORES) VARIANT=fuzz CC=clang fuzzers
	@tests/fuzz/run $(FUZZ_SECONDS)

.PHONY: fuzzers
fuzzers: $(FUZZ_PROGRAMS)

.PHONY: abi-check
abi-check: deps ## tells what would break programs that are linked with an earlier library
	@$(MAKE) --no-print-directory -j$(CORES) VARIANT=release $(BUILD)/$(LIB_SONAME)
	@tests/abi/check $(BUILD)/$(LIB_SONAME) libimgcheck/imgcheck.h

.PHONY: abi-baseline
abi-baseline: deps ## takes the interface as it is now as what must not break
	@$(MAKE) --no-print-directory -j$(CORES) VARIANT=release $(BUILD)/$(LIB_SONAME)
	@tests/abi/check --renew $(BUILD)/$(LIB_SONAME) libimgcheck/imgcheck.h

.PHONY: deb
deb: ## builds the Debian source and binary packages in build/deb
	@tests/support/deps.sh deb
	@hooks/packaging/build-deb build/deb

.PHONY: lint
lint: ## checks layers, limits, banned functions, pages, symbols, both compilers, and runs four analysers
	@tests/support/deps.sh lint
	@tests/lint/run

.PHONY: install
install: all $(BUILD)/install/imgcheck $(BUILD)/install/imgcheck.pc ## installs below $(DESTDIR)$(PREFIX)
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR) $(addprefix $(DESTDIR)$(MANDIR)/man,1 3 5 7 8)
	install -m 755 $(BUILD)/install/imgcheck $(DESTDIR)$(BINDIR)/imgcheck
	install -m 644 libimgcheck/imgcheck.h $(DESTDIR)$(INCLUDEDIR)/imgcheck.h
	install -m 755 $(LIB_SHARED) $(DESTDIR)$(LIBDIR)/$(LIB_REAL)
	ln -sf $(LIB_REAL) $(DESTDIR)$(LIBDIR)/$(LIB_SONAME)
	ln -sf $(LIB_SONAME) $(DESTDIR)$(LIBDIR)/libimgcheck.so
	install -m 644 $(BUILD)/install/imgcheck.pc $(DESTDIR)$(LIBDIR)/pkgconfig/imgcheck.pc
	install -d $(DESTDIR)$(DATADIR)/imgcheck $(DESTDIR)$(COMPLETIONDIR)
	install -m 644 libimgcheck/report.schema.json $(DESTDIR)$(DATADIR)/imgcheck/report.schema.json
	install -m 644 $(BUILD)/imgcheck.bash $(DESTDIR)$(COMPLETIONDIR)/imgcheck
	for file in $(DEPLOYMENT); do \
		install -D -m 644 hooks/$$file $(DESTDIR)$(DATADIR)/imgcheck/$$file || exit 1; done
	hooks/packaging/pages install $(DESTDIR)$(MANDIR) $(PAGES)
	$(tell-linker)

# What is (no longer) there is known only once the cache of the dynamic linker is made anew.
tell-linker = $(if $(DESTDIR),,[ ! -w /etc/ld.so.cache ] || /sbin/ldconfig)

COMPLETIONDIR := $(DATADIR)/bash-completion/completions
DEPLOYMENT := $(patsubst hooks/%,%,$(sort $(wildcard hooks/systemd/* hooks/kubernetes/* hooks/alerts/*)))
PAGES := $(sort $(wildcard libimgcheck/man/*.[1-9] hooks/man/*.[1-9]))

.PHONY: uninstall
uninstall: ## removes what install put there
	rm -f $(DESTDIR)$(BINDIR)/imgcheck $(DESTDIR)$(INCLUDEDIR)/imgcheck.h $(DESTDIR)$(LIBDIR)/pkgconfig/imgcheck.pc \
		$(DESTDIR)$(COMPLETIONDIR)/imgcheck $(DESTDIR)$(DATADIR)/imgcheck/report.schema.json \
		$(addprefix $(DESTDIR)$(LIBDIR)/,$(LIB_REAL) $(LIB_SONAME) libimgcheck.so) \
		$(addprefix $(DESTDIR)$(DATADIR)/imgcheck/,$(DEPLOYMENT))
	for folder in $(addprefix $(DESTDIR)$(DATADIR)/imgcheck/,$(sort $(dir $(DEPLOYMENT)))) $(DESTDIR)$(DATADIR)/imgcheck; do \
		[ ! -d $$folder ] || rmdir --ignore-fail-on-non-empty $$folder; done
	hooks/packaging/pages uninstall $(DESTDIR)$(MANDIR) $(PAGES)
	$(tell-linker)

.PHONY: clean
clean: ## removes what was built
	rm -rf build

.PHONY: help
help: ## shows this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' Makefile | sort -t'|' -k1,1 | awk -F'|' '{printf "%-14s %s\n", $$1, $$2}'
