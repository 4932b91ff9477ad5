"""llama.cpp's converter of checkpoints, told how the tiny model's tokenizer parts words.

    python weights_of_llama_cpp.py SOURCES CHECKPOINT OUTPUT [--mmproj]

It knows tokenizers by the hash of what they make of a text, and so none that was just trained.
"""

import runpy
import sys


def main(sources: str, checkpoint: str, output: str, *words: str) -> None:
    """Write a checkpoint's weights as llama.cpp has them."""
    sys.path[:0] = [sources, f"{sources}/gguf-py"]
    from conversion import base  # pyright: ignore[reportMissingImports] - of llama.cpp

    base.TextModel.get_vocab_base_pre = lambda *_: "gpt-2"
    script = f"{sources}/convert_hf_to_gguf.py"
    sys.argv = [script, checkpoint, "--outfile", output, "--outtype", "f32", *words]
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:])
