import shutil

import pytest
from fed_artifacts import ROOT, SIZES, artifact, feeds, largest_error, run

PAGE = ROOT / "artifacts" / "page"
HEADING = "errors against Keras"


@pytest.fixture
def measure(tmp_path, note):
    """Feed an artifact of a model to a runner in a process of its own.

    Returns an error over all outputs and sizes; the run's summary lists it.
    """

    def measure(runner, model, name, sizes=SIZES, *, target=None, error=largest_error):
        outputs = tmp_path / f"{model}_outputs"
        target = target or artifact(model, name)
        printed = run(*runner, target, outputs, *feeds(model, sizes))
        runtime = printed.splitlines()[-1]
        return note(runtime, name, model, error(model, outputs, sizes))

    return measure


@pytest.fixture
def note(record_property):
    """Keep an error for the run's summary."""

    def note(runtime, name, model, error):
        record_property("error", f"| {runtime} | {name} | {model} | {error:.1e} |")
        return error

    return note


@pytest.fixture(scope="session")
def shipped(tmp_path_factory):
    """A folder with the artifacts of `export/README.md`, and what Keras printed."""
    assert PAGE.exists(), f"{PAGE} is missing: run `make runtime-artifacts`"
    folder = tmp_path_factory.mktemp("page")
    shutil.copytree(PAGE, folder, symlinks=True, dirs_exist_ok=True)
    return folder, (folder / "printed.txt").read_text()


def pytest_terminal_summary(terminalreporter):
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports(
        "failed"
    )
    found = [row for report in reports for kind, row in report.user_properties]
    if not found:
        return
    terminalreporter.section(HEADING)
    terminalreporter.write_line("| runtime | artifact | model | error |")
    for row in sorted(found):
        terminalreporter.write_line(row)
