"""ReXTime: questions whose answer lies in another part of the video than the question; a span and an option each."""

from reelbench.tasks.declarations import of_package

SPEC = of_package(__name__, __file__)
