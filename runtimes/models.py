"""The models whose artifacts every runtime is fed: one of each kind, all small.

Attention over 4096 tokens fills a matrix of 67 MB per head and row of the batch, so one
head of width 8 has to do; every mask is explicit, because Keras's `MultiHeadAttention`
deletes the implicit one.
"""

import keras
import numpy as np
from keras import layers, ops

from keras_sinpe import SinusoidalPositionalEncoding, reference

VOCABULARY, WIDTH, BLOCKS = 50, 16, 2


def token_ids(name="ids"):
    return keras.Input((None,), dtype="int32", name=name)


def embed(ids, name, encode=True):
    # As large as trained embeddings are: a normalisation of far smaller ones would
    # amplify every rounding error of the attention before it.
    initializer = keras.initializers.RandomNormal(stddev=WIDTH**-0.5)
    embedding = layers.Embedding(
        VOCABULARY, WIDTH, initializer, mask_zero=True, name=name
    )
    x = embedding(ids)
    return SinusoidalPositionalEncoding(input_scale="sqrt_dim")(x) if encode else x


def add_and_norm(x, heard):
    return layers.LayerNormalization()(x + heard)


def attend(x, memory, valid, causal=False):
    """One residual block of attention from `x` to the valid tokens of `memory`."""
    attention = layers.MultiHeadAttention(1, 8)
    # Not `valid[:, None, :]`: LiteRT slices no booleans.
    mask = ops.expand_dims(valid, 1)  # (batch, 1, keys): the same for every query
    heard = attention(x, memory, attention_mask=mask, use_causal_mask=causal)
    return add_and_norm(x, heard)


def feed_forward(x):
    hidden = layers.Dense(2 * WIDTH, activation="gelu")(x)
    return add_and_norm(x, layers.Dense(WIDTH)(hidden))


def encoder(encode=True):
    """Ids to one vector a token: two blocks of masked attention."""
    ids = token_ids()
    valid = ops.not_equal(ids, 0)
    x = embed(ids, "tokens", encode)
    for _ in range(BLOCKS):
        x = feed_forward(attend(x, x, valid))
    return keras.Model(ids, x, name="encoder" if encode else "plain_encoder")


def encoder_classifier(encode=True):
    """Ids to class logits, pooled over the valid tokens, and the tokens' vectors."""
    x = encoder(encode)
    valid = ops.not_equal(x.input, 0)
    pooled = layers.GlobalAveragePooling1D()(x.output, mask=valid)
    # What a model says of padding is nobody's concern, so it says nothing.
    tokens = ops.where(ops.expand_dims(valid, -1), x.output, 0.0)
    return keras.Model(x.input, {"label": layers.Dense(5)(pooled), "tokens": tokens})


def encoder_classifier_without_encoding():
    """The same without a layer of ours: what a runtime's own rounding does to it."""
    return encoder_classifier(encode=False)


def causal_language_model():
    """Ids to the logits of the next token, each from the tokens before it."""
    ids = token_ids()
    valid = ops.not_equal(ids, 0)
    x = embed(ids, "tokens")
    for _ in range(BLOCKS):
        x = feed_forward(attend(x, x, valid, causal=True))
    return keras.Model(ids, layers.Dense(VOCABULARY, name="next_token")(x))


def encoder_decoder():
    """A dict of two sequences of unequal lengths to a dict of two outputs."""
    source, target = token_ids("source"), token_ids("target")
    source_valid, target_valid = ops.not_equal(source, 0), ops.not_equal(target, 0)
    memory = embed(source, "source_tokens")
    memory = feed_forward(attend(memory, memory, source_valid))
    x = embed(target, "target_tokens")
    x = attend(x, x, target_valid, causal=True)
    x = feed_forward(attend(x, memory, source_valid))
    outputs = {"logits": layers.Dense(VOCABULARY)(x), "memory": memory}
    return keras.Model({"source": source, "target": target}, outputs)


def recurrent():
    """A masked GRU in both directions, each step one turn of a loop in the artifact."""
    ids = token_ids()
    x = embed(ids, "tokens")
    x = layers.Bidirectional(layers.GRU(8, return_sequences=True))(x)
    return keras.Model(ids, layers.Dense(5, name="tags")(x))


