"""onnxruntime-web on a page in headless Chromium."""

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from fed_artifacts import MODELS, RUNTIMES, run
from shipping_page import snippets

RUNNER = ("node", RUNTIMES / "run_browser.mjs")


@pytest.mark.parametrize("model", MODELS)
def test_the_browser_computes_what_keras_computes(model, measure):
    assert measure(RUNNER, model, "model.onnx") <= MODELS[model]


@pytest.fixture
def served(shipped):
    """The address of the page's folder, with the snippet as `index.html`."""
    folder, _ = shipped
    (folder / "node_modules").symlink_to(RUNTIMES / "node_modules")
    [(_, html)] = snippets("Browser")
    (folder / "index.html").write_text(html)
    handler = partial(SimpleHTTPRequestHandler, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()


def test_the_snippet_of_the_page_shows_what_keras_prints(shipped, served):
    _, printed = shipped
    reader = Path(__file__).with_name("read_page.mjs")
    assert run("node", reader, served, "#label") == printed
