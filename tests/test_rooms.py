"""Imports go one way, and Keras's private names stay in one file."""

import ast
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "keras_sinpe"
FILES = sorted(PACKAGE.rglob("*.py"))
MAY_IMPORT = {
    "arguments": set(),
    "version": set(),
    "printing": set(),
    "reference": set(),
    "keras_internals": set(),
    "engine": {"arguments"},
    "convention_table": set(),
    "conventions": {"arguments", "engine", "convention_table"},
    "certify": {"arguments", "printing", "engine", "conventions", "convention_table"},
    "properties": {"arguments", "engine"},
    "layers": {"arguments", "keras_internals", "engine"},
    "plots": {"arguments", "engine", "properties", "layers", "conventions"},
    "model": {"arguments", "keras_internals"},
    "artifacts": {"arguments", "keras_internals", "version", "model"},
    "parity": {"arguments", "printing", "model", "artifacts"},
    "padding": {"arguments", "printing", "keras_internals", "model"},
    "exporting": {
        "arguments",
        "printing",
        "keras_internals",
        "model",
        "artifacts",
        "parity",
    },
}
PRIVATE = ("_flatten_layers", "_inbound_nodes", "_keras_", "keras.src")
INTERNALS = PACKAGE / "keras_internals.py"


def room_of(path):
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported_modules(source):
    """What is imported anywhere in a source; `.` and more for a relative import."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def forbidden_imports(room, source):
    """The rooms that a room must not know; relative imports are none of ours."""
    modules = list(imported_modules(source))
    ours = [m.split(".") for m in modules if m.split(".")[0] == "keras_sinpe"]
    rooms = {parts[1] if len(parts) > 1 else "__init__" for parts in ours}
    relative = {module for module in modules if module.startswith(".")}
    return (rooms | relative) - MAY_IMPORT[room] - {room}


def private_names(source):
    """Private attributes of anything but `self`, and strings that name Keras's."""
    nodes = list(ast.walk(ast.parse(source)))
    attributes = {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and ast.unparse(node.value) != "self"
    }
    texts = {node.value for node in nodes if isinstance(node, ast.Constant)}
    texts = {text for text in texts if isinstance(text, str)}
    found = {
        text for text in texts | set(imported_modules(source)) if names_keras(text)
    }
    return attributes | found


def names_keras(text):
    return any(name in text for name in PRIVATE)


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
        ("engine", "from ..layers import SinusoidalEmbedding", "..layers"),
    ],
)
def test_a_planted_import_is_found(room, source, found):
    assert forbidden_imports(room, source) == {found}


def test_a_planted_private_name_is_found():
    assert private_names('getattr(x, "_keras_mask")') == {"_keras_mask"}
    assert private_names("model._flatten_layers()") == {"_flatten_layers"}
    assert private_names("layer._metrics") == {"_metrics"}
    assert private_names("from keras.src import ops") == {"keras.src"}


def test_the_oracle_imports_numpy_and_the_standard_library_alone():
    modules = imported_modules((PACKAGE / "reference.py").read_text())
    assert {m.split(".")[0] for m in modules} <= {"numpy", *sys.stdlib_module_names}
