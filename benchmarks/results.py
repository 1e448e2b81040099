"""What a run measured, to and from JSON."""

import json
import math
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.accuracy import Error
from benchmarks.cases import Case
from benchmarks.costs import Cost
from benchmarks.timing import Effort

Times = Mapping[Case, Mapping[str, list[float]]]

PACKAGES = (
    "keras",
    "keras-hub",
    "numpy",
    "onnxruntime",
    "positional-encodings",
    "tensorflow",
    "tf2onnx",
)


@dataclass(frozen=True)
class Results:
    """All that a run measured.

    Attributes:
        machine: processors, their load when the run began, versions of packages.
        effort: how long each case was timed.
        times: seconds per call, by case and peer, round by round.
        costs: all other costs.
        errors: largest errors.
        same_programs: peers that XLA compiles to the library's own program, by case.
    """

    machine: Mapping[str, Any]
    effort: Effort
    times: Times = field(default_factory=dict)
    costs: list[Cost] = field(default_factory=list)
    errors: list[Error] = field(default_factory=list)
    same_programs: Mapping[Case, list[str]] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Writes the results as JSON, measured figures with four digits."""
        times = [
            {
                **asdict(case),
                "peer": peer,
                "seconds": [_digits(s) for s in rounds],
            }
            for case, cell in self.times.items()
            for peer, rounds in cell.items()
        ]
        document = {
            "machine": self.machine,
            "effort": asdict(self.effort),
            "costs": [asdict(cost) for cost in self.costs],
            "errors": [_error_row(error) for error in self.errors],
            "same_programs": [
                {**asdict(case), "peers": peers}
                for case, peers in self.same_programs.items()
            ],
            "times": times,
        }
        path.write_text(_one_row_a_line(document))

    @classmethod
    def load(cls, path: Path) -> "Results":
        """Reads what `save` wrote."""
        document = json.loads(path.read_text())
        times: dict[Case, dict[str, list[float]]] = {}
        for row in document["times"]:
            peer, seconds = row.pop("peer"), row.pop("seconds")
            times.setdefault(Case(**row), {})[peer] = seconds
        same = {}
        for row in document["same_programs"]:
            peers = row.pop("peers")
            same[Case(**row)] = peers
        return cls(
            document["machine"],
            Effort(**document["effort"]),
            times,
            [Cost(**row) for row in document["costs"]],
            [_error(row) for row in document["errors"]],
            same,
        )


def _error_row(error: Error) -> dict[str, Any]:
    """The row of an error; NaN, which JSON does not know, as a string."""
    row = asdict(error)
    return row if error.error is None else {**row, "error": _digits(error.error)}


def _error(row: Mapping[str, Any]) -> Error:
    value = row["error"]
    return Error(**{**row, "error": None if value is None else float(value)})


def _digits(value: float) -> float | str:
    return "nan" if math.isnan(value) else float(f"{value:.4g}")


def _one_row_a_line(document: Mapping[str, Any]) -> str:
    """JSON whose lists have one row a line, so that runs can be compared as text."""
    parts = []
    for key, value in document.items():
        text = json.dumps(value, allow_nan=False)
        if isinstance(value, list) and value:
            text = (
                "[\n"
                + ",\n".join(json.dumps(row, allow_nan=False) for row in value)
                + "\n]"
            )
        parts.append(f"{json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def this_machine() -> dict[str, Any]:
    """Where this runs: nothing that names the machine itself."""
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:  # tests run without the peers of the bench extra
        return None
