"""The table as files, with text in it that means harm."""

import csv
import io
import re
import shutil
import subprocess
from dataclasses import replace

import pyarrow.parquet
import pytest

from reelbench.base.errors import InputError
from reelbench.leaderboard import board, columns, publish, site, store, submission
from reelbench.leaderboard.columns import BoardColumn
from reelbench.leaderboard.entries import RankingGroup
from reelbench.leaderboard.exports import tables
from reelbench.registry import discovery
from reelbench.registry.records import MetricValue
from reelbench.scoring import aggregation, result_files
from tests.leaderboard.rows import REXTIME
from tests.leaderboard.test_ranking import entry

HOSTILE = [
    '=HYPERLINK("http://evil.test","x")',
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    'plain, "quoted"\nname',
    "<script>alert(1)</script>",
    "a|b_c & 100 % {x} \\y ~ ^ # $",
    "![seen](http://evil.test/pixel.png)",
    "[here](javascript:alert(1))",
]


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def made(*names):
    return board.ranked_board(
        discovery.specs(), [entry(name, 90.0 - i) for i, name in enumerate(names)]
    )


# Written by hand from the contract: names that scripts read, in the order in which they have always
# stood. A metric has its three where the benchmark's metrics stand.
HEAD = (
    "rank,model,revision,source,setting,split,subset,version,judge,judge_prompts,frames,"
    "{metrics},"
    "items,scored,partial,ids,open_weights,date,citation,url,note,rank_range,"
    "asked,calibrated,blind,unreadable,stated,rejudged,calibration,tokens_in,tokens_out,seconds,judge_cost,"
    "parameters,size,organisation,released,licence,trained_on,sound,ranks_over_judges,label,unscored,stated_score,readers,judge_asked,data,times,"
    "without_shortcuts,videos,other_judges,preset,intervals,differs,questions,stated_by,runs,bound,read_by_model,data_commit,first_listed,rank_before,cost,price,claimed,claimed_in,model_facts"
)


def test_a_row_of_the_csv_is_as_it_has_always_been():
    row = entry(
        "a",
        62.25,
        ci95=(60.0, 64.5),
        items=10,
        scored=10,
        open_weights=True,
        cite="Table 2",
        date="2026-01-02",
    )
    text = tables.as_csv(board.ranked_board(discovery.specs(), [row]), "rextime")
    first, *others = [metric.name for metric in discovery.get("rextime").metrics]
    assert first == "accuracy_at_iou_0.5"
    head = HEAD.format(
        metrics=",".join(f"{name},{name}_low,{name}_high" for name in (first, *others))
    )
    without_values = "," * 3 * len(others)
    cells = f"1,a,,published,zero-shot,val,,1,,,unknown,62.25,60.0,64.5{without_values},10,10,,,True,2026-01-02,Table 2,,,"
    cells += "," * 45
    assert text == f"{head}\r\n{cells}\r\n"


