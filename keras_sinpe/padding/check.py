"""The padding check: perturb what must not matter, and see whether it does."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from keras_sinpe.arguments import finite_number, integer_from, refusal
from keras_sinpe.padding.comparison import (
    Follows,
    Probe,
    coarsest_tolerance,
    compare_outputs,
    find_first_leak,
    follow,
)
from keras_sinpe.padding.mask_loss import find_mask_loss
from keras_sinpe.padding.report import Change, PaddingReport
from keras_sinpe.padding.sequences import PaddedSequence, change_later_tokens
from keras_sinpe.padding.subject import Run, Subject


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

    Outputs with one row per token are compared at the valid positions of the input
    that they follow; every other output is compared whole. Three things are tried:

    * "padding appended": every padded sequence gets more padding at its end.
    * "padding replaced": each `Embedding` puts out another, random vector for the
      padding id, as if its row had other weights. The weights are not touched.
    * "later tokens changed": with `causal`, tokens after a position become others, at
      three positions.

    Args:
        model: A built Keras model on the TensorFlow backend.
        inputs: sample arrays, structured like the inputs of the model, or a dict by
            input name. Padding is welcome beside at least one token per row. `None`
            samples them, which needs a Functional or Sequential model.
        causal: whether outputs must not depend on later tokens.
        padding_id: the id that pads the integer inputs, or one id per input name,
            for a model that derives its masks from it. `None` takes the masks that
            layers make: `Embedding(mask_zero=True)`, `Masking`, `compute_mask`.
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
        ValueError: the backend is not TensorFlow, nothing marks the padding, the
            inputs do not fit, a number is out of range, or two equal runs differ.

    >>> import keras
    >>> ids = keras.Input((None,), dtype="int32", name="ids")
    >>> x = keras.layers.Embedding(20, 6, mask_zero=True)(ids)
    >>> pooled = keras.layers.GlobalAveragePooling1D(name="pooled")
    >>> check_padding(keras.Model(ids, pooled(x))).passed
    True
    >>> check_padding(keras.Model(ids, pooled(x * 2))).mask_loss.reason
    'an operation on tensors hands no mask on'
    """
    extra_padding = integer_from(
        0, "extra_padding", extra_padding, "an integer of at least 0"
    )
    if tolerance is not None:
        tolerance = _known_tolerance(tolerance)
    subject = Subject(model, inputs, padding_id, seed)
    base = subject.run(subject.feeds)
    _require_equal(base, subject.run(subject.feeds))
    sequences = subject.find_sequences(base.trace, extra_padding, unmasked=causal)
    _require_tokens(sequences)
    _require_numbers(base)
    grown = _run_grown(subject, sequences, base)
    followed = {
        name: follow(values.shape, grown.outputs[name].shape, sequences)
        for name, values in base.outputs.items()
    }
    probes = _padding_probes(subject, sequences, base, grown)
    if causal:
        probes += _causal_probes(subject, base, followed)
    if not probes:
        raise ValueError(
            "`inputs` must hold padding for a model whose length is fixed. "
            "Received: inputs without padding"
        )
    allowed = coarsest_tolerance(base.trace) if tolerance is None else tolerance
    changes = _worst([c for p in probes for c in compare_outputs(p, followed, allowed)])
    failed = {change.probe for change in changes if not change.passed}
    leaks = (
        find_first_leak(probe, base, grown, sequences, allowed)
        for probe in probes
        if probe.name in failed
    )
    return PaddingReport(
        model=model.name,
        changes=changes,
        mask_loss=find_mask_loss(grown.trace) if failed else None,
        first_leak=next((path for path in leaks if path is not None), None),
    )


def _run_grown(subject: Subject, sequences: list[PaddedSequence], base: Run) -> Run:
    if not any(sequence.growth for sequence in sequences):
        return base
    try:
        return subject.run(subject.append_padding(sequences))
    except Exception as error:
        grown = {name: s.growth for s in sequences for name in s.inputs}
        error.add_note(
            f"The padding check appended padding, {grown}; `extra_padding=0` does not."
        )
        raise


def _padding_probes(
    subject: Subject, sequences: list[PaddedSequence], base: Run, grown: Run
) -> list[Probe]:
    probes = [] if grown is base else [Probe("padding appended", base, grown)]
    replaced = subject.run_replaced(sequences, base)
    if replaced.trace.replaced:
        probes.append(Probe("padding replaced", grown, replaced))
    return probes


def _causal_probes(
    subject: Subject, base: Run, followed: Mapping[str, Follows]
) -> list[Probe]:
    sequences = dict.fromkeys(s for axes in followed.values() for s in axes if s)
    if not sequences:
        shapes = {name: values.shape for name, values in base.outputs.items()}
        raise ValueError(
            "`causal` must be `False` for a model without an output that has one row "
            f"per token. Received: causal=True and outputs of shapes {shapes}"
        )
    probes = []
    for sequence in sequences:
        for last in sorted({0, sequence.length // 2, sequence.length - 2}):
            feeds = change_later_tokens(subject.feeds, sequence, last, subject.rng)
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


def _worst(changes: list[Change]) -> tuple[Change, ...]:
    """The largest change of each output under each probe."""
    worst: dict[tuple[str, str], Change] = {}
    for change in changes:
        key = (change.probe, change.output)
        if key not in worst or not change.largest <= worst[key].largest:
            worst[key] = change
    return tuple(worst.values())


def _known_tolerance(value: Any) -> float:
    expected = "a finite number of at least 0"
    number = finite_number("tolerance", value, expected)
    if number < 0:
        raise ValueError(refusal("tolerance", expected, value))
    return number


def _require_tokens(sequences: Iterable[PaddedSequence]) -> None:
    """Refuse rows of padding alone: what a model makes of them has no right value."""
    for sequence in sequences:
        rows = len(sequence.valid)
        filled = int(sequence.valid.any(axis=1).sum())
        if filled < max(rows, 1):
            raise ValueError(
                "`inputs` must hold at least one token in every row. "
                f"Received: {list(sequence.inputs)} with tokens in {filled} of "
                f"{rows} rows"
            )


def _require_numbers(run: Run) -> None:
    """Refuse an output of NaN alone, which no perturbation can change."""
    for name, values in run.outputs.items():
        if values.size and np.isnan(values).all():
            raise ValueError(
                "`model` must put out numbers. "
                f"Received: an output {name!r} that is NaN throughout"
            )


def _require_equal(first: Run, second: Run) -> None:
    """Refuse a model that gives other outputs for the same inputs."""
    for name, values in first.outputs.items():
        if not np.array_equal(values, second.outputs[name], equal_nan=True):
            raise ValueError(
                "`model` must give equal outputs for equal inputs: turn off dropout "
                "and reset kept states. "
                f"Received: an output {name!r} that differs between two runs"
            )
