"""Models that the export tests share; none is larger than it must be."""

import keras
import numpy as np
import onnxruntime
import tensorflow as tf
from keras import layers

# Sums in another order: 84 roundings of float32 for outputs of order one.
FLOAT32_TOLERANCE = 1e-5


def token_input(name="ids"):
    return keras.Input((None,), dtype="int32", name=name)


def encoder():
    """Masked ids to vectors of width 6, with attention and the exact `gelu`."""
    keras.utils.set_random_seed(1)
    ids = token_input()
    x = layers.Embedding(11, 6, mask_zero=True, name="tokens")(ids)
    x = layers.Add()([x, layers.MultiHeadAttention(2, 3)(x, x)])
    x = layers.Dropout(0.5)(layers.LayerNormalization()(x))
    return keras.Model(ids, layers.Dense(5, activation="gelu", name="head")(x))


def classifier():
    """A Sequential model with one output per sample."""
    keras.utils.set_random_seed(2)
    return keras.Sequential(
        [
            token_input(),
            layers.Embedding(11, 6, mask_zero=True),
            layers.GlobalAveragePooling1D(),
            layers.Dense(4, name="classes"),
        ]
    )


def difference():
    """Two inputs of equal shape whose order decides the sign."""
    zeta = keras.Input((None, 4), name="zeta")
    alpha = keras.Input((None, 4), name="alpha")
    inputs = {"zeta": zeta, "alpha": alpha}
    return keras.Model(inputs, layers.Subtract(name="difference")([zeta, alpha]))


def encoder_decoder():
    """Two lengths that have nothing to do with each other; a dict of outputs."""
    keras.utils.set_random_seed(3)
    source, target = token_input("source"), token_input("target")
    memory = layers.Embedding(30, 6, mask_zero=True)(source)
    x = layers.Embedding(7, 6, mask_zero=True)(target)
    x = layers.Add()([x, layers.MultiHeadAttention(2, 3)(x, x, use_causal_mask=True)])
    x = layers.Add()([x, layers.MultiHeadAttention(2, 3)(x, memory)])
    outputs = {"logits": layers.Dense(7)(x), "memory": layers.Dense(2)(memory)}
    return keras.Model({"source": source, "target": target}, outputs)


@keras.saving.register_keras_serializable("export_tests")
class Subclassed(keras.Model):
    """Ids to the mean of their vectors, as a subclassed model."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.embedding = layers.Embedding(11, 6)
        self.dense = layers.Dense(3)

    def call(self, ids):
        return self.dense(keras.ops.mean(self.embedding(ids), axis=1))


def subclassed():
    keras.utils.set_random_seed(4)
    model = Subclassed()
    model(np.ones((2, 7), "int32"))
    return model


ID_SIGNATURE = [keras.InputSpec(shape=(None, None), dtype="int32")]


def dense():
    """The smallest model worth exporting."""
    keras.utils.set_random_seed(5)
    inputs = keras.Input((None, 4), name="features")
    return keras.Model(inputs, layers.Dense(3, name="head")(inputs))


@keras.saving.register_keras_serializable("export_tests")
class Noise(layers.Layer):
    """Adds noise whatever is asked of it."""

    def call(self, x):
        return x + tf.random.normal(tf.shape(x))


def random():
    """A model that gives different outputs for equal inputs."""
    features = keras.Input((None, 4), name="features")
    noisy = Noise(name="noise")(features)
    return keras.Model(features, layers.Dense(3, name="head")(noisy))


def ids(batch, length, vocabulary=11, seed=0):
    """Random ids, the last row padded with zeros from its middle on."""
    found = np.random.default_rng(seed).integers(1, vocabulary, (batch, length))
    found[-1, (length + 1) // 2 :] = 0
    return found.astype("int32")


def session(path):
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def run_onnx(path, **feeds):
    """Run a file without any of the package's own code; outputs by name."""
    opened = session(path)
    names = [value.name for value in opened.get_outputs()]
    return dict(zip(names, opened.run(names, feeds), strict=True))


def axes(values):
    """Names and axes of the inputs or outputs of a session."""
    return {value.name: value.shape for value in values}
