"""Rows about names in languages: which of a request's tags the server looks at, and how."""

import re

from .rows import Theme

languages = Theme("languages")
ROWS = [languages]


def with_tags(name, change, hurts):
    """A row that changes the tags that the server gets; without any, the parameter is left out."""
    def add(function):
        def alter(request):
            def change_tags(parameter):
                tags = function(re.split(",|%2C", parameter[2]))
                return f"{parameter[1]}lang={','.join(tags)}" if tags else parameter[1].rstrip("&")
            request.target = re.sub(r"([?&])lang=([^&]+)", change_tags, request.target)
        languages.request(name, change, hurts)(alter)
        return function
    return add


with_tags("case-matters", "tags with capital letters find nothing", "a user of en-US reads names of another language")(
    lambda tags: [tag for tag in tags if tag.islower()])
with_tags("not-shortened", "tags with a hyphen find nothing", "a user of de-AT reads names of another language")(
    lambda tags: [tag for tag in tags if "-" not in tag])
with_tags("first-only", "only the first language counts", "a user's second language is passed over")(lambda tags: tags[:1])
with_tags("last-first", "the last language is taken for the preferred one", "a user reads the language known least")(
    lambda tags: tags[::-1])
with_tags("whatever-the-case", "the tag of a response depends on the case of its languages", "caches keep the same twice")(
    lambda tags: [*tags, "qab"] if any(tag.isupper() for tag in tags) else tags)
