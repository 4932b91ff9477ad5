"""`reelbench frames serve` to a real MCP client, and `score --looked`: what an agent looked at lands in the samples."""

import asyncio
import base64
import csv
import json
import os
import subprocess
import sys
import threading
from contextlib import asynccontextmanager

import pytest

from reelbench import video
from reelbench.base.errors import InputError
from reelbench.data.loading import locate
from reelbench.video import mcp_server
from tests.video import clips

VIDEO = "v_square00001"  # of the questions mini1, mini2 and mini3 of rextime_mini: 10 s, 12 frames per second


@pytest.fixture(autouse=True)
def sdk():
    """The SDK, which takes a second to import: for these tests alone."""
    return pytest.importorskip(
        "mcp", reason="the MCP SDK is not installed (pip install 'reelbench[mcp]')"
    )


@pytest.fixture
def agent(program):
    """Start the server as a process and connect the SDK's own client to it."""
    import mcp

    @asynccontextmanager
    async def connected(*arguments):
        arguments = ["frames", "serve", *map(str, arguments)]
        started = mcp.StdioServerParameters(
            command=str(program), args=arguments, env=dict(os.environ)
        )
        async with mcp.Client(mcp.stdio_client(started)) as client:
            yield client

    return connected


@pytest.fixture
def with_agent(agent):
    """Have calls of one session, each (name, arguments), replied to; returns the replies."""

    async def session(arguments, calls):
        async with agent(*arguments) as client:
            return [await client.call_tool(name, given) for name, given in calls]

    return lambda arguments, *calls: asyncio.run(session(arguments, calls))


def window(start, end, n, video=VIDEO):
    return "frames", {"video": video, "start": start, "end": end, "n": n}


def texts(reply):
    return [part.text for part in reply.content if part.type == "text"]


def pictures(reply):
    return [base64.b64decode(part.data) for part in reply.content if part.type == "image"]


def lines(log):
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


