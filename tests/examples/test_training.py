"""What an interruption of a training leaves behind."""

import signal

import keras
import numpy as np
import pytest
import training

pytestmark = pytest.mark.usefixtures("untraced")


def small_model():
    keras.utils.set_random_seed(0)
    ids = keras.Input((None,), dtype="int32")
    model = keras.Model(ids, keras.layers.Embedding(7, 5)(ids))
    training.compile_for(model, steps=5, peak_rate=1e-3)
    return model


def endless_batches():
    while True:
        yield np.ones((2, 3), "int32"), np.zeros((2, 3), "int32")


def train_until_interrupted(monkeypatch, filepath, *, epochs):
    """Ctrl-C at the first batch after so many epochs; what the page says then."""

    class Interrupted(training.KeepLast):
        def on_train_batch_begin(self, batch, logs=None):
            if self.epochs == epochs:
                signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(training, "KeepLast", Interrupted)
    monkeypatch.setattr(training, "EPOCH_STEPS", 1)
    batches = training.in_epochs(endless_batches(), steps=5)
    with pytest.raises(SystemExit) as stop:
        training.fit(small_model(), filepath=filepath, **batches)
    return str(stop.value)


def test_an_interruption_keeps_the_last_epoch(tmp_path, monkeypatch):
    saved = tmp_path / "kept.keras"
    said = train_until_interrupted(monkeypatch, saved, epochs=2)
    assert said == f"\nInterrupted: {saved} holds epoch 2."
    assert keras.saving.load_model(saved).optimizer.iterations == 2
    assert list(tmp_path.iterdir()) == [saved]


def test_an_interruption_before_the_first_epoch_says_that_nothing_is_kept(
    tmp_path, monkeypatch
):
    said = train_until_interrupted(monkeypatch, tmp_path / "none.keras", epochs=0)
    assert said == "\nInterrupted: nothing was saved."
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("steps", "epoch_steps", "epochs"), [(7, 7, 1), (100, 100, 1), (800, 100, 8)]
)
def test_steps_are_dealt_out_in_epochs(steps, epoch_steps, epochs):
    options = training.in_epochs(endless_batches(), steps)
    assert (options["steps_per_epoch"], options["epochs"]) == (epoch_steps, epochs)
