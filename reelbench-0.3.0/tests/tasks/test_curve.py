"""CURVE: addresses, containers and types as the owners may write them, languages, locales and its score."""

import json
import re
import unicodedata
from importlib.resources import files

import pytest

from reelbench import registry
from reelbench.base.errors import DataUnavailableError, InputError
from reelbench.data import loading
from reelbench.judges.verdicts import Verdict
from reelbench.registry.records import Item
from reelbench.scoring import aggregation
from reelbench.tasks.lmms import codegen
from reelbench.video import library as media
from reelbench.video.mini_clips import draw_clip
from tests.servers.judge import Answer, JudgeServer

SPEC = registry.get("curve")
lmms = codegen.functions("curve")
ID = "a-B_c1D2e3F"

# One text per locale of both lists, each with what is easily lost: joiners, combining marks, digits
# of the script or of full width, right-to-left marks, quotes, a decomposed accent, a character
# outside the basic plane.
TEXTS = {
    "ar-EG": "\u200fالعدد ١٢٣ — «قُبّة»",
    "bn-BD": "ক্ষীর ১২টি বাটিতে",
    "de-DE": "Größe: 3,5 m „Maß“",
    "en-GB": "the Crown & Anchor, £2.50",
    "en-IN": "₹1,00,000 at Dussehra",
    "es-MX": "¡Día de Muertos! nin\u0303o",
    "fr-FR": "l’œuvre, n° 12 — « ici »",
    "hi-IN": "क्‍ष और ज़री, १०८ दीये",
    "id-ID": "gamelan — 24 penari",
    "it-IT": "perché no? 1.000 lire",
    "ja-JP": "か\u3099らす、１２３個「𠮷野家」",
    "kn-IN": "ಕ್ಷೀರಾನ್ನ ೧೨",
    "ko-KR": "한글 각 12개",
    "mr-IN": "ज्ञानेश्‍वरी, १२ वा अध्याय",
    "pt-BR": "São João, 15h30",
    "ru-RU": "Ёлка и хоровод, №7",
    "ta-IN": "பொங்கல் ௧௨ பானை",
    "te-IN": "సంక్రాంతి ౧౨ ముగ్గులు",
    "th-TH": "น้ำ ๑๒ ขวด ซึ่ง",
    "zh-TW": "第１２３號：「媽祖」𡘙",
}
SCRIPTS = {
    "ar": "ARABIC",
    "bn": "BENGALI",
    "hi": "DEVANAGARI",
    "ja": "HIRAGANA",
    "kn": "KANNADA",
    "ko": "HANGUL",
    "mr": "DEVANAGARI",
    "ru": "CYRILLIC",
    "ta": "TAMIL",
    "te": "TELUGU",
    "th": "THAI",
    "zh": "CJK",
}


def entry(key="k1", **fields):
    return {
        "key": key,
        "video_id": ID,
        "locale": "ja-JP",
        "question": "何ですか。",
        "answer": "鯉のぼり",
        "reasoning_steps": "00:10 見る",
        "external_links": "https://example.org/a",
        "skills": "Counting, Visual Cultural Understanding",
        "category": "Festivals",
        "subcategory": "こどもの日",
        **fields,
    }


def write(tmp_path, document, name="curve.json"):
    path = tmp_path / name
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    return path


def rows(tmp_path, *entries):
    return list(loading.load("curve", data=write(tmp_path, list(entries))))


