"""Small models that are sound, and the same ones with a fault planted."""

import keras
from keras import layers, ops

from keras_sinpe import SinusoidalPositionalEncoding

VOCABULARY = 20
WIDTH = 12


def token_ids(name="ids"):
    return keras.Input((None,), dtype="int32", name=name)


def embed(ids, mask_zero=True):
    x = layers.Embedding(VOCABULARY, WIDTH, mask_zero=mask_zero)(ids)
    return SinusoidalPositionalEncoding()(x)


def attention(name=None):
    return layers.MultiHeadAttention(2, 6, name=name)


def keys_of(valid):
    """(batch, length) -> (batch, 1, length): every query sees the valid keys."""
    return valid[:, None, :]


def stacked_by_implicit_mask(blocks):
    """The trap: each attention deletes the mask that the residual sum needs."""
    ids = token_ids()
    x = embed(ids)
    for block in range(blocks):
        x = x + attention(f"attention_{block}")(x, x)
        x = layers.LayerNormalization(name=f"norm_{block}")(x)
    return keras.Model(ids, layers.Dense(3, name="logits")(x), name="implicit")


def stacked_by_explicit_mask(blocks, causal=False, mask_zero=True):
    ids = token_ids()
    valid = ops.not_equal(ids, 0)
    x = embed(ids, mask_zero)
    for block in range(blocks):
        heard = attention(f"attention_{block}")(
            x, x, attention_mask=keys_of(valid), use_causal_mask=causal
        )
        x = layers.LayerNormalization(name=f"norm_{block}")(x + heard)
    return keras.Model(ids, layers.Dense(3, name="logits")(x), name="explicit")


def classifier_by_explicit_mask(blocks):
    """The pooling needs the mask as much as the attention does."""
    encoder = stacked_by_explicit_mask(blocks)
    valid = ops.not_equal(encoder.input, 0)
    x = encoder.get_layer(f"norm_{blocks - 1}").output
    pooled = layers.GlobalAveragePooling1D(name="pooled")(x, mask=valid)
    return keras.Model(encoder.input, layers.Dense(5, name="label")(pooled))


@keras.saving.register_keras_serializable("padding_models")
class EncoderBlock(layers.Layer):
    """Takes the mask as an argument, so nothing that attention does can lose it."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.attention = attention()
        self.norm = layers.LayerNormalization()

    def build(self, shape):
        self.attention.build(shape, shape)
        self.norm.build(shape)

    def call(self, x, mask=None):
        heard = self.attention(
            x, x, attention_mask=None if mask is None else keys_of(mask)
        )
        return self.norm(x + heard)


def sequential_of_blocks(blocks):
    return keras.Sequential(
        [
            token_ids(),
            layers.Embedding(VOCABULARY, WIDTH, mask_zero=True),
            SinusoidalPositionalEncoding(),
            *(EncoderBlock() for _ in range(blocks)),
            layers.GlobalAveragePooling1D(),
            layers.Dense(5, name="label"),
        ]
    )


def mean_over_all_positions():
    ids = token_ids()
    mean = layers.Lambda(lambda x: ops.mean(x, axis=1), name="mean")
    pooled = mean(layers.Dense(7, name="features")(embed(ids)))
    return keras.Model(ids, layers.Dense(5, name="label")(pooled))


def recurrent():
    ids = token_ids()
    x = layers.Bidirectional(layers.LSTM(6, return_sequences=True))(embed(ids))
    return keras.Model(ids, layers.Dense(5, name="label")(layers.LSTM(7)(x)))


def convolutional():
    """`Conv1D` mixes padding into the last tokens and supports no masking."""
    ids = token_ids()
    x = layers.Conv1D(7, 3, padding="same", name="convolution")(embed(ids))
    return keras.Model(ids, layers.Dense(3, name="logits")(x))


def encoder_decoder(sound=True):
    """`sound=False`: the decoder attends to encoder rows whose mask is lost."""
    source, target = token_ids("source"), token_ids("target")
    source_valid, target_valid = ops.not_equal(source, 0), ops.not_equal(target, 0)
    memory, x = embed(source), embed(target)
    memory = memory + attention("encoder_attention")(
        memory, memory, attention_mask=keys_of(source_valid)
    )
    x = x + attention("decoder_attention")(
        x, x, attention_mask=keys_of(target_valid), use_causal_mask=True
    )
    cross = attention("cross_attention")(
        x, memory, attention_mask=keys_of(source_valid) if sound else None
    )
    logits = layers.Dense(VOCABULARY, name="logits")(x + cross)
    return keras.Model({"source": source, "target": target}, {"logits": logits})


def nested(encoder):
    """`encoder` as one layer of another model."""
    ids = token_ids("tokens")
    return keras.Model(ids, layers.Dense(5, name="label")(encoder(ids)), name="outer")


class SubclassedEncoder(keras.Model):
    """Two residual blocks in plain Python; `explicit` hands the mask on."""

    def __init__(self, explicit, **kwargs):
        super().__init__(**kwargs)
        self.explicit = explicit
        self.embedding = layers.Embedding(VOCABULARY, WIDTH, mask_zero=True)
        self.encoding = SinusoidalPositionalEncoding()
        self.attentions = [attention(f"attention_{i}") for i in range(2)]
        self.norms = [layers.LayerNormalization(name=f"norm_{i}") for i in range(2)]
        self.head = layers.Dense(3, name="head")

    def call(self, ids):
        x = self.encoding(self.embedding(ids))
        mask = keys_of(ops.not_equal(ids, 0)) if self.explicit else None
        for attend, norm in zip(self.attentions, self.norms, strict=True):
            x = norm(x + attend(x, x, attention_mask=mask))
        return self.head(x)
