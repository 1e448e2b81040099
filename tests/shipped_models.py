"""One small model of each kind that people ship, with the encoding where it belongs."""

import keras
from export_models import encoder_decoder, token_input
from keras import layers, ops

from keras_sinpe import SinusoidalPositionalEncoding

WIDTH = 8


class PaddingMask(layers.Layer):
    """Ids to the mask of keys that attention may look at: `(batch, 1, length)`."""

    def call(self, ids):
        return ops.expand_dims(ops.not_equal(ids, 0), axis=1)


def attention_block(x, mask, **options):
    attention = layers.MultiHeadAttention(1, WIDTH)
    x = layers.Add()([x, attention(x, x, attention_mask=mask, **options)])
    return layers.LayerNormalization()(x)


def embedded(ids, vocabulary=11):
    return SinusoidalPositionalEncoding(input_scale="sqrt_dim")(
        layers.Embedding(vocabulary, WIDTH)(ids)
    )


def encoder_classifier():
    ids = token_input()
    mask = PaddingMask()(ids)
    x = attention_block(attention_block(embedded(ids), mask), mask)
    pooled = layers.GlobalMaxPooling1D()(x)
    return keras.Model(ids, layers.Dense(3, activation="gelu", name="classes")(pooled))


def causal_language_model():
    ids = token_input()
    x = attention_block(embedded(ids), PaddingMask()(ids), use_causal_mask=True)
    return keras.Model(ids, layers.Dense(11, name="logits")(x))


def translator():
    source, target = token_input("source"), token_input("target")
    mask = PaddingMask()(source)
    memory = attention_block(embedded(source, 30), mask)
    x = attention_block(embedded(target, 7), None, use_causal_mask=True)
    cross = layers.MultiHeadAttention(1, WIDTH)(x, memory, attention_mask=mask)
    logits = layers.Dense(7)(layers.Add()([x, cross]))
    return keras.Model({"source": source, "target": target}, {"logits": logits})


def recurrent():
    ids = token_input()
    x = layers.Embedding(11, WIDTH, mask_zero=True)(ids)
    x = SinusoidalPositionalEncoding()(x)
    x = layers.Bidirectional(layers.LSTM(3, return_sequences=True))(x)
    return keras.Model(ids, [layers.Dense(2, name="tags")(x), layers.GRU(4)(x)])


class Subclassed(keras.Model):
    def __init__(self):
        super().__init__()
        self.embedding = layers.Embedding(11, WIDTH)
        self.encoding = SinusoidalPositionalEncoding()
        self.dense = layers.Dense(3)

    def call(self, ids):
        return {"vectors": self.dense(self.encoding(self.embedding(ids)))}


def subclassed():
    model = Subclassed()
    model(ops.ones((2, 5), "int32"))
    return model


def nested():
    """A stack of models inside a model, one of them used twice."""
    vectors = keras.Input((None, WIDTH))
    block = keras.Model(vectors, layers.Dense(WIDTH, activation="tanh")(vectors))
    head = keras.Sequential([layers.Dense(4), layers.LayerNormalization()], name="head")
    ids = token_input()
    return keras.Model(ids, head(block(block(embedded(ids)))))


MODELS = {
    "an encoder classifier": encoder_classifier,
    "a causal language model": causal_language_model,
    "an encoder-decoder with dict inputs": translator,
    "a recurrent model": recurrent,
    "a subclassed model": subclassed,
    "a model without the encoding": encoder_decoder,
    "a nested model": nested,
}

SIGNATURES = {
    "a subclassed model": [
        keras.InputSpec(shape=(None, None), dtype="int32", name="ids")
    ]
}
