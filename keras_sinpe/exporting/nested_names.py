"""Short names for what branches and loops hold."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any


def number_nested_names(graph: Any) -> None:
    """Number the values of nested graphs, and take the names of their nodes away.

    The converter strings the names of all scopes together, again for each level: 0.25
    MB for the two conditions of one layer. Nothing outside can ask for these values.
    """
    numbers = (f"nested_{number}" for number in itertools.count())
    for node in graph.node:
        for inner in _nested(node):
            _number(inner, {}, numbers)


def _number(graph: Any, outer: Mapping[str, str], numbers: Iterator[str]) -> None:
    names = dict(outer)
    for value in (*graph.input, *graph.initializer):
        names[value.name] = value.name = next(numbers)
    for node in graph.node:
        node.name = ""
        node.input[:] = [names.get(name, name) for name in node.input]
        for inner in _nested(node):
            _number(inner, names, numbers)
        for name in filter(None, node.output):
            names[name] = next(numbers)
        node.output[:] = [names.get(name, name) for name in node.output]
    for value in graph.output:
        value.name = names.get(value.name, value.name)
    del graph.value_info[:]


def _nested(node: Any) -> Iterator[Any]:
    for attribute in node.attribute:
        yield from [attribute.g] if attribute.HasField("g") else attribute.graphs
