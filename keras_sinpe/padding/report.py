"""What the padding check found, as a table, as JSON and as an error."""

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from keras_sinpe.printing import as_text


class PaddingError(Exception):
    """Valid outputs of a model depend on what they must not see.

    Attributes:
        report: the whole report.
    """

    def __init__(self, report: "PaddingReport") -> None:
        self.report = report
        worst = report.worst
        super().__init__(
            f"The output `{worst.output}` of `{report.model}` must not change by more "
            f"than {worst.tolerance:.1e} ({worst.probe}). "
            f"Received: a change of {worst.largest:.1e} at {worst.where}; "
            f"{'; '.join(report.diagnosis)}"
        )


@dataclass(frozen=True)
class Change:
    """The largest change of one output under one perturbation.

    Attributes:
        output: name of the output.
        probe: what was perturbed: "padding appended", "padding replaced" or
            "later tokens changed".
        largest: largest absolute change over the values that must not change; infinite
            where a shape depends on padding in a way that follows no sequence.
        where: index of that value in the output; `None` where nothing changed.
        tolerance: largest change that rounding explains.
    """

    output: str
    probe: str
    largest: float
    where: tuple[int, ...] | None
    tolerance: float

    @property
    def passed(self) -> bool:
        """Whether the output kept still; NaN did not."""
        return self.largest <= self.tolerance


@dataclass(frozen=True)
class MaskLoss:
    """The first layer whose output has no mask although its input had one.

    Attributes:
        layer: path of the layer or operation inside the model, such as "encoder/add".
        reason: why the mask is gone, as a clause.
    """

    layer: str
    reason: str


@dataclass(frozen=True)
class PaddingReport:
    """Everything the padding check measured.

    Attributes:
        model: name of the model.
        changes: one entry per probe and output.
        mask_loss: where the Keras mask is lost first; `None` where it never is, or
            where the check passed, so that nothing missed it.
        first_leak: path of the first layer whose valid outputs changed, or `None`.
    """

    model: str
    changes: tuple[Change, ...]
    mask_loss: MaskLoss | None
    first_leak: str | None

    @property
    def passed(self) -> bool:
        """Whether something was compared and all of it kept still."""
        return bool(self.changes) and all(change.passed for change in self.changes)

    @property
    def worst(self) -> Change:
        """The change that exceeds its tolerance most; NaN before any number."""
        excess = [change.largest - change.tolerance for change in self.changes]
        return self.changes[int(np.argmax(excess))]  # for which NaN is the largest

    @property
    def diagnosis(self) -> tuple[str, ...]:
        """Why the check failed, as clauses; empty where it passed."""
        if self.passed:
            return ()
        clauses = []
        if self.first_leak is not None:
            clauses.append(f"first changed valid output: `{self.first_leak}`")
        if (loss := self.mask_loss) is not None:
            clauses.append(f"mask first lost at: `{loss.layer}`, as {loss.reason}")
        return tuple(clauses) or ("no layer inside the model could be named",)

    def raise_if_failed(self) -> None:
        """Raise a `PaddingError` that holds the report unless the check passed."""
        if not self.passed:
            raise PaddingError(self)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data; a change that is no number is a string, `"nan"`."""
        data = asdict(self) | {"passed": self.passed}
        for change, entry in zip(self.changes, data["changes"], strict=True):
            number = change.largest
            entry["largest"] = number if math.isfinite(number) else str(number)
            entry["where"] = None if change.where is None else list(change.where)
            entry["passed"] = change.passed
        data["changes"] = list(data["changes"])
        return data

    def to_json(self) -> str:
        """The report as JSON."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def __str__(self) -> str:
        from rich.table import Table

        verdict = "valid outputs keep still" if self.passed else "valid outputs change"
        table = Table(*("output", "probe", "largest change", "at", "tolerance", ""))
        for change in self.changes:
            cells = (
                change.output,
                change.probe,
                f"{change.largest:.1e}",
                "-" if change.where is None else str(change.where),
                f"{change.tolerance:.1e}",
                "ok" if change.passed else "leak",
            )
            table.add_row(*cells)
        title = f"Padding of {self.model}: {verdict}"
        return as_text(title, table, *self.diagnosis)

    def __rich__(self) -> Any:
        from rich.text import Text

        return Text(str(self), no_wrap=True)
