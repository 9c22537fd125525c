#!/bin/sh
# worklog_dispatcher.sh: spool a tool event and return; the recorder works in the background.
#
#   worklog_dispatcher.sh [--harness NAME] [--event NAME] < payload
#
# Reads all of stdin, whatever its size, into a temporary file in the spool, renames it there, starts
# worklog_recorder.py detached and exits 0, always, with nothing on stdout. From the rename on the event
# survives whatever is killed. POSIX sh; processes until it returns: this shell, cat, mv, the recorder
# (and once a mkdir). The header before the payload is what agent_memory/spool.py reads.
#
# An override of the spec root counts only outside of the workspace and when it is this user's own,
# since a repository's settings can set variables; in doubt the spool of the default root is used. Where
# the event belongs is decided by the recorder.

# The installer fills these in (single quotes; empty: found beside this script).
AGENT_PYTHON=''        # @agent-hook-suite: interpreter@
AGENT_RECORDER=''      # @agent-hook-suite: recorder@
AGENT_UID=''           # @agent-hook-suite: uid@
AGENT_ROOT='/tmp/specs' # @agent-hook-suite: root@

PATH=/usr/bin:/bin${PATH:+:$PATH}
LC_ALL=C
export PATH
umask 077
set -C # `>` creates and never overwrites
trap '' HUP

harness='' event=''
while [ $# -gt 0 ]; do
	case $1 in
	--harness) harness=${2-} && [ $# -gt 1 ] && shift ;;
	--harness=*) harness=${1#*=} ;;
	--event) event=${2-} && [ $# -gt 1 ] && shift ;;
	--event=*) event=${1#*=} ;;
	esac
	shift
done

# Say what went wrong (Gemini shows stderr to its user: there only the log below HOME knows), read what
# is left of stdin so that the client never writes to a closed pipe, and end well.
give_up() {
	cat >/dev/null 2>&1
	[ "$harness" = gemini ] || printf '[agent-memory] worklog_dispatcher: %s\n' "$1" >&2
	log=${HOME:-/nonexistent}/.local/state/agent-hook-suite
	if [ -d "$log" ] && [ -O "$log" ] && [ ! -L "$log/dispatcher-errors.log" ]; then # the last one only: nobody would ever shorten it
		{ printf '%s\n' "$1" >|"$log/dispatcher-errors.log"; } 2>/dev/null
	fi
	exit 0
}

here=$PWD
case $0 in
/*) beside=${0%/*} ;;
*/*) beside=$here/${0%/*} ;;
*) beside=$here ;;
esac

# Set $base to the physical path of directory $1, or of the work tree around it.
find_base() {
	base=''
	case $1 in
	/*) cd -P -- "$1" 2>/dev/null || return 1 ;;
	*) return 1 ;; # `cd` would look it up in CDPATH, take - for the last directory, and print either
	esac
	base=$PWD
	top=$PWD
	while [ -n "$top" ]; do
		if [ -e "$top/.git" ]; then
			base=$top
			return 0
		fi
		top=${top%/*}
	done
}

# Whether the directory $1 may be the spec root. Leaves its physical path in $root.
trusted() {
	case $1 in
	/*) ;;
	*) return 1 ;;
	esac
	case $1/ in
	*/../* | */./*) return 1 ;;
	esac
	wanted=$1
	while [ "$wanted" != "${wanted%/}" ]; do wanted=${wanted%/}; done
	[ -n "$wanted" ] || return 1
	existing=$wanted
	while [ ! -e "$existing" ] && [ ! -L "$existing" ]; do
		existing=${existing%/*}
		[ -n "$existing" ] || existing=/
	done
	[ -d "$existing" ] || return 1
	if [ ! -O "$existing" ]; then
		[ "$existing" != "$wanted" ] && [ -k "$existing" ] || return 1
	fi
	cd -P -- "$existing" 2>/dev/null || return 1
	case $existing in
	/) physical=$wanted ;;
	*) physical=$PWD${wanted#"$existing"} ;;
	esac
	for place in "$here" "${CLAUDE_PROJECT_DIR-}" "${CURSOR_PROJECT_DIR-}" "${COPILOT_PROJECT_DIR-}" \
		"${GEMINI_PROJECT_DIR-}"; do
		case $place in
		'' | /) continue ;;
		esac
		find_base "$place" || continue
		case $physical/ in
		"$base"/*) return 1 ;;
		esac
	done
	root=$physical
}

root=$AGENT_ROOT
if [ -n "${AGENT_MEMORY_SPEC_ROOT-}" ] && trusted "$AGENT_MEMORY_SPEC_ROOT"; then
	: # $root is set
elif { [ -e "$root" ] || [ -L "$root" ]; } && [ ! -O "$root" ]; then
	# The default root belongs to somebody else.
	root=$AGENT_ROOT-${AGENT_UID:-$(id -u)}
fi

spool=$root/.spool-v1
[ -d "$spool" ] || mkdir -p -- "$spool" 2>/dev/null || give_up "the spool $spool cannot be made"
if [ -L "$spool" ] || ! cd -P -- "$spool" 2>/dev/null || [ ! -O . ] || [ ! -O .. ] || [ ! -w . ]; then
	give_up "the spool $spool is not this user's own directory"
fi

# Claim a name that nobody has: the temporary file is created, never opened, and an event of that name
# may still wait from an earlier process of this number.
n=0
while :; do
	name=$$-$n
	part=.$name.part
	if [ ! -e "$name.event" ] && [ ! -e "$name.claimed" ] && { true >"$part"; } 2>/dev/null; then
		break
	fi
	n=$((n + 1))
	[ $n -lt 100 ] || give_up "no event can be written to $PWD"
done

if {
	printf 'agent-spool-1\000%s\000%s\000%s\000%s\000%s\000%s\000' "$harness" "$event" "$here" \
		"${CLAUDE_PROJECT_DIR-}" "${COPILOT_AGENT_SESSION_ID-}" "${AGENT_MEMORY_SPEC_ROOT-}" &&
		cat
} 2>/dev/null >|"$part" && mv -f -- "$part" "$name.event" 2>/dev/null; then
	: # from here on it survives
else
	rm -f -- "$part" 2>/dev/null
	give_up "the event could not be written to $PWD: is the disk full, or stdin closed?"
fi

python=$AGENT_PYTHON
if [ -z "$python" ]; then
	python=$beside/../.venv/bin/python
	[ -x "$python" ] || python=python3
fi
recorder=${AGENT_RECORDER:-$beside/worklog_recorder.py}
case $python in
*/*) [ -x "$python" ] || give_up "the interpreter $python is missing; the event waits in $PWD" ;;
esac
"$python" -I -S "$recorder" --spool "$PWD" </dev/null >/dev/null 2>&1 &
exit 0
