"""Installing the suite: environment, launchers, hooks in six harnesses, and all of it undone.

Standard library only: it runs under any Python 3.11 before the suite's own environment
exists, and it can undo an installation whose environment is broken.

What it promises: files of the user are changed by inserting or removing exactly the
suite's own entries, atomically, after a backup; what does not parse is left alone;
a second run changes nothing; uninstalling restores every file byte for byte when nobody
else changed it in between. What it does not: merge two people's edits made in the same
instant (the later rename wins; a change seen between reading and writing is refused).
"""
