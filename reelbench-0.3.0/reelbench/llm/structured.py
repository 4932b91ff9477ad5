"""JSON by a server's own means: the schema of a reply, and the forms in which servers take it.

Keys of replies are made of the common form (`response_format` of type `json_schema`). Which form a
server takes is learnt from its own refusals (`llm.parameters`).

Sources: OpenAI's reference of chat completions (`json_schema`, `json_object`); llama.cpp,
tools/server/README.md (`json_object` with a `schema` of its own, the older form).
"""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel

from reelbench.base.values import is_array, is_object

_WORDS = ("title", "description", "default")

Schema = Mapping[str, Any]
"""A JSON schema."""

Structured = Literal["always", "retry", "never"]
"""When a schema is sent: with each call, where a reply could not be read, or not at all."""

FIELD = "response_format"
"""The parameter of a request that carries a schema."""

FORMS = ("json_schema", "json_object with a schema", "json_object")
"""The forms of a schema, in the order in which they are tried."""

FORMS_WITH_SCHEMA = FORMS[:2]
"""Those that carry the schema itself."""


def with_schema(sampling: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """Return the settings of a call whose reply has a schema, in the common form."""
    described = {"name": "reply", "strict": True, "schema": dict(schema)}
    return {**sampling, FIELD: {"type": "json_schema", "json_schema": described}}


def in_form(response_format: Mapping[str, Any], form: str) -> Mapping[str, Any]:
    """Return a `response_format` of the common form in another one of `FORMS`."""
    if form == "json_schema":
        return response_format
    if form == "json_object":
        return {"type": "json_object"}
    return {"type": "json_object", "schema": response_format["json_schema"]["schema"]}


def score_schema(low: int, high: int) -> Schema:
    """Return the schema of a reply with a whole number as its `score`."""
    return {
        "type": "object",
        "properties": {"score": {"type": "integer", "enum": list(range(low, high + 1))}},
        "required": ["score"],
        "additionalProperties": False,
    }


def schema_of(model: type[BaseModel]) -> Schema:
    """Return a pydantic model's schema, with all fields required and no others.

    Words for people are left out: keys of replies are made of it.
    """
    schema = model.model_json_schema()
    _close(schema)
    return schema


def _close(node: object) -> None:
    """Require all fields of the objects in a schema, forbid others, and leave words out."""
    if is_array(node):
        for inner_node in node:
            _close(inner_node)
    if not is_object(node):
        return
    for name in _WORDS:
        if not is_object(node.get(name)):  # else it is a property's name
            node.pop(name, None)
    if is_object(node.get("properties")):
        node["required"] = list(node["properties"])
        node["additionalProperties"] = False
    for inner_node in list(node.values()):
        _close(inner_node)
