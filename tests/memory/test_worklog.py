"""Worklogs: bounded, whole records only, whatever happened to the file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agent_base.errors import UnsafePath
from agent_memory import entries, jsonl, worklog
from agent_memory.payload import Event


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "specs").mkdir(mode=0o700)
    return worklog.path(str(tmp_path / "specs"), "topic")


def record(number: int, **fields: object) -> dict[str, object]:
    return {"ts": f"2026-01-01T00:00:00.{number:03d}Z", "worklog_id": f"id-{number}", **fields}


def line(entry: dict[str, object]) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode()


def add(file: str, *numbers: int, keep: int = worklog.KEEP) -> int:
    return worklog.append(file, [line(record(n)) for n in numbers], [f"id-{n}" for n in numbers], keep=keep)


def ids(file: str) -> list[object]:
    return [entry["worklog_id"] for entry in worklog.read(file)]


def test_records_are_appended_once(file: str) -> None:
    assert add(file, 1, 2) == 2
    assert add(file, 2, 3) == 1
    assert add(file, 1, 2, 3) == 0
    assert ids(file) == ["id-1", "id-2", "id-3"]
    assert os.stat(file).st_mode & 0o777 == 0o600


def test_the_last_200_records_stay(file: str) -> None:
    for start in range(0, 450, 90):
        add(file, *range(start, start + 90))
        assert len(worklog.read(file)) <= worklog.KEEP
    assert ids(file) == [f"id-{n}" for n in range(250, 450)]


def test_one_more_than_200_takes_the_oldest_out(file: str) -> None:
    add(file, *range(200))
    assert ids(file) == [f"id-{n}" for n in range(200)]
    add(file, 200)
    assert ids(file) == [f"id-{n}" for n in range(1, 201)]


def test_more_than_200_at_once(file: str) -> None:
    add(file, *range(500))
    assert ids(file) == [f"id-{n}" for n in range(300, 500)]


def test_the_cap_can_be_raised(file: str) -> None:
    add(file, *range(500), keep=1000)
    assert len(worklog.read(file)) == 500


@pytest.mark.parametrize("cut", range(1, 75))
def test_a_tail_cut_anywhere_keeps_every_complete_record(file: str, cut: int) -> None:
    entry = record(2, command='é☃𝄞 "quoted" {}')
    whole = line(record(1)) + b"\n" + json.dumps(entry, ensure_ascii=False).encode() + b"\n"
    Path(file).write_bytes(whole[: len(whole) - cut])
    Path(file).chmod(0o600)
    complete = 2 if cut == 1 else 1
    assert len(worklog.read(file)) == complete
    assert add(file, 3) == 1
    assert ids(file) == ["id-1", "id-2", "id-3"] if complete == 2 else ["id-1", "id-3"]
    assert all(json.loads(part) for part in Path(file).read_bytes().splitlines())


@pytest.mark.parametrize(
    "damage",
    [b"\n\n", b"garbage\n", b"\x00\x00\x00\n", b'{"torn": "\xff\n', b"[1]\n", b"3\n", b"{]}\n"],
)
def test_damage_in_the_middle_is_passed_over(file: str, damage: bytes) -> None:
    Path(file).write_bytes(line(record(1)) + b"\n" + damage + line(record(2)) + b"\n")
    Path(file).chmod(0o600)
    assert ids(file) == ["id-1", "id-2"]
    add(file, 3)
    assert ids(file) == ["id-1", "id-2", "id-3"]
    assert worklog.tail(file, 2)[0] == [record(2), record(3)]


def test_a_file_of_nothing_but_a_torn_record(file: str) -> None:
    Path(file).write_bytes(b'{"ts":"x","command":"c')
    Path(file).chmod(0o600)
    assert worklog.read(file) == []
    add(file, 1)
    assert ids(file) == ["id-1"]


def test_an_enormous_file_is_read_from_its_end(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "READ_LIMIT", 1000)
    add(file, *range(100))
    assert os.stat(file).st_size > 5000
    assert ids(file)[-1] == "id-99"
    assert len(ids(file)) < 20
    add(file, 100)
    assert ids(file)[-2:] == ["id-99", "id-100"]
    assert os.stat(file).st_size < 1200


@pytest.mark.parametrize("plant", ["symlink", "directory", "fifo", "writable", "dangling"])
def test_a_worklog_that_could_be_planted_is_neither_read_nor_written(file: str, plant: str) -> None:
    elsewhere = Path(file).parent / "elsewhere"
    elsewhere.write_bytes(line(record(1)) + b"\n")
    if plant == "symlink":
        Path(file).symlink_to(elsewhere)
    elif plant == "dangling":
        Path(file).symlink_to(elsewhere.parent / "nothing")
    elif plant == "directory":
        Path(file).mkdir()
    elif plant == "fifo":
        os.mkfifo(file, 0o600)
    else:
        Path(file).write_bytes(b"")
        Path(file).chmod(0o620)
    with pytest.raises(UnsafePath):
        worklog.read(file)
    with pytest.raises(UnsafePath):
        add(file, 2)
    assert elsewhere.read_bytes() == line(record(1)) + b"\n"


def test_other_errors_of_the_system_are_what_they_are(file: str) -> None:
    with pytest.raises(OSError, match="File name too long"):
        worklog.read(worklog.path(os.path.dirname(file), "x" * 300))


def test_a_tail_is_whole_records_and_how_many_there_are(file: str) -> None:
    assert worklog.tail(file, 12) == ([], 0)
    add(file, *range(20))
    recent, total = worklog.tail(file, 12)
    assert [entry["worklog_id"] for entry in recent] == [f"id-{n}" for n in range(8, 20)]
    assert total == 20


def test_merging_keeps_time_order_and_the_order_within_each() -> None:
    older = [record(1), record(5, command="a"), record(3, command="clock went back")]
    newer = [record(2), record(4), record(9)]
    together = worklog.merged(older, newer, topic="t")
    assert [entry["worklog_id"] for entry in together] == [f"id-{n}" for n in (1, 2, 4, 5, 3, 9)]
    assert {entry["topic"] for entry in together} == {"t"}


def test_merging_takes_each_record_once() -> None:
    anonymous: dict[str, object] = {"ts": "2026", "text": "written by hand"}
    older = [record(1, topic="a"), {**anonymous, "topic": "a"}]
    newer = [record(1, topic="b"), {**anonymous, "topic": "b"}, record(2)]
    together = worklog.merged(older, newer, topic="a")
    assert [entry.get("worklog_id") for entry in together] == ["id-1", None, "id-2"]
    assert worklog.merged(together, newer, topic="a") == together


def test_writing_keeps_the_cap(file: str) -> None:
    worklog.write(file, [record(n, text="é") for n in range(300)])
    assert len(worklog.read(file)) == worklog.KEEP
    assert "é" in Path(file).read_text()


# ---------------------------------------------------------------- entries


def event(**fields: object) -> Event:
    made = Event("claude")
    for name, value in {"event": "PostToolUse", "tool_name": "Bash", **fields}.items():
        setattr(made, name, value)
    return made


def made(**fields: object) -> dict[str, object]:
    return entries.tool_entry(event(**fields), ts=1_767_225_600.25, workspace="/w", topic="t")


def test_an_entry_has_its_fields_in_order_and_no_empty_ones() -> None:
    entry = made(command="ls", output="x", status="ok", duration=0, model="m", error="e")
    assert list(entry.items()) == [
        ("ts", "2026-01-01T00:00:00.250Z"),
        ("workspace", "/w"),
        ("topic", "t"),
        ("event", "PostToolUse"),
        ("model", "m"),
        ("tool_name", "Bash"),
        ("command", "ls"),
        ("duration", 0),
        ("status", "ok"),
        ("output", "x"),
        ("error", "e"),
    ]
    assert set(made()) == {"ts", "workspace", "topic", "event", "tool_name"}
    assert made(event="")["event"] == "unknown"


@pytest.mark.parametrize(("field", "limit"), [("output", 1200), ("error", 600), ("command", 1200)])
def test_a_long_field_is_cut_and_says_how_much(field: str, limit: int) -> None:
    text = "".join(f"{number:06d} " for number in range(2000))
    kept = str(made(**{field: text})[field])
    assert len(kept) <= limit
    head, note, tail = kept.partition(" […")[0], kept.partition("[…")[2].partition("…]")[0], kept[-100:]
    assert text.startswith(head)
    assert text.endswith(tail)
    cut = int(note.split()[0].replace(",", ""))
    remains = kept.replace(f" […{note}…] ", "")
    assert len(remains) + cut == len(text)


def test_a_field_at_its_bound_is_not_cut() -> None:
    assert made(output="x" * 1200)["output"] == "x" * 1200


@pytest.mark.parametrize("limit", range(40, 80))
def test_a_cut_never_parts_a_character_from_its_marks(limit: int) -> None:
    for unit in ("e\u0301", "👩\u200d💻", "👍🏽", "☃\ufe0f"):
        text = unit * 100
        kept = entries.bounded(text, limit)
        assert len(kept) <= limit
        head, _, rest = kept.partition(" […")
        tail = rest.partition("…] ")[2]
        assert head == unit * (len(head) // len(unit))
        assert tail == unit * (len(tail) // len(unit))


def test_marks_without_end_do_not_keep_a_cut_from_happening() -> None:
    kept = entries.bounded("e" + "\u0301" * 5000, 100)
    assert len(kept) <= 100


def test_lone_surrogates_and_secrets_do_not_reach_an_entry() -> None:
    entry = made(output="a\ud800b", command="export A_TOKEN=abcdef", error="\ud83d\ude00")
    assert entry["output"] == "a�b"
    assert entry["command"] == "export A_TOKEN=[redacted:token]"
    assert entry["error"] == "😀"
    json.dumps(entry, ensure_ascii=False).encode()


def test_a_secret_across_a_cut_is_gone() -> None:
    secret = "gh" + "p_" + "a1B2" * 9
    for shift in range(780, 830, 3):
        kept = str(made(output="x " * (shift // 2) + secret + " y" * 3000)["output"])
        assert "a1B2a1B2" not in kept


def test_ten_megabytes_of_output_are_bounded() -> None:
    kept = str(made(output="word " * 2_000_000)["output"])
    assert len(kept) <= 1200
    assert "9,998," in kept


def test_a_note_has_its_kind_text_and_references() -> None:
    note = entries.note_entry(
        "gotcha", "password: hunter2 " + "x" * 3000, ["a.py:1", "r" * 500], ts=0.0, workspace="/w", topic="t"
    )
    assert note["ts"] == "1970-01-01T00:00:00.000Z"
    assert (note["event"], note["note_kind"]) == ("note", "gotcha")
    assert str(note["text"]).startswith("password: [redacted:password]")
    assert len(str(note["text"])) <= 2000
    refs = note["refs"]
    assert isinstance(refs, list)
    assert refs[0] == "a.py:1"
    assert len(refs[1]) == 400
    assert "refs" not in entries.note_entry("fact", "x", [], ts=0.0, workspace="/w", topic="t")
