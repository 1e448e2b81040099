"""What builds and serves the browser page: types, addresses, and refusals."""

import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

PAGE = Path(__file__).parents[2] / "examples/browser"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "index.html").write_text("<!doctype html>")
    return tmp_path


def refusal(script, *arguments):
    done = subprocess.run(
        [sys.executable, PAGE / script, *arguments],
        check=False,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == 1
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "content_type"),
    [
        ("index.html", "text/html"),
        ("page.mjs", "text/javascript"),
        ("page.js", "text/javascript"),
        ("page.wasm", "application/wasm"),
        ("page.onnx", "application/octet-stream"),
        ("page.json", "application/json"),
    ],
)
def test_files_come_with_the_types_that_browsers_insist_on(folder, name, content_type):
    (folder / name).touch()
    command = [sys.executable, PAGE / "serve.py", "--port", "0", "--folder", folder]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = server.stdout.readline().split()[0]
            assert address.startswith("http://127.0.0.1:")
            with urlopen(address + name) as response:
                assert response.headers.get_content_type() == content_type
        finally:
            server.terminate()


def test_a_taken_port_is_refused(folder):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        sentence = refusal("serve.py", "--port", str(port), "--folder", folder)
    assert sentence.startswith(f"`--port` must be free. Received: port={port} (")


def test_a_page_that_is_not_built_is_not_served(tmp_path):
    assert refusal("serve.py", "--folder", tmp_path) == (
        f"There is no page in {tmp_path}: run `make browser-page` first."
    )


def test_a_page_is_not_built_over_a_file(folder):
    file = folder / "index.html"
    sentence = refusal("build.py", "--folder", file)
    assert sentence.startswith("`--folder` must be one that can be written to: ")


def test_encodings_are_not_written_into_a_file(folder):
    file = folder / "index.html"
    sentence = refusal("make_encoding.py", file)
    assert sentence.startswith("`folder` must be one that can be written to: ")
