// Colours from the style sheet, so that canvases follow the light and the dark scheme.

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function channels(name) {
  const hexadecimal = colour(name).slice(1);
  return [0, 2, 4].map((at) => parseInt(hexadecimal.slice(at, at + 2), 16));
}

// A function from a value in [-1, 1] to [red, green, blue].
export function divergingColours() {
  const [low, middle, high] = ["low", "middle", "high"].map(channels);
  return (value) => {
    const end = value < 0 ? low : high;
    const share = Math.min(1, Math.abs(value));
    return middle.map((channel, i) => channel + (end[i] - channel) * share);
  };
}
