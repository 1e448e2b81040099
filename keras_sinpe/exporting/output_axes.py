"""Find out which free sizes of the inputs each axis of an output follows."""

from collections.abc import Mapping, Sequence

from keras_sinpe.model.prepared import KerasRunner
from keras_sinpe.model.random_inputs import Feeds
from keras_sinpe.model.sampling import Inputs, plan_samples

Run = tuple[Mapping[str, int], tuple[int, ...]]

BATCH_SIZES = (2, 3)
# No two alike and none like a batch size, so that an axis follows one symbol only;
# the second set is for models that want long inputs.
LENGTHS = ((5, 7, 11, 13), (67, 71, 73, 79))


def output_axes(
    reference: KerasRunner, inputs: Inputs = None
) -> dict[str, tuple[int | str, ...]]:
    """Run the model at a few sizes and name the axes of its outputs.

    Args:
        reference: the model.
        inputs: the user's inputs, see `check_parity`.

    Returns:
        For every output, one entry per axis: the symbol of the first input axis that
        has the same size in every run, a number where the size never changed, else a
        symbol of the output's own.

    Raises:
        ValueError: the model takes none of the lengths that were tried.
    """
    runs: dict[str, list[Run]] = {}
    for lengths in LENGTHS:
        samples = plan_samples(reference, BATCH_SIZES, lengths, inputs)
        planned = list(samples)
        # The first and the last differ in batch size and in every length.
        for case, feeds in (planned[0], planned[-1]):
            for name, shape in _shapes(reference, feeds).items():
                runs.setdefault(name, []).append((case.sizes, shape))
        if runs:
            break
    else:
        raise ValueError(
            "`inputs` must be given, because the model takes neither the lengths "
            f"{LENGTHS[0]} nor {LENGTHS[1]}. Received: inputs={inputs!r}"
        )
    return {name: _name_axes(name, found) for name, found in runs.items()}


def _shapes(reference: KerasRunner, feeds: Feeds) -> dict[str, tuple[int, ...]]:
    """Shapes of the outputs by name; none if the model refuses these sizes."""
    try:
        return {name: array.shape for name, array in reference.run(feeds).items()}
    except Exception:
        return {}


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
