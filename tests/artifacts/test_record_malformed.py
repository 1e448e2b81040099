"""Whatever a file says of itself, it is read without a crash and printed as text."""

import json

import onnx
import pytest
from export_models import dense

from keras_sinpe.arguments import printable
from keras_sinpe.exporting import describe, export_onnx, export_saved_model
from keras_sinpe.parity import FeedError, open_runner

SHORT = {"lengths": (2,), "batch_sizes": (1,)}
HOSTILE = "a\x1b[2Jb\nproof: bound\r\x9b31m\u202edcba\x07\u2028"
HARMLESS = r"a\x1b[2Jb\nproof: bound\r\x9b31m\u202edcba\x07\u2028"

REPORT = {"passed": True, "runs": 1, "outputs": [], "notes": []}
RECORD = {
    "model": "m",
    "dtype_policy": "float32",
    "layers": [],
    "parity": {"serve": REPORT},
    "versions": {"keras": "3"},
}
NESTED = 100_000

MALFORMED = {
    "a list": "[1, 2]",
    "a number": "5",
    "a string": '"abc"',
    "null": "null",
    "another dict": '{"a": 1}',
    "no JSON": "{",
    "nothing": "",
    "deep nesting": "[" * NESTED,
    "an infinite number": json.dumps({**RECORD, "a": 1}).replace("1}", "1e999}"),
    "no number": json.dumps({**RECORD, "a": float("nan")}),
    "ten million letters": json.dumps({**RECORD, "a": "x" * 10_000_000}),
    "a number of ten thousand digits": '{"a": ' + "9" * 10_000 + "}",
    "layers of another type": json.dumps({**RECORD, "layers": {"name": "x"}}),
    "a layer without a class": json.dumps({**RECORD, "layers": [{"name": "x"}]}),
    "a report that is a list": json.dumps({**RECORD, "parity": {"serve": [1]}}),
    "a verdict that is a word": json.dumps(
        {**RECORD, "parity": {"serve": {**REPORT, "passed": "yes"}}}
    ),
    "an error that is a list": json.dumps(
        {**RECORD, "parity": {"serve": {**REPORT, "outputs": [{"error": []}]}}}
    ),
    "versions by number": json.dumps({**RECORD, "versions": {"keras": 3}}),
}


@pytest.fixture(scope="module")
def onnx_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("malformed") / "model.onnx"
    export_onnx(dense(), path, **SHORT)
    return path


@pytest.fixture(scope="module")
def saved_model_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("malformed") / "model"
    export_saved_model(dense(), path, **SHORT)
    return path


def say_in_onnx(path, text):
    proto = onnx.load(path)
    proto.metadata_props[0].value = text
    onnx.save(proto, path)


def assert_unreadable(description):
    assert (description.proof, description.metadata) == ("unreadable", {})
    assert str(description).endswith("\nproof: no readable record")
    assert json.loads(description.to_json())["metadata"] == {}


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_malformed_record_of_an_onnx_file_is_not_readable(onnx_path, kind):
    say_in_onnx(onnx_path, MALFORMED[kind])
    assert_unreadable(describe(onnx_path))


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_malformed_record_of_a_saved_model_is_not_readable(saved_model_path, kind):
    file = saved_model_path / "assets.extra" / "keras_sinpe.json"
    file.write_text(MALFORMED[kind])
    assert_unreadable(describe(saved_model_path))


def test_a_record_that_is_no_text_is_not_readable(onnx_path, saved_model_path):
    say_in_onnx(onnx_path, "x" * 7)
    data = onnx_path.read_bytes()
    onnx_path.write_bytes(data.replace(b"x" * 7, b"\xff\xfe\x80\xc0xxx"))
    assert_unreadable(describe(onnx_path))
    file = saved_model_path / "assets.extra" / "keras_sinpe.json"
    file.write_bytes(b"\xff\xfe\x80")
    assert_unreadable(describe(saved_model_path))
    file.unlink()
    file.mkdir()
    assert_unreadable(describe(saved_model_path))
    file.rmdir()


def test_the_smallest_record_is_readable(onnx_path):
    say_in_onnx(onnx_path, json.dumps(RECORD))
    assert describe(onnx_path).metadata == RECORD
    say_in_onnx(onnx_path, json.dumps({**RECORD, "digest": ["sha256"]}))
    assert describe(onnx_path).proof == "changed"


def test_a_hostile_record_is_printed_as_text(onnx_path):
    row = {"output": HOSTILE, "error": HOSTILE}
    layer = {"name": HOSTILE, "class": HOSTILE, "config": {HOSTILE: HOSTILE}}
    record = {
        HOSTILE: HOSTILE,
        "model": "\ud800",
        "dtype_policy": "p" * 5000,
        "layers": [layer, {**layer, "options": {HOSTILE: [HOSTILE]}}],
        "parity": {HOSTILE: {**REPORT, "outputs": [row], "notes": [HOSTILE]}},
        "versions": {HOSTILE: HOSTILE},
    }
    say_in_onnx(onnx_path, json.dumps(record))
    lines = str(describe(onnx_path)).split("\n")
    assert all(line.isprintable() and len(line) < 2200 for line in lines)
    assert f"{HARMLESS}: {HARMLESS}" in lines
    assert r"model: \ud800" in lines
    assert f"note on {HARMLESS}: {HARMLESS}" in lines
    assert f"parity of {HARMLESS}: {HARMLESS} within {HARMLESS}" in lines
    # Path, two ports, proof, two of parity, a note, three facts, two layers, a version.
    assert len(lines) == 13


@pytest.fixture
def hostile_ports(tmp_path):
    helper, real = onnx.helper, onnx.TensorProto.FLOAT
    name = f"{HOSTILE}{'x' * 10_000_000}"
    graph = helper.make_graph(
        [helper.make_node("Neg", [name], [HOSTILE])],
        "graph",
        [helper.make_tensor_value_info(name, real, [HOSTILE])],
        [helper.make_tensor_value_info(HOSTILE, real, [HOSTILE])],
    )
    proto = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    onnx.save(proto, tmp_path / "hostile.onnx")
    return tmp_path / "hostile.onnx"


def test_hostile_names_and_axes_are_printed_as_text(hostile_ports):
    lines = str(describe(hostile_ports)).split("\n")
    assert all(line.isprintable() and len(line) < 500 for line in lines)
    assert len(lines) == 4
    assert lines[2].split("  ")[1].strip() == HARMLESS
    assert lines[2].endswith(f"  float32  {HARMLESS}")


def test_hostile_names_are_text_in_what_a_runner_refuses(hostile_ports):
    runner = open_runner(hostile_ports)
    with pytest.raises(FeedError) as raised:
        runner.run({})
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 1000


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("Größe 長さ 🙂", 100, "Größe 長さ 🙂"),
        (HOSTILE, 100, HARMLESS),
        ("\x00\x7f\x85\u200b\ufeff\ud800", 100, r"\x00\x7f\x85\u200b\ufeff\ud800"),
        ("", 100, ""),
        ("one two", 7, "one two"),
        ("one two", 6, "one ..."),
        ("one two three", 7, "one two ..."),
        ("x" * 11, 10, "x" * 10 + " ..."),
        ("a " + "x" * 90, 60, "a " + "x" * 58 + " ..."),
    ],
)
def test_a_text_is_printed_on_one_line(text, limit, expected):
    assert printable(text, limit) == expected
