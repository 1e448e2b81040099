"""Choose the runs of a check: the user's inputs, or random ones for the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keras_sinpe.parity.drawing import Feeds
from keras_sinpe.parity.keras_runner import KerasRunner
from keras_sinpe.parity.samples import GivenSamples, Make, RandomSamples
from keras_sinpe.parity.vocabularies import integer_limits

Inputs = Make | Feeds | Sequence[Feeds] | None


def plan_samples(
    reference: KerasRunner,
    batch_sizes: Sequence[int],
    lengths: Sequence[int],
    inputs: Inputs = None,
    seed: int = 0,
) -> GivenSamples | RandomSamples:
    """Decide on cases and inputs for a model.

    Args:
        reference: The model; it tells which inputs it takes.
        batch_sizes: Batch sizes to combine with `lengths`.
        lengths: Sizes for every other free axis.
        inputs: The user's arrays by name, a list of these, or a function from a `Case`
            and a random generator to one; `None` draws them at random.
        seed: Seed of the inputs.
    """
    if inputs is not None and not callable(inputs):
        given = [inputs] if isinstance(inputs, Mapping) else list(inputs)
        return GivenSamples(reference.signature, given)
    return RandomSamples(
        reference.signature,
        batch_sizes,
        lengths,
        integer_limits(reference.model, reference.signature),
        reference.refusal,
        inputs,
        seed,
    )