@keras.saving.register_keras_serializable("runtimes")
class Tagger(keras.Model):
    """A subclassed model: one block of attention and a head, in plain Python."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.embedding = layers.Embedding(VOCABULARY, WIDTH)
        self.encoding = SinusoidalPositionalEncoding(layout="halves")
        self.attention = layers.MultiHeadAttention(1, 8)
        self.norm = layers.LayerNormalization()
        self.head = layers.Dense(5, name="tags")

    def call(self, ids):
        x = self.encoding(self.embedding(ids))
        mask = ops.expand_dims(ops.not_equal(ids, 0), 1)
        return self.head(self.norm(x + self.attention(x, x, attention_mask=mask)))


def subclassed():
    """Ids to tags by a subclassed model, which is called once to be built."""
    model = Tagger()
    model(ops.ones((2, 7), "int32"))
    return model


def nested():
    """The encoder as one layer of another model, and two outputs as a list."""
    ids = token_ids("tokens")
    vectors = encoder()(ids)
    tags = layers.Dense(5, activation="softmax", name="tags")(vectors)
    topics = layers.Dense(3, activation="softmax", name="topics")(vectors)
    return keras.Model(ids, [tags, topics])


def encoding_only():
    """The layer alone at the paper's width: float vectors in, float vectors out."""
    vectors = keras.Input((None, 512), name="vectors")
    return keras.Model(vectors, SinusoidalPositionalEncoding(name="encoded")(vectors))


def integer_positions():
    """Positions and starts of int32 as inputs; the rows of zeros are the encoding."""
    zeros = keras.Input((None, WIDTH), name="zeros")
    positions = token_ids("positions")
    starts = keras.Input((), dtype="int32", name="starts")
    encode = SinusoidalPositionalEncoding()
    outputs = {
        "of_each_token": encode(zeros, positions=positions),
        "of_one_row": encode(zeros, positions=positions[0]),
        "from_each_start": encode(zeros, start_index=starts),
        "from_one_start": encode(zeros, start_index=starts[0]),
    }
    feeds = {"zeros": zeros, "positions": positions, "starts": starts}
    return keras.Model(feeds, outputs)


def exact_integer_positions(zeros, positions, starts):
    """What `integer_positions` must give, rounded once."""
    ranges = starts[:, None] + np.arange(zeros.shape[1])
    return {
        "of_each_token": exact_rows(positions),
        "of_one_row": exact_rows(positions[:1]) + zeros,
        "from_each_start": exact_rows(ranges),
        "from_one_start": exact_rows(ranges[:1]) + zeros,
    }


def real_positions():
    """Positions of float32 as inputs."""
    zeros = keras.Input((None, WIDTH), name="zeros")
    times = keras.Input((None,), name="times")
    encode = SinusoidalPositionalEncoding()
    outputs = {
        "of_each_time": encode(zeros, positions=times),
        "of_one_row_of_times": encode(zeros, positions=times[0]),
    }
    return keras.Model({"zeros": zeros, "times": times}, outputs)


def exact_real_positions(zeros, times):
    """What `real_positions` must give, rounded once."""
    rows = exact_rows(times)
    return {"of_each_time": rows, "of_one_row_of_times": rows[:1] + zeros}


def exact_rows(positions):
    return reference.encode(positions, WIDTH).astype("float32")


MODELS = {
    make.__name__: make
    for make in (
        encoder_classifier,
        encoder_classifier_without_encoding,
        causal_language_model,
        encoder_decoder,
        recurrent,
        subclassed,
        nested,
        encoding_only,
        integer_positions,
        real_positions,
    )
}
# Where the exact outputs are known, they and not Keras's are what is expected.
EXACT = {
    "integer_positions": exact_integer_positions,
    "real_positions": exact_real_positions,
}
# Only a subclassed model does not know its own inputs.
SIGNATURES = {
    "subclassed": [keras.InputSpec(shape=(None, None), dtype="int32", name="ids")]
}
