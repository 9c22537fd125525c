"""The signals, and the classes of words that the phrases of the correction detector name.

Data only: ``@asked`` in a phrase is ``ASKED`` here. What is not looked up by a phrase but by
``corrections`` itself stands at the end.
"""

from __future__ import annotations

UNREQUESTED = "unrequested-action"
OMISSION = "omission-correction"
UNVERIFIED = "unverified-claim"
GUESSED = "guessed-not-tested"
REPEAT = "repeat-failure"

TEST_VERBS = frozenset(
    "run ran test tested check checked verify verified execute executed try tried open opened read look looked "
    "compile compiled build built measure measured profile profiled reproduce reproduced confirm confirmed "
    "validate validated benchmark benchmarked inspect inspected debug debugged examine examined consult "
    "consulted query queried start started launch launched call called grep grepped load loaded lint time timed "
    "study studied investigate investigated trace traced research researched".split()
)
DESTROYED = frozenset(
    "deleted removed wiped killed overwrote overwritten nuked clobbered destroyed trashed lost erased dropped "
    "purged broke ruined corrupted screwed messed butchered mangled stripped reverted disabled truncated "
    "discarded gutted reset unset scrapped threw".split()
)
# Acts that go beyond a request when nobody asked for them.
OVERDID = DESTROYED | frozenset(
    "added changed rewrote rewritten renamed moved installed pushed committed commited merged published closed "
    "upgraded downgraded bumped refactored reformatted reorganized reorganised restructured touched edited modified "
    "replaced switched swapped converted created opened sent deployed simplified optimized optimised introduced "
    "cleaned turned redesigned reordered migrated formatted altered released tagged force-pushed submitted posted "
    "squashed rebased amended extracted split inlined made put took started restarted enabled activated invented "
    "generated replied ran executed applied dockerized implemented overwrote went redid rebuilt updated".split()
)
FORGOT = frozenset(
    "forgot forgotten missed omitted skipped overlooked neglected ignored disregarded forget dodged evaded sidestepped".split()
)
PRODUCT = frozenset(
    "change changes patch migration answer answers list diff pr commit commits summary version code fix fixes "
    "output reply response responses solution implementation edit edits script test tests plan report message "
    "description explanation refactor refactoring rewrite result results function snippet translation command "
    "comment comments config query regex draft table analysis review claim suggestion proposal approach work "
    "changelog statement conclusion theory benchmark numbers notes status update updates documentation doc docs "
    "class component module method schema workflow sql job attempt diagnosis reasoning branch estimate".split()
)
CLAIMED = frozenset(
    "said say told tell claim claimed claims reported stated state promised assured marked declared insisted insist "
    "swore announced wrote write cited confirmed mentioned mention cite quoted quote pretend pretended listed called "
    "asserted guaranteed maintained described concluded".split()
)
SAID = frozenset(
    "said say told tell claim claimed claims reported promised assured insist insisted announced confirmed stated "
    "asserted guaranteed described marked declared concluded pretend pretended ticked".split()
)
ASKED = frozenset(
    "asked said told wanted requested listed specified ordered instructed meant mentioned named wrote pointed "
    "gave described pasted sent defined demanded required".split()
)
SAME = frozenset("same identical exact very".split())
ERRORS = frozenset(
    "error errors failure failures bug mistake mistakes problem crash exception trace stacktrace message result "
    "output issue typo traceback failures warning outcome".split()
)
EARLIER = frozenset(
    "before earlier already yesterday previously twice last ago again first times once".split()
)
# "you did not …" that is no omission.
FINE_IF_NOT = frozenset(
    "miss forget break skip overlook mess lose fail disappoint ruin leave mind harm hurt have see know "
    "need want mean like misunderstand".split()
)
# Who or what speaks where the words after it are not the user's own.
SPEAKING = frozenset(
    "says say reads complains prints shows states tells claims writes reports warns wrote asks answered answers replied "
    "commented".split()
)
LABELS = frozenset(
    "message messages error warning dialog popup banner label sign string text toast tooltip heading title subject "
    "mail email page screen modal linter compiler".split()
)
# Somebody else whose conduct may be meant when nobody is addressed.
OTHERS = frozenset(
    "colleague coworker co-worker author intern contractor vendor customer customers client clients user users qa team "
    "boss manager maintainer maintainers reviewer he she his her him somebody someone people copilot "
    "chatgpt gpt plugin bot library dev devs developer developers sales marketing pm auditor consultant supplier "
    "pipeline cron scheduler friend wife husband kid "
    "teammate everybody everyone browser device devices phone article blog students student agency".split()
)

# Acts that the agent is thanked for.
WELCOME = frozenset(
    "delivered nailed helped solved found caught remembered noticed explained saved spotted finished managed used looked "
    "read mentioned said told asked suggested described proposed saw got named showed supposed seen listed "
    "meant thought shown been had put set let read hit cut quit".split()
)
