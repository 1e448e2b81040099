"""Imports go one way, and Keras's private names stay in one file."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "keras_sinpe"
FILES = sorted(PACKAGE.rglob("*.py"))
MAY_IMPORT = {
    "arguments": set(),
    "version": set(),
    "reference": set(),
    "keras_internals": set(),
    "engine": {"arguments"},
    "conventions": {"arguments", "engine"},
    "properties": {"arguments", "engine"},
    "layers": {"arguments", "keras_internals", "engine"},
    "plots": {"arguments", "engine", "properties", "layers", "conventions"},
    "model": {"arguments", "keras_internals"},
    "artifacts": {"arguments", "keras_internals", "version", "model"},
    "parity": {"arguments", "model", "artifacts"},
    "padding": {"arguments", "keras_internals", "model"},
    "exporting": {"arguments", "keras_internals", "model", "artifacts", "parity"},
}
PRIVATE = ("_keras_history", "_keras_mask", "_flatten_layers", "_inbound_nodes")
INTERNALS = PACKAGE / "keras_internals.py"


def room_of(path):
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def forbidden_imports(room, source):
    nodes = list(ast.walk(ast.parse(source)))
    modules = [n.module for n in nodes if isinstance(n, ast.ImportFrom)]
    modules += [a.name for n in nodes if isinstance(n, ast.Import) for a in n.names]
    ours = [m.split(".") for m in modules if m and m.split(".")[0] == "keras_sinpe"]
    rooms = {parts[1] if len(parts) > 1 else "__init__" for parts in ours}
    return rooms - MAY_IMPORT[room] - {room}


def private_names(source):
    nodes = list(ast.walk(ast.parse(source)))
    names = {n.attr for n in nodes if isinstance(n, ast.Attribute)}
    texts = {n.value for n in nodes if isinstance(n, ast.Constant)}
    found = (names | texts) & set(PRIVATE)
    return found | {t for t in texts if isinstance(t, str) and "keras.src" in t}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_only_what_it_may(path):
    if path != PACKAGE / "__init__.py":
        assert forbidden_imports(room_of(path), path.read_text()) == set()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_private_names_of_keras_stand_in_one_file(path):
    if path != INTERNALS:
        assert private_names(path.read_text()) == set()


@pytest.mark.parametrize(
    ("room", "source", "found"),
    [
        ("engine", "from keras_sinpe.layers import SinusoidalEmbedding", "layers"),
        ("model", "def late():\n    import keras_sinpe.engine.waves", "engine"),
        ("parity", "from keras_sinpe.exporting.onnx import export_onnx", "exporting"),
        ("layers", "from keras_sinpe import export_onnx", "__init__"),
    ],
)
def test_a_planted_import_is_found(room, source, found):
    assert forbidden_imports(room, source) == {found}


def test_a_planted_private_name_is_found():
    assert private_names('getattr(x, "_keras_mask")') == {"_keras_mask"}
    assert private_names("model._flatten_layers()") == {"_flatten_layers"}
