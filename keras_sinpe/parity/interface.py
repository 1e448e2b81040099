"""Compare the names and dtypes that an artifact declares with those of its model."""

from collections.abc import Iterable, Mapping

from keras_sinpe.artifacts.runners import Port
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
    return faults


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
