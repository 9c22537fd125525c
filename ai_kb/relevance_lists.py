"""Word lists of ``relevance_words``, as stems.

Made by scripts/make_word_lists from scripts/data/words.txt: change the words there.
"""

from __future__ import annotations

FUNCTION = frozenset(
    """
aan aber about abov across after again against al all along alreadi als also although alway am among an and
another any anyon anyth anyway ao are aren arent around as at au auch auf aus aux avec bad be becaus been
befor behind bei being below beneath besid between beyond bien bit bitt both but by came can cannot cant ce
ces cett che com come comm como con could couldn couldnt cuando da dan dann das dat de dein del della dem
den der des di did didn didnt do doe doesn doesnt doing don dond done dont dos down du dur each een eg ein
eine einem einen einer either el elle else em en entr er era es esa ese eso est esta estar este esto et etc
even ever everi everybodi everyth except fair fait few first foi for from fur für get gli go goe going gone
good got had hadn hadnt has hasn hasnt hav have haven havent hay he hello her here het hey hi hier him his
how however ich id ie if ihr il im in instead into is isn isnt ist it its ive je just kann kind la las last
le least les less let like ll lo los lot mach made mais mak make mani mas may mayb me mein met mi might mine
mit mon more most much muss must muy my na naar nach ne near neither never new next nicht niet no nobodi
noch non none noon nor nos not noth nous now nur oder of ofc off often ok okay old on once one onli onto ook
op or os other ou ought our out over own par para pas per perhap pero pleas pls plus plz por porqu pour pued
que questo qui quiero quit quoi rather re realli sa same schon se second sein ser shall she should shouldn
shouldnt si sich sie sin sinc sind smth so sobr some someon someth son sono sont sort sous still stuff su
such sur sus svp te teh than thank that the their them then ther thes they theyr thing third this thos
though thre through throughout till to ton too toward tu twic two uber um uma un una und under une uno unser
unter until up upon ur us van ve veri via von voor vous vs warum was wasn wasnt way we well wenn went wer
werden were weren werent what when wher which whil who whom whos why wie will wir wird with within without
wo won wont would wouldn wouldnt yes yet yo you your zijn zu zum zur über а бы в во все всё вы где для до же
за и из или к как когда ли мы на не ни но о об он она они оно от по почему при с со так ты у что эта эти это
этот я
""".split()
)
COMMON = frozenset(
    """
able add afternoon ago allow almost alon alphabetical alphabeticalli answer anywher appear appli april ask
august away awesom awful back bar base becom begin best better big blue bor border boss box break bring bug
build button call card case caus cell chang check choos clean clear client clos code colleagu color column
comment compani complet contain convert cool copi correct count coupl crazi creat current customer cut dark
data date day deal december decid default delet describ dialog different document dozen draft drop earli
easi edit eight empti end english enough error even everywher exampl exist exit expect explain extra fail
fall far fast februari feel field file fill final find fine finish five fix folder follow font foot footer
form format four free friday friend friendli front full funni game general generat give great green group
grow guess guy half hand handl happen hard head header hear height help hide high hit hold home horribl hour
hous hundr icon idea imag implement important improv includ info informat input insid interest issu item
januari job join juli jump june keep key kill know label languag larg late lead learn leav left length level
life light limit line link list littl live load local logo long look lose love low main man manual march
margin matter mean ment menu messag middl million mind minut miss mistak mode moment monday money month morn
move name need nice night nine normal note november number october offer offic open option orang order
output overview pad page paint paper part pass past pattern pay peopl percent perfect perform person phon
pick pictur piec plac plan play point polit possibl post power prefer prepar present press pretti previous
pric print problem produc product project proper provid public pull purpos push put quest quick quickli
quiet quot reach read readi real reason receiv recent red reduc relat releas remember remov renam repeat
replac repli report request requir rest result return review rewrit right road room round row rule run safe
saturday say scal school screen search sect see seem select send sens separat september serv set seven
several shap shar short show shut side sign silli simpl singl sit six size skip slow small smart solv
somewher sort sound sourc spac spe speak special split spot stag stand star start stat stay step stick stop
stor stori straight strang strong styl subject sudden suggest suit summari summer sunday support suppos sure
switch tab tabl take talk task team tell ten term terribl test text think thought thousand thursday tie time
tini titl today together tomorrow tonight top total touch town track trad train travel treat tree trip
troubl true try tuesday turn type understand unit updat use useful user usual valu vers view visit voic wait
walk wall want warm warn wash watch water weather wednesday week weekend weird whatever whenever whit whol
wide win window wish wonder word work world worri writ wrong year yellow yesterday young zero
""".split()
)
TECHNICAL = frozenset(
    """
api app applicat argument array async await backend backup bin binari block bodi bool boolean branch browser
buffer byte cach callback cfg char character ci class cli clon cluster command commit compil compiler
component compos config configurat connect consol const constant container content context cpu crash cron
css csv databas db debug declar dependenci deploy deployment dev develop developer development directori
disk dist doc documentat domain download driver editor element email endpoint entri enum env environment
event except execut export express featur fetch filter fixtur flag frontend funct generic global handler
hash heap helper hook host html http import index ini init insert install instanc integer interfac io
javascript js json jsx kernel laptop layer lib librari lint loader localhost lock log login loop mac machin
map master md memori merg metadata method middlewar migrat mock model modul monitor mount net network null
object operat operator org overrid packag parameter pars parser password patch path payload performanc
permiss pipe pipelin plugin port pr prefix process prod product profil program properti protocol proxi py
queri queu ram record recursiv redirect ref referenc regex register registri remot render repo repositori
resourc respons restart retri role rollback root rout router runner runtim schema script secret securiti
server servic sess set sh signal snippet socket softwar sql src stack stag startup statement static status
stderr stdin stdout storag stream string struct submit suit sync syntax system tag target templat terminal
thread timeout timestamp tmp token toml tool trac transact trigger ts tsx txt ui upgrad upload url usernam
usr utf util validat var variabl vm volum warn web webhook websit worker workflow workspac wrapper www xml
yaml yml zip
""".split()
)
TOOLS = frozenset(
    """
action agent alpin android angular ansibl apach aws azur babel bash bazel bun cargo cassandra celeri clang
claud clickhous cmak cor cplusplus csharp cypress debian deno django docker dotnet ec2 elasticsearch emac
eslint fastapi flask flutter gcc gcp git github gitlab golang gradl grafana graphql grpc helm ios java
jenkin jest jupyter jwt k8s kafka kotlin kubectl kubernet lambda laravel linux llm llvm loki maco maven mcp
mongo mongodb mysql nextj nginx node nodej npm numpi oauth openai openapi opensearch panda php pip
playwright pnpm poetri postgr postgresql prettier prometheus protobuf pydantic pytest python pytorch
rabbitmq rail react redis rollup rubi rust s3 scala shell spring sqlalchemi sqlit ssh storybook svelt
swagger swift systemd tensorflow terraform tmux torch typescript ubuntu uv vim vite vitest vscod vue webpack
window xcod yarn zsh
""".split()
)
TURNS = frozenset(
    """
after although anymor becaus but despit even except however if instead once onli sinc though unless until
when whenever whil yet
""".split()
)
QUESTIONS = frozenset(
    """
are can comment como could cual cuando did do does donde has how how's how’s is pourquoi que quel quelle qui
quien shall should warum was welche welcher welches wer were what what'd what's what’s when's where where's
where’s which who who's whom whose who’s why wie wo would где как какой кто почему что
""".split()
)
ASKING = frozenset(
    """
alphabetize benenne brainstorm calculate capitalize check choose cite clarify compara compare compute
convert count define describe design display document draft draw décris erkläre escreva escribe estimate
explain explica explique extract fasse find format generate give group highlight illustrate imagine inline
invent list lista liste look montre mostra muestra name nenne open outline paraphrase pick plan plot prepare
print propose quote rank read recommend remind rename renombra renomeie renomme reorder repeat rephrase
resume review reword rewrite résume schreib schreibe search shorten show sketch sort spell split suggest
summarise summarize teach tell tidy traduce traduis traduza translate vergleiche visualize write zeig zeige
écris übersetze напиши объясни опиши переведи переименуй покажи сравни
""".split()
)
CHANGING = frozenset(
    """
add adjust agrega ajoute aktualisiere align append añade borra bring build bump cambia center change
cherry-pick clean commit configure copy crea create crée decrease delete deploy disable downgrade download
drop déplace edit elimina enable entferne ersetze erstelle exclude export expose extend fetch fix füge hide
implement import include increase insert install kill let lint lower lösche mach make mark merge mets
migrate move mueve nuke optimise optimize pass paste pin polish pon prettify publish push put quita raise
rebase reduce reemplaza refactor register release remove remplace replace require reset restart restore
restructure revert rework rewrite run save scale send set setze ship simplify squash start stop style
supprime swap switch sync tag take trim truncate turn undo unify unpin update upgrade upload use verschiebe
wipe wire wrap ändere добавь замени измени сделай создай удали
""".split()
)
NOUNS = frozenset(
    """
build change check commit count deploy design document download draft drop export fix format group import
list merge name plan plot push quote rank release reset restart review run search set show sketch start stop
switch test update upgrade upload
""".split()
)
DETERMINERS = frozenset(
    """
a all also an another any as at both by each eight every five for four from her here his how i if in into it
its just me more my new nine no of on one only our out seven six some ten that the their them there these
this those three to two up us we what where whether which who why with you your
""".split()
)
OPENING = frozenset(
    """
ahora also and bitte dann et favor great hello hey hi jetzt just kindly maintenant next no now ok okay
perfect please pls plz por quickly right so thanks then und well yes
""".split()
)
# fmt: off
RELATED = {
    "401": "unauthoriz", "403": "forbidden", "404": "miss", "429": "throttl ratelimit", "502": "gateway",
    "503": "unavailabl", "abort": "crash die dead kill panic segfault",
    "absent": "miss lost gone vanish disappear", "access": "authorizat permiss privileg role",
    "add": "append insert", "addon": "plugin extens", "again": "twic doubl duplicat repeat retri attempt",
    "agent": "runner executor assistant", "alert": "monitor observabiliti", "allow": "permit grant",
    "alter": "updat modifi chang", "amazon": "aws", "amount": "number count", "amqp": "rabbitmq",
    "ancestor": "parent", "android": "apk", "annotat": "hint typ label", "answer": "respons repli resp",
    "apk": "android", "append": "add insert", "appl": "maco mac macbook osx darwin",
    "archiv": "tarball zip tar sdist", "arg": "parameter param argument", "argument": "parameter param arg",
    "array": "list slic", "artefact": "artifact", "artifact": "artefact", "assert": "expect",
    "assistant": "agent", "async": "asynchronous await", "asynchronous": "async await",
    "attempt": "retri again", "attribut": "column field properti member",
    "auth": "authenticat login signin logon credential",
    "authenticat": "auth login signin logon credential", "authorizat": "permiss privileg role access",
    "autogenerat": "generat codegen", "avd": "emulator simulator", "await": "async asynchronous",
    "aws": "amazon", "azur": "microsoft", "babel": "transpil compil", "backend": "server",
    "background": "daemon detach", "backoff": "retri", "bad": "wrong incorrect invalid",
    "balancer": "proxi gateway ingress loadbalancer", "bash": "script shell", "batch": "bulk",
    "binari": "executabl", "blank": "empti null none nil undefin", "bloat": "vacuum grow growth",
    "block": "hang stuck freez deadlock unresponsiv", "bool": "boolean flag", "boolean": "bool flag",
    "boot": "start startup launch", "bootstrap": "broker", "branch": "fork",
    "break": "fail failur error broken", "broken": "fail failur error break corrupt damag garbag garbl",
    "broker": "queu bootstrap", "browser": "frontend client ui webview wkwebview", "bucket": "s3",
    "build": "pipelin ci cd workflow", "bulk": "batch", "bump": "increas rais grow upgrad updat",
    "bundl": "bundler chunk", "bundler": "bundl chunk", "burst": "spik peak", "button": "control widget",
    "bypass": "ignor skip disregard", "call": "request req", "callback": "webhook",
    "cap": "limit maximum max quota", "captur": "closur", "cd": "pipelin ci workflow build",
    "cert": "certificat tls ssl http x509", "certificat": "cert tls ssl http x509",
    "chang": "updat modifi alter diff", "channel": "topic", "charset": "encod unicod utf8", "chart": "helm",
    "checkpoint": "weight", "checksum": "hash digest", "child": "subprocess fork process descendant",
    "chown": "owner ownership", "chunk": "bundl bundler", "ci": "pipelin cd workflow build",
    "cipher": "encrypt", "circular": "cycl cyclic", "clash": "conflict", "class": "type",
    "cleanup": "teardown dispos", "cli": "command cmd",
    "client": "consumer customer user frontend ui browser", "clock": "drift skew ntp",
    "clon": "copi duplicat cp", "closur": "captur", "cluster": "swarm", "cmd": "command cli",
    "codegen": "generat autogenerat", "column": "field attribut", "command": "cmd cli",
    "commit": "transact txn revis", "compil": "compilat compiler transpil babel",
    "compilat": "compil compiler", "compiler": "compil compilat", "complet": "prompt",
    "component": "widget", "compos": "dockercompos",
    "concurrenci": "thread parallel concurrent simultaneous",
    "concurrent": "parallel simultaneous concurrenci", "conf": "configurat config configur set option",
    "config": "configurat configur set option conf", "configur": "configurat config set option conf",
    "configurat": "config configur set option conf", "conflict": "clash", "connect": "socket sess",
    "consol": "terminal tty", "consum": "subscrib receiv drain", "consumer": "client customer user",
    "container": "docker imag sidecar", "control": "button widget", "cooki": "sess",
    "copi": "duplicat clon cp", "cor": "origin", "core": "cpu processor",
    "corrupt": "damag garbag garbl broken", "count": "number amount", "counter": "metric gaug",
    "cover": "coverag", "coverag": "cover", "cp": "copi duplicat clon", "cplusplus": "cpp",
    "cpp": "cplusplus", "cpu": "processor core", "cpython": "python py",
    "crash": "die dead kill abort panic segfault", "crat": "packag dependenci librari lib modul gem",
    "creat": "make new", "credential": "authenticat auth login signin logon password secret token",
    "crlf": "newlin linebreak", "cron": "schedul scheduler timer", "csharp": "dotnet",
    "css": "styl stylesheet unstyl", "cuda": "gpu vram", "currenci": "money pric", "cursor": "offset posit",
    "customer": "client consumer user", "cut": "truncat", "cycl": "circular cyclic",
    "cyclic": "circular cycl", "daemon": "background detach", "damag": "corrupt garbag garbl broken",
    "darwin": "maco mac macbook osx appl", "dashboard": "panel grafana", "databas": "db dbm",
    "date": "time datetim timestamp", "datetim": "date time timestamp", "db": "databas dbm",
    "dbm": "databas db", "ddl": "migrat schema", "ddp": "distribut",
    "dead": "crash die kill abort panic segfault", "deadlin": "timeout expir",
    "deadlock": "hang stuck freez block unresponsiv", "debian": "linux ubuntu", "debug": "debugger",
    "debugger": "debug", "decimal": "float round precis", "decreas": "reduc shrink lower", "defer": "lazi",
    "delet": "remov drop eras removal rm purg tombston", "deni": "reject refus forbid forbidden",
    "dependenci": "packag librari lib modul crat gem", "deploy": "deployment releas rollout ship",
    "deployment": "deploy releas rollout ship", "deprecat": "obsolet", "descendant": "child",
    "deserializ": "pars unmarshal", "destroy": "wipe nuke", "detach": "background daemon",
    "deterministic": "seed random reproducibl", "devic": "simulator emulator",
    "dict": "dictionari map hash", "dictionari": "dict map hash",
    "die": "crash dead kill abort panic segfault", "diff": "chang", "digest": "checksum hash",
    "dir": "directori folder", "directori": "folder dir", "disappear": "miss lost gone vanish absent",
    "disk": "storag spac volum", "dispos": "cleanup teardown", "disregard": "ignor skip bypass",
    "distribut": "ddp", "doc": "document documentat readm", "docker": "container imag",
    "dockercompos": "compos", "document": "file documentat doc", "documentat": "document doc",
    "dotenv": "env", "dotnet": "csharp", "doubl": "twic duplicat again repeat", "download": "fetch",
    "drain": "consum", "drift": "clock skew ntp", "drop": "delet remov eras removal rm purg",
    "duplicat": "copi clon cp twic doubl again repeat uniqu", "eager": "prefetch preload selectinload",
    "ecmascript": "javascript js", "effect": "hook", "egress": "ingress",
    "elastic": "elasticsearch es opensearch", "elasticsearch": "elastic es opensearch", "email": "mail",
    "embed": "model", "emit": "publish send", "emoji": "unicod utf8mb4",
    "empti": "blank null none nil undefin", "emulator": "simulator devic avd",
    "encod": "charset unicod utf8", "encrypt": "cipher", "endpoint": "url uri link rout path",
    "entri": "row record", "env": "environment envvar dotenv", "environment": "env envvar",
    "envvar": "environment env", "eras": "delet remov drop removal rm purg",
    "error": "fail failur broken break", "es": "elasticsearch elastic opensearch", "escap": "quot sanitiz",
    "eval": "evaluat", "evaluat": "eval", "event": "listener", "exampl": "sampl", "exce": "full exhaust",
    "executabl": "binari", "executor": "runner agent", "exhaust": "full exce",
    "exit": "stop shutdown terminat sigterm", "expect": "assert", "expir": "timeout deadlin",
    "export": "expos", "expos": "export", "extens": "plugin addon", "external": "public",
    "fail": "failur error broken break", "failur": "fail error broken break", "fake": "mock stub patch",
    "fallback": "suspens", "fast": "quick spe", "featur": "flag toggl switch", "fetch": "download pull",
    "field": "column attribut", "file": "document", "find": "search lookup",
    "firewall": "vpc subnet network", "fit": "train", "fixtur": "setup", "fk": "foreignkey",
    "flag": "boolean bool featur toggl switch", "flaki": "race nondeterministic intermittent",
    "float": "decimal", "fn": "funct func method procedur", "folder": "directori dir",
    "forbid": "reject deni refus forbidden", "forbidden": "reject deni refus forbid 403",
    "foreignkey": "fk", "fork": "branch child subprocess process", "format": "formatter",
    "formatter": "format", "freez": "hang stuck block deadlock unresponsiv",
    "frontend": "client ui browser", "full": "exhaust exce", "func": "funct fn method procedur",
    "funct": "func fn method procedur lambda", "garbag": "corrupt damag garbl broken",
    "garbl": "corrupt damag garbag broken", "gateway": "proxi balancer ingress loadbalancer 502",
    "gaug": "metric counter", "gcp": "googl", "gem": "packag dependenci librari lib modul crat",
    "generat": "codegen autogenerat", "gh": "github", "github": "gh", "gitlab": "gl", "gl": "gitlab",
    "go": "golang", "golang": "go", "gone": "miss lost vanish disappear absent", "googl": "gcp",
    "gpu": "cuda vram", "gradient": "loss", "grafana": "dashboard panel", "grant": "allow permit",
    "grow": "increas rais bump growth bloat", "growth": "grow bloat",
    "hang": "stuck freez block deadlock unresponsiv", "hash": "dictionari dict map checksum digest",
    "healthcheck": "prob liveness readiness", "heap": "memori ram oom", "helm": "chart",
    "hint": "annotat typ", "hook": "effect", "host": "machin server node",
    "http": "certificat cert tls ssl x509", "hydrat": "ssr", "i18n": "local languag translat",
    "iam": "role", "id": "key identifier", "identifier": "key id", "idle": "inactiv quiet",
    "ignor": "skip disregard bypass", "imag": "container docker", "immutabl": "readonli",
    "import": "requir includ", "inactiv": "idle quiet", "includ": "import requir",
    "incorrect": "wrong invalid bad", "increas": "rais grow bump", "index": "indic", "indic": "index",
    "ingress": "proxi gateway balancer loadbalancer egress", "inner": "nest",
    "insert": "writ writer add append", "install": "installat setup", "installat": "install setup",
    "instanc": "object struct", "int": "integer", "integer": "int", "interceptor": "middlewar",
    "intermittent": "race nondeterministic flaki", "internal": "privat", "interval": "poll periodic",
    "invalid": "wrong incorrect bad", "ios": "iphon ipad", "ipad": "ios iphon", "iphon": "ios ipad",
    "isolat": "snapshot mvcc", "iterat": "loop", "javascript": "js ecmascript", "job": "worker task",
    "js": "javascript ecmascript", "json": "payload", "k8s": "kubernet kube kubectl",
    "keepaliv": "persistent", "key": "id identifier", "keystor": "sign",
    "kill": "crash die dead abort panic segfault sigkill", "kube": "kubernet k8s kubectl",
    "kubectl": "kubernet k8s kube", "kubernet": "k8s kube kubectl", "label": "tag annotat",
    "lag": "slow latenci performanc sluggish", "lambda": "funct", "languag": "local i18n translat",
    "latenci": "slow performanc sluggish lag p99 p95", "launch": "start boot startup", "lazi": "defer",
    "lib": "packag dependenci librari modul crat gem", "librari": "packag dependenci lib modul crat gem",
    "limit": "maximum max cap quota", "linebreak": "newlin crlf",
    "link": "url uri rout path endpoint linker symlink", "linker": "link", "lint": "linter",
    "linter": "lint", "linux": "ubuntu debian", "list": "array slic", "listener": "event",
    "live": "product prod", "liveness": "prob healthcheck readiness",
    "loadbalancer": "proxi gateway balancer ingress", "local": "localhost languag i18n translat",
    "localhost": "local", "lock": "mutex lockfil", "lockfil": "lock", "log": "logger", "logger": "log",
    "login": "authenticat auth signin logon credential",
    "logon": "authenticat auth login signin credential", "lookup": "search find", "loop": "iterat",
    "loss": "gradient", "lost": "miss gone vanish disappear absent", "lower": "decreas reduc shrink",
    "mac": "maco macbook osx darwin appl", "macbook": "maco mac osx darwin appl", "machin": "host server",
    "maco": "mac macbook osx darwin appl", "mail": "email", "make": "creat new", "manifest": "yaml",
    "map": "dictionari dict hash", "marshal": "serializ serialis", "max": "limit maximum cap quota",
    "maximum": "limit max cap quota", "member": "properti attribut", "memo": "usememo memoiz",
    "memoiz": "memo usememo", "memori": "ram oom heap", "merg": "rebas", "messag": "msg",
    "method": "funct func fn procedur", "metric": "counter gaug", "microsoft": "azur",
    "middlewar": "interceptor", "migrat": "schema ddl", "min": "minimum", "minifi": "uglifi proguard",
    "minimum": "min", "miss": "lost gone vanish disappear absent 404", "mock": "stub fake patch",
    "model": "embed orm queryset", "modifi": "updat chang alter",
    "modul": "packag dependenci librari lib crat gem", "money": "pric currenci", "mongo": "mongodb",
    "mongodb": "mongo", "monitor": "observabiliti alert", "move": "renam mv", "msg": "messag",
    "multipart": "upload", "mutex": "lock", "mv": "renam move", "mvcc": "isolat snapshot", "nest": "inner",
    "network": "firewall vpc subnet", "new": "creat make", "newlin": "linebreak crlf", "next": "nextj",
    "nextj": "next", "night": "overnight nightli", "nightli": "night overnight",
    "nil": "empti blank null none undefin", "node": "nodej host", "nodej": "node",
    "nondeterministic": "race flaki intermittent", "none": "empti blank null nil undefin",
    "ntp": "clock drift skew", "nuke": "wipe destroy",
    "null": "empti blank none nil undefin nullabl requir", "nullabl": "null requir",
    "number": "count amount", "object": "struct instanc", "observabiliti": "monitor alert",
    "obsolet": "stal outdat old deprecat", "odd": "weird strang unexpect", "offset": "posit cursor",
    "old": "stal outdat obsolet", "oom": "memori ram heap", "opensearch": "elasticsearch elastic es",
    "option": "configurat config configur set conf", "order": "sort", "origin": "cor",
    "orm": "queryset model", "osx": "maco mac macbook darwin appl", "outdat": "stal old obsolet",
    "outer": "parent", "overnight": "night nightli", "owner": "ownership chown", "ownership": "owner chown",
    "p95": "latenci p99", "p99": "latenci p95", "packag": "dependenci librari lib modul crat gem",
    "pag": "page paginat", "page": "screen view paginat pag", "paginat": "page pag",
    "panel": "dashboard grafana", "panic": "crash die dead kill abort segfault",
    "parallel": "thread concurrenci concurrent simultaneous", "param": "parameter argument arg",
    "parameter": "param argument arg", "parent": "outer ancestor", "pars": "deserializ unmarshal",
    "partit": "shard", "password": "secret credential token", "patch": "mock stub fake",
    "path": "url uri link rout endpoint", "payload": "json", "peak": "spik burst",
    "performanc": "slow latenci sluggish lag", "periodic": "interval poll",
    "permiss": "authorizat privileg role access", "permit": "allow grant", "persistent": "keepaliv",
    "pg": "postgr postgresql psql", "pipe": "pipelin stdin stdout",
    "pipelin": "ci cd workflow build pipe stdin stdout", "pk": "primarykey", "plugin": "extens addon",
    "pod": "replica", "poll": "interval periodic", "pool": "pooler", "pooler": "pool",
    "posit": "offset cursor", "postgr": "postgresql pg psql", "postgresql": "postgr pg psql",
    "powershell": "window win", "precis": "round decimal", "prefetch": "eager preload selectinload",
    "preload": "eager prefetch selectinload", "preprod": "stag", "pric": "money currenci",
    "primarykey": "pk", "privat": "internal", "privileg": "authorizat permiss role access",
    "prob": "healthcheck liveness readiness", "procedur": "funct func fn method",
    "process": "child subprocess fork", "processor": "cpu core", "prod": "product live",
    "product": "prod live", "proguard": "minifi uglifi", "prompt": "complet", "properti": "attribut member",
    "proxi": "gateway balancer ingress loadbalancer", "psql": "postgr postgresql pg", "public": "external",
    "publish": "push emit send", "pull": "fetch", "purg": "delet remov drop eras removal rm",
    "push": "publish", "py": "python cpython", "python": "py cpython", "queri": "select sql statement",
    "queryset": "orm model", "queu": "broker", "quick": "fast spe", "quiet": "idle inactiv",
    "quorum": "replica", "quot": "escap sanitiz", "quota": "limit maximum max cap", "rabbitmq": "amqp",
    "race": "nondeterministic flaki intermittent", "rais": "increas grow bump", "ram": "memori oom heap",
    "random": "seed reproducibl deterministic", "ratelimit": "throttl 429",
    "readiness": "prob healthcheck liveness", "readm": "doc", "readonli": "immutabl",
    "reassign": "rebalanc", "rebalanc": "reassign", "rebas": "merg", "reboot": "restart reload",
    "receiv": "subscrib consum", "recompos": "recomposit rerender", "recomposit": "recompos rerender",
    "record": "row entri", "recurs": "recursiv", "recursiv": "recurs", "redraw": "render rerender",
    "reduc": "decreas shrink lower", "refus": "reject deni forbid forbidden", "region": "zone",
    "reject": "deni refus forbid forbidden", "relat": "tabl",
    "releas": "deploy deployment rollout ship vers tag", "reload": "restart reboot", "remot": "upstream",
    "remov": "delet drop eras removal rm purg", "removal": "delet remov drop eras rm purg",
    "renam": "move mv", "render": "rerender redraw", "repeat": "twic doubl duplicat again",
    "repli": "respons answer resp", "replica": "replicat standbi pod quorum", "replicat": "replica standbi",
    "repo": "repositori", "repositori": "repo", "reproducibl": "seed random deterministic",
    "req": "request call", "request": "call req", "requir": "import includ nullabl null",
    "rerender": "render redraw recompos recomposit", "resp": "respons answer repli",
    "respons": "answer repli resp", "restart": "reboot reload", "retri": "attempt again backoff",
    "revert": "rollback undo", "revis": "commit", "rm": "delet remov drop eras removal purg",
    "role": "authorizat permiss privileg access iam serviceaccount", "rollback": "revert undo",
    "rollout": "deploy deployment releas ship", "round": "precis decimal",
    "rout": "url uri link path endpoint", "row": "record entri", "rps": "throughput",
    "runner": "agent executor", "s3": "bucket", "sampl": "exampl", "sanitiz": "escap quot",
    "savepoint": "transact", "schedul": "cron scheduler timer", "scheduler": "schedul cron timer",
    "schema": "migrat ddl", "screen": "page view", "script": "shell bash",
    "sdist": "archiv tarball zip tar", "search": "find lookup",
    "secret": "password credential token secretkey", "secretkey": "secret",
    "seed": "random reproducibl deterministic", "segfault": "crash die dead kill abort panic",
    "select": "queri sql statement", "selectinload": "eager prefetch preload", "send": "emit publish",
    "serialis": "serializ marshal", "serializ": "serialis marshal", "server": "backend host machin",
    "serviceaccount": "role", "sess": "connect socket cooki",
    "set": "configurat config configur option conf", "setup": "fixtur install installat", "shard": "partit",
    "shell": "script bash", "ship": "deploy deployment releas rollout", "shrink": "decreas reduc lower",
    "shutdown": "stop terminat exit sigterm", "sidecar": "container", "sigkill": "kill",
    "sign": "signatur unsign keystor", "signatur": "sign unsign",
    "signin": "authenticat auth login logon credential", "sigterm": "stop shutdown terminat exit",
    "simulator": "emulator devic avd", "simultaneous": "parallel concurrent concurrenci",
    "skew": "clock drift ntp", "skip": "ignor disregard bypass", "slic": "list array",
    "slow": "latenci performanc sluggish lag", "sluggish": "slow latenci performanc lag",
    "snapshot": "isolat mvcc", "socket": "connect sess websocket ws", "sort": "order",
    "spac": "disk storag volum", "span": "trac", "spe": "fast quick", "spec": "test unittest",
    "spik": "burst peak", "sql": "queri select statement", "sse": "stream",
    "ssl": "certificat cert tls http x509", "ssr": "hydrat", "stag": "preprod",
    "stal": "outdat old obsolet", "standbi": "replica replicat", "start": "boot startup launch",
    "startup": "start boot launch", "stat": "stor viewmodel", "statement": "queri select sql",
    "stdin": "pipe pipelin stdout", "stdout": "pipe pipelin stdin",
    "stop": "shutdown terminat exit sigterm", "stor": "stat", "storag": "disk spac volum",
    "str": "string text", "strang": "weird odd unexpect", "stream": "sse", "string": "str text",
    "struct": "object instanc", "stub": "mock fake patch", "stuck": "hang freez block deadlock unresponsiv",
    "styl": "css stylesheet unstyl", "stylesheet": "styl css unstyl", "submodul": "subrepo",
    "subnet": "firewall vpc network", "subprocess": "child fork process", "subrepo": "submodul",
    "subscrib": "consum receiv", "suspens": "fallback", "swarm": "cluster", "switch": "featur flag toggl",
    "symlink": "link", "tabl": "relat", "tag": "label releas", "tar": "archiv tarball zip sdist",
    "tarball": "archiv zip tar sdist", "task": "worker job", "teardown": "cleanup dispos",
    "terminal": "consol tty", "terminat": "stop shutdown exit sigterm", "test": "spec unittest",
    "text": "string str", "thread": "concurrenci parallel", "throttl": "ratelimit 429", "throughput": "rps",
    "time": "date datetim timestamp", "timeout": "deadlin expir", "timer": "schedul cron scheduler",
    "timestamp": "date time datetim", "timezon": "tz utc", "tls": "certificat cert ssl http x509",
    "toggl": "featur flag switch", "token": "password secret credential", "tokenizat": "tokenizer",
    "tokenizer": "tokenizat", "tombston": "delet", "topic": "channel", "trac": "span", "train": "fit",
    "transact": "txn commit savepoint", "translat": "local languag i18n", "transpil": "compil babel",
    "truncat": "cut", "ts": "typescript tsc", "tsc": "typescript ts", "tty": "terminal consol",
    "twic": "doubl duplicat again repeat", "txn": "transact commit", "typ": "annotat hint", "type": "class",
    "typescript": "ts tsc", "tz": "timezon utc", "ubuntu": "linux debian", "uglifi": "minifi proguard",
    "ui": "frontend client browser", "unauthoriz": "401", "unavailabl": "503",
    "undefin": "empti blank null none nil", "undo": "rollback revert", "unexpect": "weird odd strang",
    "unicod": "encod charset utf8 emoji utf8mb4", "uniqu": "duplicat", "unittest": "test spec",
    "unmarshal": "deserializ pars", "unresponsiv": "hang stuck freez block deadlock",
    "unsign": "signatur sign", "unstyl": "styl css stylesheet", "updat": "modifi chang alter upgrad bump",
    "upgrad": "updat bump", "upload": "multipart", "upstream": "remot",
    "uri": "url link rout path endpoint", "url": "uri link rout path endpoint", "usememo": "memo memoiz",
    "user": "client consumer customer", "utc": "timezon tz", "utf8": "encod charset unicod",
    "utf8mb4": "unicod emoji", "vacuum": "bloat", "vanish": "miss lost gone disappear absent",
    "var": "variabl", "variabl": "var", "venv": "virtualenv", "vers": "releas", "view": "page screen",
    "viewmodel": "stat", "virtualenv": "venv", "volum": "disk storag spac",
    "vpc": "firewall subnet network", "vram": "gpu cuda", "webhook": "callback", "websocket": "ws socket",
    "webview": "wkwebview browser", "weight": "checkpoint", "weird": "odd strang unexpect", "wheel": "whl",
    "whl": "wheel", "widget": "button control component", "win": "window powershell",
    "window": "win powershell", "wipe": "nuke destroy", "wkwebview": "webview browser",
    "worker": "job task", "workflow": "pipelin ci cd build", "writ": "insert writer",
    "writer": "insert writ", "wrong": "incorrect invalid bad", "ws": "websocket socket",
    "x509": "certificat cert tls ssl http", "yaml": "yml manifest", "yml": "yaml",
    "zip": "archiv tarball tar sdist", "zone": "region",
}
