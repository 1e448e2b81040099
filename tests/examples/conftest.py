import signal

import pytest
from untraced import untraced


@pytest.fixture(autouse=True)
def _interruptible():
    """Ctrl-C interrupts, also where a shell's background job would ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(name="untraced")
def _untraced():
    with untraced():
        yield
