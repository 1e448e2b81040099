# The browser page: built, served, tested in headless Chromium. Included by the Makefile.
VENV ?= .venv
BIN ?= $(VENV)/bin
BROWSER_PAGE := examples/browser

.PHONY: browser-page serve-browser-page test-browser-page browser-page-chromium

browser-page: $(BROWSER_PAGE)/dist/encodings/catalogue.json \
	$(BROWSER_PAGE)/node_modules/.installed
	$(BIN)/python $(BROWSER_PAGE)/build.py

serve-browser-page: browser-page
	$(BIN)/python $(BROWSER_PAGE)/serve.py

test-browser-page: browser-page browser-page-chromium
	$(BIN)/python -m pytest tests/browser/on_server.py tests/browser/on_page.py

$(BROWSER_PAGE)/dist/encodings/catalogue.json: $(BROWSER_PAGE)/make_encoding.py \
	$(PACKAGE) | $(VENV)/.installed
	$(BIN)/python $(BROWSER_PAGE)/make_encoding.py $(BROWSER_PAGE)/dist

$(BROWSER_PAGE)/node_modules/.installed: $(BROWSER_PAGE)/package.json
	cd $(BROWSER_PAGE) && npm install --no-package-lock --no-fund --no-audit
	touch $@

browser-page-chromium:
	@test -x /usr/bin/chromium || { apt-get update --quiet && \
		DEBIAN_FRONTEND=noninteractive apt-get install --quiet --yes chromium; }