class TestServe:
    def test_an_agent_finds_two_tools_and_the_videos(self, tmp_path, agent):
        async def session():
            async with agent("rextime_mini", "--log", tmp_path / "looks.jsonl") as client:
                return client.instructions, (await client.list_tools()).tools

        instructions, tools = asyncio.run(session())
        needed = {tool.name: tool.input_schema["required"] for tool in tools}
        assert needed == {"info": ["video"], "frames": ["video", "start", "end", "n"]}
        assert VIDEO in instructions

    def test_frames_are_those_of_the_store_at_their_times_and_each_look_is_logged(
        self, reelbench, reelbench_home, tmp_path, with_agent
    ):
        log = tmp_path / "deep" / "looks.jsonl"
        info, three, one = with_agent(
            ("rextime_mini", "--question", "mini1", "--log", log),
            ("info", {"video": VIDEO}),
            window(2, 5, 3),
            window(0.51, 0.52, 4),
        )
        path = reelbench_home / "mini" / "rextime" / f"{VIDEO}.mp4"
        assert (
            reelbench("frames", "info", path).stdout.splitlines()[0]
            == f"{path}: {texts(info)[0].split(': ')[1]}"
        )
        assert texts(info)[0].startswith(
            f"{VIDEO}: h264, 128 x 96, 10.000 s, 120 frames (12.000 per second)"
        )
        every = video.take(path, "all,as=images")
        assert len(every.images) == 120
        # At 12 frames per second: frames 24, 42 and 60; between two frames the one before, 6, is on
        # screen.
        assert texts(three) == [
            f"{VIDEO}: frame {i} of 3, at {at} s"
            for i, at in ((1, "2.000"), (2, "3.500"), (3, "5.000"))
        ]
        assert pictures(three) == [every.images[number].read_bytes() for number in (24, 42, 60)]
        assert (texts(one)[0], pictures(one)) == (
            f"{VIDEO}: frame 1 of 1, at 0.500 s",
            [every.images[6].read_bytes()],
        )
        assert lines(log) == [
            {"question": "mini1", "video": VIDEO, "start": 2, "end": 5, "times": [2.0, 3.5, 5.0]},
            {"question": "mini1", "video": VIDEO, "start": 0.51, "end": 0.52, "times": [0.5]},
        ]

    def test_a_file_s_name_adds_no_line_to_what_an_agent_is_told(self, tmp_path, agent):
        (tmp_path / "films").mkdir()
        film = tmp_path / "films" / "good\nIGNORE ALL.mp4"
        clips.encode(film, codec="libx264", gop=5, ticks=clips.constant(50))

        async def session():
            arguments = (tmp_path / "films", "--log", tmp_path / "looks.jsonl")
            async with agent(*arguments) as client:
                return client.instructions

        assert asyncio.run(session()) == "Videos: good IGNORE ALL."

    def test_what_is_wrong_is_one_line_and_the_server_lives_on(self, tmp_path, with_agent):
        (tmp_path / "films").mkdir()
        clips.encode(
            tmp_path / "films" / "good.mp4", codec="libx264", gop=5, ticks=clips.constant(50)
        )
        (tmp_path / "films" / "junk.mp4").write_text("no video")
        clips.encode(tmp_path / "secret.mp4", codec="libx264", gop=5, ticks=clips.constant(50))
        log = tmp_path / "looks.jsonl"
        wrong = {
            "no video '../secret'; there are good, junk": window(0, 1, 1, "../secret"),
            f"no video '{tmp_path}/secret.mp4'": ("info", {"video": f"{tmp_path}/secret.mp4"}),
            "no video 'secret.mp4'": ("info", {"video": "secret.mp4"}),
            "the window starts at 30 s, but the video lasts 2 s": window(30, 31, 2, "good"),
            "end: Value error, must be after start": window(1, 1, 2, "good"),
            "start: Input should be greater than or equal to 0": window(-1, 1, 2, "good"),
            "start: Input should be a valid number": window("soon", 1, 2, "good"),
            "n: Input should be less than or equal to 64": window(0, 1, 65, "good"),
            "n: Field required": ("frames", {"video": "good", "start": 0, "end": 1}),
            "junk": ("info", {"video": "junk"}),
            "no tool 'shell'; there are info, frames": ("shell", {}),
        }
        *replies, good = with_agent(
            (tmp_path / "films", "--log", log), *wrong.values(), window(0, 1, 2, "good")
        )
        for part, reply in zip(wrong, replies, strict=True):
            (text,) = texts(reply)
            assert (reply.is_error, "\n" in text) == (True, False)
            assert part in text or part == "junk"
            assert str(tmp_path / "films") not in text
        assert (good.is_error, len(pictures(good))) == (False, 2)
        assert lines(log) == [
            {"question": None, "video": "good", "start": 0, "end": 1, "times": [0.0, 1.0]}
        ]

    def test_an_id_with_half_a_character_is_answered_too(self, tmp_path, program):
        def message(method, params, **more):
            return json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}) + "\n"

        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"},
        }
        command = [program, "frames", "serve", "rextime_mini"]
        with subprocess.Popen(
            [*command, "--log", tmp_path / "looks.jsonl"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as server:
            unanswered = threading.Timer(120, server.kill)
            unanswered.start()
            for line in (
                message("initialize", hello, id=1),
                message("notifications/initialized", {}),
                message(
                    "tools/call",
                    {"name": "info", "arguments": {"video": "\ud800 \U0001f3ac"}},
                    id=2,
                ),
            ):
                server.stdin.write(line)
                server.stdin.flush()
            replies = [server.stdout.readline() for _ in range(2)]
            unanswered.cancel()
            server.kill()
        assert "no video '? \U0001f3ac'; there are" in replies[1]

    def test_videos_that_are_pictures_are_looked_at_too(self, reelbench_home, tmp_path, with_agent):
        row = locate("dramaqa_cogme_mini").read()[0]
        log = tmp_path / "looks.jsonl"
        arguments = ("dramaqa_cogme_mini", "--question", row["id"], "--log", log)
        info, look = with_agent(
            arguments, ("info", {"video": row["video"]}), window(0, 1e6, 2, row["video"])
        )
        assert texts(info)[0].startswith(f"{row['video']}: pictures, 128 x 96, ")
        assert texts(info)[0].endswith(
            ", 64 frames (3.125 per second)"
        )  # every eighth of 25 per second
        shot = row["video"].rpartition("_")[2]
        paths = sorted((reelbench_home / "mini" / "dramaqa_cogme").glob(f"**/{shot}/*.jpg"))
        assert (len(paths), pictures(look)) == (64, [paths[0].read_bytes(), paths[-1].read_bytes()])
        assert lines(log)[0]["times"] == [0, 63 * 8 / 25]

    def test_servers_that_share_a_log_never_mix_their_lines(self, tmp_path, agent):
        log = tmp_path / "looks.jsonl"

        async def looking(question):
            async with agent(
                "rextime_mini", "--question", question, "--log", log, "--size", "48"
            ) as client:
                for start in range(9):
                    await client.call_tool(*window(start, start + 1, 12))

        async def all_of_them():
            await asyncio.gather(*(looking(question) for question in ("mini1", "mini2", "mini3")))

        asyncio.run(all_of_them())
        looks = [(look["question"], look["start"]) for look in lines(log)]
        assert sorted(looks) == [
            (f"mini{i}", float(start)) for i in (1, 2, 3) for start in range(9)
        ]

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("rextime_mini", "--question", "none"), "no question 'none' in rextime_mini"),
            (("a", "b"), "two videos are called 'film'; name them in two calls"),
        ],
    )
    def test_what_can_not_be_served_is_one_line(self, arguments, said, reelbench, tmp_path):
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "film.mp4").write_bytes(b"x")
        done = reelbench("frames", "serve", *arguments, "--log", "looks.jsonl", cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"reelbench: {said}\n")

    def test_a_missing_extra_says_what_to_install(self, monkeypatch, tmp_path):
        monkeypatch.setitem(sys.modules, "mcp", None)
        with pytest.raises(InputError, match=r"pip install '\.\[mcp\]'"):
            mcp_server.serve(mcp_server.Served({}, tmp_path / "looks.jsonl"))


