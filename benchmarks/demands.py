"""What the library promises about speed, and whether this machine sees it."""

from dataclasses import dataclass

from benchmarks.cases import Case
from benchmarks.peers import OURS, PEERS, Peer
from benchmarks.results import Times
from benchmarks.timing import Ratio

# Seconds, by the name of the cost.
COST_LIMITS = {"construction": 0.3, "import": 0.05}


@dataclass(frozen=True)
class Demand:
    """A bound on a ratio of times.

    Attributes:
        case: where both are timed.
        peer: against whom.
        bound: the ratio to keep.
        faster: whether the peer must take at least `bound` times as long as the
            library; else the library at most `bound` times as long as the peer.
    """

    case: Case
    peer: str
    bound: float
    faster: bool = True

    def measured(self, times: Times) -> bool:
        """Whether `times` hold what the demand needs."""
        return {OURS, self.peer} <= times.get(self.case, {}).keys()

    def ratio(self, times: Times) -> Ratio:
        """What was measured."""
        ours, theirs = times[self.case][OURS], times[self.case][self.peer]
        return Ratio.of(theirs, ours) if self.faster else Ratio.of(ours, theirs)

    def met(self, times: Times) -> bool:
        """Whether the median of the rounds keeps the bound."""
        median = self.ratio(times).median
        return median >= self.bound if self.faster else median <= self.bound

    def __str__(self) -> str:
        if self.faster:
            return f">= {self.bound:g} times as fast as {self.peer}"
        return f"<= {self.bound:g} times the time of the {self.peer}"


def _table_demands(batch: int, length: int) -> list[Demand]:
    case = Case("ort", batch, length)
    return [
        Demand(case, peer, 1.6, faster=False)
        for peer in ("constant table", "tutorial layer")
    ]


DEMANDS = [
    Demand(Case("ort", 1, 1), "KerasHub", 2.0),
    Demand(Case("ort", 1, 1024), "KerasHub", 4.0),
    Demand(Case("ort", 1, 4096), "KerasHub", 4.0),
    Demand(Case("function", 1, 4096), "KerasHub", 3.0),
    Demand(Case("xla", 1, 1024), "KerasHub", 1.0),
    Demand(Case("xla", 1, 4096), "KerasHub", 1.0),
    *_table_demands(1, 1024),
    *_table_demands(1, 4096),
    *_table_demands(8, 1024),
    *_table_demands(8, 4096),
    Demand(Case("ort", 8, 1024, positions="arbitrary"), "KerasHub", 1.0),
    Demand(Case("function", 8, 1024, positions="arbitrary"), "KerasHub", 1.0),
]


def demanded_cells() -> dict[Case, list[Peer]]:
    """The cases of `DEMANDS`, and the peers that they compare."""
    cells: dict[Case, list[Peer]] = {}
    for demand in DEMANDS:
        peers = cells.setdefault(demand.case, [PEERS[OURS]])
        peers.append(PEERS[demand.peer])
    return cells
