"""What none of which is a reproach by itself, but two of them together are.

"I asked for three files" and "there are only two"; "you changed the lock file" and "revert it".
Facts are found in one sentence each; a combination holds when its facts stand in neighbouring
sentences. Data only, read by ``corrections``, which itself finds those that depend on what the
clause around ``you`` tells: ``ACTED``, ``OVERDID``, ``ADVERSE``, ``NTH`` and most of ``CLAIM``.
"""

from __future__ import annotations

from agent_memory.correction_vocabulary import GUESSED, OMISSION, REPEAT, UNREQUESTED, UNVERIFIED

ASKED = "asked"
LIMIT = "limit"
LACKS = "lacks"
FAILS = "fails"
AGAIN = "again"
ACTED = "acted"
OVERDID = "overdid"
WHY = "why"
ANGER = "anger"
CLAIM = "claim"
DENIED = "denied"
LOOKED = "looked"
YOURS = "yours"
GUESSY = "guessy"
CHECK = "check"
ACCESS = "access"
SURPRISE = "surprise"
EARLIER = "earlier"
TOLD = "told"
FORBID = "forbid"
WHERE = "where"
EXCESS = "excess"
NTH = "nth"
UNDO = "undo"
ADVERSE = "adverse"
ONLY_ASKED = "only asked"
DAMAGE = "damage"
UNAGREED = "unagreed"
REQUESTED = "requested"
SAID_SO = "said so"
TOLD_YOU = "told you"
ONCE_MORE = "once more"
NONEXISTENT = "nonexistent"
WHERE_FROM = "where from"
MAKE_UP = "make up"
COUNTED = "counted"
GAVE = "gave"
SUPPOSED = "supposed"
ONCE_AGAIN = "once again"
TRIED = "tried"
LEAVE = "leave"
ABSENT = "absent"
CONTRAST = "contrast"
PARTLY = "partly"

_REQUEST = "request|task|ticket|brief|spec|description|instruction|instructions|list|assignment|job|ask|message|prompt|requirement|requirements|criteria|issue|story|agreement|rule|rules|order"

