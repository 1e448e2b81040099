"""What the library promises about speed, and whether this machine sees it."""

from dataclasses import dataclass

from benchmarks.cases import Case
from benchmarks.peers import OURS, PEERS, Peer
from benchmarks.results import Times
from benchmarks.timing import Ratio

# Seconds, by the name of the cost.
COST_LIMITS = {"construction": 0.3, "import": 0.05}
TABLE = "stored table"


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


# Beside short and whole lengths, those one more or less than rows or blocks are stored
# for, and odd ones.
LENGTHS = (1, 7, 64, 100, 128, 500, 512, 513, 1000, 1024, 4095, 4096)

DEMANDS = [
    *(Demand(Case("ort", 1, length), "KerasHub", 6.0) for length in LENGTHS),
    Demand(Case("ort", 1, 1), TABLE, 1.5, faster=False),
    *(
        Demand(Case("ort", 1, length), TABLE, 1.15, faster=False)
        for length in (64, 128, 512)
    ),
    *(
        Demand(Case("function", 1, length), TABLE, 1.3, faster=False)
        for length in (1, 128, 512)
    ),
    Demand(Case("function", 1, 4096), "KerasHub", 3.0),
    Demand(Case("xla", 1, 1024), "KerasHub", 1.0),
    Demand(Case("xla", 1, 4096), "KerasHub", 1.0),
    *(
        Demand(Case("ort", 8, length), peer, 1.6, faster=False)
        for length in (1024, 4096)
        for peer in ("one addition", TABLE)
    ),
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
