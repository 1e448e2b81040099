"""Training without compiling, which takes longer than the few steps of a test."""

import contextlib

import tensorflow as tf


@contextlib.contextmanager
def untraced():
    """A context, and with `untraced()(function)` a function that runs in it."""
    tf.config.run_functions_eagerly(True)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(False)
