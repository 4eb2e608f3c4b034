# `make demo`, `make test` and `make lint` each create what they need in .venv, the compiled module included.
PYTHON ?= python3
CXX ?= g++
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
CSRC := $(shell find csrc -name '*.cpp' -o -name '*.hpp')
# What pip would otherwise put into an environment of its own for each build.
BUILD_TOOLS := scikit-build-core nanobind cmake ninja
# Where there is no compiler, dynrnn is installed without its compiled module.
KERNELS := $(if $(shell command -v $(CXX)),true,false)
UNBUILT := $(if $(filter true,$(KERNELS)),$(if $(wildcard build/editable/build.ninja),,build/editable/build.ninja))

.PHONY: demo test test-without-kernels sanitize symbols bench lint format build

demo: build
	$(BIN)/dynrnn run examples/final_state.py

test: .venv/developed build
	$(BIN)/python -m pytest

# Everything works without the compiled module: what chooses between the two ways, and what stands on it.
test-without-kernels: .venv/developed
	$(BIN)/python -m pytest --kernels none tests/cells tests/rnn tests/nn tests/tf1/rnn tests/tf1/rnn_cell \
		$(wildcard tests/kernels tests/test_*.py)

# The kernels under the address and undefined-behaviour sanitizers, beside the module that is in use. Python itself
# leaks, so leaks are not looked for. libstdc++ comes along for the exceptions of torch.
sanitize: .venv/developed
	$(BIN)/cmake -S . -B build/sanitize -G Ninja -DDYNRNN_SANITIZE=ON -DCMAKE_CXX_COMPILER=$(CXX) \
		-DPython_EXECUTABLE=$(abspath $(BIN)/python)
	$(BIN)/cmake --build build/sanitize
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
		ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
		$(BIN)/python -m pytest -p no:cacheprovider --capture=sys --kernels build/sanitize/_kernels.*so tests/kernels

# The linker keeps one of several functions of the same name: code for one instruction set must share no name with the
# rest, or machines without that set would run it.
symbols: build
	@for object in build/editable/CMakeFiles/kernels_*.dir/csrc/isa.cpp.o; do \
		isa=$${object#*/kernels_}; isa=$${isa%%.dir/*}; \
		! nm -C --defined-only $$object | grep ' [VWu] ' | grep -v -e "dynrnn::$$isa::" -e ' DW.ref' || exit 1; \
	done

# Side by side with the peers, in a quarter of an hour; BENCH=--quick takes some minutes, BENCH=--help lists the options.
BENCH ?=
bench: .venv/measured build
	$(BIN)/python -m benchmarks $(BENCH)

lint: .venv/developed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CSRC)
	$(BIN)/pyright

format: .venv/developed
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CSRC)

# Compiles what has changed in csrc, in seconds.
build: .venv/installed
ifeq ($(KERNELS),true)
	$(BIN)/cmake --build build/editable --target install
else
	@echo "no C++ compiler: dynrnn runs without its compiled module"
endif

# Each rule ends by marking its work done, so that it is repeated only when a file that it depends on changes.
.venv/installed: pyproject.toml requirements-dev.txt $(UNBUILT)
	$(PYTHON) -m venv .venv
	$(PIP) install --constraint requirements-dev.txt $(BUILD_TOOLS)
	$(PIP) install --constraint requirements-dev.txt --no-build-isolation \
		--config-settings=dynrnn.kernels=$(KERNELS) --editable .
	touch $@

.venv/developed: .venv/installed
	$(PIP) install --requirement requirements-dev.txt
	touch $@

.venv/measured: .venv/installed benchmarks/requirements.txt
	$(PIP) install --constraint requirements-dev.txt --requirement benchmarks/requirements.txt
	touch $@

build/editable/build.ninja: ;
