"""What a chain's roles are told: prompt files in our own words under `prompts/<chain>/`, and roles as data."""

import json
from importlib import resources
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reelbench.llm.material import PromptFiles
from reelbench.registry.base_record import first_wrong_field
from reelbench.registry.errors import InputError, first_line

ROLES = "roles.yaml"


class Role(BaseModel):
    """Who speaks in a chain.

    Attributes:
        name: How the command line and the trace call the role.
        prompt: File with its instructions.
        sees: Which material it is shown, and which roles' words, in this order.
        model: Model asked, where the command line gives the role none of its own.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    prompt: str
    sees: tuple[str, ...]
    model: str | None = None


class _Roles(BaseModel):
    model_config = ConfigDict(extra="forbid")

    roles: tuple[Role, ...] = Field(min_length=1)


class ChainPrompts(PromptFiles):
    """The prompts of one chain, its roles, and the hash of each file that was used."""

    def __init__(self, chain: str, folder: Path | None = None) -> None:
        """Read nothing yet but the user's folder, whose files take the place of ours; InputError where it has none."""
        super().__init__(resources.files("reelbench.studio") / "prompts" / chain, folder)
        self._roles: tuple[Role, ...] = ()

    def roles(self) -> tuple[Role, ...]:
        """Return the chain's roles in order; InputError names what is wrong in their file."""
        if self._roles:
            return self._roles
        where = self.place(ROLES)
        try:
            roles = _Roles.model_validate(yaml.safe_load(self.text(ROLES))).roles
        except yaml.YAMLError as error:
            raise InputError(f"{where}: not YAML ({first_line(error)})") from None
        except ValidationError as error:
            raise InputError(f"{where}: {first_wrong_field(error)}") from None
        names = [role.name for role in roles]
        if len(set(names)) < len(names):
            raise InputError(f"{where}: a role's name occurs twice; there are {', '.join(names)}")
        for role in roles:
            self.text(role.prompt)
        self._roles = roles
        return roles


def as_json(value: object) -> str:
    """Return a value as text for a block of material."""
    return json.dumps(value, ensure_ascii=False, indent=1)
