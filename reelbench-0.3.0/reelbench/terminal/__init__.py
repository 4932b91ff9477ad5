"""What the commands of all rooms share.

Here are the console, the classes of commands, the options that several commands have, and the
printing of results. It may import the rooms of the bench. It never names `cli`, board or studio,
whose commands stand on it.
"""
