"""Files as people have them: what `poi import` makes of each, with no more than an option that the program itself has named.

peoples_files.md has the results; `--record` writes it.
"""

import re
import shlex
import subprocess

import pytest

from peoples_files import BY_HAND, FILES
from servers import ROOT

SETTINGS = {"POI_SEEDS": "false"}
# How many of the files have to be read.
READ = 36
PAGE = ROOT / "Tests/System/import/peoples_files.md"
START = "| file | what it is | from | option | places |\n|---|---|---|---|---|\n"


class Trial:
    """What came out of a file, without an option and with its own."""

    def __init__(self, poi, database, folder, file):
        self.poi, self.database, self.folder, self.file = poi, database, folder, file
        self.places, self.text = self.run([])
        self.needs_option = bool(file.option) and self.places != file.places
        self.names_option = True
        if self.needs_option:
            option, _, value = file.option.partition(" ")
            # Which category the places are of, only people know.
            named = f"{option} {value.partition('=')[0]}=" if option == "--set" else file.option
            self.names_option = named in self.text
            self.next_places = self.run_next(value.rpartition("=")[2])
            self.places, self.text = self.run(shlex.split(file.option))

    def run_next(self, category):
        """How many places the command makes that the program says to run next; None where it names none."""
        found = re.search(r"^next: poi import (.*)$", self.text, re.M)
        if not found:
            return None
        return self.run_command(shlex.split(found[1].replace("CATEGORY", category)))[0]

    def run(self, options):
        return self.run_command([self.file.name, "--dataset", "trial", "--license", "CC0-1.0", "--dry-run", *options])

    def run_command(self, words):
        done = subprocess.run([self.poi, "import", *words, "--database-url", self.database],
                              cwd=self.folder, capture_output=True, text=True)
        added = re.search(r"^added (\d+)", done.stdout, re.M)
        return int(added[1]) if added and done.returncode == 0 else 0, done.stdout + done.stderr

    @property
    def is_read(self):
        return self.places > 0 and self.places == self.file.places and self.names_option

    @property
    def row(self):
        result = f"{self.places:,}"
        if not self.places:
            result = "none"
        elif not self.names_option:
            result += ", but the program doesn't name the option"
        elif not self.is_read:
            result += f" of {self.file.places:,}" if self.file.places else ""
        option = f"`{self.file.option}`" if self.needs_option else ""
        return f"| `{self.file.name}` | {self.file.what} | {self.file.origin} | {option} | {result} |\n"


@pytest.fixture(scope="module")
def trials(poi, server, tmp_path_factory):
    """The results of all files, in their order."""
    found = []
    for file in FILES:
        folder = tmp_path_factory.mktemp("trial")
        file.make(folder / file.name)
        found.append(Trial(poi, server.database, folder, file))
    return found


def test_the_page_has_the_results(trials, request):
    rows = "".join(trial.row for trial in trials)
    count = f"{sum(trial.is_read for trial in trials)} of {len(trials)}"
    text = PAGE.read_text()
    start = text.index(START) + len(START)
    end = text.find("\n\n", start) + 1 or len(text)
    wanted = re.sub(r"\*\*\d+ of \d+\*\*", f"**{count}**", text[:start] + rows + text[end:])
    if request.config.getoption("--record"):
        PAGE.write_text(wanted)
        for trial in trials:
            if not trial.is_read:
                print(trial.file.name, trial.places, trial.text[:400])
    assert PAGE.read_text() == wanted


def test_files_are_read_with_one_option_that_the_program_names(trials):
    assert len(FILES) == 40
    assert sum(BY_HAND not in file.origin for file in FILES) >= 25
    assert sum(trial.is_read for trial in trials) >= READ


def test_the_command_that_is_named_next_reads_the_file(trials, subtests):
    tried = [trial for trial in trials if trial.needs_option and trial.next_places is not None]
    assert len(tried) >= 20
    for trial in tried:
        with subtests.test(trial.file.name):
            assert trial.next_places == (trial.file.places or 0)


def test_a_command_of_several_options_reads_the_file(poi, server, tmp_path):
    (tmp_path / "places.csv").write_text('Objektname,"Latitude, Longitude"\nOne,"48.1, 11.5"\n')
    explained = subprocess.run([poi, "import", "places.csv", "--explain"], cwd=tmp_path, capture_output=True, text=True, check=True)
    command = explained.stdout.splitlines()[-1].removeprefix("next: poi ")
    for placeholder, text in {"NAME": "trial", "ID": "CC0-1.0", "CATEGORY": "cafe"}.items():
        command = command.replace(placeholder, text)
    done = subprocess.run([poi, *shlex.split(command), "--dry-run", "--database-url", server.database], cwd=tmp_path,
                          capture_output=True, text=True)
    assert done.returncode == 0 and "added 1" in done.stdout, explained.stdout + done.stderr


def test_the_command_that_is_named_next_repeats_what_was_given(poi, server, tmp_path):
    files = ["one.csv", "two of them.csv"]
    for name in files:
        (tmp_path / name).write_text("Objektname,lat,lon\nOne,48.1,11.5\n")
    given = [*files, "--dataset", "my towns", "--license", "CC0-1.0", "--max-errors", "3", "--rejects", "left.csv",
             "--report", "changes.jsonl", "--allow", "names", "--sync", "--reset-options"]
    for last in ["--explain"], ["--database-url", server.database]:
        done = subprocess.run([poi, "import", *given, *last], cwd=tmp_path, capture_output=True, text=True)
        command = re.search(r"^next: poi import (.*)$", done.stdout + done.stderr, re.M)
        assert command, done.stdout + done.stderr
        assert shlex.split(command[1]) == [*given, "--column", "name=Objektname", "--set", "category=CATEGORY"]
