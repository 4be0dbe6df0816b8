"""What the description of a service says: the members of its documents, where they stand, and what they are."""

from collections.abc import Iterator
from dataclasses import dataclass

from .kept_json import Number

ALL = "*"


@dataclass(frozen=True)
class Member:
    """A member by its steps from the document's root: names, indices, or `*` for all items of an array.

    `following` is the step to its neighbour, where there is one.
    """

    steps: tuple
    kind: str
    following: object = None

    @property
    def name(self):
        named = [str(step) for step in self.steps if step != ALL]
        return ".".join(named + ["items"] if self.steps[-1] == ALL else named)

    def places(self, document):
        """The containers in a document that have the member, with its key there."""
        containers = [document]
        for step in self.steps[:-1]:
            containers = [item for container in containers for item in inner(container, step)]
        key = 0 if self.steps[-1] == ALL else self.steps[-1]
        return [(container, key) for container in containers if has(container, key)]


def has(container, key):
    if isinstance(container, dict):
        return key in container
    return isinstance(container, list) and isinstance(key, int) and key < len(container)


def inner(container, step):
    if step == ALL:
        return container if isinstance(container, list) else []
    return [container[step]] if has(container, step) else []


class Description:
    """A document of OpenAPI 3.1."""

    def __init__(self, document):
        self.document = document

    def resolved(self, value):
        """What a reference leads to; the value itself where it is none."""
        while "$ref" in value:
            target = self.document
            for step in value["$ref"].removeprefix("#/").split("/"):
                target = target[step]
            value = target
        return value

    def schema(self, name):
        return self.document["components"]["schemas"][name]

    def operations(self):
        """The path, method and operation of all."""
        for path, item in self.document["paths"].items():
            for method, operation in item.items():
                if method in ("get", "head", "post"):
                    yield path, method.upper(), operation

    def members(self, schema, steps=(), variant=None) -> Iterator[Member]:
        """All members of documents of a schema; `variant` names the member that tells variants apart."""
        schema = self.flat(schema, variant)
        parts = schema.get("properties", {})
        if schema.get("prefixItems"):
            parts = dict(enumerate(schema["prefixItems"]))
        elif schema.get("type") == "array" and "items" in schema:
            parts = {ALL: schema["items"]}
        keys = list(parts)
        for key, following in zip(keys, [*keys[1:], None], strict=False):
            inner_schema = self.flat(parts[key], variant)
            yield Member((*steps, key), kind_of(inner_schema), following)
            yield from self.members(inner_schema, (*steps, key), variant)

    def flat(self, schema, variant):
        """A schema without references, `allOf` and `anyOf`."""
        schema = self.resolved(schema)
        if "allOf" in schema:
            merged = {}
            for part in map(self.resolved, schema["allOf"]):
                merged = {**part, **merged, "properties": {**part.get("properties", {}), **merged.get("properties", {})}}
            schema = merged
        if "anyOf" in schema:
            choices = [self.resolved(choice) for choice in schema["anyOf"]]
            schema = next((choice for choice in choices if variant in choice.get("properties", {})), choices[0])
        return schema


def kind_of(schema):
    if "const" in schema or "enum" in schema:
        return "string"
    kind = schema.get("type", "object")
    return kind if isinstance(kind, str) else kind[0]


def of_another_type(value):
    """A value of another type that says the same as far as possible."""
    if isinstance(value, Number):
        return value.text
    if isinstance(value, bool):
        return "true" if value else "false"
    return Number(0) if isinstance(value, str) else "none"


def drop(container, key, _):
    del container[key]


def nullify(container, key, _):
    container[key] = None


def retype(container, key, _):
    container[key] = of_another_type(container[key])


def swap(container, key, following):
    if has(container, following):
        container[key], container[following] = container[following], container[key]


FAULTS = {"dropped": ("is left out", drop), "null": ("is null", nullify), "type": ("is of another type", retype),
          "swapped": ("and its neighbour exchange their values", swap)}
