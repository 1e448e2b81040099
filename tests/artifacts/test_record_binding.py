"""A record speaks for the graph and the weights that were proved, and no others."""

import json
import shutil
from pathlib import Path

import keras
import numpy as np
import onnx
import onnxruntime
import pytest
import tensorflow as tf
from export_models import dense, encoder
from onnxruntime.quantization import QuantType, quantize_dynamic

from keras_sinpe import SinusoidalPositionalEncoding
from keras_sinpe.artifacts.contents import onnx_precision
from keras_sinpe.exporting import describe, export_onnx, export_saved_model
from keras_sinpe.parity import check_parity, open_runner

RELEASE = Path(__file__).parents[1] / "data" / "releases" / "0.1.0" / "encoded.onnx"
CHANGED = "proof: none for this artifact: it was changed since it was proved"
SHORT = {"lengths": (2,), "batch_sizes": (1,)}


@pytest.fixture(scope="module")
def proved(tmp_path_factory):
    """An ONNX file and a SavedModel as they were proved."""
    folder = tmp_path_factory.mktemp("proved")
    export_onnx(encoder(), folder / "model.onnx", **SHORT)
    export_saved_model(encoder(), folder / "model", **SHORT)
    return folder


@pytest.fixture
def onnx_file(proved, tmp_path):
    return Path(shutil.copy(proved / "model.onnx", tmp_path / "model.onnx"))


@pytest.fixture
def saved_model(proved, tmp_path):
    return Path(shutil.copytree(proved / "model", tmp_path / "model"))


def assert_changed(path):
    description = describe(path)
    assert description.proof == "changed"
    printed = str(description).splitlines()
    assert CHANGED in printed
    assert not any(line.startswith("parity") for line in printed)
    assert json.loads(description.to_json())["proof"] == "changed"


def test_a_proved_artifact_is_bound(onnx_file, saved_model):
    assert describe(onnx_file).proof == "bound"
    assert describe(saved_model).proof == "bound"


def test_a_renamed_artifact_is_bound(onnx_file, saved_model):
    other = onnx_file.rename(onnx_file.with_name("other.onnx"))
    assert describe(other).proof == "bound"
    assert describe(saved_model.rename(saved_model.with_name("7"))).proof == "bound"


def test_an_onnx_file_that_was_read_and_written_again_is_bound(onnx_file):
    proto = onnx.load(onnx_file)
    proto.metadata_props.add(key="keras_sinpe", value=proto.metadata_props[0].value)
    del proto.metadata_props[0]
    onnx.save(proto, onnx_file)
    assert describe(onnx_file).proof == "bound"


def test_a_quantized_file_is_not_vouched_for(onnx_file):
    small = onnx_file.with_name("small.onnx")
    quantize_dynamic(onnx_file, small, weight_type=QuantType.QUInt8)
    assert "keras_sinpe" in {e.key for e in onnx.load(small).metadata_props}
    assert_changed(small)


def test_a_file_with_one_edited_weight_is_not_vouched_for(onnx_file):
    proto = onnx.load(onnx_file)
    tensor = next(t for t in proto.graph.initializer if t.data_type == 1)
    weights = onnx.numpy_helper.to_array(tensor).copy()
    weights.flat[0] = np.nextafter(weights.flat[0], np.float32(9))
    tensor.CopyFrom(onnx.numpy_helper.from_array(weights, tensor.name))
    onnx.save(proto, onnx_file)
    assert_changed(onnx_file)


def test_a_file_with_one_edited_operator_is_not_vouched_for(onnx_file):
    proto = onnx.load(onnx_file)
    next(n for n in proto.graph.node if n.op_type == "Add").op_type = "Sub"
    onnx.save(proto, onnx_file)
    assert_changed(onnx_file)


def test_a_file_whose_weights_were_moved_beside_it_is_not_vouched_for(onnx_file):
    onnx.save(
        onnx.load(onnx_file),
        onnx_file,
        save_as_external_data=True,
        location="weights.bin",
        size_threshold=100,
    )
    assert_changed(onnx_file)


def test_a_saved_model_with_one_flipped_bit_of_a_weight_does_not_load(saved_model):
    (data,) = saved_model.glob("variables/*.data-*")
    content = bytearray(data.read_bytes())
    content[0] ^= 1
    data.write_bytes(content)
    # TensorFlow holds a checksum of each variable.
    with pytest.raises(ValueError, match="which fails with: "):
        describe(saved_model)


def test_a_saved_model_with_the_weights_of_another_is_not_vouched_for(saved_model):
    loaded = tf.saved_model.load(str(saved_model))
    loaded.variables[0].assign_add(tf.ones_like(loaded.variables[0]))
    other = saved_model.with_name("other")
    tf.saved_model.save(loaded, str(other), signatures=loaded.signatures)
    shutil.rmtree(saved_model / "variables")
    shutil.copytree(other / "variables", saved_model / "variables")
    assert_changed(saved_model)


def test_a_saved_model_with_another_graph_is_not_vouched_for(saved_model):
    with open(saved_model / "saved_model.pb", "ab") as stream:
        stream.write(b"\x08\x01")  # the schema's version once more
    assert_changed(saved_model)


