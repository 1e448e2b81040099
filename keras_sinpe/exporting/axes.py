"""Find out which free sizes of the inputs each axis of an output follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keras_sinpe.parity.keras_runner import KerasRunner
from keras_sinpe.parity.sampling import Inputs, plan_samples

Run = tuple[Mapping[str, int], tuple[int, ...]]

BATCH_SIZES = (2, 3)
# No two alike and none like a batch size, so that an axis follows one symbol only;
# the second set is for models that want long inputs.
LENGTHS = ((5, 11, 17, 23), (67, 71, 73, 79))


def output_axes(
    reference: KerasRunner, inputs: Inputs = None
) -> dict[str, tuple[int | str, ...]]:
    """Run the model at a few sizes and name the axes of its outputs.

    Args:
        reference: The model.
        inputs: The user's inputs, see `check_parity`.

    Returns:
        For every output, one entry per axis: the symbol of the first input axis that
        has the same size in every run, a number where the size never changed, else a
        symbol of the output's own.
    """
    runs: dict[str, list[Run]] = {}
    for lengths in LENGTHS:
        samples = plan_samples(reference, BATCH_SIZES, lengths, inputs)
        for case in samples.cases():
            feeds = samples.feeds(case)
            if reference.refusal(feeds) is None:
                for name, array in reference.run(feeds).items():
                    runs.setdefault(name, []).append((case.sizes, array.shape))
        if runs:
            break
    return {name: _name_axes(name, found) for name, found in runs.items()}


def _name_axes(output: str, runs: Sequence[Run]) -> tuple[int | str, ...]:
    """Name each axis of one output.

    >>> runs = [({"batch": 2, "ids_length": 5}, (2, 5, 8, 10))]
    >>> runs += [({"batch": 3, "ids_length": 7}, (3, 7, 8, 14))]
    >>> _name_axes("head", runs)
    ('batch', 'ids_length', 8, 'head_axis_3')
    """
    return tuple(_name_axis(output, runs, axis) for axis in range(len(runs[0][1])))


def _name_axis(output: str, runs: Sequence[Run], axis: int) -> int | str:
    found = {shape[axis] for _, shape in runs}
    for symbol in runs[0][0]:
        if all(sizes[symbol] == shape[axis] for sizes, shape in runs):
            return symbol
    return found.pop() if len(found) == 1 else f"{output}_axis_{axis}"
