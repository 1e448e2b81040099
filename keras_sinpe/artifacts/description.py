"""Read back what an artifact is: inputs, outputs, and what its exporter wrote down."""

import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from keras_sinpe.artifacts.runners import Port, open_runner


@dataclass(frozen=True)
class Description:
    """What an artifact wants, gives and says about itself.

    Attributes:
        artifact: its path.
        inputs: what it wants, by name.
        outputs: what it gives, by name.
        metadata: what its exporter wrote down; empty if another one made it.
    """

    artifact: str
    inputs: Mapping[str, Port]
    outputs: Mapping[str, Port]
    metadata: Mapping[str, Any]

    def to_json(self) -> str:
        """The description as JSON."""
        data = {
            "artifact": self.artifact,
            "inputs": [vars(port) for port in self.inputs.values()],
            "outputs": [vars(port) for port in self.outputs.values()],
            "metadata": self.metadata,
        }
        return json.dumps(data, indent=2)

    def __str__(self) -> str:
        from rich import box
        from rich.console import Console
        from rich.table import Table

        table = Table("", "name", "dtype", "axes", box=box.SIMPLE_HEAD)
        for role, ports in (("input", self.inputs), ("output", self.outputs)):
            for port in ports.values():
                table.add_row(role, port.name, port.dtype, _axes(port))
        console = Console(file=io.StringIO(), width=100, color_system=None)
        console.print(self.artifact, markup=False, highlight=False, soft_wrap=True)
        console.print(table)
        for line in _metadata_lines(self.metadata):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
        text: str = console.file.getvalue()  # type: ignore[attr-defined]
        return "\n".join(line.rstrip() for line in text.splitlines())


def describe(
    filepath: str | os.PathLike[str], *, endpoint: str = "serving_default"
) -> Description:
    """Say what an artifact wants and gives, how it was made and how it was proved.

    Args:
        filepath: A SavedModel directory or an ONNX file, of any exporter.
        endpoint: the signature of a SavedModel to describe.

    Returns:
        The description; it prints as a table.

    Raises:
        FileNotFoundError: there is no artifact.
        ValueError: the artifact does not load, or has no such endpoint.

    Example:
    >>> import os, tempfile, keras
    >>> from keras_sinpe.exporting import export_onnx
    >>> model = keras.Sequential([keras.Input((None, 4)), keras.layers.Dense(3)])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.onnx")
    >>> _ = export_onnx(model, path, lengths=(1, 5))
    >>> describe(path).metadata["opset_version"]
    17
    """
    runner = open_runner(filepath, endpoint)
    path = os.fspath(filepath)
    return Description(path, runner.inputs, runner.outputs, runner.metadata)


def _axes(port: Port) -> str:
    if port.shape is None:
        return "unknown"
    return " x ".join("?" if size is None else str(size) for size in port.shape)


def _metadata_lines(metadata: Mapping[str, Any]) -> list[str]:
    if not metadata:
        return ["No metadata: another exporter made this."]
    facts = {k: v for k, v in metadata.items() if isinstance(v, str | int)}
    lines = [f"{key}: {value}" for key, value in facts.items()]
    for layer in metadata["layers"]:
        lines.append(f"layer {layer['name']}: {layer['class']} {layer['config']}")
    for endpoint, report in metadata["parity"].items():
        verdict = "passed" if report["passed"] else "failed"
        errors = (
            f"{row['output']} within {row['error']:.2e}" for row in report["outputs"]
        )
        runs = f"{report['runs']} runs"
        lines.append(f"parity of {endpoint} {verdict} in {runs}: {', '.join(errors)}")
        lines += [f"note: {note}" for note in report["notes"]]
    lines.append(", ".join(f"{k} {v}" for k, v in metadata["versions"].items()))
    return lines
