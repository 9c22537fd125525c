"""The phrases by which a reproach of the agent's own past conduct is told, in English.

Data only, read by ``corrections``. Each phrase is of the kind, not of an example: who acted
(you, your answer), that it is past, and what was wrong with it. Phrases are tried in the
order they stand; the first that holds names the signal. See ``phrases`` for the notation and
``correction_words`` for ``you`` and ``thee``.
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
    "forgot forgotten missed omitted skipped overlooked neglected ignored disregarded forget".split()
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
    "asserted guaranteed maintained described concluded answered".split()
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
    "need want mean like".split()
)
NEGATIVE = frozenset(
    "not no nothing none never nowhere fails fail failed failing failure failures errors wrong false "
    "missing untrue broken 404 500 traceback exited crashes crashed empty still lie lied invented nonexistent "
    "red incorrect bogus contradicts only exception neither unchanged identical untouched except inactive dead "
    "blank gone absent refused doubt really sure lol".split()
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
    "boss manager maintainer maintainers reviewer he she his her him they their them somebody someone people copilot "
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

# Enough by themselves, wherever in the user's own words they stand.
STRONG: tuple[tuple[str, str], ...] = (
    # ---- the same again
    (REPEAT, "you =keep|kept *ing"),
    (REPEAT, "you =keep|kept on *ing"),
    (REPEAT, "why do =ya keep *ing"),
    (REPEAT, "i|we =keep|kept telling|saying|asking|repeating|reminding|having|correcting|explaining ?you|to|that|this"),
    (REPEAT, "how many|often =times ~ i|we|must"),
    (REPEAT, "how =often do|must|should|have|did i|we"),
    (REPEAT, "how =many ?more times"),
    (REPEAT, "how =often i|we have|must|need to"),
    (REPEAT, "=tired|sick|fed of|up ~ repeating|telling|saying|asking|explaining|correcting"),
    (REPEAT, "talking|speaking to a|the ?brick =wall"),
    (REPEAT, "falling|fell on =deaf ears"),
    (REPEAT, "i|we have|had|did ?now|just|not already|just =told|tell|said|say|asked|explained|mentioned|reminded|corrected|rejected ~~ ?you|twice|times|before"),
    (REPEAT, "i|we =already told|asked|explained|mentioned|reminded|corrected|rejected ?to you|this|that|it"),
    (REPEAT, "i|we =already said ?that|this|it ~ not|no|twice|you|use"),
    (REPEAT, "i|we ?have =told|asked|reminded|warned|corrected you ~~ before|already|twice|times|again|earlier|yesterday"),
    (REPEAT, "i|we ?have said|asked|explained|corrected|rejected|written|wrote ?you ?this|that|it ?out ?so ?for ~ =twice|times|before|already"),
    (REPEAT, "^ ?sigh ?no ?, ?again ?, as i|we ?have ?already =said|wrote|told|mentioned|explained ?you ?already|before|twice|earlier"),
    (REPEAT, "as|like i|we said|told|mentioned|explained ?you ?already|now =before|twice|already"),
    (REPEAT, "did not i|we ?just ?already ?clearly|explicitly =say|tell|ask|mention|explain|correct"),
    (REPEAT, "how =often|many ~ i|we have|need|must ~ to|repeat"),
    (REPEAT, "we have had this ?exact ?same =discussion|conversation|argument"),
    (REPEAT, "did not|have i|we|not ?we|i ?just ?already =go|gone|been|talked|talk|discuss|discussed ~ over|through|about|this"),
    (REPEAT, "^ ?oh|and|not|no ?, ?this ?, =again with the|your|this|these|those"),
    (REPEAT, "you @@ did ?it|this|that|exactly|the ?exact ?same|thing =again"),
    (REPEAT, "you @@ did =exactly the same"),
    (REPEAT, "^ ?and|so|no|now|but ?once|yet =again|more ?, ?and|with you @@ @past"),
    (REPEAT, "^ ?and|so|no|now|but =once more you"),
    (REPEAT, "^ ?and|so|no|now|but =again , ?and you @@ @past"),
    (REPEAT, "once|yet =again you|your|the"),
    (REPEAT, "^ ?and ?yet =another version|attempt|try|patch|commit|fix ~~ wrong|same|broken|without|not|that"),
    (REPEAT, "you @@ @past ~~ =again"),
    (REPEAT, "@you @@ are|were *ing ~~ =again"),
    (REPEAT, "you @@ @past ~~ =same|identical ~ mistake|error|bug|command|thing|wrong|approach|code|patch|fix|answer|file|line|spot|place|way|typo|idea"),
    (REPEAT, "you @@ =repeat|repeated|reintroduced|reapplied|readded|re-added|resurrected|re-introduced"),
    (REPEAT, "you @@ brought|added|put ~ =back ~ i|we"),
    (REPEAT, "^ ?still|that|this|it|and|literally|exactly ?is ~ =same ?exact ?wrong|old|stupid|dumb|silly mistake|blunder|wrong"),
    (REPEAT, "=same ?exact ?wrong|old|stupid|dumb|silly mistake|blunder|wrong|typo ~ again|before|time|twice|yesterday"),
    (REPEAT, "=same wrong|stupid|useless"),
    (REPEAT, "=same ~~ you @@ gave|said|did|made|wrote|used|sent|tried|suggested|proposed|posted ~ before|again|last|earlier|already|first|previously|yesterday"),
    (REPEAT, "=still ~~ after|despite your|both|all|@num ?last|latest|previous|new|first|@ordinal|two|three|@num|quoted ?quoted change|changes|fix|fixes|patch|patches|edit|edits|attempt|attempts|commit|update"),
    (REPEAT, "@same ~~ =after|despite your|both|all|@num ?last|latest|previous|new|first|@ordinal|two|three|@num|quoted ?quoted change|changes|fix|fixes|patch|patches|edit|edits|attempt|attempts|commit|update"),
    (REPEAT, "@same ~~ as|like|to ?in|with ?the|your ?last ?@num ?last|previous|earlier|other =attempt|attempts|tries|fix|fixes|patch|version|try|round|rounds"),
    (REPEAT, "@same ~~ as|like|to the one i ~~ =ago|before|earlier|already|pasted|sent|posted|showed"),
    (REPEAT, "@ordinal =time ~~ you|your"),
    (REPEAT, "you|your ~~ @ordinal =time"),
    (REPEAT, "^ ?and|so|no|now|ok|right ?, ?for the @ordinal ?and ?last|final =time ,"),
    (REPEAT, "^ ?and|so|no|now|ok ?, ?for the @ordinal =time $"),
    (REPEAT, "^ ?so|and|, ?now this|that|it =is|was|makes ?now|already the|my|our @ordinal ?time|attempt|try|round|fix|failure ?now|already|today $"),
    (REPEAT, "^ @ordinal =attempt|try|round|run|fix|patch ?now|already , ?and ?@ordinal|still|same|identical|again"),
    (REPEAT, "@ordinal =time ~ i ?have|had ?to tell|told|say|said|ask|asked|explain|explained|correct|remind"),
    (REPEAT, "your ?last @ordinal ~ =attempt|try|version|go|fix|patch ~~ same|identical|wrong|still|fails|failed|not|again|broken|no"),
    (REPEAT, "your =last|previous @num ~ attempts|tries|versions|fixes|patches|changes|answers|suggestions"),
    (REPEAT, "=here we go|are again"),
    (REPEAT, "we are|have ?now ?right ?come|been ?now =back to|at|where the|square|we|this"),
    (REPEAT, "^ =back to square one"),
    (REPEAT, "=fix for|of the fix"),
    (REPEAT, "^ ?the @ordinal =time : @any"),
    (REPEAT, "you @@ =tried this|that|it ?already|before ,|$"),
    (REPEAT, "you are|were ?just =repeating yourself|the"),
    (REPEAT, "i @@ corrected|explained|rejected ~~ =again"),
    (REPEAT, "you @@ promised|swore ~~ =again"),
    (REPEAT, "i|we have =told|asked|corrected|reminded|warned you ,|$"),
    (REPEAT, "is the ?same ?very ?exact one|patch|fix|change|command ?that|which ?thee ?had|has ?already =failed|crashed|broke|tried"),
    (REPEAT, "your ~~ =same ~~ as ?in your"),
    (REPEAT, "i|we made|had|asked you fix|change|correct|remove|revert ~~ =back|again"),
    (REPEAT, "you were =going|about to @any ~~ last|already|before|again|round"),
    (REPEAT, "every|each =time ye touch|edit|fix|refactor|rewrite ~~ you|ye|thee|your|my"),
    (REPEAT, "=after your @ordinal ~ fix|change|attempt|patch|try"),
    (REPEAT, "=after your @ordinal|last|latest|previous|@num ?@num ?supposed|so-called change|changes|fix|fixes|attempt|attempts|patch|try ~~ ?after ?still|same|again"),
    (REPEAT, "@same|still ~~ =after|although|though|even ye|you|thee @@ told|said|fixed|claimed|promised|changed|tried|patched|assured"),
    (REPEAT, "why are|do|did|must we ~~ =again"),
    (REPEAT, "^ ?once again|more =: @any"),
    (REPEAT, "^ =again : @any"),
    (REPEAT, "@ordinal =time ?now ?that i am|have|had|ask|asked|say|tell|paste|explain|report|see|get"),
    (REPEAT, "you @@ gave|given|sent|shown|made|done|suggested|tried|proposed|told ~~ =before ,|and|but|$"),
    (REPEAT, "we|i @@ =been over|through|here this|before|already"),
    (REPEAT, "we @@ went|gone|talked|discussed|had|have ~ about|over|through|this ~ =before|already|twice|yesterday|again|times|discussion|conversation|argument"),
    (REPEAT, "we had|have ?had this ?exact =discussion|conversation|argument"),
    (REPEAT, "deja|déjà =vu"),
    (REPEAT, "@same ?same @product|approach|idea|thing|one ~~ =failed|broke|crashed|rejected|declined|reverted|before|already ~"),
    (REPEAT, "@same|exactly ?the ?same approach|idea|thing|change|fix|patch|solution|suggestion|command ?that|which i|we @@ =rejected|declined|reverted|undid|removed|refused|forbade|vetoed"),
    (REPEAT, "^ ?no|nope|and|, ?, =wrong again"),
    (REPEAT, "^ =again ~ wrong|same|without|no|not"),
    (REPEAT, "you @@ @past ~~ like|as ?you ?did =last|before|yesterday"),
    (REPEAT, "you @@ tried|did|suggested|proposed|made ~~ =already|before|yesterday|earlier|morning|too ?and|, ?it ~ ?not $"),
    (REPEAT, "you @@ made|did ?exactly that|this|the ?very ?same =mistake|error ~ yesterday|before|earlier|already|last|too|twice|once"),
    (REPEAT, "your @product ~~ =same ~ error|trace|failure|result|crash|output|mistake|bug|problem ?as ?before|again"),
    (REPEAT, "=your ?last|latest|new|@ordinal|second|third @product|fix @@ did|does|has|had|changed|changes|made|makes|solved|fixed ?absolutely nothing|no"),
    (REPEAT, "=went over|through this"),
    (REPEAT, "you =said|promised ~~ you|thee would|will|had ~~ again|here"),
    (REPEAT, "did|do not|nothing ~ you ?ever =learn|learned|learning ~"),
    (REPEAT, "you ~ not ?ever|seem|to ?to =learn|learning ?anything|from"),
    (REPEAT, "you =never learn"),
    (REPEAT, "that is the =same ~~ you"),
    (REPEAT, "this|that|it did|does not =work ?the ~ last|first|@ordinal time ~~ ?either ?and ?you"),
    (REPEAT, "@you @@ tried|suggested|proposed ~~ @num =times"),
    (REPEAT, "you @@ suggested|proposed|recommended|told|tried ~~ @num|several|many =times"),
    (REPEAT, "i @@ =rejected|declined|reverted|undid ~ that|this|it|patch|change ~~ you|your"),
    (REPEAT, "@you ~~ i @@ =rejected|declined|vetoed"),
    (REPEAT, "@you ~~ reverted|undid|undoing|reverting ?my correction|fix|change =again"),
    (REPEAT, "you @@ are|were|go|keep|went|have ~ ?round|around|in ?and ?round =circles"),
    (REPEAT, "you are ?just ?stuck|in ?a ?loop =looping|loop"),
    (REPEAT, "it|that has =been tried , ?and|it"),
    (REPEAT, "=stop|quit suggesting|proposing|trying|repeating|redoing ~~ tried|failed|times|twice|again|already|not"),
    (REPEAT, "^ =already tried ,|$"),
    (REPEAT, "why would it|that|this =work now|this|the"),
    (REPEAT, "broke|breaks ~ =again ~ same"),
    (REPEAT, "@you @@ @past ~~ , ?and|then ?you =broke ~~ same|again"),
    # ---- not asked for
    (OMISSION, "=you did|have|had @@ not @@ @any ~~ i|we ?had|have @@ @asked"),
    (UNREQUESTED, "i|we @@ did|had|have not ?even|ever =ask|asked|request|requested|tell|told|authorize|authorise|authorized|approve|approved|order you|for|that|this|any|either|it|to|a|an"),
    (UNREQUESTED, "i|we @@ did|had|have not =say|said|want|wanted ~ you|thee|ye|to|that|any|anything|this"),
    (UNREQUESTED, "^ ?but|and|no|, ?, i|we =never ?ever|once asked|requested|said|told|wanted|approved|authorized|authorised|agreed|ordered ~ you|thee|ye|for|to|any|it|yes"),
    (UNREQUESTED, ", ?but|and|because i|we =never ?ever|once asked|requested|wanted|approved|authorized|authorised|agreed|ordered ~ you|for|to|any|it|yes"),
    (UNREQUESTED, "i|we =never ?ever|once asked|told|authorized|authorised|allowed|wanted|ordered you"),
    (UNREQUESTED, "i|we =never gave ~ permission|approval|consent|go|ok|okay|green"),
    (UNREQUESTED, "did not =ask|request|order|authorize|approve either|that|this|any|these|those|it|you|ye|thee|for"),
    (UNREQUESTED, "^ ?and|but|that|this|it|which , ?i ?really|certainly|definitely did not =ask|want|request|order"),
    (UNREQUESTED, "i|we @@ =explicitly|clearly|specifically|expressly said|told|asked|requested|wrote|stated|forbade|wanted"),
    (UNREQUESTED, "i|we was|were ?very|quite|really|pretty|perfectly|super =clear ~ about|that|on"),
    (UNREQUESTED, "^ ?no|but|, ?, i @@ =said no|not|never|only|do"),
    (UNREQUESTED, "i|we @@ =wanted|asked|requested ?for a|an|the|one|you|thee|to ~~ , not ?a|an|the @any"),
    (UNREQUESTED, "^ ?and|but ?, nobody|none|noone ?here ?ever =asked for"),
    (UNREQUESTED, "^ ?and|but ?, none|nothing|all of|, ?this|that|it ?of ?that|this was|were ~ =asked|requested|agreed|ordered|needed"),
    (UNREQUESTED, "was|were|is not ?even ?explicitly =requested|asked|ordered"),
    (UNREQUESTED, "was|were not|never ?a =part of|in ?the|my|our|this task|request|scope|job|ticket|assignment|ask|brief|deal|plan|instructions|instruction|story|order"),
    (UNREQUESTED, "was|were not|never on|in the|my =list|ticket|request|plan"),
    (UNREQUESTED, "had|has =nothing to do with the|my|this|our task|request|ticket|job|question|issue|fix"),
    (UNREQUESTED, "^ ?but|and ?that|this|it , ?that|this|it was|is not ?part ?of ?in the|my =ask|request|brief"),
    (UNREQUESTED, "the|my ?original =ask|request|task|job|ticket|instruction|instructions|assignment|brief|order was|were|said|is|says ?to|, ~~ , not"),
    (UNREQUESTED, "i|we do|did|can|could not ?even =remember|recall ?ever asking|requesting|wanting|saying|approving|ordering|agreeing"),
    (UNREQUESTED, "=since when do|did|are|does you|i|we|that|this|it"),
    (UNREQUESTED, "=stop *ing ~~ i|we @@ did|have|had|never ?not"),
    (UNREQUESTED, "=scope creep"),
    (UNREQUESTED, "way|far|much =more than i|we asked|wanted|requested|needed|ordered"),
    (UNREQUESTED, "=more than|beyond what i|we asked|requested|wanted|ordered"),
    (UNREQUESTED, "your @product ~~ =unrelated|unnecessary|needless|uncalled|unwanted|unrequested"),
    (UNREQUESTED, "you ~~ =against|ignoring|contrary|despite|violating|disregarding ?to my ?explicit|clear instruction|instructions|wish|wishes|request|will|orders|rules"),
    (UNREQUESTED, "you @@ are not =listening|following|reading"),
    (UNREQUESTED, "you @@ do not =listen|read|follow"),
    (UNREQUESTED, "you were @@ =told"),
    (UNREQUESTED, "i|we @@ =made it|this|that ?very|quite|perfectly|abundantly clear|plain"),
    (UNREQUESTED, "^ did not =ask|request|order|authorize"),
    (UNREQUESTED, "nobody|none|noone|one ?here ?ever =asked|told|requested|wanted|allowed|ordered you|thee|ye"),
    (UNREQUESTED, "=who @@ asked|told|allowed|authorized|authorised|permitted|instructed|said|approved ~ you|thee|ye"),
    (UNREQUESTED, ", ?so|and|but|, =who ?the ?hell @@ asked|ordered|wanted|requested ?for the|this|that|a"),
    (UNREQUESTED, "^ ?so|and|ok ?, =who ?the ?hell @@ asked|told|allowed|authorized|authorised|approved|ordered ?for ?the|this|that|a ~"),
    (UNREQUESTED, "=who @@ allowed|authorized|authorised|approved|ordered the|this|that|a"),
    (UNREQUESTED, "=who said ~ you could|can|should|may"),
    (UNREQUESTED, "=who gave you ?the permission|authority|right"),
    (UNREQUESTED, "=not @@ what|how|where i|we @@ @asked|need|needed|agreed|approved|discussed"),
    (UNREQUESTED, "not your =call|job|decision|place|business|task"),
    (UNREQUESTED, "not =yours to"),
    (UNREQUESTED, "you @@ =went ahead"),
    (UNREQUESTED, "@you ~~ on your =own|, ?initiative|accord|authority ,|$"),
    (UNREQUESTED, "@you @@ @past ~~ on|of|off your =own"),
    (UNREQUESTED, "you @@ @past ~~ by =yourself"),
    (UNREQUESTED, "you @@ took|taken it =upon"),
    (UNREQUESTED, "i|we =agreed|decided|settled ~~ and|but|, ?but|and you @@ @past"),
    (UNREQUESTED, "=you @@ @overdid ~~ what for"),
    (UNREQUESTED, "clearly|explicitly says|said|states =quoted , ?and|but|yet|still ~ you @@ @past"),
    (UNREQUESTED, "=only ~~ was|were ?ever meant|supposed to be ~"),
    (UNREQUESTED, "=remember|recall when|what|that i|we @@ said|told|asked|wrote"),
    (UNREQUESTED, "^ =nobody|noone ?here wanted|needs|needed|asked"),
    (UNREQUESTED, "=off limits ?, ?and|but|yet ~ $"),
    (UNREQUESTED, "i|we @@ =asked|wanted|needed|requested ~~ , ?and that is|was it|all ,|$"),
    (UNREQUESTED, "i|we @@ =asked|wanted|needed|requested ~~ and that is|was it|all ,|$"),
    (UNREQUESTED, "you @@ @past ~~ so ?that|, it|they|the|all|everything ~ =pass|passes|compile|compiles|green"),
    (UNREQUESTED, "you @@ @past ~~ to =make|get it|them|the ~ pass|compile|green"),
    (UNREQUESTED, "you ?had|have no =business|right|reason|permission|mandate ~ *ing|to"),
    (UNREQUESTED, "you had one|a|only ?simple|single =job|task"),
    (UNREQUESTED, "you @@ =turned ~~ into"),
    (UNREQUESTED, "you @@ @past ~~ =without a|any ?single word|comment|warning|reason|notice|discussion"),
    (UNREQUESTED, "you @@ @past ~~ in my =name|behalf"),
    (UNREQUESTED, "you ~~ of your =own accord"),
    (UNREQUESTED, "@you @@ @past ~~ =without ?even|ever|first|my|any|anyone asking|permission|approval|consent|confirmation|okay|ok|telling|warning|being|notice|authorization|discussing|consulting|sign-off|checking"),
    (UNREQUESTED, "you @@ @past ~~ =unasked|unprompted|uninvited|unsolicited|unrequested"),
    (UNREQUESTED, "you @@ @past ~~ for no ?good|apparent =reason"),
    (UNREQUESTED, "you @@ @past ~~ not ?a|in|on ?part|in of|the ?my|the|your =request|task|scope|ask|job|ticket|assignment|brief|list|plan"),
    (UNREQUESTED, "you @@ @past ~~ =outside|beyond|exceeded|exceeds ?of ?the|my|what ~ scope|asked|request|task"),
    (UNREQUESTED, "you @@ @past ~~ nobody|none|noone|one =asked|wanted|requested|needs|needed"),
    (UNREQUESTED, "you @@ @past ~~ i|we @@ did not =ask|want|request|need"),
    (UNREQUESTED, "you @@ @past ~~ i|we never|had|have ?even ?not =asked|wanted|requested|discussed|agreed|approved"),
    (UNREQUESTED, "@you @@ @past ~~ although|though|despite|when|after|while i|we|my|me|, ?you ?had|have ?also @@ =told|said|asked|wrote|explicitly|clearly|explicit|clear|forbidden|forbade"),
    (UNREQUESTED, "=although|though|despite i|we|my|me @@ @asked|asking|explicit ~~ you"),
    (UNREQUESTED, "=you were @@ not|only|never supposed|meant|allowed|told|asked|to"),
    (UNREQUESTED, "you were @@ =supposed|meant|told|asked to ?only|just leave|keep|ask|wait|stop|not|only|just|label|explain|investigate|look|review|analyze|analyse|plan|propose|suggest|describe|list"),
    (UNREQUESTED, "this|that|it was =supposed|meant to be|stay ~ ?a dry|private|read-only|read|draft|plan|local|proposal|question|small|just|only"),
    (UNREQUESTED, "you @@ are not =supposed|allowed to ~~ and|but|yet you"),
    (UNREQUESTED, "i|we @@ =said|told|asked ~ not ~~ you @@ @past"),
    (UNREQUESTED, "i|we @@ =said|told|asked|wrote ~ do not|never ~~ you|thee|ye @@ @past"),
    (UNREQUESTED, "i|we @@ =said|told|asked|wrote ~ only|just|plan|stay|leave|keep ~~ you|thee @@ @past"),
    (UNREQUESTED, "i|we =told|asked you|ye|thee to stop|wait|leave|keep|ask|hold|only|just|not ~"),
    (UNREQUESTED, "i|we @@ @asked ~~ , ?and|but ?instead you @@ *ing|ran|rewrote|built|went ~~ =instead|anyway|whole|entire"),
    (GUESSED, "@you ~~ =instead of ?actually|just reading|checking|running|looking|measuring|testing|verifying|opening|reproducing|profiling|asking"),
    (GUESSED, "^ ?and|but|so =instead|rather of|than guessing|speculating|assuming|theorizing|theorising|hypothesizing|hypothesising|imagining"),
    (UNREQUESTED, "you @@ @past ~~ =instead of *ing"),
    (UNREQUESTED, "=you @destroyed my|our|the|all|half|everything|it ~~ why|never|without|restore|back|undo|revert|who"),
    (UNREQUESTED, "@you @@ @destroyed my|our ~~ =!!"),
    (UNREQUESTED, "=you @@ @destroyed my|our"),
    (UNREQUESTED, "^ ?so|and|but ?, you @@ @overdid ~~ =!!"),
    (UNREQUESTED, "you @@ @overdid ~~ =yourself ~ $"),
    (UNREQUESTED, "why ~ did =ya @@ *|@any ~~ i|we @@ only|just|never|said|asked|told|did|wanted"),
    (UNREQUESTED, "why on earth|the ?hell|fuck did|would|are =ya"),
    (UNREQUESTED, "why would =ya @any|@adverb"),
    (UNREQUESTED, "what =part of ~~ did you|was unclear|is"),
    (UNREQUESTED, "you =overstepped|overreached"),
    (UNREQUESTED, "=hands off , ?i|you"),
    (UNREQUESTED, "not =ok|okay|cool|acceptable|fine ~ that|when|, you @@ @past"),
    (UNREQUESTED, "only|just ~~ was|were ?in|on ?the =asked|requested|ordered|needed|wanted|ticket"),
    (UNREQUESTED, "=only|just ~~ is|are what|the ?one|ones|part|first i|we @asked|ordered"),
    (UNREQUESTED, "no =need to @any ~~ , ?i ?only|just asked|wanted|needed"),
    # ---- left out
    (OMISSION, "@you @@ =@forgot"),
    (OMISSION, "@you @@ =left|leave ~ out|off|behind|untouched|unfinished|undone|half|todo"),
    (OMISSION, "you @@ @past ~~ and|but =left|skipped|ignored|forgot|dropped"),
    (OMISSION, "you ~~ =left ?all the|every rest|others|other|remaining"),
    (OMISSION, "i|we @@ =asked|wanted|requested ~~ and|but|, ?i|we @@ got|get|received|see|count|only|here"),
    (OMISSION, "^ i @@ =count|counted|see|got|get|found ?only|just @num ?out of"),
    (OMISSION, "@you @@ @past ~ @num =of"),
    (OMISSION, "your @product ~~ =only @num of"),
    (OMISSION, "^ forgot|missed|skipped ~~ did not =ya"),
    (OMISSION, "you @@ =dropped ~ requirement|part|half|step|point|argument|case"),
    (OMISSION, "you =only @@ @past|do|cover|handle"),
    (OMISSION, "you have =only @@ @past"),
    (OMISSION, "you @@ @past =only ?the|one|two|half|a|part|in|some"),
    (OMISSION, "=you @@ @past just|merely the|one|two|half|a|part ~~ not|missing|rest|other|others|still|asked"),
    (OMISSION, "=you @@ did ?only|just half|part|one|two|three"),
    (OMISSION, "=you @@ @past ~~ but|and not ?in|the|its|for|on|a|any|all|with"),
    (OMISSION, "=you @@ @past ~~ but @@ left|forgot|missed|never|nothing|skipped|did|have|the|none|no"),
    (OMISSION, "you @@ =stopped|quit|bailed ?out ?right after|half*|before|short|early|midway|in|at|there"),
    (OMISSION, "you @@ =cut ~~ off|short|after|at"),
    (OMISSION, "you @@ =gave up"),
    (OMISSION, "@you @@ @past ~~ =called it a|done"),
    (OMISSION, "you =never @@ answered|added|included|mentioned|updated|did|wrote|implemented|finished|handled|removed|fixed|addressed|touched|responded|got|replied|committed|pushed|covered|started|came|tested|sent|created|deleted|cleaned"),
    (OMISSION, "=missing from|in your"),
    (OMISSION, "=your @product ~ is|are|has|have ?still|both ?a|the missing|incomplete|no|half|unfinished"),
    (OMISSION, "your @product @@ =lacks|lack|misses|omits|skips|ignores|leaves|covers ~"),
    (OMISSION, "=your @product ~ @@ does|do not have|contain|cover|include|handle|mention|list|touch|address|say|describe|explain|match|contain"),
    (OMISSION, "your @product @@ =only covers|handles|has|does|contains|lists|mentions|touches"),
    (OMISSION, "where|what ~ is|are|about|happened ~~ i|we @@ =asked|requested|listed|wanted|mentioned|specified|described|said|told"),
    (OMISSION, "what =happened to ~~ , ?it|that|this|i|we"),
    (OMISSION, "i|we @@ =asked for|about|you|thee|ye ~~ you @@ did|gave|sent|wrote|only|made|returned|stopped|listed|left"),
    (OMISSION, "i|we @@ =asked|wanted|said|needed|requested|meant ?for ?you ?to ?@any ?@any all|both|every|everything|everywhere|each ~"),
    (OMISSION, "you =gave|sent|wrote|made|returned ~~ i|we @@ @asked"),
    (OMISSION, "you were =supposed|meant|asked|told to"),
    (OMISSION, "i|we @@ =asked|told|wanted you|ye|thee to ~~ you|thee @@ @past|did"),
    (OMISSION, "=read my|the ?original|first request|message|instructions|ticket|prompt|question|spec|post ?again|properly|carefully ?again|properly|carefully|, ~"),
    (OMISSION, "part|parts|half|bit|section|rest|point|step of my|the ?original =request|message|ticket|list|prompt|question|instructions ~ got|was|were|is|are @@ ignored|skipped|missing|dropped|lost|forgotten|not"),
    (OMISSION, "i|we =told|asked you|ye|thee to @any ~~ , ~ is|are ?still ?still|not there|missing|in|here|done|present"),
    (OMISSION, "=still ~~ missing|lacking|without ~~ i|we @@ @asked"),
    (OMISSION, "=missing ~~ i|we @@ asked|described|requested|listed|specified|wanted|mentioned"),
    (OMISSION, "@you did not @@ =rename|follow|translate|convert|cover ~"),
    (OMISSION, "did =ya @@ miss|skip|ignore the|that|my part|bit|point|line|message|request"),
    (OMISSION, "did =ya @@ read ~~ at all|properly|completely|end|beyond"),
    (OMISSION, "did =ya even read"),
    (OMISSION, "^ did =ya @@ read the|my ?whole|entire|full|complete ~ ?, ?it|the ~"),
    (OMISSION, "=your @any @@ has|have|covers|lists|contains|includes|shows|stops|ends ?only|just ?at|after @num ,|$"),
    (OMISSION, "you were =going to"),
    (OMISSION, "you @@ @past ~~ and|then|but =stopped|quit"),
    (OMISSION, "=half ?of the|my task|request|list|work|job|message|spec ~ is|are|was @@ missing|not|undone|ignored|left"),
    (OMISSION, "@you @@ @past =everything|all|most ~~ except|but|apart|save"),
    (OMISSION, "^ ?and|so|, ?, =where is|are the rest|others ?"),
    (OMISSION, "=as if i|we @@ had|did|have|never not|never|mentioned|said"),
    (OMISSION, "=although|though the|my ?own request|ticket|spec|issue|list|brief|message|instructions says|lists|mentions|named|listed|mentioned|said|asks"),
    (OMISSION, "did not =ya @@ see|read|notice|get the|my|that"),
    (OMISSION, "but i|we =also @@ asked|wanted|needed|said|requested|mentioned"),
    # ---- said without ground
    (UNVERIFIED, "=stop|quit inventing|fabricating|faking"),
    (UNVERIFIED, "@you =report|say|claim|announce|declare|mark ~~ even|although|though|when|while|despite ~~ fail*|not|never|broken|error*|red"),
    (UNVERIFIED, "how is|was|are this|that|it|they ~ ?even =quoted|done|complete|completed|finished|fixed|working|tested|green|ready"),
    (UNVERIFIED, "how did =ya @@ quoted|verify|confirm|test ~~ without|when|if|with"),
    (UNVERIFIED, "is|was|are ?just|pure|complete|total|pure =fiction|fantasy|imaginary ,|$"),
    (UNVERIFIED, "^ ?but|sorry|no ?, you were|are @@ =wrong|mistaken|incorrect|off ~"),
    (UNVERIFIED, "^ ?so|and|but|the ?, ?your ?last ?message|answer|summary|report ?, ?: =quoted ?, ?no|nope|but ?, it|they|that|this is|are|was|were|does|do|has|have|did ?still not|still|never"),
    (UNVERIFIED, "=where do|did ya @@ get|take|find this|that|these|such|those stuff|nonsense|rubbish|statements|things|facts|ideas|claims|numbers"),
    (UNVERIFIED, "=stop|quit saying|claiming|telling|pretending|reporting|calling|declaring|announcing|lying"),
    (UNVERIFIED, "do not claim|pretend|say|tell|report|state ?me ?that you|thee|it|its|that|this ~~ when =ye ~ not"),
    (UNVERIFIED, "do not give|tell|send =me ~~ like|such that|this|answers|things|claims ~~ if|when ye ~ not"),
    (UNVERIFIED, "@you @@ =invented|fabricated|hallucinated|lied|imagined|faked|pretended|misquoted|pretend"),
    (UNVERIFIED, "@you @@ =made|make|making ~ up"),
    (UNVERIFIED, "did =ya ?just make ~ up"),
    (UNVERIFIED, "your ~~ is|are|was|were @@ =invented|fabricated|hallucinated|made|bogus|false|wrong|untrue|fiction|nonsense|imaginary"),
    (UNVERIFIED, "why do|did|would|are =ya ~ say|saying|claim|claiming|tell|telling|insist|pretend"),
    (UNVERIFIED, "how can|could =ya @@ quoted|say|claim|call|tell|state|report|write|insist|pretend|confirm|verify"),
    (UNVERIFIED, "@you ~~ does|do|did =not|never ?even|actually exist*"),
    (UNVERIFIED, "does|do not ?even|actually =exist ~~ @you @@ @past|@claimed"),
    (UNVERIFIED, "=does not exist , ?did|where|why|how|who you|did|do"),
    (UNVERIFIED, "you =told me ~~ not"),
    (UNVERIFIED, "@you @@ @claimed ~~ @@ not =true|correct|right"),
    (UNVERIFIED, "not|nothing|never ?true|correct|right =what ~~ you|thee|ye @@ @claimed"),
    (UNVERIFIED, "what =ye|thee @@ describe|described|wrote|write|said|say|claim|claimed ~ is|was|does ~~ not|wrong|false|nonsense|never"),
    (UNVERIFIED, "=contrary|opposed to what ye|thee"),
    (UNVERIFIED, "you @@ =promised|claimed|claim|insisted|insist|assured|asserted|swore|pretended|pretend|guaranteed"),
    (UNVERIFIED, "you @@ =declared ~ victory|done|finished|success*|complete"),
    (UNVERIFIED, "^ ?no|and|but|so ?, ?that|this|it is|was|are @@ ?a|another|just|plain|simply|all =lie|lies|bullshit|nonsense|bogus"),
    (UNVERIFIED, "do not|stop =lie|lying"),
    (UNVERIFIED, "no =such ~~ you|thee|your"),
    (UNVERIFIED, "=there is|are|was|were no ~~ @you @@ @claimed|invented|used|call|import|linked|reference|referenced|made|just"),
    (UNVERIFIED, "do not|never|please|stop|quit ?please ?just =make|making|fabricate|fabricating|invent|inventing ~ up|things|stuff|facts|citations|quotes|sources|apis|numbers"),
    (UNVERIFIED, "still|not|fails|fail|failing|red|broken ~~ =although|though|but|yet|while|even ~ @you @@ @claimed"),
    (UNVERIFIED, "^ =quoting you"),
    (UNVERIFIED, "your =own words"),
    (UNVERIFIED, "so =much for your"),
    (UNVERIFIED, "you =call|called that|this|it done|finished|tested|working|fixed|a"),
    (UNVERIFIED, "=tell me again|how ~ how|is|the"),
    (UNVERIFIED, "nice|pure|another|classic|total|complete =hallucination|fabrication|invention|fiction"),
    (UNVERIFIED, "was|were|is|are|been a|all|pure|just|another|completely|entirely ?pure|complete =hallucination|hallucinations|fabrication|fiction|hallucinated|fabricated"),
    (UNVERIFIED, "^ ?that|this|which|so|, ?is|was ?simply|just|plain|plainly|also not =true|correct|right , ~"),
    (UNVERIFIED, "^ ?that|this|which ?is|was ?simply|just|plain|plainly =false|untrue|incorrect ,|$"),
    (UNVERIFIED, "=where do|did|does you|that|the|this ~ get|take|come|find|found|read|have ~ from ~ !!"),
    (UNVERIFIED, "not|no|never|nowhere ~~ , =where do|did ya @@ get|take|find|have|read ~"),
    (UNVERIFIED, "@you @@ @claimed|marked|ticked ~~ =although|though|even|but|while|yet|despite|and ~~ not|nothing|no|never|fail*|red|broken|still|exited|missing|empty"),
    (UNVERIFIED, "=check your facts"),
    (UNVERIFIED, "how =come ye|you|thee @@ @claimed"),
    (UNVERIFIED, "@you ~~ i @@ can|could not =find|see ~ anywhere|either"),
    (UNVERIFIED, "=thee are|were|keep referring|talking|pointing|linking|describing ~~ does|do|did|is|was|were|are|has ~ not|never|no|404"),
    (UNVERIFIED, "^ ?so|and|but|the|, ?, =quoted ?, no|nope|not|lol|sure|yeah|except|really|right|but"),
    (UNVERIFIED, "^ ?so|and|but|the ?, =quoted lol|is|was|are ?just|simply ?not ?the|a ?true|case|lie|nonsense ,|$"),
    (UNVERIFIED, "=thee @@ gave|cited|linked|mention|mentioned|quoted|described|describe|named|referenced|reference|announced|promised|call|called|refer*|claim|claimed|import|imported|listed ~~ is|are|was|were|does|do|did|can|could|has|have|returns|never|cannot ~ not|no|404|wrong|never|nowhere|empty|broken|red|dead|nonsense"),
    (UNVERIFIED, "^ ?so|and ?which ?part ?of ?that|this ~ was|is ?any|that ?of|it ?that =true ?"),
    (UNVERIFIED, "=get your facts"),
    (UNVERIFIED, "^ claiming|saying|calling|declaring|reporting =quoted|done|success ~~ is|was not"),
    # ---- guessed
    (GUESSED, "@you @@ are|were @@ ?just ?only =guessing|assuming|speculating|hallucinating|imagining|inventing|theorizing|theorising|hypothesizing|hypothesising|making|throwing|jumping|shooting|poking|grasping ~"),
    (GUESSED, "^ ?no|and|so|but|well|ok|,|again|because|yes ?, you @@ =guess|guessed|assume|assumed|speculate|speculated|presume|presumed"),
    (GUESSED, "@you @@ =guessed|assumed|speculated|presumed|supposed"),
    (GUESSED, "you jumped|jump|leapt|rushed ~ to ~ =conclusion|conclusions"),
    (GUESSED, "you took|take ~ for =granted"),
    (GUESSED, "you @adverb =assume|guess"),
    (GUESSED, "why do|did|would =ya ?just ?keep assume|guess|think|believe|presume|suppose ~ ?it|that"),
    (GUESSED, "that|this|it|your|all|answer|which|@product is|was|are|sounds|looks|smells @@ ?like ?just ?a|pure|wild|mere|nothing|but ?but|pure|wild|mere|shot ?educated =guess|guesswork|guessing|speculation|conjecture|assumption|assumptions|hunch"),
    (GUESSED, "=stop|quit|enough ~ guessing|assuming|speculating|guesswork|hallucinating|theorizing|theorising|guesses"),
    (GUESSED, "you can|could not ?possibly|even =know"),
    (GUESSED, "how could|would|can|do =ya @@ ?possibly know"),
    (GUESSED, "you can|could not =tell|see|know that ~"),
    (GUESSED, "no =more guessing|assumptions|guesses|guesswork|theories|hypotheses|speculation"),
    (GUESSED, "did|have =ya @@ even|actually|really|ever @test"),
    (GUESSED, "did|have =ya @@ @test ~~ at|or|before|, ?or all|a|are|is|was|just|did|you ?it|this|that|you ?a|just ~"),
    (GUESSED, "@you @@ @past ~~ =without ?even|ever|once|first|any|actually|ever *ing"),
    (GUESSED, "@you @@ are ~~ =without ?even|ever|once|first|any|actually|ever *ing"),
    (GUESSED, "@you @@ @past ~~ =without ?any|a|the|single ?single evidence|proof|test|tests|measurement|data|check|measurements|benchmark"),
    (GUESSED, "=without ?a|any|one single|any measurement|measurements|test|run|benchmark|evidence|profile|look"),
    (GUESSED, "@you ~~ =out of thin air"),
    (GUESSED, "@you ~~ from|by =memory"),
    (GUESSED, "from =memory , ?not|instead ~ you|your|?"),
    (GUESSED, "you|ye|thee would|had have|had =seen|noticed|known|caught|found|realized|realised|spotted|learned"),
    (GUESSED, "would|could|might have ?just|immediately|easily|quickly =shown|told|warned|saved|given|revealed you|us|me"),
    (GUESSED, "would have =shown|told|revealed|caught ~~"),
    (GUESSED, "@you =should|could|might @@ ?easily ?simply have @@ @past|checked|run|read|opened|looked|tested"),
    (GUESSED, "you =never @@ @test|bothered|looked|even"),
    (GUESSED, "@you @@ did|have|had|has|do @@ not @@ =even"),
    (GUESSED, "=you did|have|had @@ not @@ @test|bother"),
    (GUESSED, "=you @@ did|have|had not @@ @test"),
    (GUESSED, "@you @@ @test|verified =none|nothing|neither of|, ?it|that|them"),
    (GUESSED, "@you @past ~~ =hoping|hoped ~ helps|works|sticks|one|fixes|work|help|stick"),
    (GUESSED, "@you @past ~~ at =random|blindly"),
    (GUESSED, "you @@ @past ~~ =blind $"),
    (GUESSED, "=random fixes|changes|patches|edits|things|stuff ~~ until|without|at|hoping|and|hope"),
    (GUESSED, "shot|shots|shooting|stab|stabbing|poking|fishing in|around ~ =dark"),
    (GUESSED, "was|were|is =obviously|clearly|evidently|apparently never|not @test"),
    (GUESSED, "you|ye have ~ =access|shell|terminal|file|logs|log|database|db|repo|debugger|profiler|tool|tools ~~ why not"),
    (GUESSED, "your @product @@ is|was|are|were @@ =based on|upon"),
    (GUESSED, "=none of which|them|those|it thee|you @@ @test"),
    (GUESSED, "or do|did|are =ya @@ believe|think|guess|assume|hope|guessing|assuming|saying|believing"),
    (GUESSED, "what happens|happened when|if =ye @@ do|did not @@ @test"),
    (GUESSED, "=based on what ye think|assume|believe|imagine|remember|guess"),
    (GUESSED, "@ordinal|another|yet =theory|hypothesis|guess|hunch ?now ~~ measure|test|check|look|run|read|verify|profile|now"),
    (GUESSED, "do not ?want ?just =guess|theorise|theorize|speculate|hypothesize|hypothesise|assume|imagine ~~ you|ye|thee have|can ~ ?the"),
    (GUESSED, "^ why =guess|speculate|assume|theorize|theorise"),
    (GUESSED, "^ ?please ?maybe ?just ?first reproduce|measure|verify|check|read|look|test|profile|run ~~ =before|first|instead|rather ~~ you|ye|thee have|did|theorise|theorize|guess|speculate|@past"),
    (GUESSED, "look|read|check|run|test ~~ =before|instead|rather ?of|than ?you ?ye theorizing|theorising|guessing|speculating|assuming|hypothesizing|hypothesising|imagining"),
    (GUESSED, "=trial and error"),
    (GUESSED, "you @@ =concluded|inferred|deduced ~~ alone|only|just|without|from"),
    (GUESSED, "you went|go|going|are by|on|from =memory|gut|feeling|instinct"),
    (GUESSED, "you @@ drew|draw|jumped ~ =conclusion|conclusions"),
)

# Enough unless the sentence asks, thanks, or the user blames herself.
WEAK: tuple[tuple[str, str], ...] = (
    (REPEAT, "^ ?ok|no|nope|and|but|, ?, ?it|that|this|we ?get|got|is|has|have|are ?literally|exactly ?still ?the @same ?same ?exact @errors ?, ?once|yet =again|twice ?now|already ?, $"),
    (REPEAT, "^ ?nope|no|sorry|it ?, ?is ?still ?the =@same ?same ?@any @errors|result ?as|still ?before $"),
    (REPEAT, "^ =still ?fails|broken|red|failing|wrong|crashing ?, ?exactly|just|the same|like|as ~ ?before ~ $"),
    (REPEAT, "^ ?nope|no ?, =nothing changed ,|$"),
    (REPEAT, "^ ?nope|no ?, no =change|difference ?at ?all|whatsoever ~ still|same|,|$"),
    (REPEAT, "your ~~ =again"),
    (OMISSION, "=you have not ?done ?it ?yet|so ?far $"),
    (REPEAT, "^ ?literally|exactly ?the @same ?as|like|story|thing ?as =last time|before|yesterday|earlier|again ,|$"),
    (OMISSION, "^ ?this|that|it ?is ?still =incomplete|unfinished ,|$"),
    (UNVERIFIED, "^ =nothing was|got|has|is ?been fixed|changed|done|pushed|committed|saved|written ,|$"),
    (UNVERIFIED, "^ ?so|and|, ?, =quoted , ? $"),
    (REPEAT, "^ ?and ?now =again no|the|without|wrong ~ $"),
    (OMISSION, "=you @@ did|have not @@ answer|include|add|update|finish|mention|do|implement|handle|follow|cover|remove|delete|fix|change|write|commit|push|touch|apply|address|bump|rename|save|close|listen|respond|reply|translate|document|keep"),
    (OMISSION, "=you @@ have not @@ @past"),
    (OMISSION, "=you @@ did not @@ @notfine"),
    (UNREQUESTED, "=you @@ @destroyed"),
    (UNREQUESTED, "why did =ya @@ push|commit|merge|overwrite|deploy|publish|force|wipe|kill|reformat|disable ~~"),
    (UNREQUESTED, "why did|would =ya @@ delete|remove|drop|rewrite|change|touch|edit|revert ~~ !!"),
    (UNREQUESTED, "why did =ya @@ touch ~~"),
    (UNREQUESTED, "why did =ya @@ delete|remove|squash|rebase|drop|rewrite|rename|move|change|edit|revert|strip|close|reset|replace|clear|erase my|our"),
    (UNVERIFIED, "your @product is|are|was|were ?just|simply|plain|still|completely|totally =wrong|false|incorrect|broken|nonsense"),
)