# fmt: off
FACTS: tuple[tuple[str, str], ...] = (
    (ASKED, "i|we @@ =asked|requested|listed|specified|ordered|instructed|demanded|described you|ye|thee|for|where|what|why|how|whether|which|a|an|the|that|in|both|all|it|them|this|these|every|,"),
    (TRIED, "we already|have =tried that|this|it"),
    (TOLD_YOU, "as i =said|told|mentioned|wrote"),
    (ONCE_AGAIN, "once|yet =again"),
    (SUPPOSED, "was|were =supposed|meant to be|stay|remain"),
    (GAVE, "i|we @@ =gave|sent|handed|listed ?you|ye|thee @any"),
    (ASKED, "i|we @@ =told you|ye|thee @any"),
    (ASKED, "i|we @@ =@asked $"),
    (ASKED, "i @@ =said|mentioned|wanted|needed|meant|specified a|an|the|all|every|everything|everywhere|both|no|not|only|just|one|with|without|that|it|this|in|quoted|, ~"),
    (ASKED, f"my ?original|first|last|second|third|whole ={_REQUEST} ~ said|says|lists|listed|mentions|had|has|asks|asked|names|states|contains"),
    (REQUESTED, f"my|the|our|this ?original|first|last|second|third|whole ={_REQUEST} ~ was|were|said|says|lists|listed|mentions|had|has|is|asks|asked|names|states|contains"),
    (ASKED, f"in|on|from|of|to|per my ?original|first|last|whole ={_REQUEST}"),
    (REQUESTED, f"in|on|from|of|to|per the|our ?original|first ={_REQUEST}"),
    (REQUESTED, f"part of my|the ?original {_REQUEST}|plan|scope"),
    (ASKED, "=part of the deal"),
    (ASKED, "=requirement number|no|one|two"),
    (DENIED, ", ~~ =does|do|did|is|are|has|have|was|were $"),
    (ASKED, f"part of my ={_REQUEST}"),
    (ASKED, f"my @ordinal {_REQUEST}|point|question|item"),
    (ASKED, "as|like|that|which|what|than|though|although i|we @@ =@asked"),
    (REQUESTED, "as =requested|asked|agreed|specified|instructed|described|discussed"),
    (ASKED, "^ ?the|my =requirements|prompt|instruction|instructions|question|ask|brief|request|task|list|order was|were"),
    (ASKED, "i|we =named|listed|mentioned both|all|every|each"),
    (ONLY_ASKED, "i|we only|just|merely =asked|gave|told|requested|ordered ?you ?for|to|about a|an|the|one|you|it|this|that|@any"),
    (ONLY_ASKED, "i|we only|just|merely =wanted|needed|meant|said a|an|the|one|you|it|this|that|@num"),
    (DAMAGE, "my|our|all ~~ is|are|was|were|got @@ =gone|overwritten|lost|deleted|wiped|ruined|broken|destroyed|missing"),
    (REQUESTED, "i|we @@ =agreed|decided|discussed"),
    (REQUESTED, "=agents.md|claude.md|contributing|contributing.md|readme @@ says|said|requires|forbids|asks"),
    (TOLD, "i|we @@ =told|said|wrote|corrected|explained|mentioned|warned"),
    (LIMIT, "=only|just|not|never|no|nothing|anyway|instead|although|though|but|however|read-only|except|one|single|stay|leave|keep|alone|unchanged|small"),
    (LACKS, "=missing|absent|nowhere|untouched|incomplete|unfinished|undone|unanswered|lacking|omitted|ignored|skipped|gone"),
    (LACKS, "^ ?and|but|, ?, =no @any ?@any $"),
    (LACKS, "=not ?even|yet|fully|all there|done|included|covered|implemented|in|converted|handled|answered|present|finished|complete|supported|here|translated|updated"),
    (LACKS, "not|never @@ ?been =done|included|covered|implemented|converted|handled|answered|finished|translated|updated|added|addressed|touched"),
    (LACKS, "=still ~ there|missing|open|todo|left|remaining|unchanged"),
    (LACKS, "=only half|one|two|three|part|some|@num"),
    (LACKS, "=half ?of ?the|it|them ~ is|are|not|missing"),
    (LACKS, "=there is|are|was|were no|none|nothing|still|only"),
    (LACKS, "does|do|did =not @@ have|accept|include|contain|cover|handle|support|mention|list|translate"),
    (LACKS, "has|have|with|had =no|none"),
    (LACKS, "do|can|could not @@ =see|find ~"),
    (LACKS, "=neither|nope"),
    (LACKS, "=no @any ~ anywhere|either|at"),
    (WHERE, "=and what|where about|is"),
    (WHERE, "=where|what ?happened is|are|did|to"),
    (WHERE, "^ =and the|my|@num"),
    (LACKS, "and|but|, ~ =left as it was"),
    (LACKS, "everything|all at =once"),
    (FAILS, "=fails|failing|failed|fail|broke|down|stopped|broken|crash|crashes|crashed|red|hangs|breaks|500|404|panics"),
    (FAILS, "does|do|did not =work|compile|build|run|start|help|pass|load|fix|change"),
    (AGAIN, "=again|still|same"),
    (EARLIER, "=before|earlier|already|yesterday|previously|last|ago|morning|monday|twice|again"),
    (UNDO, "^ ~~ =revert|undo|restore|rollback|reverting|restoring|reopen"),
    (UNDO, "take|get|rip ~ =out|rid"),
    (UNDO, "put|change|turn|roll|switch|take|set|bring|want ~ =back"),
    (FORBID, "do not|never ~~ =unless|until|without i|asking|my"),
    (EXCESS, "no =need to"),
    (EXCESS, "whole|entire|suddenly|now =has|full"),
    (WHY, "=why ~ did|would|have|are|were ya"),
    (SURPRISE, "what is|are ~~ =doing|rest|other|others"),
    (SURPRISE, "=why ~ is|are there|suddenly ~ ?suddenly|now|a|an|new"),
    (SAID_SO, "i @@ =said|asked for|no|not|only|wait|just|one|two|a|an|the|@any"),
    (TOLD_YOU, "i|we =told|warned|corrected you that|to|not|the|it|already|before|twice|,|$"),
    (ONCE_MORE, "=again|once"),
    (NONEXISTENT, "does|do|did =not ?even|actually|ever exist*"),
    (ABSENT, "=there is|are no"),
    (NONEXISTENT, "no =such"),
    (WHERE_FROM, "=where did|do ya ~ get|take|find|see|read"),
    (ASKED, "what i|we @@ =asked|wanted"),
    (LACKS, "what i|we =got|get|received"),
    (SURPRISE, "i =see|found|get|got ~ new|extra|additional|other"),
    (MAKE_UP, "do not|never|please ~ =make|fabricate|invent ~ up|things|facts|citations|quotes|sources|apis|numbers|flags|options"),
    (NONEXISTENT, "=something else|different entirely|altogether|completely"),
    (WHERE, "^ what =about"),
    (CONTRAST, "^ this|that|it|there =is|are ?not @num|no"),
    (DENIED, "=errors|failures|failed|fails|failing|warnings|conflicts|crashes|crashed"),
    (PARTLY, "@you @@ @past ~ @num =of"),
    (DENIED, "=0|zero"),
    (SAID_SO, "=quoted ?, i wrote|said|asked"),
    (DENIED, ", =it|they|that|this @past"),
    (DENIED, "^ ~ =does|do|did|is|are|has|was|were $"),
    (COUNTED, "^ ?only @num ?out =of ?the ?@num"),
    (SAID_SO, "we =said|agreed no|not|only"),
    (UNAGREED, "i|we ?had|have not ?even ?yet =discussed|agreed|decided|approved|talked"),
    (CLAIM, "=quoted ?, you|thee @@ @claimed ,|$"),
    (REQUESTED, "=says|states|said ~~ not to"),
    (LACKS, "there =should have been|be"),
    (SURPRISE, "is|are|was @@ =different|changed|gone|new|rewritten ?now"),
    (SURPRISE, "=now there is|are"),
    (SURPRISE, "there is|are ?now|suddenly ?a|an ?whole =new|extra|additional|another"),
    (ANGER, "=!!"),
    (ANGER, "^ =no|nope|hell|seriously|sigh|ugh|argh|hey|stop|what|hello ,"),
    (ANGER, "=lol|seriously|unacceptable|ridiculous|sloppy|lazy|annoying"),
    (ANGER, "=come on $"),
    (ANGER, "=what for ,|$"),
    (ANGER, "=what for ?"),
    (LACKS, "@you @@ @past @num ,|$"),
    (LACKS, "i only|just =see|got|get|find|found|count"),
    (LEAVE, "=leave ~~ alone|untouched"),
    (LACKS, "and|but =none|nothing"),
    (ANGER, "^ ?please =do not ,|$"),
    (ANGER, ", =do not $"),
    (ANGER, "not =ok|okay|cool|acceptable|good|nice|funny|helpful"),
    (ANGER, "=do not ?ever do that|this|it"),
    (ANGER, "=never do that|this|it"),
    (ANGER, "^ ?please ?just =stop it|that|this"),
    (DENIED, "=not|never|none|nothing|no|nowhere|neither|without|wrong|false|untrue|lie|invented|bogus|hallucination|incorrect|missing|untrue"),
    (DENIED, "=still|only|identical|unchanged|untouched|empty|contradicts|inactive|dead|blank|absent|404|500|refused|exited|open|sure|lol|unknown|invalid|unsupported"),
    (DENIED, "=shows|says|lists|prints|reads|returns|finds|found|counts|gives ~ @any"),
    (LOOKED, "i|we @@ =saw|found|ran|checked|tested|tried|looked|called|opened|counted|count|see|got|get|profiled|measured|grepped|searched"),
    (YOURS, "=your"),
    (YOURS, "@you @@ @past"),
    (YOURS, "@you =keep|did|made|gave"),
    (GUESSY, "do|need not|no =want|need|more quoted|theories|opinions|feeling|probably|maybe"),
    (GUESSY, "guessing|guesses|guesswork|speculat*|theoriz*|theoris*|theorie*|hypothes*|hunch|gut|blindly|imagining|assumptions"),
    (GUESSY, "@you @@ =guess|assume|think|imagine|believe"),
    (CHECK, "^ ?so|now|please|just|then|instead|and|can|could|go|, ?you ?please|and|just =measure|check|run|read|look|open|test|verify|reproduce|profile|curl|grep|ask|use|attach|query|try|exec"),
    (CHECK, ", ?so|please|just|then|go|and =measure|check|run|read|look|open|test|verify|reproduce|profile|curl|grep|use|attach|query|try|ls"),
    (CHECK, "why not ?just|simply =test|run|check|read|look|try|use|open"),
    (ACCESS, "=you|thee @@ have|had|can ~ shell|access|log|logs|dump|file|files|script|repl|tests|docs|debugger|profiler|schema|trace|source|code|terminal|repo|output|database|db|it|that"),
    (ACCESS, "=right there|here"),
    (ACCESS, "i =gave you|ye|thee"),
    (ACCESS, "=there is|are a|an|the|tests ~ for|right|open|here|in"),
    (ACCESS, "there are =tests"),
    (ACCESS, "=the|a @any ~ is|are up|open|available|in|attached|right|there"),
)

