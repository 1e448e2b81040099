"""Compare names, dtypes and axes that an artifact declares with its model's."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from keras_sinpe.artifacts.runners import Arrays, Port, Runner
from keras_sinpe.model.prepared import Shapes
from keras_sinpe.model.signatures import Signature
from keras_sinpe.parity.comparison import Fault


def input_faults(signature: Signature, ports: Mapping[str, Port]) -> list[Fault]:
    """Faults in the names and dtypes of an artifact's inputs."""
    specs = {spec.name: spec for spec in signature.inputs}
    faults = name_faults("input", specs, ports)
    for name in specs.keys() & ports.keys():
        wanted, got = specs[name].dtype, ports[name].dtype
        if wanted != got:
            message = f"is an input of {got}, the model's is {wanted}"
            faults.append(Fault("dtype", name, message))
        shape = ports[name].shape
        if shape is not None and not _is_as_free(specs[name].axes, shape):
            message = f"has the axes {shape}, the model's are {specs[name].axes}"
            faults.append(Fault("axes", name, message))
    return faults


def output_faults(runs: Sequence[Shapes], ports: Mapping[str, Port]) -> list[Fault]:
    """Faults in the axes of outputs: sizes that are declared, but not computed."""
    faults = []
    for sizes, shapes in runs:
        for name in shapes.keys() & ports.keys():
            declared = ports[name].shape
            if declared is not None and not _is_as_free(shapes[name], declared):
                message = (
                    f"has the axes {declared}, the model's shape is {shapes[name]}"
                )
                faults.append(Fault("axes", name, f"{message} at {dict(sizes)}"))
    return faults


def _is_as_free(wanted: Sequence[int | str], declared: Sequence[object]) -> bool:
    """Whether the declared axes fix no size but those that are wanted."""
    return len(wanted) == len(declared) and all(
        not isinstance(size, int) or size == own
        for own, size in zip(wanted, declared, strict=True)
    )


def name_faults(role: str, wanted: Iterable[str], got: Iterable[str]) -> list[Fault]:
    """Faults for every name that is missing from an artifact or foreign to its model.

    >>> [fault.message for fault in name_faults("output", ["head"], ["Identity:0"])]
    ['is an output of the model only', 'is an output of the artifact only']
    """
    wanted, got = list(wanted), list(got)
    missing = [name for name in wanted if name not in got]
    foreign = [name for name in got if name not in wanted]
    return [
        Fault("name", name, f"is an {role} of the {owner} only")
        for owner, names in (("model", missing), ("artifact", foreign))
        for name in names
    ]


class RenamedRunner:
    """A runner whose inputs and outputs are called otherwise.

    Args:
        runner: the artifact.
        inputs: the artifact's own name of each input that is called otherwise.
        outputs: likewise of each output.
    """

    def __init__(
        self, runner: Runner, inputs: Mapping[str, str], outputs: Mapping[str, str]
    ) -> None:
        self._runner = runner
        self._own_inputs = inputs
        self._names = {own: name for name, own in outputs.items()}
        names = {own: name for name, own in inputs.items()}
        self.inputs = {names.get(o, o): port for o, port in runner.inputs.items()}
        self.outputs = {self._named(o): port for o, port in runner.outputs.items()}

    @property
    def precision(self) -> str:
        """The least precise dtype in the graph."""
        return self._runner.precision

    def run(self, feeds: Mapping[str, Any]) -> Arrays:
        """Compute every output from one array per input name."""
        own = {self._own_inputs.get(name, name): feed for name, feed in feeds.items()}
        outputs = self._runner.run(own)
        return {self._named(name): array for name, array in outputs.items()}

    def _named(self, own: str) -> str:
        return self._names.get(own, own)
