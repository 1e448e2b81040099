"""The example of the padding trap shows what its page says."""

import keras
import pytest
from padding_trap import classifier

from keras_sinpe import check_padding


def verdicts(report):
    """Per output, whether it kept still under every probe."""
    names = {change.output for change in report.changes}
    return {
        name: all(c.passed for c in report.changes if c.output == name)
        for name in names
    }


@pytest.mark.parametrize(
    ("blocks", "explicit_mask", "tokens", "pooled"),
    [
        (1, False, True, False),  # the pooling has no mask any more
        (2, False, False, False),  # nor has the second attention
        (1, True, True, True),
        (2, True, True, True),
    ],
)
def test_only_the_explicit_mask_is_immune(blocks, explicit_mask, tokens, pooled):
    keras.utils.set_random_seed(0)
    report = check_padding(classifier(blocks, explicit_mask=explicit_mask))
    assert verdicts(report) == {"tokens": tokens, "pooled": pooled}
