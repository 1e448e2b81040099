"""The harness measures what it says: no test here looks at a time."""

import json
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from benchmarks import timing
from benchmarks.__main__ import PARTS, full_plan, parse, quick_plan, run
from benchmarks.accuracy import Error, measure_errors, sampled_positions
from benchmarks.cases import RUNTIMES, Case, full_grid
from benchmarks.chart import error_chart, time_chart
from benchmarks.chart import main as draw_charts
from benchmarks.costs import Cost, CostPlan, file_size, import_, traces
from benchmarks.demands import DEMANDS, Demand, demanded_cells
from benchmarks.peers import OURS, PEERS, Peer
from benchmarks.programs import same_programs
from benchmarks.results import Results, this_machine
from benchmarks.runtimes import prepare
from benchmarks.tables import amount, tables
from benchmarks.timing import Effort, Ratio, interleave
from keras_sinpe.reference import encode

# float32: embeddings up to 4 plus an encoding up to 1 are rounded to half of 2**-21,
# and the encoding itself errs by 5e-7 at most.
SUM_TOLERANCE = 8e-7
ENCODING_TOLERANCE = 5e-7
# One rounding of numbers up to 1: half a unit in the last place, and the error before.
HALF_ROUNDING = {"mixed_float16": 2**-12 + 5e-7, "mixed_bfloat16": 2**-9 + 5e-7}
# Bytes: a later layer has a longer name, which every node of the file repeats.
NAMES = 2000

