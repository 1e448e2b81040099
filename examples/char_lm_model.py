"""A causal Transformer of characters in two forms that share their weights.

One is trained on whole windows. The other, the step model, goes on from the keys and
values of the characters before. It is what `char_lm.py` exports.
"""

import keras
from keras import layers, ops

from keras_sinpe import SinusoidalPositionalEncoding

ASCII = 128  # an id is the code of a character
WIDTH, HEADS, BLOCKS = 128, 4, 2


@keras.saving.register_keras_serializable("char_lm")
class CachedBlock(layers.Layer):
    """A causal Transformer block that can go on from the keys and values before.

    Args:
        heads: number of attention heads.
        **kwargs: as of every Keras layer.

    Call arguments:
        x: `(batch, length, width)`, the new tokens.
        keys, values: `(batch, past, heads, width / heads)` of the tokens before them.

    Returns:
        The new tokens, and keys and values of all tokens, `past + length` of them.
    """

    def __init__(self, heads: int, **kwargs: object) -> None:
        super().__init__(**kwargs)
        self.heads = heads

    def build(self, x_shape: tuple, *_: object) -> None:
        """Makes the layers for the width of the tokens."""
        width = x_shape[-1]
        self.norms = [layers.LayerNormalization(), layers.LayerNormalization()]
        self.project = layers.EinsumDense(
            "blw,whd->blhd", (None, self.heads, 3 * width // self.heads)
        )
        self.merge = layers.EinsumDense("blhd,hdw->blw", (None, width))
        self.hidden = layers.Dense(4 * width, activation="gelu")
        self.out = layers.Dense(width)
        for layer in (*self.norms, self.project, self.hidden):
            layer.build(x_shape)
        self.merge.build((*x_shape[:2], self.heads, width // self.heads))
        self.out.build((*x_shape[:2], 4 * width))

    def call(self, x: object, keys: object = None, values: object = None) -> tuple:
        """Attends to all tokens up to each one's own place."""
        queries, new_keys, new_values = ops.split(
            self.project(self.norms[0](x)), 3, axis=-1
        )
        past = 0 if keys is None else ops.shape(keys)[1]
        keys = new_keys if keys is None else ops.concatenate([keys, new_keys], axis=1)
        values = (
            new_values
            if values is None
            else ops.concatenate([values, new_values], axis=1)
        )
        length = ops.shape(x)[1]
        own_place = past + ops.arange(length, dtype="int32")
        places = ops.arange(past + length, dtype="int32")
        mask = places <= own_place[:, None]
        heard = ops.dot_product_attention(queries, keys, values, mask=mask[None, None])
        x = x + self.merge(heard)
        return x + self.out(self.hidden(self.norms[1](x))), keys, values

    def compute_output_spec(
        self, x: object, keys: object = None, values: object = None
    ) -> tuple:
        """The tokens' shape; keys and values of a length that is not known yet."""
        cache = (x.shape[0], None, self.heads, x.shape[-1] // self.heads)
        grown = [keras.KerasTensor(cache, self.compute_dtype) for _ in range(2)]
        return keras.KerasTensor(x.shape, self.compute_dtype), *grown

    def get_config(self) -> dict:
        """The configuration from which the block can be made again."""
        return {**super().get_config(), "heads": self.heads}


def build_models() -> tuple[keras.Model, keras.Model]:
    """The model to train, and the step model that shares its weights."""
    embed = layers.Embedding(ASCII, WIDTH, name="embed")
    place = SinusoidalPositionalEncoding(input_scale="sqrt_dim")
    blocks = [CachedBlock(HEADS, name=f"block_{b}") for b in range(BLOCKS)]
    norm, logits = layers.LayerNormalization(), layers.Dense(ASCII, name="logits")

    ids = keras.Input((None,), dtype="int32", name="ids")
    x = place(embed(ids))
    for block in blocks:
        x, _, _ = block(x)
    training = keras.Model(ids, logits(norm(x)))

    start_index = keras.Input((), dtype="int32", name="start_index")
    inputs, outputs = {"ids": ids, "start_index": start_index}, {}
    x = place(embed(ids), start_index=start_index)
    for b, block in enumerate(blocks):
        names = f"keys_{b}", f"values_{b}"
        for name in names:
            inputs[name] = keras.Input((None, HEADS, WIDTH // HEADS), name=name)
        x, *grown = block(x, *(inputs[name] for name in names))
        outputs |= dict(zip((f"next_{name}" for name in names), grown, strict=True))
    return training, keras.Model(inputs, {"logits": logits(norm(x)), **outputs})
