"""The words and phrases by which a reproach of the agent's own past conduct is told.

Data only, read by ``corrections``. Each phrase is of the kind, not of an example: who acted
(you, your answer), that it is past, and what was wrong with it. Phrases are tried in the
order they stand; the first that holds names the signal. See ``phrases`` for the notation.
"""

from __future__ import annotations

UNREQUESTED = "unrequested-action"
OMISSION = "omission-correction"
UNVERIFIED = "unverified-claim"
GUESSED = "guessed-not-tested"
REPEAT = "repeat-failure"

ADVERBS = frozenset(
    "just also even again already simply still only then now obviously clearly apparently evidently actually "
    "literally basically really definitely certainly totally completely entirely probably maybe once have had "
    "has ever always constantly quietly silently somehow accidentally happily blindly randomly suddenly "
    "yourself both all confidently explicitly specifically repeatedly knowingly deliberately honestly "
    "seriously twice anyway instead quite explicitely so".split()
)

# Written out before anything is compared.
CONTRACTIONS = {
    "u": "you", "ya": "you", "ur": "your", "youre": "you are", "youve": "you have", "youd": "you had",
    "dont": "do not", "doesnt": "does not", "didnt": "did not", "isnt": "is not", "wasnt": "was not",
    "arent": "are not", "werent": "were not", "havent": "have not", "hasnt": "has not", "hadnt": "had not",
    "wont": "will not", "wouldnt": "would not", "cant": "can not", "cannot": "can not", "couldnt": "could not",
    "shouldnt": "should not", "thats": "that is", "whats": "what is", "wheres": "where is", "theres": "there is",
    "ive": "i have", "im": "i am", "its": "its", "can't": "can not", "won't": "will not", "let's": "let us",
    "gonna": "going to", "noone": "nobody", "till": "until", "no-one": "nobody",
}  # fmt: skip
SUFFIXES = (
    ("n't", " not"), ("'re", " are"), ("'ve", " have"), ("'d", " had"), ("'ll", " will"), ("'m", " am"), ("'s", " is"),
)  # fmt: skip

# Past forms that do not end in -ed.
IRREGULAR = frozenset(
    "did made ran read wrote took put set went came gave got broke built chose cut drew drove fell felt found "
    "forgot forgotten grew held hid hit kept knew left lost meant met paid quit said saw sent shut spent split "
    "stole stuck swore threw told thought understood undid undone wiped won reran rewrote rewritten overwrote "
    "overwritten redid rebuilt reset misread misunderstood overrode overridden done gone written chosen broken "
    "taken given thrown let began begun brought caught dealt spun swapped sneaked slipped shipped".split()
)
# Words in -ed that are no past forms.
NOT_PAST = frozenset(
    "need feed speed embed exceed proceed indeed hundred red shed seed bed sacred shared".split()
)

TEST_VERBS = frozenset(
    "run ran test tested check checked verify verified execute executed try tried open opened read look looked "
    "compile compiled build built measure measured profile profiled reproduce reproduced confirm confirmed "
    "validate validated benchmark benchmarked inspect inspected debug debugged examine examined consult "
    "consulted query queried start started launch launched call called grep grepped load loaded".split()
)
DESTROYED = frozenset(
    "deleted removed wiped killed overwrote overwritten nuked clobbered destroyed trashed lost erased dropped "
    "purged broke ruined corrupted screwed messed butchered mangled".split()
)
FORGOT = frozenset("forgot forgotten missed omitted skipped overlooked neglected ignored disregarded".split())
PRODUCT = frozenset(
    "change changes patch migration answer answers list diff pr commit commits summary version code fix fixes "
    "output reply response responses solution implementation edit edits script test tests plan report message "
    "description explanation refactor refactoring rewrite result results function snippet translation command "
    "comment comments config query regex draft table analysis review claim suggestion proposal approach".split()
)
CLAIMED = frozenset(
    "said say told claim claimed claims reported stated promised assured marked declared insisted insist swore "
    "announced wrote cited confirmed mentioned mention cite quoted quote pretend pretended listed called "
    "asserted guaranteed maintained".split()
)
ASKED = frozenset(
    "asked said told wanted requested listed specified ordered instructed meant mentioned named wrote "
    "gave described".split()
)
NEGATIVE = frozenset(
    "not no nothing none never nowhere fails fail failed failing failure failures error errors wrong false "
    "missing untrue broken 404 500 traceback exited crashes crashed empty still lie lied invented nonexistent "
    "red incorrect bogus contradicts only exception neither".split()
)
# Who or what speaks where the words after it are not the user's own.
SPEAKERS = frozenset(
    "says say reads read complains prints print shows show states tells claims writes reports warns message "
    "error warning dialog popup banner docs documentation linter compiler label sign string".split()
)
NUMBERS = frozenset("one two three four five six seven eight nine ten half some most several".split())
SELF = (
    "my bad", "my mistake", "my fault", "my error", "i forgot", "i mixed", "i misread", "i misspoke", "i was wrong",
    "i broke", "turns out", "never mind", "nevermind", "ignore what i", "forget what i", "i should have",
    "sorry i", "sorry , i", "oops", "i meant to", "not your fault", "i confused", "i misunderstood",
)  # fmt: skip
PRAISE = (
    "thanks", "thank you", "great", "perfect", "awesome", "nice", "excellent", "lovely", "brilliant", "good job",
    "well done", "exactly", "cool", "good catch", "good point", "you were right", "you are right", "amazing", "good",
)  # fmt: skip