# The peers that need no extra: the others run in `make bench` alone.
AT_HAND = tuple(PEERS[name] for name in (OURS, "stored table", "one addition"))
TINY = CostPlan(
    rounds=1,
    construction_width=8,
    file_lengths=(16, 64),
    trace_lengths=(5, 6, 7),
    peers=AT_HAND,
)


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still but for what the calls add to it."""
    now = [0.0]
    monkeypatch.setattr(timing.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(timing.time, "sleep", lambda seconds: None)
    return now


def costing(clock, seconds, log, name):
    def call():
        clock[0] += seconds
        log.append(name)

    return call


def test_each_peer_is_timed_once_a_round(clock):
    calls = {"slow": costing(clock, 0.5, [], ""), "fast": costing(clock, 0.125, [], "")}
    seconds = interleave(calls, Effort(rounds=4, burst_seconds=1.0))
    assert seconds == {"slow": [0.5] * 4, "fast": [0.125] * 4}


def test_the_order_of_the_peers_turns_from_round_to_round(clock):
    log = []
    calls = {name: costing(clock, 1.0, log, name) for name in "abc"}
    interleave(calls, Effort(rounds=3, burst_seconds=0.0))
    turns = [log[i] for i in range(len(log)) if i == 0 or log[i] != log[i - 1]]
    assert "".join(turns) == "abc" + "abc" + "bca" + "cab"


def test_a_ratio_pairs_the_rounds():
    ratio = Ratio.of([2.0, 8.0, 9.0], [1.0, 2.0, 1.0])
    assert ratio == Ratio(median=4.0, low=3.0, high=6.5, best=2.0)
    assert str(ratio) == "4.00 (3.00 to 6.50)"


def test_a_ratio_of_one_round_is_that_ratio():
    assert Ratio.of([3.0], [2.0]) == Ratio(1.5, 1.5, 1.5, 1.5)


@pytest.mark.parametrize(
    ("faster", "bound", "ours", "theirs", "met"),
    [
        (True, 4.0, 1.0, 4.0, True),
        (True, 4.0, 1.0, 3.9, False),
        (False, 1.5, 1.5, 1.0, True),
        (False, 1.5, 1.6, 1.0, False),
    ],
)
def test_a_demand_is_met_on_its_side_of_the_bound(faster, bound, ours, theirs, met):
    case = Case("ort", 2, 3, 4)
    demand = Demand(case, "KerasHub", bound, faster)
    times = {case: {OURS: [ours] * 3, "KerasHub": [theirs] * 3}}
    assert demand.measured(times)
    assert not demand.measured({case: {OURS: [1.0]}})
    assert demand.met(times) is met


def test_demands_read_as_sentences():
    case = Case("ort", 1, 7, positions="arbitrary")
    assert str(case) == "ONNX Runtime, 1 x 7 x 512, arbitrary"
    assert str(Demand(case, "KerasHub", 4.0)) == ">= 4 times as fast as KerasHub"
    slower = Demand(case, "stored table", 1.6, faster=False)
    assert str(slower) == "<= 1.6 times the time of the stored table"


def test_the_full_grid_holds_every_demand_and_every_runtime_once():
    grid = full_grid()
    assert set(demanded_cells()) <= set(grid)
    assert {case.runtime for case in grid} == set(RUNTIMES)
    assert len(set(grid)) == len(grid)


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("peer", AT_HAND, ids=lambda peer: peer.name)
def test_what_is_timed_adds_the_encoding(peer, runtime):
    case = Case(runtime, 2, 70, 6)
    output = prepare(peer, case, 70)(*case.inputs(70))()
    output = np.asarray(output[0] if runtime == "ort" else output)
    expected = case.inputs(70)[0] + encode(np.arange(70), 6)
    assert output.dtype == "float32"
    np.testing.assert_allclose(output, expected, rtol=0, atol=SUM_TOLERANCE)


XLA = Case("xla", 2, 16, 8)


def test_a_peer_that_computes_the_same_is_the_same_program():
    again = replace(PEERS[OURS], name="again")
    assert same_programs({XLA: [PEERS[OURS], again]}) == {XLA: ["again"]}


def test_a_peer_that_computes_more_is_another_program():
    def build(case, longest):
        exact = PEERS[OURS].build(case, longest)
        return lambda x: exact(exact(x))

    assert same_programs({XLA: [Peer("twice", build)]}) == {XLA: []}


def test_programs_are_compared_under_xla_alone():
    assert same_programs({Case("function", 2, 16, 8): [PEERS[OURS]]}) == {}


@pytest.mark.parametrize("runtime", ["function", "ort"])
@pytest.mark.parametrize("peer", AT_HAND[:2], ids=lambda peer: peer.name)
def test_arbitrary_positions_are_the_positions_given(peer, runtime):
    case = Case(runtime, 2, 3, 8, positions="arbitrary")
    embeddings, positions = case.inputs(50)
    assert positions.shape == (2, 3)
    assert positions.max() < 50
    output = prepare(peer, case, 50)(embeddings, positions)()
    output = np.asarray(output[0] if runtime == "ort" else output)
    expected = embeddings + encode(positions, 8)
    np.testing.assert_allclose(output, expected, rtol=0, atol=SUM_TOLERANCE)


@pytest.mark.parametrize("name", ["KerasHub", "positional-encodings"])
def test_a_missing_peer_says_how_to_get_it(name, monkeypatch):
    module = {
        "KerasHub": "keras_hub.layers",
        "positional-encodings": "positional_encodings.tf_encodings",
    }[name]
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(ModuleNotFoundError) as raised:
        PEERS[name].build(Case("eager", 1, 2, 4), 2)
    assert str(raised.value) == (
        f"`{module}` must be installed to be measured: run `make bench`, or "
        "`pip install -e '.[bench]'`. Received: "
        f"import of {module} halted; None in sys.modules"
    )


def test_who_fixes_the_length_traces_once_a_length():
    counts = {cost.peer: cost.value for cost in traces(TINY)}
    assert counts == {OURS: 1, "stored table": 1, "one addition": 3}


def test_stored_tables_weigh_by_their_rows_and_ours_nothing():
    sizes = {(cost.peer, cost.where): cost.value for cost in file_size(TINY)}
    table_growth = (64 - 16) * 512 * 4
    for name, growth in ((OURS, 0), ("stored table", table_growth)):
        grown = sizes[name, "length 64"] - sizes[name, "length 16"]
        assert grown == pytest.approx(growth, abs=NAMES)


def test_import_is_measured_in_new_processes(monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", "numpy")  # the quickest to import
    (cost,) = import_(TINY)
    assert (cost.what, cost.peer, cost.unit) == ("import", OURS, "s")
    assert cost.value > 0


def test_sampled_positions_reach_the_last_one_below_the_bound():
    assert sampled_positions(16).tolist() == list(range(16))
    assert sampled_positions(2**24).max() == 2**24 - 1
    assert len(sampled_positions(2**24)) == 128


@pytest.fixture(scope="module")
def errors():
    return measure_errors((64, 2**17), width=6, peers=AT_HAND)


def test_errors_are_those_of_the_exact_encoding(errors):
    for row in errors:
        if row.error is not None:
            limit = HALF_ROUNDING.get(row.policy, ENCODING_TOLERANCE)
            assert row.error <= limit, row


def test_a_stored_table_has_no_error_where_it_has_no_row(errors):
    found = {(row.peer, row.bound): row.error for row in errors}
    assert found["stored table", 2**17] is None
    assert found[OURS, 2**17] is not None


def test_a_peer_that_is_one_position_off_is_found_out():
    def build(case, longest):
        exact = PEERS[OURS].build(case, longest)
        return lambda x, positions: exact(x, positions + 1)

    (row, *_) = measure_errors((64,), width=6, peers=(Peer("shifted", build),))
    assert row.error > 0.5


@pytest.fixture(scope="module")
def results(errors):
    """What a quick run measured, in two of the runtimes."""
    plan = quick_plan(AT_HAND).only(("function", "xla"))
    timed = run(plan, Console(quiet=True))
    costs = [*file_size(TINY), Cost("import", OURS, "after Keras", 0.0312, "s")]
    lost = Error("KerasHub", "mixed_float16", 2**17, float("nan"))
    return replace(timed, costs=costs, errors=[*errors, lost])


def test_a_quick_run_times_every_peer_that_can_run(results):
    assert {case.runtime for case in results.times} == {"function", "xla"}
    for case, cell in results.times.items():
        assert set(cell) == {peer.name for peer in AT_HAND if peer.takes(case)}
        assert all(len(rounds) == results.effort.rounds for rounds in cell.values())
        assert all(seconds > 0 for rounds in cell.values() for seconds in rounds)


def test_results_survive_their_file(results, tmp_path):
    results.save(tmp_path / "results.json")
    again = Results.load(tmp_path / "results.json")
    again.save(tmp_path / "again.json")
    texts = [(tmp_path / f"{n}.json").read_text() for n in ("results", "again")]
    assert texts[0] == texts[1]
    assert list(again.times) == list(results.times)
    assert again.costs == results.costs
    assert again.same_programs == results.same_programs != {}
    assert np.isnan(again.errors[-1].error)


def test_the_file_is_strict_json_of_known_rows(results, tmp_path):
    results.save(tmp_path / "results.json")
    document = json.loads(
        (tmp_path / "results.json").read_text(), parse_constant=pytest.fail
    )
    assert list(document) == [
        *("machine", "effort", "costs", "errors", "same_programs", "times")
    ]
    assert set(document["machine"]) == set(this_machine())
    assert set(document["times"][0]) == {
        *("runtime", "batch", "length", "width", "policy", "positions"),
        *("peer", "seconds"),
    }
    assert set(document["costs"][0]) == {"what", "peer", "where", "value", "unit"}
    assert set(document["errors"][0]) == {"peer", "policy", "bound", "error"}


def printed(results):
    """The lines of all tables, runs of blanks as one."""
    console = Console(width=200)
    with console.capture() as capture:
        for table in tables(results):
            console.print(table)
    return [" ".join(line.split()) for line in capture.get().splitlines()]


def test_tables_print_ratios_growth_errors_and_verdicts():
    times = {
        Case("ort", 1, 1024): {OURS: [0.001] * 3, "KerasHub": [0.007] * 3},
        Case("ort", 1, 4096): {OURS: [0.004] * 3, "KerasHub": [0.012] * 3},
        Case("xla", 1, 4096): {OURS: [0.004] * 3, "KerasHub": [0.003] * 3},
    }
    same = {Case("xla", 1, 4096): ["KerasHub"]}
    costs = [
        Cost("import", OURS, "after Keras", 0.0312, "s"),
        Cost("construction", OURS, "1024 features", 0.4, "s"),
    ]
    errors = [
        Error(OURS, "float32", 2**12, 1.25e-7),
        Error(OURS, "mixed_float16", 2**12, 2.4e-4),
        Error(OURS, "mixed_bfloat16", 2**12, None),
    ]
    lines = printed(Results({}, Effort(3, 0.1), times, costs, errors, same))
    for expected in (
        "│ 1 x 1024 x 512 │ 1 │ 7.00 (7.00 to 7.00) │ - │ - │ - │",
        "│ ONNX Runtime │ 1024 to 4096 │ 4.00 │ 1.71 │ - │ - │ - │",
        "│ keras_sinpe │ float32 │ 1.2e-07 │",
        "│ keras_sinpe │ mixed_bfloat16 │ no row │",
        "│ ONNX Runtime, 1 x 1024 x 512 │ >= 6 times as fast as KerasHub │ 1 │ 7 "
        "│ 7.00 (7.00 to 7.00) │ 7.00 │ met │",
        "│ ONNX Runtime, 1 x 4096 x 512 │ >= 6 times as fast as KerasHub │ 4 │ 12 "
        "│ 3.00 (3.00 to 3.00) │ 3.00 │ MISSED │",
        "│ XLA, 1 x 4096 x 512 │ >= 1 times as fast as KerasHub │ 4 │ 3 "
        "│ 0.75 (0.75 to 0.75) │ 0.75 │ same program │",
        "│ import │ after Keras │ 50 ms │ 31.2 ms │ met │",
        "│ construction │ 1024 features │ 300 ms │ 400 ms │ MISSED │",
    ):
        assert expected in lines


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(8_388_608, "bytes", "8.39 MB"), (0.0123, "s", "12.3 ms"), (10, "traces", "10")],
)
def test_amounts_carry_their_unit(value, unit, text):
    assert amount(Cost("", "", "", value, unit)) == text


def test_the_time_chart_shows_each_peer_at_each_length():
    lengths = (1, 1024, 4096)
    times = {
        Case("ort", 1, n): {OURS: [n * 1e-6] * 3, "KerasHub": [n * 4e-6] * 3}
        for n in lengths
    }
    times[Case("ort", 8, 64)] = {OURS: [1.0]}  # another batch: not in the chart
    (panel,) = time_chart(times).axes
    ours, theirs = panel.get_lines()
    assert (ours.get_label(), theirs.get_label()) == (OURS, "KerasHub")
    assert tuple(ours.get_xdata()) == lengths
    np.testing.assert_allclose(ours.get_ydata(), np.multiply(lengths, 1e-3))
    np.testing.assert_allclose(theirs.get_ydata(), np.multiply(lengths, 4e-3))
    assert panel.get_title() == "ONNX Runtime"


def test_the_error_chart_shows_each_policy_until_its_rows_end(errors):
    (panel,) = error_chart(errors).axes
    lines = {line.get_label(): line for line in panel.get_lines()}
    assert list(lines[f"{OURS}, mixed_float16"].get_xdata()) == [64, 2**17]
    assert list(lines["stored table, float32"].get_xdata()) == [64]


def test_charts_of_nothing_are_refused():
    with pytest.raises(ValueError, match="Received: 0 other cases"):
        time_chart({})
    with pytest.raises(ValueError, match=r"Received: errors=\[\]"):
        error_chart([])


def test_the_chart_command_writes_both_pictures(results, tmp_path, monkeypatch):
    plain = {Case("ort", 1, 8): {OURS: [1.0]}}
    stored = Results(results.machine, results.effort, plain, [], results.errors)
    stored.save(tmp_path / "results.json")
    arguments = ["chart", str(tmp_path / "results.json"), str(tmp_path)]
    monkeypatch.setattr("sys.argv", arguments)
    draw_charts()
    for name in ("time.png", "error.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_only_keeps_the_named_parts():
    plan = full_plan(rounds=3, burst_seconds=0.1)
    timed = plan.only(("ort",))
    assert {case.runtime for case in timed.cells} == {"ort"}
    assert (timed.kinds, timed.bounds) == ((), ())
    untimed = plan.only(("costs", "accuracy"))
    assert untimed.cells == {}
    assert (untimed.kinds, untimed.bounds) == (plan.kinds, plan.bounds)


def test_unknown_parts_are_refused(capsys):
    with pytest.raises(SystemExit):
        parse(["--only", "ort,ONNX"])
    assert capsys.readouterr().err.splitlines()[-1] == (
        "python -m benchmarks: error: argument --only: must name parts of "
        f"{', '.join(PARTS)}. Received: ONNX"
    )


def test_every_demand_is_about_a_peer_that_can_run_there():
    assert all(PEERS[demand.peer].takes(demand.case) for demand in DEMANDS)
