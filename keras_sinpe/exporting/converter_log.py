"""Listen to the converter: it logs what it cannot convert and goes on regardless."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from keras_sinpe.exporting.errors import ExportError
from keras_sinpe.keras_internals import layers_of

UNSUPPORTED = re.compile(r"Tensorflow op \[(?P<node>.+): (?P<op>\w+)\] is not supp")

NODE = re.compile(r"[\w.]+(?:/[\w.]+)+")


@contextmanager
def converter_complaints() -> Iterator[list[str]]:
    """Collect, and keep from the console, warnings and errors of `tf2onnx`."""
    complaints: list[str] = []
    logger = logging.getLogger("tf2onnx")
    handler = _Collector(complaints)
    level, propagate = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING)
    logger.propagate = False
    try:
        yield complaints
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate


class _Collector(logging.Handler):
    def __init__(self, messages: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._messages = messages

    def emit(self, record: logging.LogRecord) -> None:
        self._messages.append(record.getMessage())


def raise_complaints(model: Any, complaints: list[str]) -> None:
    """Raise an `ExportError` about what the converter complained of, if it did.

    Operators that it cannot convert are named, each with the layer that uses it.
    """
    unsupported = [match for text in complaints if (match := UNSUPPORTED.search(text))]
    if unsupported:
        found = dict.fromkeys(
            f"`{match['op']}` in {_layer_of(model, match['node'])}"
            for match in unsupported
        )
        raise ExportError(
            "`model` must use operators that the ONNX converter supports. "
            f"Received: {', '.join(found)}"
        )
    if complaints:
        node = NODE.search(complaints[0])
        place = f" in {_layer_of(model, node[0])}" if node else ""
        raise ExportError(
            "`model` must be one that the ONNX converter gets through without a "
            f"complaint. Received: {complaints[0]!r}{place}"
        )


def _layer_of(model: Any, node: str) -> str:
    """The innermost layer in the path of a TensorFlow node."""
    names = {layer.name for layer in layers_of(model)}
    for part in reversed(node.split("/")):
        # TensorFlow numbers a scope that is opened again.
        for name in (part, re.sub(r"_\d+$", "", part)):
            if name in names:
                return f"the layer {name!r}"
    return f"the node {node!r}"
