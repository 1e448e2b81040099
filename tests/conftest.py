import keras
import pytest
from hypothesis import settings

# JAX compiles every operation again for every new width: a second an example.
EXAMPLES = 8 if keras.backend.backend() == "jax" else 60

# The same examples on every run; a first call that compiles is no failure.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, max_examples=EXAMPLES
)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def _default_precision():
    """Every test starts in float32, whatever the one before it has set."""
    keras.config.set_floatx("float32")
    keras.config.set_dtype_policy("float32")
    yield
    keras.config.set_floatx("float32")
    keras.config.set_dtype_policy("float32")
