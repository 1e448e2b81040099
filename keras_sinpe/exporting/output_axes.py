"""Find out which free sizes of the inputs each axis of an output follows."""

from collections.abc import Mapping, Sequence

from keras_sinpe.model.prepared import PreparedModel, Shapes


def output_axes(prepared: PreparedModel) -> dict[str, tuple[int | str, ...]]:
    """Name the axes of the outputs by the runs of a model.

    Args:
        prepared: the model; it is run on its cases unless it was.

    Returns:
        For every output, one entry per axis: the symbol of the first input axis that
        has the same size in every run, a number where the size never changed, else a
        symbol of the output's own.

    Raises:
        ValueError: the model takes none of its cases.
    """
    refusals = [run.refusal for run in prepared.runs if run.refusal]
    if not prepared.shapes or len(refusals) == len(prepared.runs):
        raise ValueError(
            "`inputs` or `lengths` must be such as the model takes. "
            f"Received: {refusals[0]}"
        )
    names = prepared.shapes[0][1]
    return {name: _name_axes(name, prepared.shapes) for name in names}


def _name_axes(output: str, runs: Sequence[Shapes]) -> tuple[int | str, ...]:
    """Name each axis of one output.

    >>> runs = [({"batch": 2, "ids_length": 5}, {"head": (2, 5, 8, 10)})]
    >>> runs += [({"batch": 3, "ids_length": 7}, {"head": (3, 7, 8, 14)})]
    >>> _name_axes("head", runs)
    ('batch', 'ids_length', 8, 'head_axis_3')
    """
    found = [(sizes, shapes[output]) for sizes, shapes in runs]
    return tuple(_name_axis(output, found, axis) for axis in range(len(found[0][1])))


def _name_axis(
    output: str, runs: Sequence[tuple[Mapping[str, int], tuple[int, ...]]], axis: int
) -> int | str:
    found = {shape[axis] for _, shape in runs}
    for symbol in runs[0][0]:
        if all(sizes[symbol] == shape[axis] for sizes, shape in runs):
            return symbol
    return found.pop() if len(found) == 1 else f"{output}_axis_{axis}"
