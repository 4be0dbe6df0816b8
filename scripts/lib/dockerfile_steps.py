"""Reads a Dockerfile into stages of steps, as far as ours goes; whatever is unknown is an error, never skipped."""

import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

KNOWN = {
    "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL", "RUN", "STOPSIGNAL", "USER",
    "WORKDIR",
}


@dataclass(frozen=True)
class Step:
    """One instruction: its name, its --options and the rest of its line."""

    name: str
    options: dict
    text: str

    def words(self):
        """The rest as a list: of its JSON where it is that, else split as the shell would."""
        return json.loads(self.text) if self.text.startswith("[") else shlex.split(self.text)

    def assignments(self):
        """The pairs of `ENV A=1 B=2`."""
        pairs = {}
        for word in self.words():
            key, separator, value = word.partition("=")
            if not separator:
                raise ValueError(f"{self.name} {self.text}: expected NAME=VALUE")
            pairs[key] = value
        return pairs


@dataclass
class Stage:
    """What stands between one FROM and the next."""

    base: str
    name: str
    steps: list = field(default_factory=list)

    def last(self, name):
        """The instruction of a name that counts, the last one; None where there is none."""
        return next((step for step in reversed(self.steps) if step.name == name), None)


def logical_lines(text):
    """Lines with their continuations, without comments and empty lines."""
    unfinished = ""
    for line in text.splitlines():
        if line.lstrip().startswith("#") or not line.strip():
            continue
        if line.rstrip().endswith("\\"):
            unfinished += line.rstrip()[:-1] + " "
            continue
        yield (unfinished + line).strip()
        unfinished = ""
    if unfinished:
        raise ValueError("the file ends within an instruction")


def parse_step(line):
    name, _, rest = line.partition(" ")
    name = name.upper()
    if name not in KNOWN:
        raise ValueError(f"{name}: an instruction that scripts/lib/dockerfile_steps.py doesn't know")
    options = {}
    while match := re.match(r"--([a-z-]+)=(\S+)\s+", rest):
        options[match[1]] = match[2]
        rest = rest[match.end():]
    if name == "RUN" and options:
        raise ValueError(f"RUN {options}: options that scripts/checks/check-image can't follow")
    return Step(name, options, rest.strip())


def stages(path):
    """The stages of a Dockerfile, in order."""
    found = []
    for line in logical_lines(Path(path).read_text()):
        step = parse_step(line)
        if step.name == "FROM":
            words = step.words()
            name = words[2] if len(words) == 3 and words[1].upper() == "AS" else str(len(found))
            found.append(Stage(base=words[0], name=name))
        elif not found:
            raise ValueError(f"{line}: before the first FROM")
        else:
            found[-1].steps.append(step)
    return found
