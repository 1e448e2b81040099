"""Parameter sets that between them move every parameter, alone and combined."""

# Each suits any width but 1 and 2, where a series of one pair hides the wavelengths.
CONVENTIONS = {
    "the paper": {},
    "tensor2tensor": {"frequency_shift": 1.0, "layout": "halves"},
    "cosines in front": {"layout": "halves", "cos_first": True},
    "cosines first, side by side": {"cos_first": True},
    "half a step": {"frequency_shift": 0.5, "layout": "halves"},
    "a negative shift": {"frequency_shift": -1.0},
    "odd widths truncated": {"odd": "truncate", "layout": "halves"},
    "odd widths truncated, side by side": {"odd": "truncate"},
    "odd widths padded": {"odd": "zero", "frequency_shift": 1.0, "layout": "halves"},
    "odd widths padded, cosines first": {"odd": "zero", "cos_first": True},
    "counting from one": {"first_position": 1},
    "counting from padding": {"first_position": -2.75, "layout": "halves"},
    "half steps": {"position_scale": 0.5},
    "backwards": {"position_scale": -1.0, "first_position": 3},
    "times from 0 to 1": {"position_scale": 1000.0, "layout": "halves"},
    "a thousand from one": {"position_scale": 1000.0, "first_position": 0.1},
    "unit norm": {"output_scale": "unit_norm"},
    "half size": {"output_scale": 0.5, "frequency_shift": 1.0},
    "long waves": {"min_wavelength": 2.0, "frequency_shift": 1.0},
    "mass spectrometry": {"min_wavelength": 0.001},
    "a billion turns": {"min_wavelength": 2e-10},
    "short series": {"max_wavelength": 100.0},
    "from long to short": {"min_wavelength": 50.0, "max_wavelength": 0.5},
    "all alike": {"min_wavelength": 7.0, "max_wavelength": 7.0},
}
