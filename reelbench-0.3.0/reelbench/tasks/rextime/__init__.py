"""ReXTime: questions whose answer lies in another part of the video than the question.

Each is answered with a span and an option.
"""

from reelbench.tasks.declarations import of_package

SPEC = of_package(__name__, __file__)
