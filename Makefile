# The two commands: `make demo` and `make test`. Both make .venv on first use.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export TF_CPP_MIN_LOG_LEVEL ?= 3
# Every room: what is made from the package is made again when any of it changes.
PACKAGE := $(shell find keras_sinpe -name '*.py')

.PHONY: demo test test-slow proof proof-small lint test-jax test-torch test-floor \
	test-wheel examples bench bench-demands clean

demo: $(VENV)/.installed
	$(BIN)/python examples/demo.py

# Two processes, each file in one of them: files share exports among their tests.
test: lint
	$(BIN)/python -m pytest -m 'not slow' --numprocesses 2 --dist loadfile

# Every named convention at the widths of its models, proved: an hour of one core.
CERTIFY := -m keras_sinpe.certify --at-most 5e-7

proof: $(VENV)/.installed
	$(BIN)/python $(CERTIFY) --usual

# The waves of any width are among those of its multiples: 16 frequencies, 20 s.
proof-small: $(VENV)/.installed
	$(BIN)/python $(CERTIFY) --dim 32

# The examples at their full setting, and the page that ships a model, asserted.
test-slow: $(VENV)/.installed
	$(BIN)/python -m pytest tests -m slow

lint: $(VENV)/.installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

$(VENV)/.installed: setup.cfg pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

# The other backends, each in an environment of its own.
LAYER_TESTS := -m pytest tests/engine tests/layers

test-jax: .venv-jax/.installed
	KERAS_BACKEND=jax .venv-jax/bin/python $(LAYER_TESTS) -m 'not float64'
	KERAS_BACKEND=jax JAX_ENABLE_X64=1 .venv-jax/bin/python $(LAYER_TESTS) -m float64

test-torch: .venv-torch/.installed
	KERAS_BACKEND=torch .venv-torch/bin/python $(LAYER_TESTS)

.venv-jax/.installed: BACKEND := jax
# 2.13.0 comes as a small CPU build where the index has one.
.venv-torch/.installed: BACKEND := torch==2.13.0
.venv-jax/.installed .venv-torch/.installed: setup.cfg
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --editable '.[test]' '$(BACKEND)'
	touch $@

# The oldest versions that setup.cfg admits.
FLOOR := keras==3.10.0 tensorflow-cpu==2.19.0 tf2onnx==1.17.0 onnx==1.17.0 \
	onnxruntime==1.20.0

# That Keras refuses a model that ignores an input; the newer one exports it.
test-floor: .venv-floor/.installed
	.venv-floor/bin/python -m pytest tests/engine tests/layers tests/tensorflow_only \
		tests/exporting/test_export_models.py tests/exporting/test_export_onnx.py \
		tests/exporting/test_export_saved_model.py --deselect \
		tests/exporting/test_export_onnx.py::test_an_input_that_the_model_ignores_is_kept

.venv-floor/.installed: setup.cfg
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --editable '.[test,onnx,plot]' $(FLOOR)
	touch $@

# What users get: the wheel, installed, used from a folder without the sources.
test-wheel: .venv-wheel/.installed
	cd $(shell mktemp -d) && $(CURDIR)/.venv-wheel/bin/python -m pytest --quiet \
		-p no:cacheprovider --pyargs keras_sinpe --doctest-modules

.venv-wheel/.installed: setup.cfg $(PACKAGE)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip wheel --quiet --no-deps --wheel-dir $(@D)/wheels .
	$(@D)/bin/python -m pip install --quiet tensorflow-cpu pytest \
		"$$(ls -t $(@D)/wheels/*.whl | head -n 1)[onnx,plot]"
	touch $@

# Every example at its full setting, as a user runs it.
EXAMPLES := walkthrough padding_trap reverse word_order char_lm irregular_times \
	extrapolation distributed

examples: $(EXAMPLES:%=example-%)

example-%: $(VENV)/.installed
	$(BIN)/python examples/$*.py

BENCH := .venv-bench/bin/python -m benchmarks

bench: .venv-bench/.installed
	$(BENCH) --json benchmarks/results.json
	$(BENCH).chart benchmarks/results.json benchmarks

bench-demands: .venv-bench/.installed
	$(BENCH) --demands

.venv-bench/.installed: setup.cfg
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --editable '.[bench]'
	touch $@

include runtimes/targets.mk
include examples/browser/targets.mk

clean:
	rm -rf .venv .venv-* build *.egg-info artifacts
