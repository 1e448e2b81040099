"""Where the Keras mask of a model is lost first."""

from collections.abc import Iterator
from typing import Any

import keras

from keras_sinpe.padding.report import MaskLoss
from keras_sinpe.padding.tracing import Call, Trace


def find_mask_loss(trace: Trace) -> MaskLoss | None:
    """The first loss that no enclosing layer makes good, else the first of all."""
    losses = list(_losses(trace))
    lasting = [loss for call, loss in losses if not _is_made_good(call)]
    healed = [loss for call, loss in losses if _is_made_good(call)]
    return next(iter(lasting + healed), None)


def _is_made_good(call: Call) -> bool:
    enclosing = call.ancestors()
    return any(m is not None for outer in enclosing for m in outer.output_masks)


def _losses(trace: Trace) -> Iterator[tuple[Call, MaskLoss]]:
    deleted_by: dict[int, str] = {}
    known: set[int] = set()
    previous: Call | None = None
    for call in trace.calls:
        if (tensor := _masked_before(call)) is not None and _drops(call, tensor):
            yield call, MaskLoss(call.path, _reason(call, deleted_by))
        elif previous is not None and _takes_unmasked_stranger(call, known, trace):
            yield call, _loss_between(previous, call)
        deleted_by |= dict.fromkeys(_deleted(call), call.path)
        known |= {id(tensor) for tensor in call.inputs + call.outputs}
        previous = call


def _masked_before(call: Call) -> Any:
    """The first input whose mask covers its batch and length."""
    for tensor, mask in zip(call.inputs, call.masks_before, strict=True):
        if mask is not None and tuple(mask.shape) == tuple(tensor.shape[:2]):
            return tensor
    return None


def _drops(call: Call, masked: Any) -> bool:
    """Whether outputs have the axes of the masked input, and none of them its mask.

    An output of lower rank (pooling, a last state) has used the mask up.
    """
    like = [
        mask
        for output, mask in zip(call.outputs, call.output_masks, strict=True)
        if output.shape[:2] == masked.shape[:2]
        and len(output.shape) >= len(masked.shape)
    ]
    return bool(like) and all(mask is None for mask in like)


def _deleted(call: Call) -> list[int]:
    masks = zip(call.inputs, call.masks_before, call.masks_after, strict=True)
    return [id(t) for t, before, after in masks if before is not None and after is None]


def _reason(call: Call, deleted_by: dict[int, str]) -> str:
    robbed = [deleted_by[id(t)] for t in call.inputs if id(t) in deleted_by]
    if not isinstance(call.layer, keras.Layer):
        return "an operation on tensors hands no mask on"
    if robbed:
        return f"`{robbed[0]}` deletes the mask of its inputs"
    if not call.layer.supports_masking:
        return f"{type(call.layer).__name__} does not support masking"
    return f"`compute_mask` of {type(call.layer).__name__} returned none"


def _takes_unmasked_stranger(call: Call, known: set[int], trace: Trace) -> bool:
    """Whether an input shaped like a masked one came from outside any layer."""
    shapes = {mask.shape for mask, _ in trace.masks}
    seen = known | {id(t) for outer in call.ancestors() for t in outer.inputs}
    strange = any(
        mask is None
        and id(tensor) not in seen
        and len(tensor.shape) > 2
        and tuple(tensor.shape[:2]) in shapes
        for tensor, mask in zip(call.inputs, call.masks_before, strict=True)
    )
    return strange and all(mask is None for mask in call.output_masks)


def _loss_between(previous: Call, call: Call) -> MaskLoss:
    return MaskLoss(
        call.path,
        f"an operation on tensors between `{previous.path}` and `{call.path}` "
        "hands no mask on",
    )
