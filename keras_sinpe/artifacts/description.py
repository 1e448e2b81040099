"""Print what an artifact is: inputs, outputs, and what its record says."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from keras_sinpe.arguments import printable
from keras_sinpe.artifacts.record import read_record
from keras_sinpe.artifacts.runners import Port, open_runner

PROOFS = {
    "bound": "the artifact is as it was when it was proved",
    "changed": "none for this artifact: it was changed since it was proved",
    "unbound": "no digest: written by 0.1.0, which did not bind it to the artifact",
    "unreadable": "no readable record",
    "none": "no record: another exporter made this",
}


@dataclass(frozen=True)
class Description:
    """What an artifact wants, gives and says about itself.

    Attributes:
        artifact: its path.
        inputs: what it wants, by name.
        outputs: what it gives, by name.
        proof: `"bound"` if graph and weights are those that were proved, `"changed"` if
            they are not, `"unbound"` if 0.1.0 made it and nothing tells, `"unreadable"`
            if what it says is no record, `"none"` if another exporter made it.
        metadata: the record; empty if there is none that can be read.
    """

    artifact: str
    inputs: Mapping[str, Port]
    outputs: Mapping[str, Port]
    proof: str
    metadata: Mapping[str, Any]

    def to_json(self) -> str:
        """The description as JSON."""
        data = {
            "artifact": self.artifact,
            "inputs": [vars(port) for port in self.inputs.values()],
            "outputs": [vars(port) for port in self.outputs.values()],
            "proof": self.proof,
            "metadata": self.metadata,
        }
        return json.dumps(data, indent=2, allow_nan=False)

    def __str__(self) -> str:
        lines = [printable(self.artifact, 1000)]
        for role, ports in (("input ", self.inputs), ("output", self.outputs)):
            lines += [f"{role}  {line}" for line in _columns(ports)]
        lines.append(f"proof: {PROOFS[self.proof]}")
        if self.metadata:
            lines += _record_lines(self.metadata, proved=self.proof != "changed")
        return "\n".join(lines)


def describe(
    filepath: str | os.PathLike[str], *, endpoint: str = "serving_default"
) -> Description:
    """Say what an artifact wants and gives, how it was made and how it was proved.

    An artifact whose graph or weights are not those that were checked, because it was
    quantized or edited since, is described, but not called proved. Its name is free.

    Args:
        filepath: A SavedModel directory or an ONNX file, of any exporter.
        endpoint: the signature of a SavedModel to describe.

    Returns:
        The description; it prints as one fact a line, whatever the artifact says.

    Raises:
        FileNotFoundError: there is no artifact.
        ModuleNotFoundError: its runtime is not installed; the sentence says how to.
        ValueError: the artifact does not load, or has no such endpoint.

    Example:
    >>> import os, tempfile, keras
    >>> from keras_sinpe.exporting import export_onnx
    >>> model = keras.Sequential([keras.Input((None, 4)), keras.layers.Dense(3)])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.onnx")
    >>> _ = export_onnx(model, path, lengths=(1, 5))
    >>> describe(path).proof, describe(path).metadata["opset_version"]
    ('bound', 17)
    """
    runner = open_runner(filepath, endpoint)
    proof, record = read_record(filepath)
    path = os.fspath(filepath)
    return Description(path, runner.inputs, runner.outputs, proof, record)


def _columns(ports: Mapping[str, Port]) -> Iterator[str]:
    """One line for each port: name, dtype and axes below each other."""
    rows = [
        (printable(port.name), port.dtype, " x ".join(port.axes or ["unknown rank"]))
        for port in ports.values()
    ]
    names, dtypes = (max((len(row[i]) for row in rows), default=0) for i in (0, 1))
    for name, dtype, axes in rows:
        yield f"{name:{names}}  {dtype:{dtypes}}  {axes}"


def _record_lines(record: Mapping[str, Any], proved: bool) -> Iterator[str]:
    if proved:
        for endpoint, report in record["parity"].items():
            yield from _report_lines(printable(endpoint), report)
    for key, value in record.items():
        if isinstance(value, str | int):
            yield f"{printable(key)}: {printable(value)}"
    for layer in record["layers"]:
        options = layer.get("options", layer["config"])
        given = ", ".join(f"{name}={value!r}" for name, value in options.items())
        yield (
            f"layer {printable(layer['name'])}: "
            f"{printable(layer['class'])}({printable(given, 1000)})"
        )
    for package, version in record["versions"].items():
        yield f"{printable(package)} {printable(version)}"


def _report_lines(endpoint: str, report: Mapping[str, Any]) -> Iterator[str]:
    verdict = "passed" if report["passed"] else "failed"
    yield f"parity of {endpoint}: {verdict} in {report['runs']} runs"
    for row in report["outputs"]:
        error = row["error"]
        shown = f"{error:.2e}" if isinstance(error, float) else printable(error)
        yield f"parity of {endpoint}: {printable(row['output'])} within {shown}"
    for note in report["notes"]:
        yield f"note on {endpoint}: {printable(note, 500)}"
