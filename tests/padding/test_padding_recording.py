"""The check sees the calls of one model in one thread, and leaves no trace."""

import threading

import keras
import numpy as np
import padding_models as models
import pytest
import tensorflow as tf
from keras import layers, ops

from keras_sinpe.keras_internals import operations_of
from keras_sinpe.padding import MaskLoss, check_padding
from keras_sinpe.padding.runs import Run

# Keras warns while some of the planted faults are built, which is their point.
pytestmark = pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a m")

IDS = np.array([[3, 4, 5, 0, 0, 0, 0], [7, 8, 2, 9, 4, 0, 0]], "int32")


@pytest.fixture(autouse=True)
def _fixed_weights():
    keras.utils.set_random_seed(5)


def in_another_thread(function):
    """What `function` returns when another thread calls it."""
    answers = []
    thread = threading.Thread(target=lambda: answers.append(function()))
    thread.start()
    thread.join()
    return answers[0]


def sharing_layers(model):
    """Another model that calls the embedding of `model`."""
    ids = models.token_ids()
    table = next(o for o in model.layers if isinstance(o, layers.Embedding))
    return keras.Model(ids, layers.GlobalMaxPooling1D()(table(ids)))


def test_calls_of_another_thread_are_neither_recorded_nor_disturbed():
    model = models.stacked_by_implicit_mask(2)
    others = [model, sharing_layers(model), models.recurrent()]
    before = [other(IDS).numpy() for other in others]
    run = Run()
    with run.recording(model):
        during = in_another_thread(lambda: [other(IDS).numpy() for other in others])
        assert run.calls == []
        model(IDS)
        others[2](IDS)
        recorded = {call.path for call in run.calls}
    for left, right in zip(before, during, strict=True):
        np.testing.assert_array_equal(left, right)
    assert {"attention_0", "attention_1", "logits"} <= recorded
    assert not recorded & {layer.name for layer in others[2].layers[1:]}


def test_threads_that_call_the_model_during_a_check_get_what_they_always_get():
    model = models.stacked_by_explicit_mask(2)
    before, answers, over = model(IDS).numpy(), [], threading.Event()

    def call_on():
        while not over.is_set():
            answers.append(model(IDS).numpy())

    thread = threading.Thread(target=call_on)
    thread.start()
    try:
        report = check_padding(model)
    finally:
        over.set()
        thread.join()
    report.raise_if_failed()
    assert answers
    for answer in answers:
        np.testing.assert_array_equal(answer, before)


def test_two_checks_of_one_model_at_a_time_agree():
    model = models.stacked_by_implicit_mask(2)
    kinds = [type(operation) for operation in operations_of(model)]
    reports = []
    threads = [
        threading.Thread(target=lambda: reports.append(check_padding(model, IDS)))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [(report.passed, report.first_leak) for report in reports]
    assert found == [(False, "attention_1")] * 3
    assert [type(operation) for operation in operations_of(model)] == kinds


def refuse(x):
    if hasattr(x, "numpy"):
        raise RuntimeError("no")
    return x


@pytest.mark.parametrize("fails", [False, True])
def test_every_layer_and_operation_has_its_class_back(fails):
    ids = models.token_ids()
    encoder = models.stacked_by_implicit_mask(1)
    x = layers.Lambda(refuse if fails else ops.abs)(encoder(ids) * 2)
    model = keras.Model(ids, x)
    operations = operations_of(model)
    before = [(type(operation), dict(vars(operation))) for operation in operations]
    if fails:
        with pytest.raises(RuntimeError, match="no"):
            check_padding(model, IDS)
    else:
        check_padding(model, IDS)
    for operation, (kind, attributes) in zip(operations, before, strict=True):
        assert type(operation) is kind
        assert set(vars(operation)) == set(attributes)
    assert {type(o).__name__ for o in operations} >= {"Embedding", "Multiply", "Lambda"}


SORTS = []


class Registered(layers.Layer):
    """Counts its subclasses, and wants to know their sort."""

    def __init_subclass__(cls, *, sort):
        SORTS.append(sort)

    def __init__(self):
        super().__init__()
        self.supports_masking = True

    def call(self, x):
        return x


class Doubling(Registered, sort="doubling"):
    def call(self, x):
        return 2 * super().call(x)


def test_a_class_that_counts_its_subclasses_counts_none_of_the_check():
    ids = models.token_ids()
    model = keras.Model(ids, Doubling()(models.embed(ids)))
    check_padding(model).raise_if_failed()
    assert SORTS == ["doubling"]


class Compiled(keras.Model):
    """Calls its layers inside `tf.function`, of the class and of the instance."""

    def __init__(self):
        super().__init__()
        self.embedding = layers.Embedding(models.VOCABULARY, models.WIDTH)
        self.attention = models.attention("attention")
        self.attend = tf.function(self._attend)

    def _attend(self, x):
        return self.attention(x, x)

    @tf.function
    def call(self, ids):
        return self.attend(self.embedding(ids))


def test_layers_inside_a_tf_function_are_seen_although_it_was_traced_before():
    model = Compiled()
    before = model(IDS).numpy()
    attend = model.attend
    report = check_padding(model, IDS, padding_id=0)
    assert {change.probe for change in report.changes} == {
        "padding appended",
        "padding replaced",
    }
    assert report.first_leak == "attention"
    assert model.attend is attend
    assert "call" not in vars(model)
    np.testing.assert_array_equal(model(IDS), before)


def test_no_other_tf_function_runs_its_python_during_a_check():
    ids = models.token_ids()
    pythons = []

    @tf.function
    def traced(x):
        pythons.append(type(x).__name__)
        return x

    seen = []

    def remember(x):
        if hasattr(x, "numpy"):
            traced(x[:1, :1])
            seen.append(tf.config.functions_run_eagerly())
        return x

    check_padding(keras.Model(ids, layers.Lambda(remember)(models.embed(ids))), IDS)
    assert len(seen) > len(pythons) == 1
    assert not any(seen)


def loaded_from(folder, model, name):
    model.export(folder, verbose=False)
    return layers.TFSMLayer(folder, call_endpoint="serve", name=name)


def test_an_exported_model_that_makes_its_own_masks_keeps_its_verdict(tmp_path):
    for build in (models.recurrent, models.mean_over_all_positions):
        sound, ids = build is models.recurrent, models.token_ids()
        loaded = loaded_from(tmp_path / build.__name__, build(), "loaded")
        report = check_padding(keras.Model(ids, loaded(ids)), padding_id=0)
        assert report.passed is sound
        assert report.first_leak == (None if sound else "loaded")


def test_an_exported_model_drops_the_mask_that_it_is_given(tmp_path):
    features = keras.Input((None, models.WIDTH))
    dense = keras.Model(features, layers.Dense(4)(features))
    loaded, ids = loaded_from(tmp_path / "dense", dense, "loaded"), models.token_ids()
    x = loaded(models.embed(ids))
    report = check_padding(keras.Model(ids, layers.LSTM(5, name="state")(x)))
    reason = "TFSMLayer does not support masking"
    assert report.mask_loss == MaskLoss("loaded", reason)
    assert report.first_leak == "state"
