"""The browser page in headless Chromium, used by mouse and keyboard.

Run by `make test-browser-page`, which builds the page and installs what drives it. The
screenshots are left in `artifacts/browser/`.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from visits import VISITS

from keras_sinpe.reference import encode

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "examples/browser"
SCREENSHOTS = ROOT / "artifacts/browser"

# 5e-7 for the encoding itself, and half of the seventh digit that the table shows.
TABLE_TOLERANCE = 5.5e-7


@pytest.fixture(scope="module")
def address():
    command = [sys.executable, PAGE / "serve.py", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield server.stdout.readline().split()[0]
        finally:
            server.terminate()


@pytest.fixture(scope="module")
def visits(address, tmp_path_factory):
    """What Chromium found on each visit: one browser for all of them."""
    if shutil.which("node") is None:
        pytest.fail("The page is driven by Node.js: `apt-get install nodejs npm`.")
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    steps = tmp_path_factory.mktemp("browser") / "steps.json"
    steps.write_text(json.dumps(list(VISITS.values())))
    driver = ["node", HERE / "drive_page.mjs", address, SCREENSHOTS, steps]
    done = subprocess.run(driver, check=True, stdout=subprocess.PIPE, text=True)
    return dict(zip(VISITS, json.loads(done.stdout), strict=True))


def only_reading(visit):
    (reading,) = visit["readings"]
    return reading


def number(text):
    return int(text.replace(",", ""))


def expected_row(reading):
    return encode(
        number(reading["position"]),
        number(reading["width"]),
        max_wavelength=number(reading["maxWavelength"]),
    )


def assert_values_of_the_position_shown(reading):
    assert reading["error"] == ""
    row = expected_row(reading)
    np.testing.assert_allclose(reading["values"], row, rtol=0, atol=TABLE_TOLERANCE)
    shown = reading["values"][number(reading["feature"])]
    assert reading["reading"] == pytest.approx(shown, abs=5.1e-7)  # six digits


@pytest.mark.parametrize("name", ["desktop", "phone", "dark"])
def test_the_page_opens_on_the_papers_encoding(visits, name):
    reading = only_reading(visits[name])
    settings = ("length", "width", "maxWavelength", "position", "feature")
    assert [reading[setting] for setting in settings] == [
        "128",
        "64",
        "10,000",
        "64",
        "16",
    ]
    assert_values_of_the_position_shown(reading)
    assert visits[name]["errors"] == []


@pytest.mark.parametrize("name", ["desktop", "phone"])
def test_nothing_sticks_out_of_the_window(visits, name):
    assert only_reading(visits[name])["overflow"] <= 0


@pytest.mark.parametrize("name", ["desktop", "phone", "dark"])
def test_a_screenshot_is_kept(visits, name):
    picture = SCREENSHOTS / f"{name}.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 20_000  # a blank page has a tenth of it


def test_everything_is_reached_by_keyboard(visits):
    reading = only_reading(visits["keyboard"])
    settings = ("length", "width", "maxWavelength", "position", "feature")
    assert [reading[setting] for setting in settings] == ["125", "32", "100", "5", "31"]
    assert reading["focus"] == "feature"
    assert_values_of_the_position_shown(reading)
    assert "width_32_wavelength_100.onnx" in reading["run"]


def test_the_value_shown_stays_inside_a_smaller_encoding(visits):
    reading = only_reading(visits["shrinking"])
    settings = ("length", "width", "position", "feature")
    assert [reading[setting] for setting in settings] == ["2", "8", "1", "7"]
    assert_values_of_the_position_shown(reading)


def test_a_click_in_the_heat_map_chooses_the_value(visits):
    reading = only_reading(visits["mouse"])
    assert (reading["position"], reading["feature"]) == ("1,000,000", "0")
    assert_values_of_the_position_shown(reading)


def test_any_first_position_is_exact(visits):
    assert [
        number(reading["position"]) for reading in visits["starts"]["readings"]
    ] == [
        0,
        70_065,
        2_147_483_064,
    ]
    for reading in visits["starts"]["readings"]:
        assert_values_of_the_position_shown(reading)


def test_the_dot_products_are_those_of_the_encoding(visits):
    reading = only_reading(visits["keyboard"])
    length = number(reading["length"])
    rows = encode(np.arange(length), 32, max_wavelength=100)
    products = rows @ rows[5]
    words = reading["dotProducts"].split()
    itself, least = float(words[words.index("itself,") - 2]), float(words[-4])
    assert itself == pytest.approx(products[5], abs=0.00501)  # two digits
    assert least == pytest.approx(products.min(), abs=0.00501)


def test_a_first_position_out_of_range_is_refused_and_the_last_picture_stays(visits):
    *refused, accepted = visits["refused starts"]["readings"]
    sentence = "A whole number from -2,147,483,648 to 2,147,483,520, please."
    assert [reading["startError"] for reading in refused] == [sentence] * 3
    assert [reading["position"] for reading in refused] == ["64"] * 3
    assert (accepted["startError"], accepted["position"]) == ("", "67")
    assert visits["refused starts"]["errors"] == []


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "no catalogue",
            "There is no encodings/catalogue.json: run “make browser-page”, then "
            "reload this page.",
        ),
        (
            "no encodings",
            "There is no encodings/width_64_wavelength_10000.onnx: run “make "
            "browser-page”, then reload this page.",
        ),
        (
            "no runtime",
            "ONNX Runtime Web 1.30.0 could not start in this browser. Its own words:",
        ),
    ],
)
def test_what_is_missing_is_said_on_the_page(visits, name, sentence):
    assert only_reading(visits[name])["error"].startswith(sentence)


def test_nothing_is_fetched_from_elsewhere(visits, address):
    requests = [url for visit in visits.values() for url in visit["requests"]]
    assert requests
    assert [url for url in requests if not url.startswith(address)] == []
