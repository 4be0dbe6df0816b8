"""JSON that is written as it was read, but for what is changed: the spelling of numbers and the order of members."""

import json
from decimal import Decimal
from json.encoder import encode_basestring


class Number:
    """A number with its spelling."""

    __slots__ = ("text",)

    def __init__(self, text):
        self.text = str(text)

    @property
    def value(self):
        return Decimal(self.text)

    def __eq__(self, other):
        return isinstance(other, Number) and self.text == other.text

    def __hash__(self):
        return hash(self.text)

    def __repr__(self):
        return self.text


def members(pairs):
    """An object; one with a member twice is none of ours, and would lose one of them."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("an object has a member twice")
    return made


DECODER = json.JSONDecoder(parse_float=Number, parse_int=Number, object_pairs_hook=members)


def read(data):
    """The value of a text in UTF-8; ValueError where it isn't one of JSON."""
    return DECODER.decode(data.decode())


def write(value, string=encode_basestring, indent=None, depth=0):
    """The text of a value; `string` spells strings, and with `indent` each member has a line."""
    if isinstance(value, str):
        return string(value)
    if isinstance(value, Number):
        return value.text
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    inner = [write(item, string, indent, depth + 1) for item in (value.values() if isinstance(value, dict) else value)]
    if isinstance(value, dict):
        colon = ":" if indent is None else ": "
        inner = [string(name) + colon + text for name, text in zip(value, inner, strict=True)]
    first, last = "{}" if isinstance(value, dict) else "[]"
    if indent is None or not inner:
        return first + ",".join(inner) + last
    line = "\n" + indent * (depth + 1)
    return first + line + ("," + line).join(inner) + "\n" + indent * depth + last


def copy(value):
    """The value again; what is changed in one isn't changed in the other."""
    if isinstance(value, dict):
        return {name: copy(member) for name, member in value.items()}
    if isinstance(value, list):
        return [copy(item) for item in value]
    return value
