"""Find out which lengths a model wants equal."""

from collections.abc import Callable, Sequence


def tie_axes(
    axes: Sequence[str], fits: Callable[[Sequence[str]], bool]
) -> list[list[str]]:
    """Group the axes whose lengths the model wants equal.

    Args:
        axes: the free axes.
        fits: whether the model runs when only these axes are made longer.

    >>> tied = {"ids_length", "mask_length"}
    >>> tie_axes(
    ...     ["ids_length", "mask_length", "memory_length"],
    ...     lambda longer: not tied & set(longer) or tied <= set(longer),
    ... )
    [['memory_length'], ['ids_length', 'mask_length']]
    """
    free = [axis for axis in axes if fits([axis])]
    groups = [[axis] for axis in free]
    tied = [axis for axis in axes if axis not in free]
    while tied:
        first, *others = tied
        partners = [other for other in others if fits([first, other])]
        # Neither alone nor in a pair: three or more that go together.
        group = [first, *(partners[:1] or others)]
        groups.append(group)
        tied = [axis for axis in others if axis not in group]
    return groups
