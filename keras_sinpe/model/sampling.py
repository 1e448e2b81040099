"""Choose the runs of a check: the user's inputs, or random ones for the model."""

from collections.abc import Mapping, Sequence

from keras_sinpe.model.prepared import KerasRunner
from keras_sinpe.model.random_inputs import Feeds
from keras_sinpe.model.samples import GivenSamples, Make, RandomSamples
from keras_sinpe.model.vocabularies import integer_limits

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
        reference: the model; it tells which inputs it takes.
        batch_sizes: batch sizes to combine with `lengths`.
        lengths: sizes for every other free axis.
        inputs: the user's arrays by name, a list of these, or a function from a `Case`
            and a random generator to one; `None` draws them at random.
        seed: seed of the inputs.
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
