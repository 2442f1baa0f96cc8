"""Type stub of the native module: keywords of `Communicator` and its buckets.

`OPTIREDUCE_WRITE_STUB=1 host-lib/python/test tests/test_stub.py` writes them from the table of
settings.
"""

import os
import pathlib
import re

import optireduce

STUB = pathlib.Path(__file__).parent.parent / "python" / "optireduce" / "_optireduce.pyi"


def annotation(setting: optireduce.Setting) -> str:
    """Returns the type of a setting's keyword."""
    values, _, word = setting.values.partition(", or ")
    if values == "on or off":
        kind = "bool"
    elif re.fullmatch(r"\w+(, \w+)* or \w+", values):
        words = ", ".join(f"\"{one}\"" for one in re.split(", | or ", values))
        kind = f"Literal[{words}]"
    elif re.match(r"[\d.]+ to [\d.]+ ", values):
        numbers, _, others = values.partition(", ")
        kind = "float" if numbers.split()[-1] in ("s", "ms") else "int"
        words = ", ".join(f'"{one}"' for one in [*re.split(", | or ", others), word] if one)
        kind += f" | Literal[{words}]" if words else ""
    else:
        kind = "str | PathLike[str]" if setting.name.endswith("_file") else "str"
    return f"{kind} | None" if word else kind


def sections() -> dict[str, list[str]]:
    """Returns the generated lines of the stub by the name of their section."""
    types = {setting.name: annotation(setting) for setting in optireduce.SETTINGS}
    keywords = [f"        {name}: {kind} = ...," for name, kind in [*types.items(), ("secret", "str")]]
    options = {"hadamard": types["hadamard"], "bf16": types["bf16"], "repair": types["repair"]}
    return {
        "SETTINGS": ["    def __new__(", "        cls,", "        *,", *keywords, "    ) -> Communicator: ..."],
        "BUCKET": ["        *,", '        op: Literal["avg", "sum"] = "avg",']
        + [f"        {name}: {kind} | None = None," for name, kind in options.items()],
    }


def generated(stub: str) -> str:
    for name, lines in sections().items():
        section = re.compile(rf"( +# {name}: begin\n).*?( +# {name}: end\n)", re.DOTALL)
        stub = section.sub(lambda found: found[1] + "".join(f"{line}\n" for line in lines) + found[2], stub)
    return stub


def test_the_stub_has_the_settings_of_the_table():
    stub = STUB.read_text()
    if os.environ.get("OPTIREDUCE_WRITE_STUB"):
        STUB.write_text(generated(stub))
    assert STUB.read_text() == generated(stub), "run OPTIREDUCE_WRITE_STUB=1 host-lib/python/test tests/test_stub.py"
    assert stub.count(": begin\n") == 2
