"""The README says only what runs."""

import re
from pathlib import Path

import pytest
from shipping_page import BLOCK, ROOT, run_snippet

README = (ROOT / "README.md").read_text()
PYTHON = [code for language, code in BLOCK.findall(README) if language == "python"]
MAKEFILES = [
    ROOT / "Makefile",
    *ROOT.glob("*/targets.mk"),
    *ROOT.glob("*/*/targets.mk"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("readme")


def test_the_quick_start_exports_a_model_and_prints_its_proof(folder):
    printed = run_snippet("python", PYTHON[0], folder)
    assert (folder / "model.onnx").stat().st_size > 0
    assert re.search(r"Parity PASSED.+label", printed, re.DOTALL)


def test_the_layers_are_called_as_shown(folder):
    run_snippet("python", PYTHON[1], folder)


def test_every_snippet_is_run():
    assert len(PYTHON) == 2


@pytest.mark.parametrize(
    "target", sorted(set(re.findall(r"`make ([a-z-]+)[ `]", README)))
)
def test_every_target_named_is_a_target(target):
    rules = "\n".join(makefile.read_text() for makefile in MAKEFILES)
    assert re.search(rf"^{target}:", rules, re.MULTILINE)


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#]+)", README))))
def test_every_file_linked_is_there(link):
    if not link.startswith("https://"):
        assert (ROOT / Path(link)).exists()
