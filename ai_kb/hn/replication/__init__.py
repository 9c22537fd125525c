"""Replication over plain Git: select, synchronize, recover. Refs, packs and remotes, nothing else.

``selection`` says what is exchanged with a remote; ``sync.synchronize`` exchanges it. What comes in
is fetched (``remote``, ``fetching``) into a ``quarantine``, measured (``budgets``), verified
(``candidates``) and judged together with what is here (``relationships``), and only then becomes
accepted (``promotion``), above what was ever accepted before (``floors``). What is local goes out
by its exact refs (``publish``). What became of it all is a ``result``.

memory-v0, "Select and synchronize"; docs/protocol.md, "Replication".
"""
