"""A real spaCy pipeline for tests: no model is on PyPI, so a parser is taught a few sentences by heart."""

from pathlib import Path

# Word and place of its head (a root's is its own), drawn by hand; a full stop hangs on the root.
SENTENCES = [
    # moved -> square -> The: depth 2
    (["The", "square", "moved", "."], [1, 2, 2, 2]),
    # asked -> moved -> square -> the: depth 3
    (["She", "asked", "why", "the", "square", "moved", "?"], [1, 1, 5, 4, 5, 1, 1]),
    # It stopped.: depth 1
    (["It", "stopped", "."], [1, 1, 1]),
]


def write_parser(folder: Path) -> Path:
    """Teach a small English pipeline the sentences, alone and in a row, and save it; returns its folder."""
    import spacy
    from spacy.training import Example

    nlp = spacy.blank("en")
    nlp.add_pipe(
        "parser",
        config={
            "min_action_freq": 1,
            "model": {
                "@architectures": "spacy.TransitionBasedParser.v2",
                "state_type": "parser",
                "extra_state_tokens": False,
                "hidden_width": 32,
                "maxout_pieces": 2,
                "use_upper": True,
                "tok2vec": {
                    "@architectures": "spacy.HashEmbedCNN.v2",
                    "pretrained_vectors": None,
                    "width": 32,
                    "depth": 2,
                    "embed_size": 200,
                    "window_size": 1,
                    "maxout_pieces": 2,
                    "subword_features": True,
                },
            },
        },
    )
    orders = [[0], [1], [2], [0, 2], [2, 0], [1, 2], [0, 1], [2, 0, 1]]
    examples = [
        Example.from_dict(spacy.tokens.Doc(nlp.vocab, words=words), {"heads": heads, "deps": deps})
        for words, heads, deps in map(_row, orders)
    ]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(200):
        losses = {}
        nlp.update(examples, sgd=optimizer, losses=losses, drop=0.0)
        if losses["parser"] < 1e-3:
            break
    nlp.to_disk(folder)
    return folder


def _row(order):
    words, heads, deps = [], [], []
    for number in order:
        start = len(words)
        some, their_heads = SENTENCES[number]
        words += some
        heads += [start + head for head in their_heads]
        deps += [
            "ROOT" if head == place else "punct" if word in ".?" else "dep"
            for place, (word, head) in enumerate(zip(some, their_heads, strict=True))
        ]
    return words, heads, deps
