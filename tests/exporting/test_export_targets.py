"""What an export may write to and replace; all else is refused and kept."""

import pytest
from artifact_writers import (
    FEATURES,
    WRITERS,
    contents,
    names,
    write_onnx,
    write_saved_model,
)
from export_models import dense, run_onnx


@pytest.mark.parametrize("name", WRITERS)
def test_the_folder_must_exist(tmp_path, name):
    with pytest.raises(FileNotFoundError) as raised:
        WRITERS[name](tmp_path / "missing" / name)
    assert str(raised.value) == (
        "`filepath` must be in a folder that exists. "
        f"Received: filepath='{tmp_path / 'missing' / name}'"
    )


def test_a_directory_is_no_target_for_an_onnx_file(tmp_path):
    with pytest.raises(IsADirectoryError) as raised:
        write_onnx(tmp_path)
    assert str(raised.value) == (
        f"`filepath` must be a file. Received: filepath='{tmp_path}', which is a "
        "directory"
    )


def test_a_file_is_no_target_for_a_saved_model(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("kept")
    with pytest.raises(NotADirectoryError) as raised:
        write_saved_model(path)
    assert str(raised.value) == (
        "`filepath` must be a directory or new. "
        f"Received: filepath='{path}', which is a file"
    )
    assert path.read_text() == "kept"


def test_a_folder_of_something_else_is_never_replaced(tmp_path):
    path = tmp_path / "thesis"
    path.mkdir()
    (path / "chapter.txt").write_text("kept")
    with pytest.raises(FileExistsError) as raised:
        write_saved_model(path)
    assert str(raised.value) == (
        "`filepath` must be a SavedModel, an empty directory or new. "
        f"Received: filepath='{path}', which holds 'chapter.txt'"
    )
    assert names(path) == ["chapter.txt"]


def refused(write, path):
    """The sentence with which a target is refused, and nothing is changed."""
    before = contents(path.parent)
    with pytest.raises(OSError, match=r"^`filepath` must be ") as raised:
        write(path)
    assert contents(path.parent) == before
    return str(raised.value)


IN_A_SAVED_MODEL = {
    "a file": ("notes.txt", "'notes.txt'"),
    "a file among the variables": ("variables/mine.npy", "'variables/mine.npy'"),
    "a folder": ("old/saved_model.pb", "'old'"),
    "a hidden file": (".env", "'.env'"),
}


@pytest.mark.parametrize("kind", IN_A_SAVED_MODEL)
def test_a_saved_model_with_a_strangers_file_is_never_replaced(tmp_path, kind):
    name, named = IN_A_SAVED_MODEL[kind]
    path = tmp_path / "model"
    write_saved_model(path)
    (path / name).parent.mkdir(exist_ok=True)
    (path / name).write_text("kept")
    assert refused(write_saved_model, path) == (
        "`filepath` must be a SavedModel, an empty directory or new. "
        f"Received: filepath='{path}', which holds {named}"
    )


def test_a_linked_part_of_a_saved_model_is_never_replaced(tmp_path):
    path = tmp_path / "model"
    write_saved_model(path)
    (path / "variables").rename(tmp_path / "elsewhere")
    (path / "variables").symlink_to(tmp_path / "elsewhere")
    assert refused(write_saved_model, path).endswith(", which holds 'variables'")


@pytest.mark.parametrize("content", [b"chapter one", b"", b"\x08\x01", b"\x80\x04."])
def test_a_file_that_is_only_called_like_a_graph_makes_no_saved_model(
    tmp_path, content
):
    path = tmp_path / "thesis"
    (path / "assets").mkdir(parents=True)
    (path / "saved_model.pb").write_bytes(content)
    (path / "assets" / "thesis.txt").write_text("kept")
    assert refused(write_saved_model, path) == (
        "`filepath` must be a SavedModel, an empty directory or new. "
        f"Received: filepath='{path}', which holds no graph that loads"
    )


def test_what_a_server_adds_to_a_saved_model_may_be_replaced(tmp_path):
    path = tmp_path / "model"
    write_saved_model(path)
    (path / "assets.extra" / "tf_serving_warmup_requests").write_text("warm")
    (path / "debug").mkdir()
    (path / "debug" / "saved_model_debug_info.pb").touch()
    (path / "keras_metadata.pb").touch()
    write_saved_model(path)
    assert "debug" not in names(path)


def test_a_link_that_leads_nowhere_is_followed(tmp_path):
    (tmp_path / "link.onnx").symlink_to("real.onnx")
    write_onnx(tmp_path / "link.onnx")
    assert (tmp_path / "link.onnx").is_symlink()
    assert (tmp_path / "real.onnx").is_file()


@pytest.mark.parametrize("write", WRITERS.values())
def test_a_link_into_a_missing_folder_is_named_with_where_it_leads(tmp_path, write):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "missing" / "real")
    assert refused(write, link) == (
        f"`filepath` must be in a folder that exists. Received: filepath='{link}', "
        f"a link to '{tmp_path / 'missing' / 'real'}'"
    )