class TestTheFile:
    @pytest.mark.parametrize(
        "address",
        [
            ID,
            f" {ID}\n",
            f"https://www.youtube.com/watch?v={ID}",
            f"https://www.youtube.com/watch?t=12s&v={ID}&list=PLabc",
            f"http://youtube.com/watch?v={ID}#t=1m",
            f"https://m.youtube.com/watch?v={ID}",
            f"https://music.youtube.com/watch?v={ID}",
            f"https://youtu.be/{ID}",
            f"https://youtu.be/{ID}?si=abc&t=3",
            f"youtu.be/{ID}",
            f"www.youtube.com/watch?v={ID}",
            f"https://www.youtube.com/embed/{ID}?start=5",
            f"https://www.youtube-nocookie.com/embed/{ID}",
            f"https://www.youtube.com/shorts/{ID}",
            f"https://www.youtube.com/live/{ID}?feature=share",
            f"https://www.youtube.com/v/{ID}",
            f"//www.youtube.com/watch?v={ID}",
        ],
    )
    def test_every_form_of_address_names_the_same_video(self, address, tmp_path):
        assert rows(tmp_path, entry(video_id=address))[0]["video"] == ID

    @pytest.mark.parametrize(
        "address",
        [
            *(
                "",
                "short",
                ID + "x",
                None,
                7,
                "../../x",
                "javascript:alert(1)",
                "https://[youtu.be/abc",
            ),
            *(f"https://vimeo.com/{ID}", "https://www.youtube.com/watch?v=short"),
        ],
    )
    def test_what_names_no_video_is_refused(self, address, tmp_path):
        with pytest.raises(
            InputError, match=r"entry 1: video_id is .* expected a YouTube address or an id of 11"
        ):
            rows(tmp_path, entry(video_id=address))

    def test_all_containers_give_the_same_rows(self, tmp_path):
        listed = [entry("k1"), entry("k2", locale="ta-IN")]
        keyless = [{name: value for name, value in row.items() if name != "key"} for row in listed]
        expected = list(loading.load("curve", data=write(tmp_path, listed)))
        for document in ({"questions": listed}, dict(zip(("k1", "k2"), keyless, strict=True))):
            assert list(loading.load("curve", data=write(tmp_path, document))) == expected
        lines = tmp_path / "lines" / "curve.json"
        lines.parent.mkdir()
        for some in (listed, listed[:1]):
            lines.write_text("\n".join(json.dumps(row) for row in some) + "\n", encoding="utf-8")
            assert list(loading.load("curve", data=lines)) == expected[: len(some)]

    def test_types_become_one(self, tmp_path):
        first, second = rows(
            tmp_path,
            entry(
                "1",
                answer=12,
                skills=["Counting"],
                reasoning_steps=["a, b", {"at": "00:10"}],
                external_links=None,
            ),
            entry(2, category=None, subcategory=None, skills=None),
        )
        assert first["answer"] == "12"
        assert first["skills"] == ["Counting"]
        assert first["reasoning_steps"] == ["a, b", '{"at": "00:10"}']
        assert first["external_links"] == []
        assert (second["id"], second["category"], second["subcategory"], second["skills"]) == (
            "2",
            [],
            "",
            [],
        )
        assert rows(tmp_path, entry())[0]["skills"] == ["Counting", "Visual Cultural Understanding"]
        assert rows(tmp_path, entry())[0]["reasoning_steps"] == ["00:10 見る"]

    def test_locales_come_from_the_data(self, tmp_path, caplog):
        found = rows(
            tmp_path,
            *(entry(name, locale=name) for name in [*TEXTS, "pt-PT"]),
            entry("x", locale="JA_jp"),
        )
        assert [row["locale"] for row in found] == [[name] for name in [*TEXTS, "pt-PT", "ja-JP"]]
        assert [record.getMessage() for record in caplog.records] == [
            "curve: no source lists the locales pt-PT; they are kept"
        ]

    @pytest.mark.parametrize(
        ("document", "said"),
        [
            (
                [entry(locale="Japanese")],
                r"entry 1: locale is 'Japanese', expected .* such as ja-JP",
            ),
            (
                [entry(question="")],
                r"entry 1 has no 'question'; expected key, video_id, .*; found answer, category",
            ),
            ([entry(answer=None)], r"entry 1 has no 'answer'"),
            (
                [{"id": 1}],
                r"entry 1 is not a question of CURVE; expected key, video_id, .*; found id",
            ),
            (
                [entry(), entry()],
                r"entry 2: key 'k1' occurs twice; the file must have each question once",
            ),
            (["k1"], r"entry 1 is not a question of CURVE; expected .*; found str"),
            ({"a": [], "b": 1}, r"entry 1 is not a question of CURVE; expected .*; found a, b"),
            ([], r"no rows"),
        ],
    )
    def test_a_wrong_file_says_what_was_expected_and_found(self, document, said, tmp_path):
        path = write(tmp_path, document)
        with pytest.raises(InputError, match=said) as caught:
            loading.load("curve", data=path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


class TestLocales:
    def test_one_language_runs_alone(self, tmp_path, monkeypatch):
        monkeypatch.setenv("REELBENCH_DATA_CURVE", str(tmp_path))
        write(tmp_path, [entry("1"), entry("2", locale="ta-IN"), entry("3")])
        alone = loading.load("curve_ja-JP")
        assert alone["id"] == ["1", "3"]
        assert alone.info.dataset_name == "curve_ja-JP"
        assert loading.load("curve")["id"] == ["1", "2", "3"]
        assert loading.locate("curve_ja-JP").source == loading.locate("curve").source

    def test_a_locale_without_questions_says_which_there_are(self, tmp_path):
        with pytest.raises(
            DataUnavailableError, match=r"no question with locale th-TH; it has ja-JP$"
        ):
            loading.load("curve_th-TH", data=write(tmp_path, [entry()]))

    def test_each_locale_of_both_lists_has_a_task(self):
        # The README's list at bdde4b1 and Table 1 of the paper's supplement.
        readme = "ar-EG bn-BD de-DE en-GB es-MX fr-FR hi-IN id-ID it-IT ja-JP kn-IN ko-KR mr-IN pt-BR ru-RU ta-IN te-IN"
        paper = "ar-EG de-DE en-GB en-IN es-MX fr-FR hi-IN id-ID it-IT ja-JP ko-KR mr-IN pt-BR ru-RU ta-IN te-IN th-TH"
        both = {*readme.split(), *paper.split(), "zh-TW"}
        assert len(both) == 20
        assert {task.only["locale"]: task.name for task in SPEC.tasks if task.only} == {
            name: f"curve_{name}" for name in both
        }


def asked(tmp_path, locale, question="?"):
    return lmms.doc_to_text(rows(tmp_path, entry(locale=locale, question=question))[0])


class TestThePrompt:
    @pytest.mark.parametrize("locale", TEXTS)
    def test_it_asks_in_the_questions_language(self, locale, tmp_path):
        prompt = asked(tmp_path, locale)
        request = prompt.removeprefix("?\n\n")
        letters = {unicodedata.name(char).split()[0] for char in request if char.isalpha()}
        language = locale.partition("-")[0]
        assert SCRIPTS.get(language, "LATIN") in letters
        assert ("LATIN" in letters) == (language not in SCRIPTS)

    def test_no_two_languages_are_asked_alike(self):
        templates = json.loads(
            files("reelbench.tasks.curve").joinpath("prompt.json").read_text(encoding="utf-8")
        )
        assert templates.keys() == {locale.partition("-")[0] for locale in SPEC.languages}
        assert len(set(templates.values())) == len(templates) == 19

    def test_a_language_without_a_prompt_is_asked_in_english(self, tmp_path):
        assert asked(tmp_path, "sw-KE") == asked(tmp_path, "en-GB")

    def test_braces_in_a_question_are_the_questions_own(self, tmp_path):
        prompt = asked(tmp_path, "en-GB", "{answer} {0} {{")
        assert prompt.startswith("{answer} {0} {{\n")


def judged(points):
    """Score items whose judge gave `points`: (locale, score or None) each."""
    items = [
        Item(
            id=f"{n:04}",
            video=f"v{n}",
            target={"text": "x"},
            prediction="y",
            facets={"locale": [locale]},
        )
        for n, (locale, _) in enumerate(points)
    ]

    verdicts = {
        f"{n:04}": Verdict("", {}, {"score": "judge_unparsable"})
        if got is None
        else Verdict("", {"score": got}, {})
        for n, (_, got) in enumerate(points)
    }
    return aggregation.score(SPEC, items, judged=(verdicts, None))


class TestTheScore:
    def test_it_is_the_share_of_all_points(self):
        # ja-JP 2 + 1 + 0 of 6, ta-IN 2 of 2: 5 of 8 in all; locales 50 and 100.
        scored = judged([("ja-JP", 2), ("ja-JP", 1), ("ja-JP", 0), ("ta-IN", 2)])
        assert scored.numbers.metrics["score"].value == pytest.approx(62.5)
        assert scored.numbers.metrics["macro"].value == pytest.approx(75)
        assert scored.numbers.breakdowns["locale"]["ja-JP"]["score"].value == pytest.approx(50)
        assert scored.numbers.breakdowns["locale"]["ta-IN"]["score"].value == pytest.approx(100)

    def test_half_points_give_the_papers_numbers(self):
        # Table 3 of the supplement has 55.97 for id-ID, which is 150 of the 268 points that 134
        # questions have.
        scored = judged([("id-ID", 2)] * 60 + [("id-ID", 1)] * 30 + [("id-ID", 0)] * 44)
        assert round(scored.numbers.metrics["score"].value, 2) == 55.97

    def test_what_the_judge_could_not_mark_is_left_out_and_counted(self):
        scored = judged([("ja-JP", 2), ("ja-JP", None)])
        assert (scored.numbers.metrics["score"].value, scored.numbers.metrics["score"].n) == (
            100,
            1,
        )
        assert scored.counts.unscored == {"judge_unparsable": 1}

    def test_without_a_judge_there_is_no_score_and_exact_match_stands(self, tmp_path, score):
        references = write(
            tmp_path, [entry("1", answer="１２個"), entry("2", answer="鯉", locale="ja-JP")]
        )
        predictions = write(
            tmp_path, [{"key": "1", "pred": "12個"}, {"key": "2", "pred": "猫"}], "p.json"
        )
        document = score("curve", "--predictions", predictions, "--references", references)
        assert (
            document["metrics"]["score"]["value"] is document["metrics"]["macro"]["value"] is None
        )
        assert document["metrics"]["exact_match"]["value"] == 50
        assert document["counts"]["unscored"] == {"judge_unavailable": 2}

    def test_a_judge_behind_a_server_marks_the_answers(self, tmp_path, score):
        references = write(tmp_path, [entry("1"), entry("2", locale="ta-IN"), entry("3")])
        predictions = tmp_path / "p.jsonl"
        lines = [
            {"key": "1", "pred": "good"},
            {"key": "2", "pred": "half"},
            {"key": "3", "pred": "bad"},
        ]
        predictions.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")

        def mark(call):
            text = call.body["messages"][-1]["content"]
            return Answer("2" if "good" in text else "1" if "half" in text else "0")

        with JudgeServer(mark) as server:
            judge = ("--judge", "gemini-2.5-flash", "--judge-url", server.url)
            document = score(
                "curve", "--predictions", predictions, "--references", references, *judge,
                env={"REELBENCH_JUDGE_API_KEY": "x"},
            )  # fmt: skip
        assert document["counts"]["scored"] == 3
        assert document["metrics"]["score"]["value"] == pytest.approx(50)  # 3 of 6 points
        assert document["metrics"]["macro"]["value"] == pytest.approx(
            50
        )  # ja-JP 2 of 4, ta-IN 1 of 2


class TestPredictions:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ('{"key": "k1"}\n', r"no column of predicted texts \(.*pred.*it has key"),
            ('{"key": "k1", "pred": ["3"]}\n', r"row 1: the prediction is a list, expected text"),
            ('["k1"]', r"row 1 is a str, expected an object with an id and a text"),
            ("[]", r"no predictions in it"),
            (
                '{"key": "other", "pred": "x"}',
                r"none of its 1 ids \(first: 'other'\) is among the 1 references",
            ),
            ('{"key": "k1", "pred": "x"}\n{"key": ', r"p.jsonl, line 2"),
        ],
    )
    def test_a_wrong_file_is_one_line_and_exit_2(self, text, said, tmp_path, reelbench):
        predictions = tmp_path / "p.jsonl"
        predictions.write_text(text, encoding="utf-8")
        done = reelbench(
            "score",
            "curve",
            "--predictions",
            predictions,
            "--references",
            write(tmp_path, [entry()]),
            "--json",
        )
        assert done.returncode == 2
        assert done.stdout == ""
        (line,) = done.stderr.strip().splitlines()
        assert re.search(said, line), line

    def test_missing_extra_and_empty_are_counted(self, tmp_path, score):
        references = write(tmp_path, [entry("1"), entry("2"), entry("3")])
        predictions = write(
            tmp_path,
            [
                {"key": "1", "pred": "鯉のぼり"},
                {"key": "2", "pred": " "},
                {"key": "9", "pred": "z"},
            ],
            "p.json",
        )
        document = score("curve", "--predictions", predictions, "--references", references)
        counts = document["counts"]
        assert (counts["items"], counts["missing"], counts["extra"], counts["empty"]) == (
            3,
            1,
            1,
            1,
        )
        exact = document["metrics"]["exact_match"]
        assert (exact["value"], exact["n"]) == (50, 2)  # the missing one is not wrong


