"""The padding check: perturb what must not matter, and see whether it does."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from keras_sinpe.arguments import finite_number, integer_from, refusal
from keras_sinpe.padding.comparison import Comparison, Probe
from keras_sinpe.padding.mask_loss import find_mask_loss
from keras_sinpe.padding.report import Change, PaddingReport
from keras_sinpe.padding.runs import Run
from keras_sinpe.padding.sequences import PaddedSequence, change_values
from keras_sinpe.padding.subject import Subject


def check_padding(
    model: Any,
    inputs: Any = None,
    *,
    causal: bool = False,
    padding_id: int | Mapping[str, int] | None = None,
    extra_padding: int = 3,
    tolerance: float | None = None,
    seed: int = 0,
) -> PaddingReport:
    """Say whether valid outputs depend on padding and, if asked, on later tokens.

    An axis of an output follows an input if it has the same length, and grows with it
    where that is free: one row per token, attention scores, pairs of tokens, features
    before tokens. Outputs are compared at the valid positions along all these axes, and
    whole along the others. Three things are tried:

    * "padding appended": every padded sequence gets more padding at its end.
    * "padding replaced": each `Embedding` puts out another, random vector for the
      padding id, as if its row had other weights. The weights are not touched. Where no
      padding can be appended, real numbers at padded positions become others too, in
      the inputs or, if the mask is made from them, in what `Masking` puts out.
    * "later tokens changed": with `causal`, tokens after a position become others, at
      three positions.

    Calls of other models and in other threads are not touched. A layer that the model
    does not track is not looked into, nor is a `TFSMLayer`: it takes no mask and hands
    none on, so a model must be exported with the layers that make its masks.

    Args:
        model: A built Keras model on the TensorFlow backend.
        inputs: arrays, structured like the inputs of the model, or a dict by
            input name. Padding is welcome beside at least one token per row. `None`
            samples them, which needs a Functional or Sequential model.
        causal: whether outputs must not depend on later tokens.
        padding_id: the id that pads the integer inputs, or one id per input name (0
            for an input that is itself a mask), for a model that derives its masks from
            it. `None` takes the masks that layers make: `Embedding(mask_zero=True)`,
            `Masking`, `compute_mask`.
        extra_padding: positions to append; 0 leaves the lengths alone. Inputs with a
            declared length always keep it.
        tolerance: largest change per unit of the largest valid value (at least 1).
            `None` takes the one of the model's coarsest dtype, 1e-5 for float32.
        seed: seed of the sampled and perturbing values.

    Returns:
        The report. It prints as a table and names the first layer whose output has
        lost its mask.

    Raises:
        TypeError: `model` is not a Keras model, `extra_padding` not an integer, or
            `tolerance` not a number.
        ValueError: nothing marks the padding, the inputs do not fit, a number is out of
            range, or two equal runs differ.
        RuntimeError: Keras runs on another backend than TensorFlow.

    >>> import keras
    >>> ids = keras.Input((None,), dtype="int32", name="ids")
    >>> x = keras.layers.Embedding(20, 6, mask_zero=True)(ids)
    >>> pooled = keras.layers.GlobalAveragePooling1D(name="pooled")
    >>> check_padding(keras.Model(ids, pooled(x))).passed
    True
    >>> check_padding(keras.Model(ids, pooled(x * 2))).mask_loss.reason
    'an operation on tensors hands no mask on'
    """
    expected = "an integer of at least 0"
    extra_padding = integer_from(0, "extra_padding", extra_padding, expected)
    tolerance = None if tolerance is None else _known_tolerance(tolerance)
    subject = Subject(model, inputs, padding_id, seed)
    base = subject.run(subject.feeds)
    again = subject.run(subject.feeds)
    sequences = subject.find_sequences(base, extra_padding, unmasked=causal)
    _refuse_what_tells_nothing(sequences, base, again)
    grown = _grow(subject, sequences, base)
    comparison = Comparison(base, grown, sequences, tolerance)
    probes = _padding_probes(subject, comparison)
    if causal:
        probes += _causal_probes(subject, comparison)
    if not probes:
        raise ValueError(
            "`inputs` must hold padding for a model whose length is fixed. "
            "Received: inputs without padding"
        )
    changes: dict[tuple[str, str], Change] = {}
    for change in (change for probe in probes for change in comparison.changes(probe)):
        worst = changes.setdefault((change.probe, change.output), change)
        if not change.largest <= worst.largest:
            changes[change.probe, change.output] = change
    failed = {change.probe for change in changes.values() if not change.passed}
    leaks = (comparison.first_leak(probe) for probe in probes if probe.name in failed)
    return PaddingReport(
        model=model.name,
        changes=tuple(changes.values()),
        mask_loss=find_mask_loss(grown) if failed else None,
        first_leak=next((path for path in leaks if path is not None), None),
    )


def _grow(subject: Subject, sequences: list[PaddedSequence], base: Run) -> Run:
    """The run on inputs with more padding; `base` where there cannot be any."""
    growth = {name: s.growth for s in sequences for name in s.inputs if s.growth}
    try:
        return subject.run(subject.append_padding(sequences)) if growth else base
    except Exception as error:
        error.add_note(
            f"The padding check appended padding, {growth}; `extra_padding=0` does not."
        )
        raise


def _padding_probes(subject: Subject, comparison: Comparison) -> list[Probe]:
    base, grown = comparison.base, comparison.grown
    replaced = subject.run_replaced(base, grown, comparison.sequences)
    probes = [
        Probe("padding appended", base, grown),
        Probe("padding replaced", grown, replaced),
    ]
    return [probe for probe in probes if probe.after is not probe.before]


def _causal_probes(subject: Subject, comparison: Comparison) -> list[Probe]:
    base = comparison.base
    followed = [
        sequence
        for follows in comparison.followed.values()
        for sequence in follows
        if sequence is not None
    ]
    if not followed:
        shapes = {name: values.shape for name, values in base.outputs.items()}
        raise ValueError(
            "`causal` must be `False` for a model without an output that has one row "
            f"per token. Received: causal=True and outputs of shapes {shapes}"
        )
    probes = []
    for sequence in dict.fromkeys(followed):
        for last in sorted({0, sequence.length // 2, sequence.length - 2}):
            later = sequence.valid & (np.arange(sequence.length) > last)
            feeds = change_values(subject.feeds, sequence, later, subject.rng, ids=True)
            if all(np.array_equal(feeds[n], subject.feeds[n]) for n in feeds):
                continue
            after = subject.run(feeds)
            probes.append(Probe("later tokens changed", base, after, sequence, last))
    if not probes:
        raise ValueError(
            "`inputs` must hold at least two different tokens to check causality. "
            "Received: inputs without a later token to change"
        )
    return probes


def _known_tolerance(value: Any) -> float:
    expected = "a finite number of at least 0"
    number = finite_number("tolerance", value, expected)
    if number < 0:
        raise ValueError(refusal("tolerance", expected, value))
    return number


def _refuse_what_tells_nothing(
    sequences: list[PaddedSequence], base: Run, again: Run
) -> None:
    """Refuse rows of padding alone, chance, and outputs of NaN, which never change."""
    for name, values in base.outputs.items():
        if not np.array_equal(values, again.outputs[name], equal_nan=True):
            raise ValueError(
                "`model` must give equal outputs for equal inputs: turn off dropout "
                "and reset kept states. "
                f"Received: an output {name!r} that differs between two runs"
            )
    for sequence in sequences:
        rows = len(sequence.valid)
        filled = int(sequence.valid.any(axis=1).sum())
        if filled < max(rows, 1):
            raise ValueError(
                "`inputs` must hold at least one token in every row. "
                f"Received: {list(sequence.inputs)} with tokens in {filled} of "
                f"{rows} rows"
            )
    for name, values in base.outputs.items():
        if values.size and np.isnan(values).all():
            raise ValueError(
                "`model` must put out numbers. "
                f"Received: an output {name!r} that is NaN throughout"
            )
