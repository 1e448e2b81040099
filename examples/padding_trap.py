"""The padding trap of stacked attention in Keras, and the way out of it.

Keras's `MultiHeadAttention` deletes the mask of its inputs. The residual sum after it
has none, so the next block attends to padding, and pooling averages over it. A mask
that is made from the ids and handed to each layer cannot be lost.

    python examples/padding_trap.py
"""

import keras
from keras import layers, ops

from keras_sinpe import SinusoidalPositionalEncoding, check_padding

VOCABULARY, WIDTH, HEADS = 1000, 64, 4


def classifier(blocks: int, *, explicit_mask: bool) -> keras.Model:
    ids = keras.Input((None,), dtype="int32", name="ids")
    valid = ops.not_equal(ids, 0) if explicit_mask else None
    attention_mask = valid[:, None, :] if explicit_mask else None
    x = layers.Embedding(VOCABULARY, WIDTH, mask_zero=True)(ids)
    x = SinusoidalPositionalEncoding(input_scale="sqrt_dim")(x)
    for block in range(blocks):
        attention = layers.MultiHeadAttention(
            HEADS, WIDTH // HEADS, name=f"attention_{block}"
        )
        heard = attention(x, x, attention_mask=attention_mask)
        x = layers.LayerNormalization(name=f"norm_{block}")(x + heard)
    pooled = layers.GlobalAveragePooling1D(name="pooled")(x, mask=valid)
    outputs = {"tokens": layers.Identity(name="tokens")(x), "pooled": pooled}
    name = f"{'explicit' if explicit_mask else 'implicit'}_mask_{blocks}_blocks"
    return keras.Model(ids, outputs, name=name)


def main() -> None:
    for explicit_mask in (False, True):
        for blocks in (1, 2):
            keras.utils.set_random_seed(0)
            model = classifier(blocks, explicit_mask=explicit_mask)
            print(check_padding(model), end="\n\n")


if __name__ == "__main__":
    main()