def test_a_column_is_added_in_one_place(monkeypatch, tmp_path):
    added = (
        *columns.AFTER,
        BoardColumn("letters", "Letters", "integer", lambda _, row: len(row.model)),
    )
    monkeypatch.setattr(columns, "AFTER", added)
    monkeypatch.setattr(columns, "COLUMNS", (*columns.BEFORE, *added))
    found = made("abc")
    assert rows_of(tables.as_csv(found, "rextime"))[0]["letters"] == "3"
    assert tables.as_document(found)["rows"][0]["letters"] == 3
    publish.write_parquet(found, tmp_path / "results.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "results.parquet").to_pylist()[0]["letters"] == 3
    document = site.document(found)
    assert document["columns"][-1]["title"] == "Letters"
    assert document["rows"][0]["letters"] == 3


@pytest.mark.parametrize("mark", [";", "; ", ';"', "|", "a;\t'"])
def test_no_part_of_a_cell_is_a_formula_where_cells_part_at_semicolons(mark):
    [row] = rows_of(tables.as_csv(made(f"x{mark}=HYPERLINK(A1)"), "rextime"))
    assert row["model"] == f"x{mark}'=HYPERLINK(A1)"


def test_no_cell_of_the_csv_is_a_formula():
    found = rows_of(tables.as_csv(made(*HOSTILE), "rextime"))
    assert [row["model"].removeprefix("'") for row in found] == HOSTILE
    assert not any(
        cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in found for cell in row.values()
    )
    assert found[0]["accuracy_at_iou_0.5"] == "90.0"


@pytest.mark.usefixtures("few_videos")
def test_the_csv_has_values_intervals_and_settings(rextime_run, tmp_path):
    store.add(rextime_run(), tmp_path / "store")
    [row] = rows_of(tables.as_csv(board.make(tmp_path / "store", published=False), "rextime"))
    assert (row["rank"], row["model"], row["split"], row["source"]) == (
        "1",
        "org/model",
        "mini",
        "run",
    )
    assert float(row["accuracy"]) == 50
    assert float(row["accuracy_low"]) < 50 < float(row["accuracy_high"])
    assert (row["items"], row["scored"], row["ids"]) == ("12", "12", "checked")


def test_a_task_s_name_shows_its_own_split(rextime_run, reelbench, tmp_path):
    store.add(rextime_run(), tmp_path / "store")
    words = ("leaderboard", "tables", "--store", tmp_path / "store")
    done = reelbench(*words, "rextime_mini")
    assert done.returncode == 0, done.stderr
    titles = [line for line in done.stdout.splitlines() if line.startswith("### ")]
    assert titles == ["### ReXTime, mini"]
    whole = reelbench(*words, "rextime")
    assert len([line for line in whole.stdout.splitlines() if line.startswith("### ")]) > 1
    unknown = reelbench(*words, "rextim_mini")
    assert unknown.returncode == 2
    assert "rextim_mini" in unknown.stderr


def test_markdown_keeps_a_row_a_row():
    text = tables.tables(made(*HOSTILE), "markdown", benchmark="rextime")
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 2 + len(HOSTILE)
    assert all(line.replace("\\|", "").count("|") == lines[0].count("|") for line in lines)
    assert "<script" not in text
    assert not re.search(r"(?<!\\)\]\(", text)


def test_a_judges_name_is_inert_in_a_heading():
    group = RankingGroup("curve", 1, "test", None, "[j](http://evil.test)<img src=x>", "official")
    text = tables.tables(
        board.ranked_board(discovery.specs(), [entry("a", 1.0, group=group)]), "markdown"
    )
    assert not re.search(r"(?<!\\)\]\(", text)
    assert "<img" not in text
    assert "http:" not in text


def test_latex_escapes_and_has_a_line_per_row():
    text = tables.tables(made(*HOSTILE), "latex", benchmark="rextime")
    assert (
        r"a|b\_c \& 100 \% \{x\} \textbackslash{}y \textasciitilde{} \textasciicircum{} \# \$ & 83.0"
        in text
    )
    assert text.count(r"\\" + "\n") == 1 + len(HOSTILE)
    assert r"\begin{tabularx}{\linewidth}{@{}rr>{\raggedright\arraybackslash}Xr@{}}" in text
    assert "All rows: zero-shot" in text


@pytest.mark.parametrize("style", ["latex", "markdown", "text"])
def test_a_published_number_names_its_source(tmp_path, style):
    text = tables.tables(board.make(tmp_path), style, benchmark="moviecore")
    assert "as published: MovieCORE (arXiv 2508.19026), Table 2" in text


@pytest.mark.parametrize(
    ("bound", "text"), [(42.454, "42.4"), (55.051, "55.0"), (0.551 * 100, "55.1"), (50.0, "50.0")]
)
def test_a_lower_bound_is_rounded_down(bound, text):
    run = entry("org/bound", bound, kind="run", unscored=3, lowest=MetricValue(value=bound, n=10))
    ranked = board.ranked_board(discovery.specs(), [run])
    assert f"≥ {text} " in tables.tables(ranked, "markdown", benchmark="rextime")
    assert rf"$\geq$ {text}" in tables.tables(ranked, "latex", benchmark="rextime")


def test_latex_is_a_column_wide_with_intervals_notes_and_the_best_in_bold():
    rows = [
        entry("org/best", 62.25, ci95=(60.0, 64.5), kind="run", setting="run", date="2026-01-02"),
        entry(
            "org/bound",
            50.0,
            ci95=(48.0, 55.0),
            kind="run",
            setting="run",
            unscored=3,
            lowest=MetricValue(value=50.0, n=10),
        ),
        entry("paper", 40.0),
    ]
    text = tables.tables(board.ranked_board(discovery.specs(), rows), "latex", benchmark="rextime")
    assert (
        r"& best & \textbf{62.2} {\scriptsize [60.0, 64.5]} \\" in text
    )  # halves to the even one, as on the page
    assert r"& bound$^{a}$ & $\geq$ 50.0 {\scriptsize [48.0, 55.0]} \\" in text
    assert r"& paper$^{b}$ & 40.0 \\" in text
    assert r"$^{a}$~3 unscored; $^{b}$~zero-shot" in text
    assert "runs up to 2026-01-02" in text
    wide = tables.tables(
        board.ranked_board(discovery.specs(), rows), "markdown", metrics=["accuracy_at_iou_0.5"]
    )
    assert r"≥ 50.0 \[48.0, 55.0\]" in wide
    with pytest.raises(InputError, match="rextime has no column nonsense; there are accuracy"):
        tables.tables(
            board.ranked_board(discovery.specs(), rows),
            "latex",
            benchmark="rextime",
            metrics=["nonsense"],
        )


def test_a_terminal_s_table_fits_80_columns_and_breaks_no_interval():
    long = [f"an-organisation/Some-Multimodal-Model-235B-A22B-Instruct-{n}" for n in range(3)]
    rows = [entry(name, 61.25 - n, kind="run", ci95=(55.5, 66.21)) for n, name in enumerate(long)]
    shares = {
        name: MetricValue(value=100.0, n=10)
        for name in ("accuracy", "miou", "recall_at_0.3", "recall_at_0.5")
    }
    rows = [replace(row, metrics=row.metrics | shares) for row in rows]
    printed = tables.tables(
        board.ranked_board(discovery.specs(), rows), "text", benchmark="rextime"
    )
    lines = printed.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[1].split() == ["ranks", "model", "Acc@.5", "95", "%", "Accuracy"]
    assert [line.split()[1][-2:] for line in lines[2:5]] == ["-0", "-1", "-2"]  # where they differ
    assert lines[2].split()[-5:] == ["61.2", "55.5", "to", "66.2", "100.0"]
    assert "3 more columns" in lines[-1]
    wide = tables.tables(
        board.ranked_board(discovery.specs(), rows), "text", benchmark="rextime", width=200
    )
    assert "Some-Multimodal-Model-235B-A22B-Instruct-2" in wide
    assert "more columns" not in wide


@pytest.mark.slow  # matplotlib looks at all fonts of a machine once
def test_a_figure_has_its_fonts_inside_and_no_formula(tmp_path):
    pytest.importorskip(
        "matplotlib", reason="matplotlib is not installed (pip install 'reelbench[figures]')"
    )
    from reelbench.leaderboard.exports import figures

    def drawn_pdf(name, *models):
        rows = [entry(model, 61.0, kind="run", ci95=(55.0, 66.0)) for model in models]
        table = board.ranked_board(discovery.specs(), rows)
        chart = figures.described(table, REXTIME, "column")
        pdf, *_ = figures.write(chart, "column", tmp_path, name)
        return pdf.read_bytes()

    data = drawn_pdf("once", "org/модель", "people")
    width = float(re.search(rb"/MediaBox \[ 0 0 ([\d.]+)", data)[1])
    assert width == pytest.approx(84 * 72 / 25.4, abs=0.5)
    assert b"/FontFile2" in data
    assert drawn_pdf("again", "org/модель", "people") == data
    # What stands between two dollars is no formula, and a broken one ends nothing.
    assert drawn_pdf("dollars", "org/a$\\frac{$b", "org/$x^$y")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex")
def test_latex_compiles_in_one_column(tmp_path):
    long = ["org/Llama-4-Maverick-17B-128E-Instruct-of-a-long-name", *HOSTILE]
    table = tables.tables(made(*long), "latex", benchmark="rextime")
    page = r"\documentclass{article}\usepackage[paperwidth=88mm,paperheight=240mm,margin=2mm]{geometry}"
    page += r"\usepackage{booktabs,tabularx}"
    (tmp_path / "t.tex").write_text(page + r"\begin{document}" + table + r"\end{document}")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


@pytest.mark.usefixtures("few_videos")
def test_the_interval_stands_beside_the_primary_metric(rextime_run, tmp_path):
    store.add(rextime_run(), tmp_path / "store")
    made_board = board.make(tmp_path / "store", published=False)
    [line] = [
        line for line in tables.tables(made_board, "markdown").splitlines() if "org/model" in line
    ]
    low, high = made_board.entries[0].metrics["accuracy_at_iou_0.5"].ci95
    assert f"| 50.0 ± {(high - low) / 2:.1f} |" in line


@pytest.mark.usefixtures("few_videos")
def test_intervals_of_another_method_are_marked_wherever_the_row_stands(
    rextime_run, tamper, tmp_path
):
    spec, folder = discovery.get("rextime"), rextime_run()
    samples = list(result_files.read_samples(folder))
    metrics, breakdowns = aggregation.aggregate(spec, samples, interval="percentile")
    of_parts = {
        facet: {
            label: {name: m.model_dump(mode="json") for name, m in values.items()}
            for label, values in part.items()
        }
        for facet, part in breakdowns.items()
    }
    by_percentiles = {
        "metrics": {name: metric.model_dump(mode="json") for name, metric in metrics.items()},
        "breakdowns": of_parts,
        "statistics": {"interval": "percentile"},
    }
    [added] = store.add(
        tamper(folder, result=lambda document: document.update(by_percentiles)), tmp_path / "store"
    )
    assert added.outcome == "added", added.why
    made_board = board.make(tmp_path / "store", published=False)
    assert "(intervals: percentile)" in tables.tables(made_board, "markdown")
    assert rows_of(tables.as_csv(made_board, "rextime"))[0]["intervals"] == "percentile"
    [submitted] = submission.read(store.check(folder))
    assert (
        "its intervals are made by the method 'percentile', which is not today's: score it again"
        in submitted.missing
    )


def test_what_nobody_but_its_submitter_vouches_for_is_marked_in_a_papers_table():
    text = tables.tables(
        board.ranked_board(discovery.specs(), [entry("a", 1.0, stated="answers, judge replies")]),
        "latex",
    )
    assert r"& a$^{a,b}$ & \textbf{1.0}" in text
    assert r"$^{a}$~zero-shot; $^{b}$~as stated: answers, judge replies" in text