# fmt: on

# Facts that together are a reproach, and which; the first that holds names the signal.
TOGETHER: tuple[tuple[str, tuple[str, ...]], ...] = (
    (UNVERIFIED, (CLAIM, DENIED)),
    (UNVERIFIED, (CLAIM, LOOKED)),
    (UNVERIFIED, (CLAIM, FAILS)),
    (UNVERIFIED, (CLAIM, LACKS)),
    (UNVERIFIED, (NONEXISTENT, WHERE_FROM)),
    (UNVERIFIED, (NONEXISTENT, MAKE_UP)),
    (OMISSION, (COUNTED, WHERE)),
    (UNREQUESTED, (SAID_SO, SURPRISE)),
    (UNREQUESTED, (SAID_SO, CONTRAST)),
    (REPEAT, (TOLD_YOU, ONCE_MORE)),
    (REPEAT, (ACTED, NTH)),
    (UNREQUESTED, (ONLY_ASKED, SURPRISE)),
    (UNREQUESTED, (ONLY_ASKED, EXCESS)),
    (UNREQUESTED, (ONLY_ASKED, OVERDID)),
    (UNREQUESTED, (ACTED, DAMAGE)),
    (UNREQUESTED, (OVERDID, UNAGREED)),
    (REPEAT, (AGAIN, FAILS, YOURS, EARLIER)),
    (REPEAT, (ACTED, TOLD, EARLIER, AGAIN)),
    (UNREQUESTED, (OVERDID, ASKED, LIMIT)),
    (UNREQUESTED, (ASKED, WHY)),
    (UNREQUESTED, (FORBID, UNDO)),
    (UNREQUESTED, (WHY, UNDO)),
    (UNREQUESTED, (LEAVE, OVERDID)),
    (UNREQUESTED, (ASKED, UNDO)),
    (UNREQUESTED, (ASKED, LIMIT, EXCESS)),
    (OMISSION, (ASKED, WHERE)),
    (UNREQUESTED, (ASKED, SURPRISE)),
    (OMISSION, (ASKED, LACKS)),
    (OMISSION, (GAVE, LACKS)),
    (OMISSION, (GAVE, PARTLY)),
    (OMISSION, (ASKED, PARTLY)),
    (UNREQUESTED, (SUPPOSED, OVERDID)),
    (REPEAT, (ONCE_AGAIN, YOURS)),
    (REPEAT, (ONCE_AGAIN, ASKED)),
    (REPEAT, (TRIED, YOURS)),
    (UNVERIFIED, (ABSENT, MAKE_UP)),
    (UNREQUESTED, (OVERDID, REQUESTED, LIMIT)),
    (UNREQUESTED, (REQUESTED, WHY)),
    (UNREQUESTED, (REQUESTED, SURPRISE, LIMIT)),
    (OMISSION, (REQUESTED, LACKS, YOURS)),
    (UNREQUESTED, (OVERDID, ASKED)),
    (UNREQUESTED, (OVERDID, UNDO)),
    (UNREQUESTED, (OVERDID, ANGER)),
    (OMISSION, (ACTED, ASKED)),
    (UNREQUESTED, (SAID_SO, OVERDID)),
    (OMISSION, (ACTED, LACKS)),
    (OMISSION, (ADVERSE,)),
    (GUESSED, (GUESSY, CHECK, YOURS)),
    (GUESSED, (GUESSY, ACCESS)),
)
