"""What every package of the suite stands on: errors, files, locks, environment, inert text.

The lowest layer. It imports the standard library only, lazily where a module is
heavy, because every hook pays for it. It knows nothing of sessions or signatures.
"""