# Enough by themselves, wherever in the user's own words they stand.
STRONG: tuple[tuple[str, str], ...] = (
    # the same again
    (REPEAT, "you keep|kept *ing"),
    (
        REPEAT,
        "i|we keep|kept telling|saying|asking|repeating|reminding|having|correcting|explaining you|to|that|this",
    ),
    (REPEAT, "how many|often times ~ i|we|must"),
    (REPEAT, "how often do|must|should|have i|we"),
    (REPEAT, "how many more times"),
    (
        REPEAT,
        "i|we have|had ?now|just already told|said|asked|explained|mentioned|reminded|corrected|rejected",
    ),
    (REPEAT, "i|we already told|asked|explained|mentioned|reminded|corrected|rejected ?to you|this|that|it"),
    (REPEAT, "i|we already said ?that|this|it ~ not|no|twice|you|use"),
    (
        REPEAT,
        "i|we ?have told|asked|reminded|warned|corrected you ~~ before|already|twice|times|again|earlier|yesterday",
    ),
    (REPEAT, "i|we ?have said|asked|explained ?you ?this|that|it|so ?for ~ twice|times|before|already"),
    (REPEAT, "you @@ did ?it|this|that|exactly|the ?same|thing again"),
    (REPEAT, "^ ?and|so|no|now ?once|yet again , ?and you @@ @past"),
    (REPEAT, "^ ?and|so|no|now ?once|yet again ?and you @@ @past"),
    (REPEAT, "once|yet again you|your|the"),
    (REPEAT, "you @@ @past ~~ again"),
    (REPEAT, "you @@ are|were *ing ~~ again"),
    (
        REPEAT,
        "you @@ @past ~~ same|identical ~ mistake|error|bug|command|thing|wrong|approach|code|patch|fix|answer|file",
    ),
    (REPEAT, "you @@ repeat|repeated|reintroduced|reapplied|readded|resurrected"),
    (REPEAT, "you @@ brought|added|put ~ back ~ i|we"),
    (
        REPEAT,
        "^ ?still|that|this|it|and|literally|exactly ?is ~ same ?exact ?wrong|old|stupid mistake|blunder|wrong",
    ),
    (REPEAT, "same ?exact mistake|blunder|wrong ~ again|before|time|twice"),
    (REPEAT, "same wrong"),
    (
        REPEAT,
        "same ~~ you @@ gave|said|did|made|wrote|used|sent|tried|suggested|proposed|posted ~ before|again|last|earlier|already|first|previously",
    ),
    (
        REPEAT,
        "still ~~ after|despite your ?last|latest|previous|new|second change|fix|patch|edit|attempt|commit|update",
    ),
    (
        REPEAT,
        "same ~~ after|despite your ?last|latest|previous|new|second change|fix|patch|edit|attempt|commit|update",
    ),
    (REPEAT, "@ordinal time ~~ you|your"),
    (REPEAT, "you|your ~~ @ordinal time"),
    (REPEAT, "@ordinal time ~ i ?have|had ?to tell|told|say|said|ask|asked|explain|explained|correct|remind"),
    (
        REPEAT,
        "your @ordinal ~ attempt|try|version|go ~~ same|identical|wrong|still|fails|failed|not|again|broken|no",
    ),
    (REPEAT, "here we go|are again"),
    (REPEAT, "been over|through|here this|before|already"),
    (REPEAT, "deja|déjà vu"),
    (REPEAT, "exact|very same @product ~~ failed|broke|crashed|rejected|before|already"),
    (REPEAT, "^ ?no|nope|and|, ?, wrong again"),
    (REPEAT, "^ again ~ wrong|same|without|no"),
    (REPEAT, "you @@ did ?exactly the same"),
    (REPEAT, "you @@ @past ~~ like|as ?you ?did last|before|yesterday"),
    (
        REPEAT,
        "your @product ~~ same ~ error|trace|failure|result|crash|output|mistake|bug|problem ?as ?before|again",
    ),
    (REPEAT, "went over|through this"),
    (REPEAT, "you said|promised ~~ you would|will ~~ again"),
    (REPEAT, "did not|nothing you learn|learned ?from ~ last"),
    (REPEAT, "that is the same ~~ you"),
    (REPEAT, "this|that|it did|does not work ~ last ?time either ?and you"),
    (REPEAT, "i @@ rejected|declined|reverted|undid ~ that|this|it|patch|change ~~ you"),
    (REPEAT, "you ~~ i @@ rejected|declined|vetoed"),
    (REPEAT, "you ~~ going ?round|around in circles"),
    (REPEAT, "you ~~ going ?round|around ?and round in circles"),
    (REPEAT, "you ~~ reverted|undid|lost ~ my|the ~ fix|correction again"),
    # not asked for
    (
        UNREQUESTED,
        "i|we @@ did|had|have not ?even|ever ask|asked|request|requested|tell|told|authorize|authorise|authorized|approve|approved|order you|for|that|this|any|either|it|to",
    ),
    (UNREQUESTED, "i|we @@ did|had|have not say|said|want|wanted ~ you|to|that|any|anything|this"),
    (
        UNREQUESTED,
        "i|we never @@ asked|requested|said|told|wanted|approved|authorized|authorised|agreed|ordered ~ you|for|to|that|this|any|it|yes",
    ),
    (
        UNREQUESTED,
        "did not ask|request|want|order|authorize|approve|need either|that|this|any|these|those|it|you|for",
    ),
    (
        UNREQUESTED,
        "i|we @@ explicitly|clearly|specifically|expressly said|told|asked|requested|wrote|stated|forbade|wanted",
    ),
    (UNREQUESTED, "^ ?no|but|, ?, i|we @@ said no|not|never|only|do"),
    (UNREQUESTED, "i|we @@ wanted|asked|requested ?for a|an|the|one|you|to ~~ , not ?a|an|the @any"),
    (UNREQUESTED, "^ nobody|none|noone asked for"),
    (UNREQUESTED, "do|did|can not remember|recall asking|requesting|wanting|saying|approving"),
    (UNREQUESTED, "since when do|did|are you|i|we"),
    (UNREQUESTED, "stop *ing ~~ i|we @@ did|have|had|never ?not"),
    (UNREQUESTED, "scope creep"),
    (UNREQUESTED, "your @product ~~ unrelated|unnecessary|needless|uncalled"),
    (
        UNREQUESTED,
        "you ~~ against|ignoring|contrary|despite ?to my ?explicit|clear instruction|instructions|wish|wishes|request|will|orders",
    ),
    (UNREQUESTED, "you @@ are not listening|following|reading"),
    (UNREQUESTED, "you @@ do not listen|read|follow"),
    (UNREQUESTED, "you were told"),
    (UNREQUESTED, "i|we @@ made it|this|that ?very|quite|perfectly clear|plain"),
    (UNREQUESTED, "^ did not ask|request|order|authorize"),
    (UNREQUESTED, "nobody|none|noone asked|told|requested|wanted|allowed you"),
    (UNREQUESTED, "no one asked|told|requested|wanted|allowed you"),
    (UNREQUESTED, "who @@ asked|told|allowed|authorized|authorised|permitted|instructed you"),
    (UNREQUESTED, "who said ~ you could|can|should|may"),
    (UNREQUESTED, "who gave you ?the permission|authority|right"),
    (UNREQUESTED, "not @@ what|how i|we @@ @asked|need|needed"),
    (UNREQUESTED, "not your call|job|decision|place|business|task"),
    (UNREQUESTED, "not yours to"),
    (UNREQUESTED, "you @@ went ahead"),
    (UNREQUESTED, "you ~~ on your own ?initiative|accord|authority"),
    (UNREQUESTED, "you @@ @past ~~ by yourself"),
    (UNREQUESTED, "you ~~ of your own accord"),
    (
        UNREQUESTED,
        "you @@ @past ~~ without ?even|ever|first|my|any asking|permission|approval|consent|confirmation|okay|ok|telling|warning|being|notice|authorization",
    ),
    (UNREQUESTED, "you @@ @past ~~ unasked|unprompted|uninvited|unsolicited|unrequested"),
    (
        UNREQUESTED,
        "you @@ @past ~~ not ?a|in ?part|in of|the ?my|the|your request|task|scope|ask|job|ticket|assignment|brief",
    ),
    (
        UNREQUESTED,
        "you @@ @past ~~ outside|beyond|exceeded|exceeds ?of ?the|my|what ~ scope|asked|request|task",
    ),
    (UNREQUESTED, "you @@ @past ~~ nobody|none|noone|one asked|wanted|requested|needs|needed"),
    (UNREQUESTED, "you @@ @past ~~ i|we @@ did|do not ask|want|request|need"),
    (
        UNREQUESTED,
        "you @@ @past ~~ although|though|despite|when i|we|my|me @@ @asked|had|have|asking|explicit|clear",
    ),
    (UNREQUESTED, "although|though|despite i|we|my|me @@ @asked|asking|explicit ~~ you"),
    (UNREQUESTED, "you were @@ not|only|never supposed|meant|allowed|told|asked|to"),
    (UNREQUESTED, "you @@ are not supposed|allowed to ~~ and|but|yet you"),
    (UNREQUESTED, "i|we @@ said|told|asked ~ not ~~ you @@ @past"),
    (UNREQUESTED, "i|we @@ said|told|asked ~ do not ~~ you @@ @past"),
    (
        GUESSED,
        "you ~~ instead of ?actually|just reading|checking|running|looking|measuring|testing|verifying|opening|reproducing|profiling",
    ),
    (UNREQUESTED, "you @@ @past ~~ instead of *ing"),
    (
        UNREQUESTED,
        "you @destroyed my|our|the|all|half|everything|it ~~ why|never|without|restore|back|undo|revert|who",
    ),
    (UNREQUESTED, "you @@ @destroyed my|our"),
    (UNREQUESTED, "why did you @@ *|@any ~~ i|we @@ only|just|never|said|asked|told|did|wanted"),
    (UNREQUESTED, "what part of ~~ did you|was unclear"),
    (UNREQUESTED, "you overstepped|overreached"),
    (UNREQUESTED, "hands off , ?i|you"),
    # left out
    (OMISSION, "you @@ @forgot"),
    (OMISSION, "you @@ left ~ out|off|behind|untouched|unfinished|undone|half"),
    (OMISSION, "you ~~ left ?all the|every rest|others|other|remaining"),
    (OMISSION, "i|we @@ asked|wanted|requested ~~ and|but|, ?i|we @@ got|get|received|see"),
    (OMISSION, "you @@ @past ~ @num of"),
    (OMISSION, "your @product ~~ only @num of"),
    (OMISSION, "^ forgot|missed|skipped ~~ did not you"),
    (OMISSION, "you @@ dropped ~ requirement|part|half|step|point|argument|case"),
    (OMISSION, "you only @@ @past|do|cover|handle"),
    (OMISSION, "you have only @@ @past"),
    (OMISSION, "you @@ @past only ?the|one|two|half|a|part|in|some"),
    (
        OMISSION,
        "you @@ @past just|merely the|one|two|half|a|part ~~ not|missing|rest|other|others|still|asked",
    ),
    (OMISSION, "you @@ did ?only|just half|part|one|two|three"),
    (OMISSION, "you @@ @past ~~ but|and not ?in|the|its|for|on|a|any|all"),
    (OMISSION, "you @@ @past ~~ but @@ left|forgot|missed|never|nothing|skipped|did|have"),
    (OMISSION, "you @@ stopped|quit ?right after|half*|before|short|early|midway"),
    (OMISSION, "you @@ gave up"),
    (
        OMISSION,
        "you never @@ answered|added|included|mentioned|updated|did|wrote|implemented|finished|handled|removed|fixed|addressed|touched|responded|got|replied|committed|pushed|covered",
    ),
    (OMISSION, "missing from|in your"),
    (OMISSION, "your @product ~ is|are|has|have ?still|both ?a|the missing|incomplete|no|half|unfinished"),
    (OMISSION, "your @product @@ lacks|lack|misses|omits|skips|ignores|leaves|covers ~"),
    (OMISSION, "your @product @@ only covers|handles|has|does|contains|lists|mentions|touches"),
    (OMISSION, "where|what is|are|about ~~ i|we @@ asked|requested|listed|wanted ?for ?you"),
    (
        OMISSION,
        "i|we @@ asked for|about|you ~~ you @@ did|gave|sent|wrote|only|made|delivered|returned|stopped|listed|have|left",
    ),
    (OMISSION, "you gave|sent|wrote|made|returned ~~ i|we @@ @asked"),
    (OMISSION, "you were supposed|meant|asked|told to"),
    (OMISSION, "i|we @@ asked|told|wanted you to ~~ you @@ @past|did"),
    # said without ground
    (UNVERIFIED, "stop|quit saying|claiming|telling|pretending|reporting|calling|declaring|announcing|lying"),
    (UNVERIFIED, "do not claim|pretend|say|tell|report|state ~~ when|if|that|something you ~ not"),
    (UNVERIFIED, "do not claim|pretend|say|tell|report|state ~~ you have ~~ when|if"),
    (UNVERIFIED, "you @@ invented|fabricated|hallucinated|lied|imagined|faked|pretended|misquoted"),
    (UNVERIFIED, "you @@ made ~ up"),
    (
        UNVERIFIED,
        "your ~~ is|are|was|were @@ invented|fabricated|hallucinated|made|bogus|false|wrong|untrue|fiction|nonsense",
    ),
    (UNVERIFIED, "why do|did|would|are you ~ say|saying|claim|claiming|tell|telling|insist"),
    (UNVERIFIED, "you ~~ does|do|did not ?even|actually exist*"),
    (UNVERIFIED, "does|do not ?even|actually exist ~~ you @@ @past|@claimed"),
    (UNVERIFIED, "you told me ~~ not"),
    (UNVERIFIED, "you @claimed ~~ @@ not true|correct|right"),
    (UNVERIFIED, "not true|correct|right|what ~~ you @claimed"),
    (UNVERIFIED, "contrary to what you"),
    (UNVERIFIED, "you @@ promised"),
    (UNVERIFIED, "that|this is|was ?a|another|just|plain|simply lie|lies|bullshit|nonsense|bogus"),
    (UNVERIFIED, "do not|stop lie|lying"),
    (UNVERIFIED, "no such ~~ you|your"),
    (
        UNVERIFIED,
        "there is|are|was|were no ~~ you @@ @claimed|invented|used|call|import|linked|reference|referenced",
    ),
    (UNVERIFIED, "stop|quit making ~ up"),
    (
        UNVERIFIED,
        "still|not|fails|fail|failing|red|broken ~~ although|though|but|yet|while|even ~ you @claimed",
    ),
    (UNVERIFIED, "^ quoting you"),
    (UNVERIFIED, "your own words"),
    (UNVERIFIED, "so much for your"),
    (UNVERIFIED, "you call|called that|this|it done|finished|tested|working|fixed"),
    # guessed
    (GUESSED, "you @@ are|were @@ guessing|assuming|speculating|hallucinating|imagining|inventing"),
    (
        GUESSED,
        "^ ?no|and|so|but|well|ok|,|again|because ?, you @@ guess|guessed|assume|assumed|speculate|speculated|presume|presumed",
    ),
    (GUESSED, "you @@ guessed|assumed|speculated|presumed"),
    (GUESSED, "you @adverb assume|guess"),
    (
        GUESSED,
        "that|this|it|your|all|answer|which is|was|are|sounds|looks|smells @@ ?like ?a|pure|wild|mere ?pure|wild|mere ?educated guess|guesswork|guessing|speculation|conjecture|assumption|assumptions",
    ),
    (GUESSED, "stop|quit ~ guessing|assuming|speculating|guesswork|hallucinating"),
    (GUESSED, "you can|could not ?possibly|even know"),
    (GUESSED, "how could|would|can you @@ know"),
    (GUESSED, "no more guessing|assumptions|guesses|guesswork"),
    (GUESSED, "did|have you @@ even|actually|really|ever @test"),
    (GUESSED, "you @@ @past ~~ without ?even|ever|once|first|any|actually *ing"),
    (GUESSED, "you @@ @past ~~ without ?any|a|the|single evidence|proof|test|tests|measurement|data|check"),
    (GUESSED, "you ~~ out of thin air"),
    (GUESSED, "you ~~ from memory"),
    (GUESSED, "from memory , ?not|instead ~ you|your|?"),
    (GUESSED, "you would have seen|noticed|known|caught|found|realized|realised|spotted|learned"),
    (GUESSED, "would|could have ?just|immediately shown|told|warned you"),
    (GUESSED, "would have shown|told|revealed|caught ~~"),
    (GUESSED, "you should|could|might @@ have @@ @past|checked|run|read|opened|looked|tested"),
    (GUESSED, "you never @@ @test|bothered|looked|even"),
    (GUESSED, "you @@ did|have|had|has @@ not @@ even"),
    (GUESSED, "you did|have|had @@ not @@ @test|bother"),
    (GUESSED, "you @@ not @@ @test"),
    (GUESSED, "you @past ~~ hoping|hoped ~ helps|works|sticks|one|fixes|work|help|stick"),
    (GUESSED, "you @past ~~ at random|blindly"),
    (
        GUESSED,
        "^ ?please reproduce|measure|verify|check|read|look|test|profile|run ~ before|first ~~ you have|did @past",
    ),
    (OMISSION, "you did|have|had @@ not @@ @any ~~ i|we ?had|have @@ @asked"),
)

