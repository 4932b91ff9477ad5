"""Dataset profile: 5,000 questions and answers, everything but the LLM's part, as one command from start to end.

    python -m perf.profile [--rows 5000]

The texts are as long as MovieCORE's (questions of some 20 words, answers of some 60 in three
sentences). The parser is the one that `REELBENCH_SPACY_MODEL` names, else a pipeline of
en_core_web_sm's architecture and size, taught for a moment: how fast a parser is does not rest on
how well it parses.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORDS = """
the a his her their this that old young quiet sudden hidden final detective brother mother stranger family village
harbour letter silence memory courage betrayal tension meaning relationship character audience scene camera music ending
decision sacrifice conflict reveals suggests conveys underscores leaves returns forgives remembers explains becomes
changes slowly finally because although while when after before and but with without through against of in
""".split()  # noqa: SIM905 - as a list it would take sixty lines


def text(rng: random.Random, sentences: int, end: str) -> str:
    """Return some 20 words a sentence."""
    made = (
        " ".join(rng.choices(WORDS, k=rng.randint(16, 24))).capitalize() + end
        for _ in range(sentences)
    )
    return " ".join(made)


def write_rows(path: Path, rows: int) -> None:
    """Write questions and answers, no two alike."""
    rng = random.Random(0)  # noqa: S311 - no secret
    with path.open("w", encoding="utf-8") as file:
        for _ in range(rows):
            file.write(
                json.dumps({"question": text(rng, 1, "?"), "answer": text(rng, 3, ".")}) + "\n"
            )


def write_parser(folder: Path) -> None:
    """Save a pipeline of en_core_web_sm's architecture: what its published config says of embedding and parser."""
    import spacy
    from spacy.training import Example

    nlp = spacy.blank("en")
    nlp.add_pipe(
        "tok2vec",
        config={
            "model": {
                "@architectures": "spacy.Tok2Vec.v2",
                "embed": {
                    "@architectures": "spacy.MultiHashEmbed.v2",
                    "width": 96,
                    "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE", "SPACY", "IS_SPACE"],
                    "rows": [5000, 1000, 2500, 2500, 50, 50],
                    "include_static_vectors": False,
                },
                "encode": {
                    "@architectures": "spacy.MaxoutWindowEncoder.v2",
                    "width": 96,
                    "depth": 4,
                    "window_size": 1,
                    "maxout_pieces": 3,
                },
            }
        },
    )
    nlp.add_pipe(
        "parser",
        config={
            "min_action_freq": 1,
            "model": {
                "@architectures": "spacy.TransitionBasedParser.v2",
                "state_type": "parser",
                "extra_state_tokens": False,
                "hidden_width": 64,
                "maxout_pieces": 2,
                "use_upper": True,
                "tok2vec": {
                    "@architectures": "spacy.Tok2VecListener.v1",
                    "width": 96,
                    "upstream": "tok2vec",
                },
            },
        },
    )
    rng = random.Random(1)  # noqa: S311 - no secret
    examples = []
    for _ in range(40):
        words = [*rng.choices(WORDS, k=12), "."]
        # A tree with branches to both sides of a root in the middle.
        heads = [
            6 if place in {3, 6, 9, 12} else place + 1 if place < 6 else place - 1
            for place in range(13)
        ]
        deps = [
            "ROOT" if head == place else "punct" if place == 12 else "dep"
            for place, head in enumerate(heads)
        ]
        doc = spacy.tokens.Doc(nlp.vocab, words=words)
        examples.append(Example.from_dict(doc, {"heads": heads, "deps": deps}))
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(20):
        nlp.update(examples, sgd=optimizer)
    nlp.to_disk(folder)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=5000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.jsonl"
        write_rows(rows, given.rows)
        model = os.environ.get("REELBENCH_SPACY_MODEL")
        if model is None:
            model = str(Path(folder) / "parser")
            write_parser(Path(model))
        command = [
            Path(sys.executable).with_name("reelbench"),
            "profile",
            "--input",
            rows,
            "--json",
        ]
        print("| rows | what | seconds | load |\n|---|---|---|---|")
        for what, spacy_model in (
            ("words, grade", "no_such_model"),
            ("words, grade, parse depth", model),
        ):
            began = time.perf_counter()
            done = subprocess.run(
                [*command, "--spacy-model", spacy_model], check=True, capture_output=True, text=True
            )
            seconds = time.perf_counter() - began
            found = json.loads(done.stdout)
            assert found["rows"] == given.rows  # noqa: S101
            assert (found["parse_depth"] is None) == (spacy_model == "no_such_model")  # noqa: S101
            print(
                f"| {given.rows:,} | {what} | {seconds:.1f} | {os.getloadavg()[0]:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
