"""Run the Keras model itself on named arrays: the reference of every check."""

import re
from typing import Any

import keras

from keras_sinpe.model.random_inputs import Feeds
from keras_sinpe.model.signatures import Signature, SignatureError


class KerasRunner:
    """A Keras model, run eagerly and untraced, so that no trace can bake a size."""

    def __init__(self, model: Any, signature: Signature) -> None:
        self.model = model
        self.signature = signature

    @property
    def policy(self) -> str:
        """The name of the model's dtype policy."""
        return str(self.model.dtype_policy.name)

    def run(self, feeds: Feeds) -> Feeds:
        """Compute every output from one array per input name."""
        tensors = {name: keras.ops.convert_to_tensor(a) for name, a in feeds.items()}
        outputs = self.signature.call(self.model, tensors)
        return {name: keras.ops.convert_to_numpy(t) for name, t in outputs.items()}

    def refusal(self, feeds: Feeds) -> Exception | None:
        """What the model raises on these inputs, if anything."""
        try:
            self.run(feeds)
        except SignatureError:
            raise
        except Exception as error:
            return error
        return None


def first_line(error: Exception) -> str:
    """The type of an error and its first line, short enough for a table."""
    plain = re.sub(r"\x1b\[\d*m", "", str(error))  # Keras prints in bold
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    # Keras puts this before what the error says.
    telling = [line for line in lines if not line.startswith("Exception encountered")]
    return f"{type(error).__name__}: {' '.join(telling[:1])}"[:200]
