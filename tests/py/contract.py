"""Checks values against src/http/schemas.json, the one description of what crosses the wire: REST and events.

Readers must ignore members they do not know. Here an unknown member is a mistake: it means that the daemon writes
something that the schemas, and so the types of the dashboard, do not have."""

import json
import re

from conftest import ROOT

TYPES = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "object": dict,
    "array": list,
    "null": type(None),
}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


class Contract:
    """The schemas of a file or of an OpenAPI document; check() raises an AssertionError that names the place."""

    def __init__(self, components=None):
        components = components or json.loads((ROOT / "src/http/schemas.json").read_text())
        self.schemas = components["schemas"]

    def resolve(self, schema):
        while "$ref" in schema:
            schema = self.schemas[schema["$ref"].removeprefix("#/components/schemas/")]
        return schema

    def check(self, schema, value, where="answer"):
        """`schema` is a name or a schema."""
        schema = self.resolve({"$ref": f"#/components/schemas/{schema}"} if isinstance(schema, str) else schema)
        if "oneOf" in schema:
            self.check_one(schema["oneOf"], value, where)
            return
        if "enum" in schema:
            assert value in schema["enum"], f"{where}: {value!r} is not one of {schema['enum']}"
        if "const" in schema:
            assert value == schema["const"], f"{where}: {value!r} is not {schema['const']!r}"
        if schema.get("format") == "date-time":
            assert isinstance(value, str) and TIME.fullmatch(value), f"{where}: {value!r} is not a time"
        self.check_type(schema.get("type"), value, where)
        if isinstance(value, dict):
            self.check_members(schema, value, where)
        elif isinstance(value, list):
            assert len(value) >= schema.get("minItems", 0), f"{where}: {len(value)} items are too few"
            for number, item in enumerate(value):
                self.check(schema.get("items", {}), item, f"{where}/{number}")
        elif isinstance(value, (int, float)) and "minimum" in schema:
            assert value >= schema["minimum"], f"{where}: {value} is below {schema['minimum']}"

    def check_one(self, choices, value, where):
        failures = []
        for choice in choices:
            try:
                self.check(choice, value, where)
                return
            except AssertionError as failure:
                failures.append(str(failure))
        raise AssertionError(f"{where}: none of {failures}")

    @staticmethod
    def check_type(kinds, value, where):
        if kinds is None:
            return
        kinds = [kinds] if isinstance(kinds, str) else kinds
        fits = (isinstance(value, TYPES[kind]) and (kind == "boolean") == isinstance(value, bool) for kind in kinds)
        assert any(fits), f"{where}: {value!r} is not {kinds}"

    def members(self, schema):
        """(properties, required) of a schema with everything it is made of."""
        schema = self.resolve(schema)
        properties, required = dict(schema.get("properties", {})), set(schema.get("required", ()))
        for part in schema.get("allOf", ()):
            more, needed = self.members(part)
            properties.update(more)
            required |= needed
        return properties, required

    def check_members(self, schema, value, where):
        properties, required = self.members(schema)
        missing = required - set(value)
        assert not missing, f"{where}: {sorted(missing)} missing"
        other = schema.get("additionalProperties", not properties)
        for name, item in value.items():
            assert name in properties or other is not False, f"{where}: the schema has no member {name}"
            part = properties.get(name, other if isinstance(other, dict) else {})
            self.check(part, item, f"{where}/{name}")
