"""The one backend on which models are exported and checked."""

import keras


class BackendError(RuntimeError):
    """Keras runs on a backend that cannot do what was asked."""


def require_tensorflow(work: str) -> None:
    """Raise a `BackendError` unless Keras runs on TensorFlow.

    Args:
        work: what is to be done, as the first word of the sentence.
    """
    backend = keras.backend.backend()
    if backend != "tensorflow":
        raise BackendError(
            f"{work} needs Keras on TensorFlow: save the model as a `.keras` file and "
            "load it in a process started with KERAS_BACKEND=tensorflow. "
            f"Received: backend={backend!r}"
        )
