"""The one backend that exports."""

import keras


def require_tensorflow() -> None:
    """Raise an `ExportError` unless Keras runs on TensorFlow."""
    from keras_sinpe.exporting.errors import ExportError

    backend = keras.backend.backend()
    if backend != "tensorflow":
        raise ExportError(
            "Export needs Keras on TensorFlow: save the model as a `.keras` file and "
            "load it in a process started with KERAS_BACKEND=tensorflow. "
            f"Received: backend={backend!r}"
        )
