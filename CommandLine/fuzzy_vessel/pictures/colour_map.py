"""A calm colour map whose lightness grows evenly: what is wider is lighter and warmer."""

import numpy as np

# Lightness, chroma and hue (degrees) in OKLab (B. Ottosson, 2020), from low to high.
STOPS = (
    (0.58, 0.13, 262),
    (0.68, 0.11, 225),
    (0.77, 0.11, 180),
    (0.85, 0.13, 128),
    (0.93, 0.12, 96),
)


def colours(values, low, high):
    """Colours of numbers.

    Parameters
    ----------
    values : array_like
    low, high : float
        What gets the first and the last colour; values beyond get these, too.

    Returns
    -------
    ndarray of uint8, values' shape + (3,)
    """
    place = np.clip((np.asarray(values, float) - low) / max(high - low, 1e-12), 0, 1)
    at = np.linspace(0, 1, len(STOPS))
    lightness, chroma, hue = (np.interp(place, at, column) for column in zip(*STOPS))
    return _srgb(lightness, chroma, np.radians(hue))


def _srgb(lightness, chroma, hue):
    """OKLab to sRGB, by Ottosson's matrices."""
    a, b = chroma * np.cos(hue), chroma * np.sin(hue)
    long, middle, short = (
        (lightness + p * a + q * b) ** 3
        for p, q in ((0.3963377774, 0.2158037573), (-0.1055613458, -0.0638541728),
                     (-0.0894841775, -1.2914855480))
    )  # fmt: skip
    linear = np.stack(
        [
            4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
            -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
            -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
        ],
        axis=-1,
    )
    linear = np.clip(linear, 0, 1)
    curved = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.round(255 * curved).astype(np.uint8)