def test_every_script_goes_unchanged_through_every_step(tmp_path, reelbench):
    questions = [
        entry(locale, locale=locale, question=f"{text}?", answer=text)
        for locale, text in TEXTS.items()
    ]
    references = write(tmp_path, questions)
    found = loading.load("curve", data=references)
    assert found["question"] == [f"{text}?" for text in TEXTS.values()]
    assert found["answer"] == list(TEXTS.values())
    assert all(row["question"] in lmms.doc_to_text(row) for row in found)
    predictions = tmp_path / "p.jsonl"
    lines = [{"key": locale, "pred": text} for locale, text in TEXTS.items()]
    # Escaped and bare characters are the same text.
    predictions.write_text(
        "\n".join(json.dumps(line, ensure_ascii=n % 2 == 0) for n, line in enumerate(lines)),
        encoding="utf-8",
    )
    out = tmp_path / "الناتج"
    done = reelbench(
        "score", "curve", "--predictions", predictions, "--references", references, "--output", out
    )
    assert done.returncode == 0, done.stderr
    samples = [
        json.loads(line)
        for line in (out / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert {sample["id"]: sample["prediction"] for sample in samples} == TEXTS
    assert {sample["id"]: sample["target"]["text"] for sample in samples} == TEXTS
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert result["metrics"]["exact_match"]["value"] == 100
    assert result["breakdowns"]["locale"].keys() == TEXTS.keys()


class TestVideos:
    @pytest.mark.parametrize(
        "name", [f"{ID}.mp4", f"{ID}.webm", f"videos/{ID}.mkv", f"curve/{ID}.mov"]
    )
    def test_they_are_found_where_a_sibling_benchmark_has_them(self, name, tmp_path, monkeypatch):
        monkeypatch.setenv("MINERVA_VIDEO_DIR", str(tmp_path))
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"video")
        assert media.Library(SPEC, "test").find({"video": ID}) == tmp_path / name

    def test_a_folder_called_mkv_is_a_folder_like_others(self, tmp_path, monkeypatch):
        folder = tmp_path / "films.mkv" / "my mkv"
        folder.mkdir(parents=True)
        monkeypatch.setenv("REELBENCH_MEDIA", str(folder))
        library = media.Library(SPEC, "test")
        assert library.find({"video": ID}) is None
        (folder / f"{ID}.mp4").write_bytes(b"")
        assert media.Library(SPEC, "test").find({"video": ID}) == folder / f"{ID}.mp4"


@pytest.mark.lmms
def test_lmms_eval_asks_one_locale_alone_and_in_its_language(tmp_path, monkeypatch):
    import lmms_eval.models  # noqa: F401 - its entry points register our tasks
    from lmms_eval.tasks import TaskManager

    monkeypatch.setenv("REELBENCH_DATA_CURVE", str(tmp_path))
    write(tmp_path, [entry("1"), entry("2", locale="ta-IN"), entry("3", video_id="gone_gone__")])
    draw_clip(tmp_path / f"{ID}.mp4", ID, 1)
    manager = TaskManager(include_defaults=False, model_name="openai")
    task = manager.load_task_or_group(["curve_ja-JP"], "chat")["curve_ja-JP"]
    assert [row["id"] for row in task.task_docs] == ["1"]
    (message,) = task.doc_to_messages(task.task_docs[0])
    assert message["content"][0] == {"type": "video", "url": str(tmp_path / f"{ID}.mp4")}
    assert "日本語で" in message["content"][1]["text"]
    assert "media_missing=1" in str(task.config.dataset_path)
