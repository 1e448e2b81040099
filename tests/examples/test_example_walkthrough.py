"""The walk-through prints what its page says, and saves what it names."""

import io
import sys

import numpy as np
import onnxruntime
import pytest
import walkthrough as page
from rich.console import Console

# Half a unit of the eighth digit, which is the last one given.
LAST_DIGIT = 0.5e-8
# The layer computes in float32; numbers are at most 2.
FLOAT32_ROUNDING = 2.4e-7


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """The folder after a run, and what the run printed."""
    folder = tmp_path_factory.mktemp("walk") / "new" / "folder"
    printed = io.StringIO()
    stdout, sys.stdout = sys.stdout, printed
    try:
        page.main(["--output", str(folder), "--length", "20"])
    finally:
        sys.stdout = stdout
    return folder, printed.getvalue()


def cells(table):
    """The text of a rich table, line by line, column by column."""
    console = Console(file=io.StringIO(), width=200)
    console.print(table)
    lines = console.file.getvalue().splitlines()
    return [line.split() for line in lines if line.strip()]


def test_each_word_of_the_sentence_has_the_id_of_its_place():
    words = page.ids_of("Transformers use positional encoding")
    assert words == {"transformers": 0, "use": 1, "positional": 2, "encoding": 3}


def test_the_embedding_table_is_the_one_of_the_legacy_seed():
    first = [0.37454012, 0.95071431, 0.73199394, 0.59865848, 0.15601864, 0.15599452]
    table = page.embedding_table(4, 42)
    assert table.shape == (4, 6)
    np.testing.assert_allclose(table[0], first, rtol=0, atol=LAST_DIGIT)


def test_the_sum_starts_as_the_literature_prints_it():
    model = page.build_model(page.embedding_table(4, 42))
    placed = np.asarray(model(np.arange(4)[None]))[0]
    expected = [
        [0.37454012, 1.95071431],
        [0.89955459, 1.40647845],
        [1.74174007, -0.20380773],
        [0.57306503, -0.69876336],
    ]
    assert placed.shape == (4, 6)
    np.testing.assert_allclose(placed[:, :2], expected, rtol=0, atol=FLOAT32_ROUNDING)


@pytest.mark.parametrize(
    "line",
    [
        "positional 2",
        "transformers 0.37454 0.95071 0.73199 0.59866 0.15602 0.15599",
        "use 0.84147 0.54030 0.04640 0.99892 0.00215 1.00000",
        "encoding 0.57307 -0.69876 0.75065 1.12981 0.29861 1.36634",
        "256.0000 249.1021 231.7336 173.7897 111.9502 44.9716 22.5245",
        "512 123 133 3.04 degrees",
        "1024 245 267 2.99 degrees",
    ],
)
def test_a_run_prints_every_number(walked, line):
    _, printed = walked
    assert line in [" ".join(row.split()) for row in printed.splitlines()]


def test_a_run_proves_the_exported_model(walked):
    folder, printed = walked
    assert "Parity PASSED" in printed
    session = onnxruntime.InferenceSession(folder / "walkthrough.onnx")
    (placed,) = session.run(None, {"ids": np.arange(4, dtype="int32")[None]})
    np.testing.assert_allclose(
        placed[0, 2, :2], [1.74174007, -0.20380773], rtol=0, atol=FLOAT32_ROUNDING
    )


def test_a_run_saves_the_two_figures(walked):
    folder, printed = walked
    for name in ("encoding.png", "dot_product.png"):
        assert f"Saved {folder / name}" in printed
        assert (folder / name).read_bytes().startswith(b"\x89PNG")


def test_attention_notices_the_order_only_with_the_encoding():
    *_, words, placed = cells(page.order_table(7))
    assert float(words[-1]) < 1e-6
    assert float(placed[-1]) > 0.01


def test_random_projections_change_the_score_with_the_place():
    rows = cells(page.projection_table(7))[-3:]
    plain, projected = ({row[i] for row in rows} for i in (1, 2))
    assert len(plain) == 1
    assert len(projected) == 3


def test_an_interruption_ends_in_a_sentence(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(page, "save_figures", interrupt)
    with pytest.raises(SystemExit) as caught:
        page.main(["--output", str(tmp_path)])
    assert str(caught.value) == f"\nInterrupted: what was finished is in {tmp_path}."
