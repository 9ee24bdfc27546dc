# Every target does its own set-up and repeats quickly. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
PYTHON := .venv/bin/python
# Test programs that run concurrent code: these run under ThreadSanitizer too.
CONCURRENT := async managers pipeline scorers workers
# Of these, tests that are long and run on one thread, where ThreadSanitizer can find nothing and takes minutes.
ONE_THREAD := FaultSim|OverloadSim|HostileTexts|VerlParity|VerlDispatcher

.PHONY: help setup build demo test test-cpp test-python test-tidy test-sanitizers test-asan test-tsan fuzz \
        test-corpora test-reasoning-gym bench install format clean
.NOTPARALLEL:

help:
	@echo "make demo                score examples/quickstart and print a summary"
	@echo "make test                C++ and Python tests, type check, tidiness"
	@echo "make test-sanitizers     all C++ tests under ASan+UBSan, the concurrent ones under TSan"
	@echo "make test-corpora        verdicts on other graders' rows (REWARDLOOP_CORPORA, ../shared/corpora)"
	@echo "make test-reasoning-gym  right and wrong answers of other people's task families"
	@echo "make fuzz                libFuzzer targets, FUZZ_SECONDS=60 each"
	@echo "make bench               benchmarks with checked answers"
	@echo "make install             library, headers and command under PREFIX=$(PREFIX)"
	@echo "make format              clang-format over changed files"
	@echo "make clean               remove build/ (clean-all: .venv too)"

setup:
	@tools/setup.sh

# --- build trees: build/release, build/asan, build/tsan
build/%/build.ninja: CMakePresets.json
	@mkdir -p build
	@cmake --preset $* >build/configure-$*.log 2>&1 || { cat build/configure-$*.log; exit 1; }
	@touch $@
.PRECIOUS: build/%/build.ninja

release: setup build/release/build.ninja
	@ninja -C build/release -j $(JOBS) --quiet
.PHONY: release

# --- what people run
demo: setup build/release/build.ninja
	@ninja -C build/release -j $(JOBS) --quiet rewardloop python_package
	@examples/quickstart/run.sh

test: test-cpp test-python test-tidy
	@echo "make test: all passed"

test-cpp: release
	@ctest --test-dir build/release --output-on-failure --no-tests=error -j $(JOBS)

test-python: release
	@$(PYTHON) -m pytest -q python/tests tests
	@$(PYTHON) -m mypy

test-tidy: setup
	@$(PYTHON) tools/tidy.py

# --- slower tiers
setup-sanitizers:
	@tools/setup.sh --sanitizers
.PHONY: setup-sanitizers

test-sanitizers: test-asan test-tsan
	@echo "make test-sanitizers: all passed"

test-asan: setup-sanitizers build/asan/build.ninja
	@ninja -C build/asan -j $(JOBS) --quiet
	@ctest --test-dir build/asan --output-on-failure --no-tests=error -j $(JOBS)

test-tsan: setup-sanitizers build/tsan/build.ninja
	@ninja -C build/tsan -j $(JOBS) --quiet $(CONCURRENT:%=%_test)
	@ctest --test-dir build/tsan --output-on-failure --no-tests=error -j $(JOBS) \
	   -R '^($(subst $(eval ) ,|,$(CONCURRENT)))\.' -E '$(ONE_THREAD)'

FUZZ_SECONDS ?= 60
fuzz: setup-sanitizers
	@tools/fuzz.sh $(FUZZ_SECONDS)

test-corpora: release
	@tools/math_table.sh

test-reasoning-gym: release
	@tools/setup.sh --extra tools/requirements-reasoning-gym.txt
	@tests/reasoning_gym/run.sh

bench: release
	@tools/setup.sh --extra bench/requirements.txt
	@bench/run.sh

# --- install, upkeep
install: release
	@cmake --install build/release --prefix $(PREFIX)

format:
	@tools/setup.sh --format --packages-only
	@git ls-files -m -o --exclude-standard '*.h' '*.cc' '*.c' | xargs -r clang-format-19 -i

clean:
	rm -rf build

clean-all: clean
	rm -rf .venv
.PHONY: clean-all
