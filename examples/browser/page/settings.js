// The form: what is set, what is wrong with it, and the words beside the sliders.

const FIRST = -(2 ** 31);
const LAST = 2 ** 31 - 1;

const field = (id) => document.getElementById(id);
const grouped = (number) => number.toLocaleString("en");

export class Settings {
  constructor({ widths, maxWavelengths, longest }) {
    this.widths = widths;
    this.maxWavelengths = maxWavelengths;
    field("length").max = longest;
    this.#offer("width", widths, 64);
    this.#offer("wavelength", maxWavelengths, 10000);
  }

  // A slider over a list: its number is a place in the list.
  #offer(id, values, preferred) {
    field(id).max = values.length - 1;
    field(id).value = Math.max(0, values.indexOf(preferred));
  }

  onChange(listener) {
    field("settings").addEventListener("submit", (event) => event.preventDefault());
    field("settings").addEventListener("input", ({ target }) => {
      if (target.id === "start-slider") field("start").value = target.value;
      if (target.id === "start" && target.value) field("start-slider").value = target.value;
      listener();
    });
    field("settings").addEventListener("click", ({ target }) => {
      if (target.dataset.start === undefined) return;
      field("start").value = field("start-slider").value = target.dataset.start;
      listener();
    });
  }

  choose({ row, feature }) {
    field("position").value = row;
    field("feature").value = feature;
  }

  // What to run, or nothing while the first position is not usable.
  read() {
    const length = field("length").valueAsNumber;
    const start = field("start").valueAsNumber;
    const problem = startProblem(start, length);
    field("start-error").textContent = problem;
    field("start").setAttribute("aria-invalid", String(problem !== ""));
    const width = this.widths[field("width").value];
    const maxWavelength = this.maxWavelengths[field("wavelength").value];
    this.#show({ length, width, maxWavelength });
    return problem ? undefined : { length, start, width, maxWavelength };
  }

  // The row and the feature shown, after fitting the sliders to the encoding.
  choice({ start, length, width }) {
    field("position").max = length - 1;
    field("feature").max = width - 1;
    const row = field("position").valueAsNumber;
    const feature = field("feature").valueAsNumber;
    this.#say("position", grouped(start + row));
    this.#say("feature", String(feature));
    return { row, feature };
  }

  #show({ length, width, maxWavelength }) {
    this.#say("length", grouped(length));
    this.#say("width", String(width));
    this.#say("wavelength", grouped(maxWavelength));
  }

  // For eyes and, as the slider's value, for screen readers.
  #say(id, text) {
    field(`${id}-value`).textContent = text;
    field(id).setAttribute("aria-valuetext", text);
  }
}

function startProblem(start, length) {
  const last = LAST - length + 1;
  if (Number.isInteger(start) && start >= FIRST && start <= last) return "";
  return `A whole number from ${grouped(FIRST)} to ${grouped(last)}, please.`;
}