@pytest.mark.parametrize("write", WRITERS.values())
def test_a_link_to_itself_is_refused(tmp_path, write):
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    assert refused(write, tmp_path / "one") == (
        "`filepath` must be no link that leads back to itself. "
        f"Received: filepath='{tmp_path / 'one'}'"
    )


def test_a_file_is_not_written_like_a_directory(tmp_path):
    with pytest.raises(IsADirectoryError) as raised:
        write_onnx(f"{tmp_path}/model.onnx/")
    assert str(raised.value) == (
        f"`filepath` must be a file. Received: filepath='{tmp_path}/model.onnx/', "
        "which is written like a directory"
    )
    assert names(tmp_path) == []


def test_a_directory_may_be_written_like_one(tmp_path):
    write_saved_model(f"{tmp_path}/model/")
    write_saved_model(f"{tmp_path}/model//")
    assert names(tmp_path) == ["model"]


@pytest.mark.parametrize("write", WRITERS.values())
@pytest.mark.parametrize("name", ["x" * 241, "é" * 121, "x" * 300])
def test_an_over_long_name_is_refused_with_the_name(tmp_path, write, name):
    assert f"filepath='{tmp_path / name}'" in refused(write, tmp_path / name)


@pytest.mark.parametrize(
    ("write", "name"), [(write_onnx, "x" * 240), (write_onnx, "é" * 120)]
)
def test_the_longest_name_is_written(tmp_path, write, name):
    write(tmp_path / name)
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("write", WRITERS.values())
@pytest.mark.parametrize("path", ["", "model\0.onnx", "x/" * 3000 + "model"])
def test_what_is_no_path_is_refused_in_a_sentence(write, path):
    with pytest.raises(OSError, match=r"^`filepath` must be ") as raised:
        write(path)
    assert f"filepath={path!r}" in str(raised.value)


@pytest.mark.parametrize("write", WRITERS.values())
@pytest.mark.parametrize("path", [5, None, b"model"])
def test_what_is_not_even_a_name_is_refused_in_a_sentence(write, path):
    with pytest.raises(TypeError) as raised:
        write(path)
    assert str(raised.value) == (
        f"`filepath` must be a path. Received: filepath={path!r}"
    )


def keras_file(path):
    dense().save(path.with_suffix(".keras"))
    path.with_suffix(".keras").rename(path)


OTHER_FILES = {
    "a Keras model": keras_file,
    "text": lambda path: path.write_text("chapter one"),
    "a pickle": lambda path: path.write_bytes(FEATURES.dumps()),
    "a SavedModel's graph": lambda path: path.write_bytes(saved_model_graph(path)),
}


def saved_model_graph(path):
    write_saved_model(path.with_suffix(".folder"))
    return (path.with_suffix(".folder") / "saved_model.pb").read_bytes()


@pytest.mark.parametrize("kind", OTHER_FILES)
def test_a_file_of_something_else_is_never_replaced(tmp_path, kind):
    path = tmp_path / "file"
    OTHER_FILES[kind](path)
    before = contents(path)
    with pytest.raises(FileExistsError) as raised:
        write_onnx(path)
    assert str(raised.value) == (
        "`filepath` must be an ONNX file, an empty file or new. "
        f"Received: filepath='{path}', which holds something else"
    )
    assert contents(path) == before


def test_a_name_without_a_suffix_becomes_a_file(tmp_path):
    write_onnx(tmp_path / "model")
    assert (tmp_path / "model").is_file()


def test_a_linked_target_stays_a_link(tmp_path):
    (tmp_path / "real.onnx").touch()
    (tmp_path / "link.onnx").symlink_to("real.onnx")
    write_onnx(tmp_path / "link.onnx")
    assert (tmp_path / "link.onnx").is_symlink()
    assert run_onnx(tmp_path / "real.onnx", features=FEATURES)["head"].shape == (
        2,
        3,
        3,
    )
