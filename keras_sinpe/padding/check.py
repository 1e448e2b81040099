"""The padding check: perturb what must not matter, and see whether it does."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from keras_sinpe.padding.comparison import (
    Follows,
    Probe,
    Run,
    coarsest_tolerance,
    compare_outputs,
    find_first_leak,
)
from keras_sinpe.padding.mask_loss import find_mask_loss
from keras_sinpe.padding.refusals import (
    known_length,
    known_tolerance,
    require_equal,
    require_numbers,
    require_tokens,
)
from keras_sinpe.padding.report import Change, PaddingReport
from keras_sinpe.padding.sequences import PaddedSequence, change_later_tokens
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
        BackendError: the backend is not TensorFlow.
        ValueError: nothing marks the padding, the
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
    extra_padding = known_length("extra_padding", extra_padding)
    if tolerance is not None:
        tolerance = known_tolerance("tolerance", tolerance)
    subject = Subject(model, inputs, padding_id, seed)
    base = subject.run(subject.feeds)
    require_equal(base, subject.run(subject.feeds))
    sequences = subject.find_sequences(base.trace, extra_padding, unmasked=causal)
    require_tokens(sequences)
    require_numbers(base)
    grown = _run_grown(subject, sequences, base)
    follows = _followed_sequences(base, grown, sequences)
    probes = _padding_probes(subject, sequences, base, grown)
    if causal:
        probes += _causal_probes(subject, base, follows)
    if not probes:
        raise ValueError(
            "`inputs` must hold padding for a model whose length is fixed. "
            "Received: inputs without padding"
        )
    allowed = coarsest_tolerance(base.trace) if tolerance is None else tolerance
    changes = _worst([c for p in probes for c in compare_outputs(p, follows, allowed)])
    return PaddingReport(
        model=model.name,
        changes=changes,
        mask_loss=find_mask_loss(grown.trace),
        first_leak=_first_leak(probes, sequences, changes, allowed),
    )


def _run_grown(subject: Subject, sequences: list[PaddedSequence], base: Run) -> Run:
    if not any(sequence.growth for sequence in sequences):
        return base
    try:
        return subject.run(subject.append_padding(sequences, base.trace))
    except Exception as error:
        grown = {name: s.growth for s in sequences for name in s.inputs}
        error.add_note(
            f"The padding check appended padding, {grown}; `extra_padding=0` does not."
        )
        raise


def _followed_sequences(
    base: Run, grown: Run, sequences: list[PaddedSequence]
) -> Follows:
    """For each output, the sequence whose length it has and with which it grows."""
    return {
        name: next(
            (
                sequence
                for sequence in sequences
                if values.shape[:2] == sequence.valid.shape
                and grown.outputs[name].shape[1] == sequence.length + sequence.growth
            ),
            None,
        )
        for name, values in base.outputs.items()
    }


def _padding_probes(
    subject: Subject, sequences: list[PaddedSequence], base: Run, grown: Run
) -> list[Probe]:
    probes = [] if grown is base else [Probe("padding appended", base, grown)]
    feeds = subject.append_padding(sequences, base.trace)
    # As large as ordinary inputs of a layer: a leak is seen, nothing saturates.
    replaced = subject.run(feeds, lambda width: subject.rng.normal(size=width))
    if replaced.trace.replaced:
        probes.append(Probe("padding replaced", grown, replaced))
    return probes


def _causal_probes(subject: Subject, base: Run, follows: Follows) -> list[Probe]:
    followed = {id(s): s for s in follows.values() if s is not None}
    if not followed:
        shapes = {name: values.shape for name, values in base.outputs.items()}
        raise ValueError(
            "`causal` must be `False` for a model without an output that has one row "
            f"per token. Received: causal=True and outputs of shapes {shapes}"
        )
    probes = []
    for sequence in followed.values():
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


def _first_leak(
    probes: list[Probe],
    sequences: list[PaddedSequence],
    changes: tuple[Change, ...],
    tolerance: float,
) -> str | None:
    failed = {change.probe for change in changes if not change.passed}
    paths = (
        find_first_leak(p, sequences, tolerance) for p in probes if p.name in failed
    )
    return next((path for path in paths if path is not None), None)
