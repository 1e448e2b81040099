"""Peers turned into what users run: a call on arrays, in each runtime."""

import tempfile
from collections.abc import Callable
from typing import Any

from benchmarks.cases import FIXED_SHAPE, Case
from benchmarks.peers import Peer

Call = Callable[[], Any]
OPSET = 17


def prepare(peer: Peer, case: Case, longest: int) -> Callable[..., Call]:
    """The program of `peer` for `case`: from NumPy inputs to a call without arguments.

    Programs of peers that take any length depend on the runtime, the width, the policy
    and the kind of positions alone, unless the runtime compiles for one shape.
    """
    return _PREPARE[case.runtime](peer, case, longest)


def _eager(peer: Peer, case: Case, longest: int) -> Callable[..., Call]:
    return _on_tensors(peer.build(case, longest), case)


def _function(peer: Peer, case: Case, longest: int) -> Callable[..., Call]:
    return _on_tensors(traced(peer, case, longest), case)


def _xla(peer: Peer, case: Case, longest: int) -> Callable[..., Call]:
    return _on_tensors(traced(peer, case, longest, jit_compile=True), case)


def _saved_model(peer: Peer, case: Case, longest: int) -> Callable[..., Call]:
    import tensorflow as tf

    module = tf.Module()
    module.add = traced(peer, case, longest)
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder)
        loaded = tf.saved_model.load(folder)
    return _on_tensors(loaded.add, case)


def _ort(peer: Peer, case: Case, longest: int) -> Callable[..., Call]:
    import onnxruntime

    # All defaults: every core, every optimisation, as users have it.
    session = onnxruntime.InferenceSession(onnx_bytes(peer, case, longest))
    names = [value.name for value in session.get_inputs()]

    def on_arrays(*arrays: Any) -> Call:
        feed = dict(zip(names, arrays, strict=True))
        return lambda: session.run(None, feed)

    return on_arrays


_PREPARE = {
    "eager": _eager,
    "function": _function,
    "fixed": _function,
    "xla": _xla,
    "saved_model": _saved_model,
    "ort": _ort,
}


def traced(peer: Peer, case: Case, longest: int, **options: Any) -> Any:
    """`peer` as a `tf.function` with the signature of its program."""
    import tensorflow as tf

    return tf.function(
        peer.build(case, longest), input_signature=_signature(peer, case), **options
    )


def onnx_bytes(peer: Peer, case: Case, longest: int) -> bytes:
    """`peer` as an ONNX file, with the changes by which `export_onnx` makes it fast."""
    import tf2onnx

    from keras_sinpe.exporting.tf2onnx_repairs import store_captured_tensors

    function = traced(peer, case, longest)
    proto, _ = tf2onnx.convert.from_function(
        function, input_signature=_signature(peer, case), opset=OPSET
    )
    store_captured_tensors(proto, function.get_concrete_function())
    return proto.SerializeToString()


def _signature(peer: Peer, case: Case) -> list[Any]:
    import tensorflow as tf

    fixed = case.runtime in FIXED_SHAPE
    batch = case.batch if fixed else None
    length = case.length if fixed or not peer.any_length else None
    specs = [tf.TensorSpec((batch, length, case.width), case.dtype, "x")]
    if case.positions == "arbitrary":
        specs.append(tf.TensorSpec((batch, length), "int32", "positions"))
    return specs


def _on_tensors(function: Any, case: Case) -> Callable[..., Call]:
    import tensorflow as tf

    def on_arrays(embeddings: Any, *positions: Any) -> Call:
        tensors = [tf.constant(embeddings, case.dtype), *map(tf.constant, positions)]
        return lambda: function(*tensors)

    return on_arrays
