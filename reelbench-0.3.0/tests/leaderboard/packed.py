"""The samples in the packed blocks of a site's files, for tests that look for words in them."""

import base64
import json
import re
import zlib

_BLOCK = re.compile(r'^"([A-Za-z0-9+/=]+)",?$', re.MULTILINE)


def unpacked(text):
    """Return the samples that are packed in a script of a site."""
    samples = []
    _, _, packed = text.partition('REELBENCH_LOADED("samples/')
    for block in _BLOCK.findall(packed):
        samples += json.loads(zlib.decompress(base64.b64decode(block)))
    return samples