def test_files_that_say_something_of_a_saved_model_are_free_to_change(saved_model):
    (saved_model / "fingerprint.pb").unlink()
    (saved_model / "assets.extra" / "tf_serving_warmup_requests").write_text("warm")
    assert describe(saved_model).proof == "bound"


def test_a_vocabulary_belongs_to_what_was_proved(saved_model):
    (saved_model / "assets" / "vocabulary.txt").write_text("a\nb\n")
    assert_changed(saved_model)


def test_a_file_of_0_1_0_is_described_but_not_bound():
    description = describe(RELEASE)
    assert description.proof == "unbound"
    assert description.metadata["versions"]["keras_sinpe"] == "0.1.0"
    printed = str(description).splitlines()
    assert (
        "proof: no digest: written by 0.1.0, which did not bind it to the artifact"
        in printed
    )
    assert "parity of serve: passed in 4 runs" in printed


def test_a_file_of_0_1_0_is_proved_again():
    vectors = keras.Input((None, 4), name="vectors")
    encoding = SinusoidalPositionalEncoding(max_wavelength=500, name="encoded")
    assert check_parity(keras.Model(vectors, encoding(vectors)), RELEASE).passed


def test_a_file_in_the_runtimes_own_format_has_no_record(onnx_file):
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(onnx_file.with_name("model.ort"))
    options.add_session_config_entry("session.save_model_format", "ORT")
    onnxruntime.InferenceSession(str(onnx_file), options)
    assert describe(onnx_file.with_name("model.ort")).proof == "none"
    assert open_runner(onnx_file.with_name("model.ort")).precision == "float32"


def in_half(path):
    export_onnx(dense(), path, precision="float16", **SHORT)


def in_int8(path):
    export_onnx(dense(), path, **SHORT)
    quantize_dynamic(path, path, weight_type=QuantType.QUInt8)


def in_bfloat16(path):
    inputs = keras.Input((4,), name="x")
    layer = keras.layers.Dense(3, dtype="bfloat16")
    keras.Model(inputs, layer(inputs)).export(path, verbose=False)


MADE = {
    ("float32", "m.onnx"): lambda path: export_onnx(dense(), path, **SHORT),
    ("float16", "m.onnx"): in_half,
    ("int8", "m.onnx"): in_int8,
    ("float32", "m"): lambda path: export_saved_model(dense(), path, **SHORT),
    ("bfloat16", "m"): in_bfloat16,
}


@pytest.mark.parametrize(("precision", "name"), MADE)
def test_the_precision_is_found_in_the_graph(tmp_path, precision, name):
    MADE[precision, name](tmp_path / name)
    assert open_runner(tmp_path / name).precision == precision


def test_the_precision_is_found_in_nested_graphs():
    helper = onnx.helper
    half = helper.make_node("Cast", ["x"], ["y"], to=onnx.TensorProto.FLOAT16)
    back = helper.make_node("Cast", ["y"], ["z"], to=onnx.TensorProto.FLOAT)
    inner = helper.make_graph([half, back], "inner", [], [_real("z")])
    node = helper.make_node("If", ["c"], ["z"], then_branch=inner, else_branch=inner)
    condition = helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, [])
    graph = helper.make_graph([node], "outer", [_real("x"), condition], [_real("z")])
    assert onnx_precision(helper.make_model(graph)) == "float16"


def test_a_tensor_that_leads_to_no_output_makes_no_precision(onnx_file):
    proto = onnx.load(onnx_file)
    half = onnx.numpy_helper.from_array(np.ones(3, "float16"), "unused")
    proto.graph.initializer.append(half)
    proto.graph.node.append(onnx.helper.make_node("Neg", ["unused"], ["nowhere"]))
    onnx.save(proto, onnx_file)
    assert open_runner(onnx_file).precision == "float32"


def test_the_precision_is_found_in_functions():
    helper, half = onnx.helper, onnx.TensorProto.FLOAT16
    body = [
        helper.make_node("Cast", ["x"], ["y"], to=half),
        helper.make_node("Cast", ["y"], ["z"], to=onnx.TensorProto.FLOAT),
    ]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    function = helper.make_function("own", "Round", ["x"], ["z"], body, opsets[:1])
    node = helper.make_node("Round", ["x"], ["z"], domain="own")
    graph = helper.make_graph([node], "outer", [_real("x")], [_real("z")])
    made = helper.make_model(graph, opset_imports=opsets, functions=[function])
    assert onnx_precision(made) == "float16"


def _real(name):
    return onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n"])


def test_a_file_that_calls_itself_half_precise_is_measured_in_full(onnx_file):
    proto = onnx.load(onnx_file)
    for tensor in proto.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT:
            weights = onnx.numpy_helper.to_array(tensor) * np.float32(1.003)
            tensor.CopyFrom(onnx.numpy_helper.from_array(weights, tensor.name))
    entry = proto.metadata_props[0]
    entry.value = json.dumps({**json.loads(entry.value), "precision": "float16"})
    onnx.save(proto, onnx_file)
    assert not check_parity(encoder(), onnx_file, lengths=(5,)).passed
    assert_changed(onnx_file)