# Enough unless the sentence asks, thanks, or the user blames herself.
WEAK: tuple[tuple[str, str], ...] = (
    (REPEAT, "your ~~ again"),
    (
        OMISSION,
        "you did|have not @@ answer|include|add|update|finish|mention|do|implement|handle|follow|cover|remove|delete|fix|change|write|commit|push|touch|apply|address|bump|rename|save|close|listen|respond|reply|translate|document|keep",
    ),
    (OMISSION, "you have not @@ @past"),
    (OMISSION, "you @@ did not @@ @any"),
    (UNREQUESTED, "you @@ @destroyed"),
    (
        UNREQUESTED,
        "why did you @@ push|delete|remove|commit|merge|overwrite|drop|deploy|publish|force|wipe|kill|rewrite|reformat ~~",
    ),
    (
        UNVERIFIED,
        "your @product is|are|was|were ?just|simply|plain|still|completely|totally wrong|false|incorrect|broken|nonsense",
    ),
)

# Reproaches that people make in other languages; matched as they stand in the lower-cased sentence.
FOREIGN: tuple[tuple[str, str], ...] = (
    # German
    (REPEAT, "schon wieder|du,dein,hast"), (REPEAT, "zum dritten mal|du,dein,ich,dir"), (REPEAT, "zum zweiten mal|du,dein,ich,dir"),
    (REPEAT, "habe ich dir|schon,doch,bereits,mal"), (REPEAT, "hab ich dir|schon,doch,bereits,mal"), (REPEAT, "hab dir|schon,doch,bereits,mal"),
    (REPEAT, "habe dir|schon,doch,bereits,mal"), (REPEAT, "wie oft|muss,soll,noch"), (REPEAT, "derselbe fehler|wieder,du,dein"),
    (REPEAT, "gleiche fehler|wieder,du,dein"), (REPEAT, "du hast|wieder"), (REPEAT, "immer noch|nach deine,dein fix,deiner änderung"),
    (UNREQUESTED, "nicht gesagt|du,dass"), (UNREQUESTED, "nicht gebeten"), (UNREQUESTED, "nicht verlangt|du,ich,hab"), (UNREQUESTED, "wer hat dir"),
    (UNREQUESTED, "wer hat dich"), (UNREQUESTED, "niemand hat|dich,dir"), (UNREQUESTED, "du solltest|nur,nicht,doch"), (UNREQUESTED, "ohne zu fragen|du,hast"),
    (UNREQUESTED, "du hast einfach"), (UNREQUESTED, "ich wollte nur|du"), (UNREQUESTED, "nicht das, was ich"), (UNREQUESTED, "nicht was ich|wollte,meinte,gesagt"),
    (OMISSION, "du hast|vergessen,ausgelassen,übersehen,weggelassen,fehlt,nur die"), (OMISSION, "hast du|vergessen,ausgelassen,übersehen,weggelassen"),
    (OMISSION, "fehlt|ich hatte,hab ich,du hast,deiner,deinem"), (UNVERIFIED, "du hast gesagt|nicht,aber,kein"), (UNVERIFIED, "du sagtest|nicht,aber,kein"),
    (UNVERIFIED, "du behauptest"), (UNVERIFIED, "du hast behauptet"), (UNVERIFIED, "das stimmt nicht|du,dein"), (UNVERIFIED, "stimmt doch nicht"),
    (UNVERIFIED, "erfunden|du,hast,dir"), (GUESSED, "du rätst"), (GUESSED, "geraten|du,hast,nur"), (GUESSED, "du hast|nicht getestet,nicht geprüft,nicht gelesen,nie getestet,gar nicht"),
    (GUESSED, "hast du|überhaupt"), (GUESSED, "hör auf zu raten"), (GUESSED, "ohne zu|du hast"), (GUESSED, "du nimmst|einfach an"),
    # Spanish
    (REPEAT, "otra vez|mismo error,hiciste,has "), (REPEAT, "de nuevo|mismo error,hiciste,has "), (REPEAT, "ya te dije"), (REPEAT, "ya te lo dije"), (REPEAT, "te he dicho|veces,ya"),
    (REPEAT, "cuántas veces"), (UNREQUESTED, "no te pedí"), (UNREQUESTED, "nadie te"), (UNREQUESTED, "quién te"), (UNREQUESTED, "no te dije que"), (UNREQUESTED, "te dije que no"),
    (UNREQUESTED, "no es lo que|pedí,quería,dije"), (UNREQUESTED, "sin preguntar|has ,aste,iste"), (OMISSION, "te pedí|falta,también,solo,pero,no "), (OMISSION, "olvidaste"), (OMISSION, "te faltó"),
    (OMISSION, "te has olvidado"), (OMISSION, "te falta"), (UNVERIFIED, "dijiste que|no ,pero,falla"), (UNVERIFIED, "inventaste"), (UNVERIFIED, "te lo has inventado"), (UNVERIFIED, "te lo inventas"),
    (UNVERIFIED, "eso no es cierto"), (UNVERIFIED, "eso es falso"), (GUESSED, "estás adivinando"), (GUESSED, "no lo probaste"), (GUESSED, "no probaste"), (GUESSED, "no has probado"),
    (GUESSED, "ni siquiera|has ,aste,iste"), (GUESSED, "supusiste"), (GUESSED, "sin probar|has ,aste,iste"), (GUESSED, "deja de adivinar"),
    # French
    (REPEAT, "encore une fois|tu ,t'"), (REPEAT, "je t'ai déjà"), (REPEAT, "je t'avais dit"), (REPEAT, "combien de fois"), (REPEAT, "même erreur|encore,tu ,t'"), (REPEAT, "tu as encore"), (REPEAT, "t'as encore"),
    (UNREQUESTED, "je ne t'ai pas"), (UNREQUESTED, "je t'ai pas"), (UNREQUESTED, "personne ne t'a"), (UNREQUESTED, "qui t'a"), (UNREQUESTED, "pas ce que j'ai"), (UNREQUESTED, "je n'ai pas demandé"),
    (UNREQUESTED, "j'ai pas demandé"), (UNREQUESTED, "sans demander|tu ,t'"), (OMISSION, "tu as oublié"), (OMISSION, "t'as oublié"), (OMISSION, "tu n'as pas|fait,mis,ajouté,fini"), (OMISSION, "il manque|demandé,ton ,ta "),
    (UNVERIFIED, "tu as dit|mais,pas,rien"), (UNVERIFIED, "tu disais|mais,pas,rien"), (UNVERIFIED, "tu as inventé"), (UNVERIFIED, "tu inventes"), (UNVERIFIED, "c'est faux|tu ,ton ,ta "), (UNVERIFIED, "n'existe pas|tu "),
    (GUESSED, "tu devines"), (GUESSED, "tu supposes"), (GUESSED, "tu as supposé"), (GUESSED, "tu n'as pas|testé,vérifié,lu,lancé,essayé,même"), (GUESSED, "tu n'as même pas"), (GUESSED, "arrête de deviner"), (GUESSED, "sans vérifier|tu "),
    # Italian, Portuguese, Dutch
    (REPEAT, "di nuovo|hai "), (REPEAT, "ti ho già"), (REPEAT, "te l'ho già"), (REPEAT, "quante volte"), (UNREQUESTED, "non ti ho"), (UNREQUESTED, "nessuno ti"), (UNREQUESTED, "chi ti ha"), (UNREQUESTED, "non è quello che"),
    (OMISSION, "hai dimenticato"), (OMISSION, "ti sei dimenticat"), (OMISSION, "hai saltato"), (UNVERIFIED, "hai detto che|non,ma "), (UNVERIFIED, "hai inventato"), (UNVERIFIED, "ti sei inventat"), (GUESSED, "stai indovinando"), (GUESSED, "non hai|provato,testato,controllato,letto"), (GUESSED, "tirato a indovinare"),
    (REPEAT, "já te disse"), (REPEAT, "já disse|você,vezes"), (REPEAT, "quantas vezes"), (REPEAT, "de novo|você"), (UNREQUESTED, "não pedi"), (UNREQUESTED, "não te pedi"), (UNREQUESTED, "ninguém pediu"), (UNREQUESTED, "quem mandou"), (UNREQUESTED, "quem pediu"),
    (OMISSION, "você esqueceu"), (OMISSION, "esqueceste"), (OMISSION, "faltou|pedi"), (UNVERIFIED, "você disse|mas,não"), (UNVERIFIED, "você inventou"), (GUESSED, "você chutou"), (GUESSED, "está chutando"), (GUESSED, "você não testou"), (GUESSED, "você nem"),
    (REPEAT, "je hebt weer"), (REPEAT, "alweer|je "), (REPEAT, "hoe vaak"), (REPEAT, "ik heb je al"), (UNREQUESTED, "ik heb niet gevraagd"), (UNREQUESTED, "ik vroeg niet"), (UNREQUESTED, "niet gevraagd|je ,ik "), (UNREQUESTED, "wie heeft je"), (UNREQUESTED, "niet wat ik"),
    (OMISSION, "je bent|vergeten"), (OMISSION, "je hebt|vergeten,overgeslagen"), (OMISSION, "je vergat"), (UNVERIFIED, "je zei dat|niet,maar,geen"), (UNVERIFIED, "je hebt|verzonnen"), (GUESSED, "je gokt"), (GUESSED, "je hebt|niet getest,niet gecontroleerd,gegokt"),
    # Polish, Russian, Japanese, Chinese, Korean
    (REPEAT, "znowu|zrobiłeś,to samo,ten sam"), (REPEAT, "mówiłem ci"), (UNREQUESTED, "nie prosiłem"), (UNREQUESTED, "kto ci kazał"), (OMISSION, "zapomniałeś"), (UNVERIFIED, "powiedziałeś|nie,ale"), (UNVERIFIED, "wymyśliłeś"), (GUESSED, "zgadujesz"), (GUESSED, "nie sprawdziłeś"),
    (REPEAT, "опять ты"), (REPEAT, "ты опять"), (REPEAT, "ты снова"), (REPEAT, "сколько раз"), (REPEAT, "я же говорил"), (REPEAT, "я уже говорил"), (UNREQUESTED, "я не просил"), (UNREQUESTED, "кто тебя просил"), (OMISSION, "ты забыл"), (OMISSION, "ты пропустил"), (UNVERIFIED, "ты сказал|не ,но "), (UNVERIFIED, "ты выдумал"), (GUESSED, "ты угадываешь"), (GUESSED, "ты не|проверил,запустил,прочитал,тестировал"), (GUESSED, "ты даже не"),
    (REPEAT, "また同じ"), (REPEAT, "何度言"), (REPEAT, "何回言"), (UNREQUESTED, "頼んでない"), (UNREQUESTED, "頼んでいない"), (UNREQUESTED, "頼んでいません"), (UNREQUESTED, "言ってない"), (UNREQUESTED, "勝手に"), (OMISSION, "忘れてる"), (OMISSION, "忘れています"), (OMISSION, "抜けています"), (UNVERIFIED, "嘘"), (UNVERIFIED, "と言ったのに"), (GUESSED, "推測で"), (GUESSED, "確認していない"), (GUESSED, "テストしてない"),
    (REPEAT, "你又"), (REPEAT, "又是同样"), (REPEAT, "说了多少遍"), (REPEAT, "说过多少次"), (REPEAT, "跟你说过"), (UNREQUESTED, "没让你"), (UNREQUESTED, "没叫你"), (UNREQUESTED, "没有让你"), (UNREQUESTED, "谁让你"), (UNREQUESTED, "谁叫你"), (UNREQUESTED, "不是我要的"), (OMISSION, "你忘了"), (OMISSION, "你漏了"), (OMISSION, "你漏掉"), (UNVERIFIED, "你说|但,可是,却,没有"), (UNVERIFIED, "你编"), (UNVERIFIED, "胡编"), (GUESSED, "瞎猜"), (GUESSED, "你在猜"), (GUESSED, "你没有测试"), (GUESSED, "你没测试"), (GUESSED, "你根本没"), (GUESSED, "你没跑"), (GUESSED, "你没有运行"),
    (REPEAT, "또 같은"), (REPEAT, "몇 번"), (UNREQUESTED, "시키지 않"), (UNREQUESTED, "부탁하지 않"), (UNREQUESTED, "하라고 안"), (OMISSION, "빠뜨렸"), (OMISSION, "빼먹었"), (OMISSION, "잊었"), (UNVERIFIED, "지어냈"), (UNVERIFIED, "했다고 했는데"), (GUESSED, "추측하지"), (GUESSED, "확인도 안"), (GUESSED, "테스트도 안"),
)  # fmt: skip
