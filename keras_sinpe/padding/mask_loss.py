"""Where the Keras mask of a model is lost first."""

from collections.abc import Iterator

import keras
import numpy as np

from keras_sinpe.padding.report import MaskLoss
from keras_sinpe.padding.runs import Call, Run


def find_mask_loss(run: Run) -> MaskLoss | None:
    """The first loss that no enclosing layer makes good, else the first of all."""
    losses = list(_losses(run))
    lasting = [loss for call, loss in losses if not _is_made_good(call)]
    return next(iter(lasting or [loss for _, loss in losses]), None)


def _is_made_good(call: Call) -> bool:
    enclosing = call.ancestors()
    return any(m is not None for outer in enclosing for m in outer.output_masks)


def _losses(run: Run) -> Iterator[tuple[Call, MaskLoss]]:
    deleted_by: dict[int, str] = {}
    known: set[int] = set()
    shapes = {mask.shape for mask, _ in run.masks}
    previous: Call | None = None
    for call in run.calls:
        if _drops_mask(call):
            yield call, MaskLoss(call.path, _reason(call, deleted_by))
        elif previous is not None and _takes_unmasked_stranger(call, known, shapes):
            reason = (
                f"an operation on tensors between `{previous.path}` and `{call.path}` "
                "hands no mask on"
            )
            yield call, MaskLoss(call.path, reason)
        masks = zip(call.inputs, call.masks_before, call.masks_after, strict=True)
        deleted_by |= {
            id(tensor): call.path
            for tensor, before, after in masks
            if before is not None and after is None
        }
        known |= {id(tensor) for tensor in call.inputs + call.outputs}
        previous = call


def _drops_mask(call: Call) -> bool:
    """Whether outputs have the axes of a masked input, and none of them its mask.

    An output of lower rank (pooling, a last state) has used the mask up, and one of
    truth values is a mask itself. A mask that calls padding valid is none.
    """
    masked = [
        (tensor, mask)
        for tensor, mask in zip(call.inputs, call.masks_before, strict=True)
        if mask is not None and tuple(mask.shape) == tuple(tensor.shape[:2])
    ]
    like = [
        mask
        for output, mask in zip(call.outputs, call.output_masks, strict=True)
        for tensor, _ in masked[:1]
        if output.shape[:2] == tensor.shape[:2]
        and len(output.shape) >= len(tensor.shape)
        and output.dtype.name != "bool"
    ]
    valid = np.any([mask for _, mask in masked if mask.shape == masked[0][1].shape], 0)
    return bool(like) and all(m is None or np.any(np.asarray(m) & ~valid) for m in like)


def _reason(call: Call, deleted_by: dict[int, str]) -> str:
    robbed = [deleted_by[id(t)] for t in call.inputs if id(t) in deleted_by]
    kind = type(call.layer).__name__
    if not isinstance(call.layer, keras.Layer):
        return "an operation on tensors hands no mask on"
    if robbed:
        return f"`{robbed[0]}` deletes the mask of its inputs"
    if not call.layer.supports_masking:
        return f"{kind} does not support masking"
    if any(mask is not None for mask in call.output_masks):
        return f"`compute_mask` of {kind} calls padding valid"
    return f"`compute_mask` of {kind} returned none"


def _takes_unmasked_stranger(
    call: Call, known: set[int], shapes: set[tuple[int, ...]]
) -> bool:
    """Whether an input shaped like a masked one came from outside any layer."""
    seen = known | {id(t) for outer in call.ancestors() for t in outer.inputs}
    strange = any(
        mask is None
        and id(tensor) not in seen
        and len(tensor.shape) > 2
        and tuple(tensor.shape[:2]) in shapes
        for tensor, mask in zip(call.inputs, call.masks_before, strict=True)
    )
    return strange and all(mask is None for mask in call.output_masks)
