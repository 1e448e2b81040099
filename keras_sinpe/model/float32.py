"""Rebuild a model of another precision in float32, with the same weights.

ONNX Runtime and most others refuse half-precision and float64 graphs as Keras traces
them, so every artifact is float32; the artifact's model is then the rebuilt one.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import keras

from keras_sinpe.keras_internals import layers_of

FLOAT32 = "float32"
OTHER_FLOATS = ("float16", "bfloat16", "float64")


def is_full_precision(model: Any) -> bool:
    """Whether no layer of `model` computes or stores another float than float32."""
    policies = (getattr(layer, "dtype_policy", None) for layer in _layers(model))
    serialize = keras.saving.serialize_keras_object
    return not any(_is_other(serialize(policy)) for policy in policies if policy)


def full_precision(model: Any) -> Any:
    """Return `model` if it is float32 throughout, else a float32 rebuild of it.

    Args:
        model: A built Keras model under any floating-point dtype policy.

    Returns:
        `model` itself, or a new model with the same architecture, names and weights,
        each weight converted to float32.

    Raises:
        ValueError: the model cannot be rebuilt from its configuration.
    """
    if is_full_precision(model):
        return model
    try:
        return _rebuild(model)
    except Exception as error:
        raise ValueError(
            "`model` must be float32 or be rebuildable in float32 from its "
            f"`get_config()`, which fails with: {error}. Received: "
            f"model={model.name!r} with the dtype policy {model.dtype_policy.name!r}"
        ) from error


def _rebuild(model: Any) -> Any:
    classes = {type(layer).__name__: type(layer) for layer in _layers(model)}
    with warnings.catch_warnings():
        # About losses and layers that are lambdas: nothing here leaves the process.
        warnings.simplefilter("ignore")
        config = in_float32(keras.saving.serialize_keras_object(model))
    config.pop("compile_config", None)  # an artifact is not trained
    with _float32_defaults(), keras.saving.custom_object_scope(classes):
        rebuilt = keras.saving.deserialize_keras_object(config, safe_mode=False)
        if not rebuilt.built:
            rebuilt.build_from_config(model.get_build_config())
    weights = [keras.ops.cast(weight, FLOAT32) for weight in model.weights]
    rebuilt.set_weights([keras.ops.convert_to_numpy(weight) for weight in weights])
    return rebuilt


def in_float32(config: Any) -> Any:
    """Replace every half-precision or float64 policy in a Keras config.

    >>> in_float32({"units": 2, "dtype": "mixed_bfloat16", "layers": [{"dtype": None}]})
    {'units': 2, 'dtype': 'float32', 'layers': [{'dtype': None}]}
    """
    if isinstance(config, list | tuple):
        return type(config)(in_float32(entry) for entry in config)
    if not isinstance(config, dict):
        return config
    return {
        key: FLOAT32 if key == "dtype" and _is_other(entry) else in_float32(entry)
        for key, entry in config.items()
    }


def _is_other(dtype: Any) -> bool:
    """Whether a policy, or any policy inside a map of them, is another float."""
    if isinstance(dtype, dict):
        return any(_is_other(entry) for entry in dtype.values())
    return isinstance(dtype, str) and dtype.removeprefix("mixed_") in OTHER_FLOATS


def _layers(model: Any) -> Iterator[Any]:
    yield from layers_of(model)


@contextmanager
def _float32_defaults() -> Iterator[None]:
    """Layers that a subclassed model makes in `__init__` take the global policy."""
    policy, floatx = keras.config.dtype_policy(), keras.config.floatx()
    keras.config.set_floatx(FLOAT32)
    keras.config.set_dtype_policy(FLOAT32)
    try:
        yield
    finally:
        keras.config.set_floatx(floatx)
        keras.config.set_dtype_policy(policy)