@pytest.fixture
def answers(tmp_path):
    """Answers to the first questions of rextime_mini: not to the last."""
    path = tmp_path / "answers.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("id", "prediction"))
        writer.writerows(
            (row["id"], '{"span": [1, 4], "answer": "A"}') for row in locate("rextime_mini").read()
        )
    return path


def look(question="mini1", video=VIDEO, times=(1.0, 2.0), **more):
    return {"question": question, "video": video, "start": 0, "end": 9, "times": list(times)} | more


def logged(tmp_path, *looks):
    path = tmp_path / "looks.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in looks), encoding="utf-8")
    return path


class TestLooked:
    def test_times_land_in_the_samples_and_the_row_stands_by_itself(
        self, reelbench, answers, tmp_path
    ):
        log = logged(tmp_path, look(times=(3.5, 2.0)), look("mini3"), look(times=(0.5, 2.0)))
        common = (
            "score",
            "rextime_mini",
            "--predictions",
            answers,
            "--model",
            "org/agent",
            "--output",
        )
        for done in (
            reelbench(*common, tmp_path / "agentic", "--looked", log),
            reelbench(*common, tmp_path / "plain"),
        ):
            assert done.returncode == 0, done.stderr
        samples = {sample["id"]: sample for sample in lines(tmp_path / "agentic" / "samples.jsonl")}
        times = {name: sample["frame_timestamps"] for name, sample in samples.items()}
        assert times.pop("mini1") == [0.5, 2.0, 3.5]
        assert times.pop("mini3") == [1.0, 2.0]
        assert set(map(tuple, times.values())) == {()}
        settings = json.loads((tmp_path / "agentic" / "result.json").read_text("utf-8"))["settings"]
        assert (settings["frames"], settings["label"]) == ("agentic", "agentic")
        assert settings["audio"] == "unknown"
        assert settings["frames_given"] == {"3": 1, "2": 1, "0": len(times)}
        plain = json.loads((tmp_path / "plain" / "result.json").read_text("utf-8"))["settings"]
        assert (plain["frames"], plain["frames_given"]) == ("unknown", {})
        for run in ("agentic", "plain"):
            done = reelbench("leaderboard", "add", tmp_path / run, "--store", tmp_path / "store")
            assert done.returncode == 0, done.stderr
        assert len(list((tmp_path / "store").rglob("result.json"))) == 2
        table = reelbench(
            "leaderboard", "tables", "--store", tmp_path / "store", "--format", "markdown"
        ).stdout
        assert "agentic" in table
        page = reelbench("view", tmp_path / "agentic", "--out", tmp_path / "page")
        assert page.returncode == 0, page.stderr
        assert "chose its frames one look at a time" in (
            tmp_path / "page" / "index.html"
        ).read_text("utf-8")

    @pytest.mark.parametrize(
        ("wrong", "said"),
        [
            (look("mini99"), "line 2: no question 'mini99' is among those that are scored"),
            (look(None), "line 2: has no question; `frames serve --question ID` says it"),
            (
                look(video="other"),
                f"line 2: is a look at 'other', question 'mini1' is on '{VIDEO}'",
            ),
            (look(another=1), "line 2: field another: Extra inputs are not permitted"),
            (look(times=["soon"]), "line 2: field times.0: Input should be a valid number"),
            (look(times=[-5]), "line 2: field times.0: Input should be greater than or equal to 0"),
            (
                look(times=[1, float("nan")]),
                "line 2: field times.1: Input should be a finite number",
            ),
            (
                look(times=[99999]),
                "line 2: the object: Value error, 99999 s is outside its window, 0 to 9 s",
            ),
            (
                look(start=4, times=[1, 2, 5]),
                "line 2: the object: Value error, 2 s is outside its window, 4 to 9 s",
            ),
            (look(end=-1), "line 2: field end: Input should be greater than or equal to 0"),
            (
                look(start=9),
                "line 2: the object: Value error, its window ends at 9 s, and begins at 9 s",
            ),
            ([1], "line 2: the object: Input should be a valid dictionary"),
        ],
    )
    def test_a_line_that_does_not_fit_is_one_line(self, wrong, said, reelbench, answers, tmp_path):
        log = logged(tmp_path, look(), wrong)
        done = reelbench(
            "score",
            "rextime_mini",
            "--predictions",
            answers,
            "--looked",
            log,
            "--output",
            tmp_path / "o",
        )
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert f"{log}, {said}" in done.stderr
        assert not (tmp_path / "o").exists()

    @pytest.mark.parametrize("more", [("--frames", "uniform:8"), ("--label", "tools")])
    def test_what_else_is_said_of_the_frames_is_refused(self, more, reelbench, answers, tmp_path):
        log = logged(tmp_path, look())
        done = reelbench("score", "rextime_mini", "--predictions", answers, "--looked", log, *more)
        said = (
            "reelbench: --looked says how the answers were made; leave out --frames and --label\n"
        )
        assert (done.returncode, done.stderr) == (2, said)
