"""Reproaches of the agent's conduct in languages other than English.

A fixed wording and, after ``|``, one of several that have to stand beside it. Wordings start where
a word starts (those in ``*`` anywhere), marks count as spaces, case does not matter. Data and one
pure function.
"""

from __future__ import annotations

from agent_memory.correction_vocabulary import GUESSED, OMISSION, REPEAT, UNREQUESTED, UNVERIFIED

FOREIGN: tuple[tuple[str, str], ...] = (
    # German
    (REPEAT, "schon wieder |du ,dein,hast ,fehler "), (REPEAT, "zum dritten mal |du ,dein,ich ,dir "), (REPEAT, "zum zweiten mal |du ,dein,ich ,dir "),
    (REPEAT, "habe ich dir |schon,doch,bereits,mal "), (REPEAT, "hab ich dir |schon,doch,bereits,mal "), (REPEAT, "hab dir |schon,doch,bereits,mal "),
    (REPEAT, "habe dir |schon,doch,bereits,mal "), (REPEAT, "wie oft |muss,soll,noch"), (REPEAT, "derselbe fehler |wieder,du ,dein,nach "),
    (REPEAT, "gleiche fehler |wieder,du ,dein,nach "), (REPEAT, "du hast |wieder "), (REPEAT, "immer noch |nach deine,dein fix,deiner änderung"),
    (UNREQUESTED, "nicht gesagt |du ,dass "), (UNREQUESTED, "nicht gebeten "), (UNREQUESTED, "nicht verlangt |du ,ich ,hab"), (UNREQUESTED, "wer hat dir "),
    (UNREQUESTED, "wer hat dich "), (UNREQUESTED, "niemand hat |dich ,dir "), (UNREQUESTED, "du solltest |nur ,nicht ,doch "), (UNREQUESTED, "ohne zu fragen |du ,hast "),
    (UNREQUESTED, "du hast einfach "), (UNREQUESTED, "ich wollte nur |du ,warum ,wieso "), (UNREQUESTED, "nicht das was ich "), (UNREQUESTED, "nicht was ich |wollte,meinte,gesagt"),
    (UNREQUESTED, "doch gesagt |nicht ,nur ,kein"), (UNREQUESTED, "hättest du nicht "), (UNREQUESTED, "warum hast du |gelöscht,überschrieben,gepusht,entfernt,committet"),
    (OMISSION, "du hast |vergessen,ausgelassen,übersehen,weggelassen,fehlt,nur die "), (OMISSION, "fehlt |ich hatte,hab ich ,du hast,deiner,deinem"), (OMISSION, "ich hatte auch |gefragt,gebeten,gesagt,geschrieben"),
    (UNVERIFIED, "du hast gesagt |nicht ,aber ,kein"), (UNVERIFIED, "du sagtest |nicht ,aber ,kein"), (UNVERIFIED, "du sagst |aber ,dabei ,obwohl "),
    (UNVERIFIED, "du behauptest "), (UNVERIFIED, "du hast behauptet "), (UNVERIFIED, "das stimmt nicht |du ,dein"), (UNVERIFIED, "stimmt doch nicht "), (UNVERIFIED, "stimmt einfach nicht "),
    (UNVERIFIED, "erfunden |du ,hast ,dir "), (GUESSED, "du rätst "), (GUESSED, "geraten |du ,hast "), (GUESSED, "du hast |nicht getestet,nicht geprüft,nicht gelesen,nie getestet,gar nicht ,nicht ausprobiert"),
    (GUESSED, "hast du |überhaupt "), (GUESSED, "hör auf zu raten "), (GUESSED, "ohne zu |du hast "), (GUESSED, "du nimmst |einfach an "),
    # Spanish
    (REPEAT, "otra vez |mismo error,hiciste,has "), (REPEAT, "de nuevo |mismo error,hiciste,has "), (REPEAT, "ya te dije "), (REPEAT, "ya te lo dije "), (REPEAT, "te he dicho |veces,ya "),
    (REPEAT, "cuántas veces "), (UNREQUESTED, "no te pedí "), (UNREQUESTED, "nadie te "), (UNREQUESTED, "quién te "), (UNREQUESTED, "no te dije que "), (UNREQUESTED, "te dije que no "),
    (UNREQUESTED, "no es lo que |pedí,quería,dije"), (UNREQUESTED, "sin preguntar |has ,*aste ,*iste "), (OMISSION, "te pedí |falta,también,solo,pero,no "), (OMISSION, "olvidaste "), (OMISSION, "te faltó "),
    (OMISSION, "te has olvidado "), (OMISSION, "te falta "), (UNVERIFIED, "dijiste que |no ,pero,falla"), (UNVERIFIED, "inventaste "), (UNVERIFIED, "te lo has inventado "), (UNVERIFIED, "te lo inventas "),
    (UNVERIFIED, "eso no es cierto "), (UNVERIFIED, "eso es falso "), (GUESSED, "estás adivinando "), (GUESSED, "no lo probaste "), (GUESSED, "no probaste "), (GUESSED, "no has probado "),
    (GUESSED, "ni siquiera |has ,*aste ,*iste "), (GUESSED, "supusiste "), (GUESSED, "sin probar|has ,*aste ,*iste "), (GUESSED, "deja de adivinar "),
    # French
    (REPEAT, "encore une fois |tu as ,tu n,t'as "), (REPEAT, "je t'ai déjà "), (REPEAT, "combien de fois "), (REPEAT, "même erreur |encore,tu ,t'"), (REPEAT, "tu as encore "), (REPEAT, "t'as encore "),
    (UNREQUESTED, "je t'avais dit |pas ,ne ,que "), (UNREQUESTED, "je ne t'ai pas "), (UNREQUESTED, "je t'ai pas "), (UNREQUESTED, "personne ne t'a "), (UNREQUESTED, "qui t'a "), (UNREQUESTED, "pas ce que j'ai "), (UNREQUESTED, "je n'ai pas demandé "),
    (UNREQUESTED, "j'ai pas demandé "), (UNREQUESTED, "sans demander |tu ,t'as "), (OMISSION, "tu as oublié "), (OMISSION, "t'as oublié "), (OMISSION, "tu n'as pas |fait,mis,ajouté,fini"), (OMISSION, "il manque |demandé,ton ,ta "),
    (UNVERIFIED, "tu as dit |mais,pas ,rien"), (UNVERIFIED, "tu disais |mais,pas ,rien"), (UNVERIFIED, "tu dis que |mais,pas ,rien"), (UNVERIFIED, "as inventé "), (UNVERIFIED, "tu inventes "), (UNVERIFIED, "c'est faux |tu ,ton ,ta "), (UNVERIFIED, "n'existe pas |tu "),
    (GUESSED, "tu devines "), (GUESSED, "tu supposes "), (GUESSED, "tu as supposé "), (GUESSED, "tu n'as pas |testé,vérifié,lu ,lancé,essayé,même"), (GUESSED, "tu n'as même pas "), (GUESSED, "arrête de deviner "), (GUESSED, "sans vérifier |tu "),
    # Italian, Portuguese, Dutch
    (REPEAT, "di nuovo |hai ,stesso errore"), (REPEAT, "ti ho già "), (REPEAT, "te l'ho già "), (REPEAT, "quante volte "), (UNREQUESTED, "non ti ho "), (UNREQUESTED, "nessuno ti "), (UNREQUESTED, "chi ti ha "), (UNREQUESTED, "non è quello che "),
    (OMISSION, "hai dimenticato "), (OMISSION, "ti sei dimenticat"), (OMISSION, "hai saltato "), (UNVERIFIED, "hai detto che |non ,ma "), (UNVERIFIED, "hai inventato "), (UNVERIFIED, "ti sei inventat"), (GUESSED, "stai indovinando "), (GUESSED, "non hai |provato,testato,controllato,letto,nemmeno,neanche"), (GUESSED, "tirato a indovinare "),
    (REPEAT, "já te disse "), (REPEAT, "já te falei "), (REPEAT, "já falei |você ,vezes,isso"), (REPEAT, "já disse |você ,vezes,isso"), (REPEAT, "quantas vezes "), (REPEAT, "de novo |você fez,você esque,você quebr,você errou,mesmo erro"), (UNREQUESTED, "não pedi "), (UNREQUESTED, "não te pedi "), (UNREQUESTED, "ninguém pediu "), (UNREQUESTED, "quem mandou "), (UNREQUESTED, "quem pediu "),
    (OMISSION, "você esqueceu "), (OMISSION, "esqueceste "), (OMISSION, "faltou |pedi"), (UNVERIFIED, "você disse |mas ,não "), (UNVERIFIED, "você inventou "), (GUESSED, "você chutou "), (GUESSED, "está chutando "), (GUESSED, "você não testou "), (GUESSED, "você nem "),
    (REPEAT, "je hebt weer "), (REPEAT, "alweer |je ,dezelfde"), (REPEAT, "hoe vaak |moet"), (REPEAT, "ik heb je al "), (UNREQUESTED, "ik heb niet gevraagd "), (UNREQUESTED, "ik vroeg niet "), (UNREQUESTED, "niet gevraagd |je ,ik "), (UNREQUESTED, "wie heeft je "), (UNREQUESTED, "niet wat ik "),
    (OMISSION, "je bent |vergeten"), (OMISSION, "je hebt |vergeten,overgeslagen"), (OMISSION, "je vergat "), (UNVERIFIED, "je zei dat |niet ,maar ,geen "), (UNVERIFIED, "je hebt |verzonnen"), (GUESSED, "je gokt "), (GUESSED, "je hebt |niet getest,niet gecontroleerd,gegokt"),
    # Polish, Russian
    (REPEAT, "znowu |zrobiłeś,to samo,ten sam"), (REPEAT, "mówiłem ci "), (UNREQUESTED, "nie prosiłem "), (UNREQUESTED, "kto ci kazał "), (OMISSION, "zapomniałeś "), (UNVERIFIED, "powiedziałeś |nie ,ale "), (UNVERIFIED, "wymyśliłeś "), (GUESSED, "zgadujesz "), (GUESSED, "nie sprawdziłeś "),
    (REPEAT, "опять ты "), (REPEAT, "ты опять "), (REPEAT, "ты снова "), (REPEAT, "сколько раз "), (REPEAT, "я же говорил"), (REPEAT, "я уже говорил"), (UNREQUESTED, "я не просил"), (UNREQUESTED, "кто тебя просил "), (OMISSION, "ты забыл"), (OMISSION, "ты пропустил"), (UNVERIFIED, "ты сказал|не ,но "), (UNVERIFIED, "ты выдумал"), (GUESSED, "ты угадываешь"), (GUESSED, "ты не |проверил,запустил,прочитал,тестировал"), (GUESSED, "ты даже не "),
    # Japanese, Chinese, Korean
    (REPEAT, "*また同じ"), (REPEAT, "*何度言"), (REPEAT, "*何回言"), (UNREQUESTED, "*頼んでない"), (UNREQUESTED, "*頼んでいない"), (UNREQUESTED, "*頼んでいません"), (UNREQUESTED, "*言ってない"), (UNREQUESTED, "*勝手に"), (OMISSION, "*忘れてる"), (OMISSION, "*忘れています"), (OMISSION, "*抜けています"), (UNVERIFIED, "*嘘"), (UNVERIFIED, "*と言ったのに"), (GUESSED, "*推測で"), (GUESSED, "*確認していない"), (GUESSED, "*テストしてない"),
    (REPEAT, "*你又"), (REPEAT, "*又是同样"), (REPEAT, "*说了多少遍"), (REPEAT, "*说过多少次"), (REPEAT, "*跟你说过"), (UNREQUESTED, "*没让你"), (UNREQUESTED, "*没叫你"), (UNREQUESTED, "*没有让你"), (UNREQUESTED, "*谁让你"), (UNREQUESTED, "*谁叫你"), (UNREQUESTED, "*不是我要的"), (OMISSION, "*你忘了"), (OMISSION, "*你漏了"), (OMISSION, "*你漏掉"), (UNVERIFIED, "*你说|*但,*可是,*却,*没有"), (UNVERIFIED, "*你编"), (UNVERIFIED, "*胡编"), (GUESSED, "*瞎猜"), (GUESSED, "*你在猜"), (GUESSED, "*你没有测试"), (GUESSED, "*你没测试"), (GUESSED, "*你根本没"), (GUESSED, "*你没跑"), (GUESSED, "*你没有运行"),
    (REPEAT, "또 같은 "), (REPEAT, "몇 번을 "), (REPEAT, "몇 번이나 "), (UNREQUESTED, "*시키지 않"), (UNREQUESTED, "*부탁하지 않"), (UNREQUESTED, "*하라고 안"), (OMISSION, "*빠뜨렸"), (OMISSION, "*빼먹었"), (UNVERIFIED, "*지어냈"), (UNVERIFIED, "*했다고 했는데"), (GUESSED, "*추측하지"), (GUESSED, "*확인도 안"), (GUESSED, "*테스트도 안"),
)  # fmt: skip

_MARKS = str.maketrans(dict.fromkeys(".,!?;:()¿¡…。、，！？\n", " "))


def foreign_signal(sentences: list[str]) -> str | None:
    """The signal of a reproach in another language, or None."""
    padded = f" {' '.join(' '.join(sentences).translate(_MARKS).split())} "
    for label, entry in FOREIGN:
        wording, _, beside = entry.partition("|")
        if _stands(wording, padded) and (
            not beside or any(_stands(part, padded) for part in beside.split(","))
        ):
            return label
    return None


def _stands(wording: str, text: str) -> bool:
    return wording[1:] in text if wording[0] == "*" else f" {wording}" in text
