"""What tells a reproach from another prompt: the weight of each word and pair.

Hundredths, by part of a prompt; what is not listed weighs nothing. Data only, written by
``scripts/fit_corrections``; read by ``correction_odds``.
"""

from __future__ import annotations

# fmt: off
BIAS = -266
WEIGHTS: dict[str, int] = {
    "!!": 170, "!! ?": 190, "#": 92, "# ,": -5, "# of": 8, "*ed #": -158, "*ed $": -58, "*ed ,": 215,
    "*ed ?": -17, "*ed the": 134, "*ed to": 39, "*ed you": 336, ",": -99, ", #": 430, ", die": 50,
    ", just": -211, ", let": -7, ", no": -7, ", please": -82, ", same": 8, ", so": -765, ", the": 224,
    ", why": 89, ", you": 257, ":": 265, ": $": 67, "?": -362, "? $": -362, "^ *ed": 454, "^ add": -361,
    "^ again": 849, "^ and": 157, "^ did": 206, "^ do": -351, "^ du": 217, "^ fix": -180, "^ if": -26,
    "^ in": -332, "^ is": -270, "^ make": -234, "^ no": 48, "^ nobody": 150, "^ oh": -24, "^ our": -65,
    "^ please": 41, "^ same": 252, "^ so": 149, "^ sorry": -44, "^ still": 226, "^ stop": 304, "^ thanks": -4,
    "^ that": 670, "^ the": 23, "^ there": 16, "^ this": 289, "^ tu": 107, "^ when": -33, "^ which": -163,
    "^ who": 106, "^ why": 194, "^ write": -147, "^ you": 541, "^ your": 660, "a new": 126, "about": 73,
    "add": -475, "after your": 99, "again": 130, "again and": -78, "again the": 7, "am": 5, "and": 324,
    "and the": 33, "and you": 183, "answer": 222, "any more": -54, "anything": -355, "anywhere": 156,
    "app": -46, "are": 244, "as": 195, "asked": 65, "asked for": 460, "at": 171, "at all": 176, "at the": 139,
    "attempt": 61, "back": 305, "been": 17, "bump": 7, "bump the": 53, "but": -80, "by": -215, "called": 279,
    "can": -195, "can not": 39, "can ye": -24, "change": -263, "changed": -82, "claims": -19, "clearly": 344,
    "comments": 19, "config": 143, "customer": -167, "dark": 15, "das": 21, "de": 426, "delete": 29,
    "did": 52, "did not": 87, "did ya": 160, "die": 691, "diff": 88, "different": 72, "do not": 219,
    "do ya": 105, "doch": 215, "does": 12, "does not": 125, "du": 404, "du hast": 123, "each": -31, "el": 125,
    "encore": 57, "endpoint": 283, "errors": -97, "even": 387, "exact": 1, "exist": 69, "false": 239,
    "faster": -4, "fault": -18, "file": 14, "file $": 130, "file is": 34, "find": -476, "fine": -166,
    "fix": 51, "for": -50, "for #": 88, "for $": -102, "for a": 554, "for the": -36, "from": -12,
    "from the": -2, "function": 193, "go": -44, "good": -589, "great": -305, "guess": 114, "guessing": 257,
    "hai": 20, "hast": 52, "have": 156, "have *ed": 373, "have not": 101, "have to": -130, "here": -426,
    "i": 80, "i *ed": 143, "i am": 87, "i asked": 384, "i can": 1, "i had": -301, "i meant": -214,
    "i said": 465, "i wanted": 9, "if": -572, "in": 37, "in #": 4, "in the": 22, "into": -57, "is": 296,
    "is *ed": 65, "is a": 46, "is false": 126, "is it": -2, "is that": -109, "it": -54, "it $": -56,
    "it ,": -51, "it was": 17, "its": 209, "its *ed": 1, "job": -125, "just": 486, "keep": 45, "la": 255,
    "last #": 49, "let": -4, "let us": -265, "line": 39, "list": 17, "logged": -5, "look": 52, "mail": -318,
    "make": -1, "many": 520, "may": -13, "meant": -10, "merge": -150, "message": 207, "message $": 76,
    "migration": 28, "missing": 41, "more": -1, "même": 4, "need": -522, "never *ed": 453, "never told": -19,
    "new": 112, "nicht": 611, "no": 150, "nobody *ed": 89, "non": 321, "nope": 168, "nope ,": 48, "not": 349,
    "not a": -20, "not ask": 25, "not even": 292, "not exist": 33, "not have": -145, "not in": 8,
    "not need": -20, "not there": 18, "nothing": 60, "now": -303, "now $": -94, "npm": 103, "of": 243,
    "of it": -12, "oh": -24, "old": -78, "on": -112, "on $": 107, "once": 56, "only": 188, "only *ed": 219,
    "our": -180, "out": 78, "part": 408, "part of": 198, "pas": 206, "patch": 91, "pedí": 9, "plan": -110,
    "please": -185, "please $": -14, "please do": 30, "please stop": 26, "que": 259, "quoted": 276,
    "quoted $": -240, "ran": 56, "red": 27, "remove": -75, "remove the": -14, "request": 135, "rest": 94,
    "review": -285, "right": -333, "right ,": -232, "run it": 174, "running": 62, "said": 232,
    "said the": -108, "same": 460, "say": 174, "schon": 6, "see": -80, "set": -254, "should": -484,
    "sorry": -514, "start": -160, "still": 170, "stop": 291, "such": 43, "summary": 215, "supposed": 100,
    "supposed to": 100, "sure": -39, "take": -174, "take the": -1, "task": 114, "te": 585, "te pedí": 9,
    "test": -139, "than": -313, "thank": -67, "thank you": -67, "thanks": -448, "thanks $": -364, "that": 55,
    "that ?": -4, "the #": -74, "the error": 60, "the migration": 81, "the new": -217, "the rest": 69,
    "the same": -140, "the second": -33, "the spec": -49, "the task": 164, "the wrong": -5, "thee": 388,
    "thee *ed": 255, "them": 10, "there": 358, "there ,": 64, "there is": 85, "third": 238, "third time": 71,
    "this": 243, "this is": 458, "this time": -47, "those": 122, "time": 285, "times": 314, "to": 20,
    "to *ed": -151, "today": -178, "told": 120, "tried": 3, "tu": 588, "twice $": -21, "up": 174,
    "update": -288, "us": -327, "use": -141, "use the": -158, "used": -196, "user": -242, "users": -73,
    "version": 66, "want": -184, "want you": -64, "wanted": 756, "wanted a": 4, "wanted the": 15, "was": 236,
    "was a": 90, "was wrong": -147, "we *ed": -47, "were": 44, "were right": -4, "what about": 259,
    "what i": -490, "what is": -86, "what it": 139, "when": -124, "where": 285, "where is": 123, "who": 106,
    "who told": 6, "whole": 26, "why": 69, "why do": 2, "why is": -43, "with": -114, "without": 78,
    "works": -3, "write": -416, "wrong": -352, "ya": 829, "ya *ed": 6, "ya actually": 12, "ya just": 8,
    "ye": -156, "you": 562, "you $": -375, "you *ed": 803, "you about": -213, "you are": -10, "you can": -500,
    "you did": 144, "you do": -275, "you have": 24, "you just": 101, "you keep": 329, "you may": -15,
    "you mentioned": -71, "you never": 18, "you the": -9, "you to": 283, "you used": -24, "your": 642,
}
# fmt: on
