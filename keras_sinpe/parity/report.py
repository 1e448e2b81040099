"""What a parity check found: a table for people, JSON for programs."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keras_sinpe.arguments import printable
from keras_sinpe.parity.comparison import Comparison, Fault
from keras_sinpe.printing import as_text


class ParityError(Exception):
    """An artifact does not compute what its model computes.

    Attributes:
        report: the whole report.
    """

    def __init__(self, report: "ParityReport", endpoint: str = "") -> None:
        self.report = report
        place = f"The endpoint {endpoint!r} of" if endpoint else "The artifact"
        found = (
            "is not proved"
            if report.outcome == "unproven"
            else "differs from its model"
        )
        super().__init__(f"{place} {report.artifact!r} {found}.\n{report}")


@dataclass(frozen=True)
class ParityReport:
    """Every comparison of an artifact with its model.

    Attributes:
        artifact: path of the artifact.
        comparisons: one for each output of each run, in the order of the runs.
        faults: what concerns the artifact or a run as a whole: names and dtypes of its
            inputs and outputs, and runs that it refused.
        notes: what a reader should know, such as a rebuild in float32.
        versions: version of everything involved, by package.
        unproven: why an output without a fault is not proved, by its name.
    """

    artifact: str
    comparisons: tuple[Comparison, ...]
    faults: tuple[Fault, ...]
    notes: tuple[str, ...]
    versions: Mapping[str, str]
    unproven: Mapping[str, str] = field(default_factory=dict)

    @property
    def outcome(self) -> str:
        """`"passed"`, `"failed"`, or `"unproven"` where rounding hides the answer."""
        compared = any(one.compared for one in self.comparisons)
        if self.all_faults or not compared:
            return "failed"
        return "unproven" if self.unproven else "passed"

    @property
    def passed(self) -> bool:
        """Whether a number was compared, nothing differs and all of it is proved."""
        return self.outcome == "passed"

    @property
    def all_faults(self) -> tuple[Fault, ...]:
        """The faults of the artifact, of the runs, and of every output."""
        found = [fault for one in self.comparisons for fault in one.faults]
        return (*self.faults, *found)

    @property
    def rows(self) -> tuple[Comparison, ...]:
        """The worst comparison of each output, measured against its tolerance."""
        worst: dict[str, Comparison] = {}
        for comparison in self.comparisons:
            known = worst.setdefault(comparison.output, comparison)
            if _badness(comparison) > _badness(known):
                worst[comparison.output] = comparison
        return tuple(worst.values())

    def raise_if_failed(self) -> None:
        """Raise a `ParityError` that holds the report unless the check passed."""
        if not self.passed:
            raise ParityError(self)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data: strings, numbers, lists and dicts."""
        return {
            "artifact": self.artifact,
            "passed": self.passed,
            "outcome": self.outcome,
            "runs": len({str(one.case) for one in self.comparisons}),
            "outputs": [_row_data(row) for row in self.rows],
            "faults": [vars(fault) for fault in self.all_faults],
            "unproven": dict(self.unproven),
            "notes": list(self.notes),
            "versions": dict(self.versions),
        }

    def to_json(self) -> str:
        """The report as JSON. An infinite error is the string `"inf"`."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def __str__(self) -> str:
        return as_text(*_layout(self))


def _badness(comparison: Comparison) -> tuple[int, float, float]:
    return len(comparison.faults), comparison.share, comparison.error


def _row_data(row: Comparison) -> dict[str, Any]:
    return {
        "output": row.output,
        "shape": list(row.shape),
        "dtype": row.dtype,
        "error": row.error if math.isfinite(row.error) else str(row.error),
        "allowed": row.allowed,
        "share": row.share if math.isfinite(row.share) else str(row.share),
        "batch": row.case.batch,
        "lengths": dict(row.case.lengths),
        "index": None if row.index is None else list(row.index),
        "faults": [fault.kind for fault in row.faults],
    }


def _layout(report: ParityReport) -> list[Any]:
    """The parts of the printed report, from the verdict to the versions."""
    runs = report.to_dict()["runs"]
    plural = "run" if runs == 1 else "runs"
    artifact = printable(report.artifact, 1000)
    title = f"Parity {report.outcome.upper()}: {artifact} in {runs} {plural}"
    parts: list[Any] = [title]
    if report.comparisons:
        parts.append(_table(report))
    else:
        parts.append("Nothing was compared.")
    parts += _fault_lines(report.all_faults)
    for output, reason in report.unproven.items():
        parts.append(
            f"unproven: `{printable(output)}` may be right, but "
            f"{printable(reason, 500)}; `tolerance` says what you accept"
        )
    parts += [f"note: {printable(note, 500)}" for note in report.notes]
    known = (f"{package} {version}" for package, version in report.versions.items())
    parts.append(", ".join(known))
    return parts


def _fault_lines(faults: Sequence[Fault]) -> list[str]:
    """The first fault of each kind and output, and how many more there are."""
    alike: dict[tuple[str, str], list[Fault]] = {}
    for fault in faults:
        alike.setdefault((fault.kind, fault.output), []).append(fault)
    lines = []
    for (kind, output), found in alike.items():
        subject = f"`{printable(output)}` " if output else ""
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        lines.append(f"{kind}: {subject}{printable(found[0].message, 500)}{more}")
    return lines


def _table(report: ParityReport) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("output", "shape", "dtype", "error", "allowed", "share", "where"):
        table.add_column(heading, overflow="fold")
    for row in report.rows:
        index = "" if row.index is None else f" at {list(row.index)}"
        table.add_row(
            printable(row.output),
            "x".join(map(str, row.shape)),
            row.dtype,
            f"{row.error:.2e}",
            f"{row.allowed:.2e}",
            f"{row.share:.2g}",
            f"{row.case}{index}",
        )
    return table
