# One target a real runtime; each installs what it needs. Included by the Makefile.
ARTIFACTS := artifacts/runtimes
RUNTIME_TESTS := $(BIN)/python -m pytest tests/runtimes

.PHONY: test-runtimes test-ort-oldest test-saved-model-cli test-openvino test-litert \
	test-node test-browser test-mlserver runtime-artifacts litert-artifacts

test-runtimes: test-ort-oldest test-saved-model-cli test-openvino test-litert \
	test-node test-browser test-mlserver

test-ort-oldest: runtime-artifacts .venv-ort-oldest/.installed
	$(RUNTIME_TESTS)/on_ort_oldest.py

test-saved-model-cli: runtime-artifacts
	$(RUNTIME_TESTS)/on_saved_model_cli.py

test-openvino: runtime-artifacts .venv-openvino/.installed
	$(RUNTIME_TESTS)/on_openvino.py

test-litert: runtime-artifacts litert-artifacts .venv-litert/.installed
	$(RUNTIME_TESTS)/on_litert.py

test-node: runtime-artifacts runtimes/node_modules/.installed
	$(RUNTIME_TESTS)/on_node.py

test-browser: runtime-artifacts runtimes/node_modules/.installed /usr/bin/chromium
	$(RUNTIME_TESTS)/on_browser.py

test-mlserver: runtime-artifacts .venv-mlserver/.installed
	$(RUNTIME_TESTS)/on_mlserver.py

# What every runtime is fed, made once and again when the package changes.
runtime-artifacts: $(ARTIFACTS)/.made artifacts/page/printed.txt
litert-artifacts: $(ARTIFACTS)/.litert

$(ARTIFACTS)/.made: runtimes/models.py runtimes/make_artifacts.py $(PACKAGE) \
	| $(VENV)/.installed
	$(BIN)/python runtimes/make_artifacts.py $(ARTIFACTS)
	touch $@

artifacts/page/printed.txt: export/README.md tests/shipping_page.py \
	$(wildcard export/*.py) $(PACKAGE) | $(VENV)/.installed
	$(BIN)/python tests/shipping_page.py artifacts/page

$(ARTIFACTS)/.litert: $(ARTIFACTS)/.made runtimes/make_litert.py
	$(BIN)/python runtimes/make_litert.py $(ARTIFACTS)
	touch $@

.venv-%/.installed: runtimes/requirements-%.txt
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet --requirement $<
	touch $@

# The package ships its native library; its install script would download another.
runtimes/node_modules/.installed: runtimes/package.json
	cd runtimes && ONNXRUNTIME_NODE_INSTALL=skip npm install \
		--no-package-lock --no-fund --no-audit
	touch $@

/usr/bin/chromium:
	apt-get update --quiet
	DEBIAN_FRONTEND=noninteractive apt-get install --quiet --yes chromium
