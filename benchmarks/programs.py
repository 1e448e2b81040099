"""What XLA makes of a peer: where two programs are the same, no clock is needed."""

import re
from collections.abc import Mapping, Sequence

from benchmarks.cases import Case
from benchmarks.peers import OURS, PEERS, Peer

# Names of values, and where in the source they come from.
NAMES = re.compile(r"(?<=%)[\w.\-]+|, (metadata|parameter_replication)=\{[^}]*\}")


def compiled_program(peer: Peer, case: Case) -> str:
    """The operations that XLA runs for `peer` in `case`, sorted, without names.

    The numbers of stored tables are left out: the time does not depend on them.
    """
    import tensorflow as tf

    add = peer.build(case, case.length)
    function = tf.function(lambda *tensors: add(*tensors), jit_compile=True)
    embeddings, *positions = case.inputs(case.length)
    inputs = [tf.constant(embeddings, case.dtype), *map(tf.constant, positions)]
    program = function.experimental_get_compiler_ir(*inputs)(stage="optimized_hlo")
    lines = (NAMES.sub("", line).strip() for line in program.splitlines()[1:])
    return "\n".join(sorted(line for line in lines if " = " in line))


def same_programs(cells: Mapping[Case, Sequence[Peer]]) -> dict[Case, list[str]]:
    """The peers of which XLA makes the program that it makes of the library."""
    same = {}
    for case, peers in cells.items():
        if case.runtime == "xla":
            ours = compiled_program(PEERS[OURS], case)
            same[case] = [
                peer.name
                for peer in peers
                if peer.name != OURS and compiled_program(peer, case) == ours
            ]
    return same
