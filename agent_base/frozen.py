"""Frozen record classes that cost nothing to import: ``@dataclass(frozen=True, slots=True)``.

Importing ``dataclasses`` takes longer than a bare interpreter takes to start (it brings ``inspect``,
``ast``, ``tokenize``). To a type checker this is ``dataclasses.dataclass`` itself; at run time it is the
part of it that the protocol's types use: fields with or without defaults, slots, no assignment after
``__init__``, ``==``, ``hash``, ``repr``, order when asked for, positional patterns, copying and pickling.
Not: ``field()``, inheritance of fields, ``__post_init__``, ``dataclasses.fields``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as dataclass
    from dataclasses import replace as replace
    from typing import Any
else:

    def replace(made: Any, **changes: object) -> object:
        """A copy of a record with some fields changed."""
        names = made.__match_args__
        for name in changes:
            if name not in names:
                raise TypeError(f"{type(made).__qualname__} has no field {name!r}")
        return type(made)(*(changes.get(name, getattr(made, name)) for name in names))

    def dataclass(*, frozen: bool, slots: bool, order: bool = False) -> Callable[[type], type]:
        """Make a class of annotated fields a frozen record class. ``frozen`` and ``slots`` must be true."""
        if not (frozen and slots):
            raise TypeError("only frozen classes with slots can be made here")
        return lambda cls: _made(cls, order)


def _made(cls: type, order: bool) -> type:
    names = tuple(cls.__annotations__)
    body = {key: value for key, value in cls.__dict__.items() if key not in ("__dict__", "__weakref__")}
    defaults = {name: body.pop(name) for name in names if name in body}
    body["__slots__"] = names
    body["__match_args__"] = names
    made: type = type(cls)(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    # Setting through the slot is what keeps making one of these cheap: no lookup, no check.
    scope: dict[str, Any] = {f"_set_{name}": made.__dict__[name].__set__ for name in names}
    scope.update({f"_default_{name}": value for name, value in defaults.items()})
    parameters = ", ".join(f"{n}=_default_{n}" if n in defaults else n for n in names)
    values = "".join(f"self.{name}, " for name in names)
    lines = [f"def __init__(self, {parameters}):"]
    lines += [f" _set_{name}(self, {name})" for name in names]
    lines += ["def values(self):", f" return ({values})"]
    exec("\n".join(lines), scope)  # the field names of a class, no data
    of: Callable[[object], tuple[object, ...]] = scope["values"]

    def __eq__(self: object, other: object) -> bool:
        return of(self) == of(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: object) -> int:
        return hash(of(self))

    def __repr__(self: object) -> str:
        pairs = (f"{name}={value!r}" for name, value in zip(names, of(self), strict=True))
        return f"{cls.__qualname__}({', '.join(pairs)})"

    def __setattr__(self: object, name: str, value: object) -> None:
        raise AttributeError(f"cannot assign to field {name!r} of a frozen {cls.__qualname__}")

    def __delattr__(self: object, name: str) -> None:
        raise AttributeError(f"cannot delete field {name!r} of a frozen {cls.__qualname__}")

    def __reduce__(self: object) -> tuple[type, tuple[object, ...]]:
        return made, of(self)

    methods: list[Callable[..., object]] = [__eq__, __hash__, __repr__, __setattr__, __delattr__, __reduce__]
    if order:
        methods += _comparisons(of)
    for method in (scope["__init__"], *methods):
        setattr(made, method.__name__, method)
    return made


def _comparisons(of: Callable[[object], tuple[object, ...]]) -> list[Callable[..., object]]:
    def __lt__(self: object, other: object) -> bool:
        return of(self) < of(other) if other.__class__ is self.__class__ else NotImplemented

    def __le__(self: object, other: object) -> bool:
        return of(self) <= of(other) if other.__class__ is self.__class__ else NotImplemented

    def __gt__(self: object, other: object) -> bool:
        return of(self) > of(other) if other.__class__ is self.__class__ else NotImplemented

    def __ge__(self: object, other: object) -> bool:
        return of(self) >= of(other) if other.__class__ is self.__class__ else NotImplemented

    return [__lt__, __le__, __gt__, __ge__]
