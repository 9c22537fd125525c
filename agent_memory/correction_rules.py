"""The phrases by which a reproach of the agent's own past conduct is told, in English.

Data only, read by ``corrections``. Each phrase is of the kind, not of an example: who acted
(you, your answer), that it is past, and what was wrong with it. Phrases are tried in the
order they stand; the first that holds names the signal. See ``phrases`` for the notation and
``correction_words`` for ``you``, ``ya``, ``thee`` and ``ye``.
"""

from __future__ import annotations

from agent_memory.correction_acts import ACTS
from agent_memory.correction_answers import ANSWERS
from agent_memory.correction_vocabulary import OMISSION, REPEAT, UNREQUESTED, UNVERIFIED

# Enough by themselves, wherever in the user's own words they stand.
STRONG: tuple[tuple[str, str], ...] = (*ACTS, *ANSWERS)

# fmt: off
# Enough unless the sentence asks, thanks, or the user blames herself.
WEAK: tuple[tuple[str, str], ...] = (
    (REPEAT, "^ ?ok|no|nope|and|but|, ?, ?it|that|this|we ?get|got|is|has|have|are ?literally|exactly ?still ?the @same ?same ?exact @errors ?, ?once|yet =again|twice ?now|already ?, $"),
    (REPEAT, "^ ?nope|no|sorry|it ?, ?is ?still ?the =@same ?same ?@any @errors|result ?as|still ?before $"),
    (REPEAT, "^ =still ?fails|broken|red|failing|wrong|crashing ?, ?exactly|just|the same|like|as ~ ?before ~ $"),
    (REPEAT, "^ ?nope|no ?, =nothing changed ,|$"),
    (REPEAT, "^ ?nope|no ?, no =change|difference ?at ?all|whatsoever ~ still|same|,|$"),
    (REPEAT, "^ your @product ~~ =again"),
    (REPEAT, "^ =again !!"),
    (REPEAT, "^ ?and|again|so|, ?, no @any =again ~ $"),
    (OMISSION, "=you have not ?done ?it ?yet|so ?far $"),
    (REPEAT, "^ ?literally|exactly ?the @same ?as|like|story|thing ?as =last time|before|yesterday|earlier|again ,|$"),
    (OMISSION, "^ ?this|that|it ?is ?still =incomplete|unfinished ,|$"),
    (UNVERIFIED, "^ =nothing was|got|has|is ?been fixed|changed|done|pushed|committed ,|$"),
    (REPEAT, "^ ?and ?now =again no|the|without|wrong ~ $"),
    (OMISSION, "=you @@ did|have not @@ answer|include|add|update|finish|mention|do|implement|handle|follow|cover|remove|delete|fix|change|write|commit|push|touch|apply|address|bump|rename|save|close|listen|respond|reply|translate|document|keep"),
    (OMISSION, "=you @@ have not @@ @past"),
    (OMISSION, "you were =supposed|meant|asked|told to|for"),
    (OMISSION, "=you @@ did not @@ @notfine"),
    (OMISSION, "^ ~~ is|are|was|were ~ =missing from|in your @product"),
    (UNREQUESTED, "you @@ =broke|ruined|wiped|killed|overwrote|overwritten|nuked|clobbered|trashed|corrupted|screwed|messed|butchered|mangled|lost|erased|destroyed|gutted"),
    (UNREQUESTED, "why did ya @@ =force|overwrite|wipe|kill|reformat|nuke ~~"),
    (UNREQUESTED, "why did|would ya @@ delete|remove|drop|rewrite|change|touch|edit|revert|push|commit|merge|overwrite|deploy|publish|force|disable ~~ =!!"),
    (UNREQUESTED, "why did ya @@ =touch ~~"),
    (UNREQUESTED, "why did ya @@ =delete|remove|squash|rebase|drop|rewrite|rename|move|change|edit|revert|strip|close|reset|replace|clear|erase my|our"),
    (UNVERIFIED, "your @product is|are|was|were ?just|simply|plain|still|completely|totally =wrong|false|incorrect|broken|nonsense"),
    (UNVERIFIED, "^ ?no|sorry|but ?, that|this is ?just|simply|plain =wrong ,|$"),
)
# fmt: on
