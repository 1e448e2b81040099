"""What other libraries compute, each as our parameters, with its source beside it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_HALVES = {"layout": "halves"}
_SHIFTED = {"layout": "halves", "frequency_shift": 1.0}
_PADDED = {**_SHIFTED, "odd": "zero"}
_COUNTED = {"first_position": 2, "positions_from_mask": True, "zero_masked": True}

ENDS_IN_ZERO = "an odd row ends in a zero"
NO_ODD = "odd widths are refused"
ONE_LESS = "an odd width gives one feature less, which fits no embedding of that width"
ONE_MORE = "an odd width gives one feature more, which fits no embedding of that width"


@dataclass(frozen=True)
class Convention:
    """A library's variant of the encoding.

    Attributes:
        source: library, and where in it the formula stands.
        parameters: the arguments of our layers that give the same.
        odd_widths: what the library does with them.
        takes_odd: whether it encodes them.
        least_width: the smallest width that it encodes with finite numbers.
        usual_widths: those of its published models; `make proof` certifies them.
    """

    source: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    odd_widths: str = NO_ODD
    takes_odd: bool = False
    least_width: int = 2
    usual_widths: tuple[int, ...] = (512,)


CONVENTIONS: dict[str, Convention] = {
    "vaswani": Convention(
        "Vaswani et al. 2017, section 3.5",
        odd_widths="the paper has none; ours end in a sine",
        usual_widths=(512, 1024),
    ),
    "keras_hub": Convention(
        "keras-hub: SinePositionEncoding",
        odd_widths="an odd row ends in a sine, exponents use the odd width",
        takes_odd=True,
        least_width=1,
    ),
    "pytorch_examples": Convention(
        "pytorch/examples: word_language_model, PositionalEncoding",
        usual_widths=(200, 512),
    ),
    "trax": Convention("trax: layers/attention.py, PositionalEncoding"),
    "espnet": Convention(
        "espnet: nets/pytorch_backend/transformer/embedding.py, PositionalEncoding",
        {"input_scale": "sqrt_dim"},
        usual_widths=(256, 512),
    ),
    "positional_encodings": Convention(
        "positional-encodings: TFPositionalEncoding1D",
        {"odd": "truncate"},
        "the next even width without its last feature",
        takes_odd=True,
        least_width=1,
    ),
    "tensor2tensor": Convention(
        "tensor2tensor: layers/common_attention.py, get_timing_signal_1d",
        _PADDED,
        ENDS_IN_ZERO,
        takes_odd=True,
        least_width=1,
        usual_widths=(512, 1024),
    ),
    "tf_models": Convention(
        "tf-models-official: nlp/modeling/layers, RelativePositionEmbedding",
        _SHIFTED,
        ONE_LESS,
        least_width=4,
    ),
    "tf_tutorial": Convention(
        "tensorflow.org: tutorials/text/transformer, positional_encoding",
        {**_HALVES, "input_scale": "sqrt_dim"},
        ONE_MORE,
        usual_widths=(128, 512),
    ),
    "whisper": Convention(
        "openai/whisper: model.py, sinusoids; transformers: modeling_whisper.py",
        _SHIFTED,
        least_width=4,
        usual_widths=(384, 512, 768, 1024, 1280),
    ),
    "flax_wmt": Convention(
        "flax: examples/wmt/models.py, sinusoidal_init",
        _PADDED,
        ENDS_IN_ZERO,
        takes_odd=True,
        least_width=4,
        usual_widths=(512, 1024),
    ),
    "opennmt_tf": Convention(
        "OpenNMT-tf: layers/position.py, SinusoidalPositionEncoder",
        {**_SHIFTED, "first_position": 1},
        least_width=4,
    ),
    "fairseq": Convention(
        "fairseq: modules/sinusoidal_positional_embedding.py",
        {**_PADDED, **_COUNTED},
        ENDS_IN_ZERO,
        takes_odd=True,
        least_width=4,
        usual_widths=(512, 1024),
    ),
    "m2m100": Convention(
        "transformers: modeling_m2m_100.py, M2M100SinusoidalPositionalEmbedding",
        {**_PADDED, **_COUNTED},
        ENDS_IN_ZERO,
        takes_odd=True,
        least_width=4,
        usual_widths=(1024,),
    ),
    "marian": Convention(
        "transformers: modeling_marian.py, MarianSinusoidalPositionalEmbedding",
        _HALVES,
        "an odd row has one sine more, exponents use the odd width",
        takes_odd=True,
        least_width=1,
        usual_widths=(512, 1024),
    ),
    "transformer_xl": Convention(
        "kimiyoung/transformer-xl: pytorch/mem_transformer.py, PositionalEmbedding; "
        "its rows are distances, the largest first",
        _HALVES,
        ONE_MORE,
        usual_widths=(410, 1024),
    ),
    "musicgen": Convention(
        "transformers: modeling_musicgen.py, MusicgenSinusoidalPositionalEmbedding",
        {**_PADDED, "cos_first": True},
        ENDS_IN_ZERO,
        takes_odd=True,
        least_width=4,
        usual_widths=(1024,),
    ),
    "ddpm": Convention(
        "hojonathanho/diffusion: nn.py, get_timestep_embedding",
        _PADDED,
        ENDS_IN_ZERO,
        takes_odd=True,
        least_width=4,
        usual_widths=(128,),
    ),
    "stable_diffusion": Convention(
        "CompVis/stable-diffusion: diffusionmodules/util.py, timestep_embedding",
        {**_HALVES, "cos_first": True, "odd": "zero"},
        ENDS_IN_ZERO,
        takes_odd=True,
        usual_widths=(320,),
    ),
    "dit": Convention(
        "facebookresearch/DiT: models.py, get_1d_sincos_pos_embed_from_grid",
        _HALVES,
        usual_widths=(192, 384, 512, 576),
    ),
    "mlx": Convention(
        "mlx: nn/layers/positional_encoding.py, SinusoidalPositionalEncoding",
        {**_SHIFTED, "output_scale": "unit_norm"},
        ONE_LESS,
        least_width=4,
    ),
    "detr": Convention(
        "facebookresearch/detr: position_encoding.py, PositionEmbeddingSine, one axis; "
        "angles count from one",
        {"first_position": 1},
        usual_widths=(128,),
    ),
    "nerf": Convention(
        "Mildenhall et al. 2020, equation 4: sines and cosines of 2**k * pi * x; their "
        "code, bmild/nerf, leaves out pi: `position_scale=1 / pi` gives that",
        odd_widths="a band has two features",
        usual_widths=(8, 20),
    ),
    "keras_ddim": Convention(
        "keras.io: examples/generative/ddim, sinusoidal_embedding; 1 to 1000 turns",
        {
            **_SHIFTED,
            "min_wavelength": 1 / (2 * math.pi),
            "max_wavelength": 1 / (2000 * math.pi),
        },
        ONE_LESS,
        usual_widths=(32, 64),
    ),
}
