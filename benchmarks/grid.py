"""Runs the cells of a grid, every peer in each."""

import gc
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from benchmarks.cases import FIXED_SHAPE, Case, longest_lengths
from benchmarks.peers import Peer
from benchmarks.runtimes import Call, prepare
from benchmarks.timing import Effort, interleave

Times = dict[Case, dict[str, list[float]]]
Programs = dict[tuple[str, Case], Callable[..., Call]]


def time_cases(
    cells: Mapping[Case, Sequence[Peer]],
    effort: Effort,
    each: Callable[[Case], object] = lambda case: None,
) -> Times:
    """Seconds per call, round by round, of the peers named for each case.

    Args:
        cells: the cases, and who runs in each; their order does not matter.
        effort: how long to measure each.
        each: called before each case, for a progress bar.
    """
    longest = longest_lengths(cells)
    times: Times = {}
    for group in _groups(cells):
        programs: Programs = {}
        for case in group:
            each(case)
            inputs = case.inputs(longest[case])
            calls = {
                peer.name: program(programs, peer, case, longest[case])(*inputs)
                for peer in cells[case]
            }
            times[case] = interleave(calls, effort)
        del programs, calls
        gc.collect()  # sessions and functions hold tables of many megabytes
    return {case: times[case] for case in cells}


def _groups(cases: Iterable[Case]) -> list[list[Case]]:
    """The cases that share programs, together."""
    groups: dict[Case, list[Case]] = {}
    for case in cases:
        groups.setdefault(replace(case, batch=0, length=0), []).append(case)
    return list(groups.values())


def program(
    programs: Programs, peer: Peer, case: Case, longest: int
) -> Callable[..., Call]:
    """The program of `peer` for `case`: one of `programs`, or made and put there."""
    shared = peer.any_length and case.runtime not in FIXED_SHAPE
    key = peer.name, replace(case, batch=0, length=0) if shared else case
    if key not in programs:
        programs[key] = prepare(peer, case, longest)
    return programs[key]
