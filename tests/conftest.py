import keras
import pytest
from hypothesis import settings

# The same examples on every run; a first call that compiles is no failure.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def _default_precision():
    """Every test starts in float32, whatever the one before it has set."""
    keras.config.set_floatx("float32")
    keras.config.set_dtype_policy("float32")
    yield
    keras.config.set_floatx("float32")
    keras.config.set_dtype_policy("float32")
