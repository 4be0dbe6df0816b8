"""Requests that look for work: for each path that a stranger's bytes take, one of about so many bytes.

Each function takes a number of bytes and returns the request. Where the service undoes a coding, that is the number
of bytes which come out. What a case is called, the sizes that it is tried with and what its bytes may cost stand in
CASES. A byte may cost so much in two ways: one of those that the service reads, and one of those that were sent.
"""

import gzip
import zlib
from dataclasses import dataclass
from typing import Callable

KEY = "hostile-requests-key"
MARKS = "\u0301\u0316".encode()  # Two combining marks of different classes: normalization puts them in order.


@dataclass(frozen=True)
class Case:
    """A request of a growing size.

    `most` bounds the instructions for a byte of the largest, as the service reads it, and `most_sent` those for a byte
    that was sent: what comes out of gzip can have a thousand times as many.
    """

    name: str
    make: Callable[[int], bytes]
    status: int
    sizes: tuple[int, int, int]
    most: int = 300
    most_sent: int = 8_000
    responses: Callable[[int], int] = lambda size: 1
    piece_bytes: int = 0  # Sent in pieces of so many bytes; all at once where it is 0.
    is_coded: bool = False  # Whether the bytes that count are those that come out of a coding.


def get(target="/livez", fields=b""):
    target = target.encode() if isinstance(target, str) else target
    return b"GET " + target + b" HTTP/1.1\r\nHost: a\r\n" + fields + b"\r\n"


def field(name, value):
    return name.encode() + b": " + value + b"\r\n"


AUTHORIZATION = field("Authorization", b"Bearer " + KEY.encode())


def post(body, fields=b""):
    length = b"" if b"chunked" in fields else field("Content-Length", b"%d" % len(body))
    return (b"POST /events HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            + AUTHORIZATION + fields + length + b"\r\n" + body)


def patch(body, fields=field("If-Match", b"*")):
    """An edit, by the mock's editor."""
    return (b"PATCH /locations/1 HTTP/1.1\r\nHost: a\r\nContent-Type: application/merge-patch+json\r\n"
            b"Authorization: Bearer poi-mock-editor-key\r\n" + fields + field("Content-Length", b"%d" % len(body)) + b"\r\n" + body)


def below(session, request):
    """The same request to a session of the mock."""
    return request.replace(b" /", b" /~session/" + session + b"/", 1)


def put(target, body):
    return (b"PUT " + target + b" HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            + field("Content-Length", b"%d" % len(body)) + b"\r\n" + body)


def fill(unit, size):
    """As many whole units as make so many bytes, one at least."""
    return unit * max(1, size // len(unit))


def query(prefix, unit, places="/locations"):
    return lambda size: get(places.encode() + b"?" + prefix + fill(unit, size))


def filled(name, unit, target="/livez"):
    return lambda size: get(target, field(name, fill(unit, size)))


def fields(line, target="/livez"):
    return lambda size: get(target, fill(line, size))


# Bodies


def event(value=b"{}", name=b"launch", more=b""):
    return b'{"user_id":"u","time":1,"event":{"name":"%s","value":%s}%s}' % (name, value, more)


def batch(*events):
    return post(b"[" + b",".join(events) + b"]")


def named(size, count, letter):
    """An object of so many members, whose long names differ at their ends."""
    length = max(1, size // count // len(letter) - 1)
    return b"{" + b",".join(b'"%s%04d":0' % (letter * length, i) for i in range(count)) + b"}"


def valued(unit, size, around=b'{"x":%s}', name=b"future"):
    return batch(event(around % unit(size), name))


def repeated_event(size, *arguments):
    one = event(*arguments)
    return batch(*[one] * max(1, size // (len(one) + 1)))


def text(unit):
    return lambda size: valued(lambda size: b'"' + fill(unit, size) + b'"', size)


def unknown_members(letter):
    def members(size):
        count = size // (len(letter) + 10)
        return batch(event(more=b"," + b",".join(b'"%s%05d":0' % (letter, i) for i in range(count))))

    return members


def gzipped(body):
    return post(body, field("Content-Encoding", b"gzip"))


def bomb(body):
    """A body that gzip makes as small as it can."""
    return gzipped(gzip.compress(body, 9, mtime=0))


def largest_ratio(request):
    """The request with its body by gzip, which is padded by a file's name to a hundredth of the body's length."""
    body = request.partition(b"\r\n\r\n")[2]
    coded = gzip.compress(body, 9, mtime=0)
    name = b"a" * (len(body) // 100 - len(coded)) + b"\0"
    return gzipped(coded[:3] + b"\x08" + coded[4:10] + name + coded[10:])


def gzip_members(size, first=b""):
    empty = gzip.compress(b"", mtime=0)
    return gzipped(gzip.compress(first, mtime=0) + fill(empty, size))


def gzip_blocks(blocks):
    """A body of these deflated blocks, and behind them one that stores an empty list."""
    data = b"[]"
    deflated = blocks + b"\x01\x02\x00\xfd\xff" + data
    trailer = zlib.crc32(data).to_bytes(4, "little") + len(data).to_bytes(4, "little")
    return gzipped(b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + deflated + trailer)


def blocks_of_tables(size):
    """Blocks that say how long 257 codes are, and then nothing (RFC 1951, section 3.2.7): 12 bytes each."""
    lengths = {18: 1, 0: 2, 1: 2}  # of the codes for the lengths: 18 is 0, 0 is 10, 1 is 11
    order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1]
    numbers = [(0, 1), (2, 2), (0, 5), (0, 5), (len(order) - 4, 4)] + [(lengths.get(code, 0), 3) for code in order]
    zeros = [(0, 1), (138 - 11, 7), (0, 1), (118 - 11, 7)]
    # Only the end of a block has a code, of one bit. Codes are sent from their highest bit.
    numbers += zeros + [(0b11, 2), (0b01, 2), (0, 1)]
    bits = "".join(format(number, f"0{count}b")[::-1] for number, count in numbers)
    # Eight blocks are whole bytes.
    eight = "".join([bits] * 8)
    block = bytes(int(eight[i:i + 8][::-1], 2) for i in range(0, len(eight), 8))
    return fill(block, size)


def chunked(chunk):
    return lambda size: post(fill(chunk, size) + b"0\r\n\r\n", field("Transfer-Encoding", b"chunked"))


def strange(authorization):
    """An upload whose key grows."""
    return lambda size: post(b"[]", field("Authorization", authorization(size))).replace(AUTHORIZATION, b"")


def filled_body(target, text, unit):
    """What a test sends to the mock, with a text that grows."""
    return lambda size: put(b"/~session/put/" + target, text % fill(unit, size))


def words(size):
    return b"+".join(b"%c" % (97 + i % 26) for i in range(size // 2))


def parameters(size, unit=b"%d"):
    return get(b"/locations?" + b"&".join(unit % i for i in range(size)))


def ruled(size, before, member, after):
    """A rule of a session with members that make so many bytes."""
    count = size // len(member % 0 + b",")
    rule = b"[{" + before + b",".join(member % i for i in range(count)) + after + b"}]"
    return put(b"/~session/put/faults", rule)


# Sent before the cases: the rules of a session that some of them go to. No case has what they name, but nearly.
NEARLY = b"a" * 4095
SETUP = put(
    b"/~session/ruled/faults",
    b"[" + b",".join([
        b'{"delaySeconds":600,"bodyContains":"%sb"}' % NEARLY,
        b'{"delaySeconds":600,"bodyContains":"b%s"}' % NEARLY,
        b'{"delaySeconds":600,"query":{"x":"y","A":"C","\\u0301\\u0316":true}}',
        b'{"delaySeconds":600,"headers":{"A":"%s","B":true}}' % NEARLY,
    ]) + b"]")

MOST_AT_RATIO = 100 * 150
BOMB = (200_000, 400_000, 800_000)
BODY = (50_000, 100_000, 200_000)
EDIT = (32_000, 64_000, 128_000)
QUERY = (2_000, 4_000, 8_000)
HEAD = (3_900, 7_800, 15_600)
LISTED = (25, 50, 100)  # Not bytes: how many of a list that has a bound.
UP_TO_50 = (12, 25, 50)

CASES = [
    # JSON
    Case("events that are good", lambda n: repeated_event(n, b'{"page":"x","additional":"%s"}' % (b"x" * 180), b"page-view"), 200, BODY),
    Case("64 long names", lambda n: batch(event(named(n, 64, b"a"), b"future")), 422, BODY),
    Case("64 long names, escaped", lambda n: batch(event(named(n, 64, b"\\u0061"), b"future")), 422, BODY),
    Case("64 names an event, escaped", lambda n: repeated_event(n, named(7000, 64, b"\\u0061"), b"future"), 200, BODY),
    Case("64 names an event, all unknown to its definition",
         lambda n: repeated_event(n, named(7000, 64, b"\\u0061"), b"page-view"), 422, BODY),
    Case("64 short names an event, all unknown",
         lambda n: repeated_event(n, named(1, 64, b"a"), b"page-view"), 422, BODY),
    Case("the same name again and again",
         lambda n: batch(event(b"{" + fill(b'"\\u0061":0,', n) + b'"a":0}', b"future")), 422, BODY),
    Case("objects of one member", lambda n: valued(lambda n: b"[" + fill(b'{"a":0},', n) + b"0]", n), 422, BODY),
    Case("members that no event has", unknown_members(b"a"), 200, BODY),
    Case("members that no event has, escaped", unknown_members(b"\\u0061"), 200, BODY),
    Case("a long member that no event has", lambda n: batch(event(more=b',"%s":0' % fill(b"\\u0061", n))), 200, BODY),
    Case("text of escapes", text(b"\\n"), 422, BODY),
    Case("text of surrogate pairs", text(b"\\ud83d\\ude00"), 422, BODY),
    Case("text of four-byte characters", text("😀".encode()), 422, BODY),
    Case("text that is not UTF-8", text(b"\xff"), 422, BODY),
    Case("a long user id", lambda n: batch(event().replace(b'"u"', b'"%s"' % fill(b"\\u0061", n))), 422, BODY),
    Case("a long id", lambda n: batch(event(more=b',"id":"%s"' % fill(b"\\u0061", n))), 422, BODY),
    Case("names of events of combining marks",
         lambda n: repeated_event(n, b'{"x":"%s"}' % (b"x" * 100), b"e" + MARKS * 24), 200, BODY),
    Case("user ids of combining marks, all different",
         lambda n: batch(*[event().replace(b'"u"', b'"%03d%s"' % (i, MARKS * 48)) for i in range(n // 260)]),
         200, BODY),
    Case("a long number", lambda n: valued(lambda n: b"1" * n, n), 422, BODY),
    Case("times of 800 digits",
         lambda n: batch(*[event().replace(b":1,", b":0.%s," % (b"7" * 800))] * (n // 900)), 200, BODY),
    Case("many numbers", lambda n: valued(lambda n: b"[" + fill(b"1e5,", n) + b"0]", n), 422, BODY),
    Case("many long numbers", lambda n: valued(lambda n: b"[" + fill(b"1" * 95 + b"e99,", n) + b"0]", n), 422, BODY),
    Case("a time of many digits", lambda n: batch(event().replace(b":1,", b":1%s," % (b"7" * n))), 422, BODY),
    Case("a time of many decimals", lambda n: batch(event().replace(b":1,", b":0.%s," % (b"7" * n))), 200, BODY),
    Case("arrays in arrays", lambda n: valued(lambda n: b"[" * (n // 2) + b"]" * (n // 2), n), 422, BODY),
    Case("arrays that don't end", lambda n: post(b"[" * n), 400, BODY),
    Case("no JSON at all", lambda n: post(b"x" * n), 400, BODY),
    Case("blanks", lambda n: post(b"[" + b" " * n + b"]"), 200, BODY),
    Case("too many events", lambda n: batch(*[b"0"] * (n // 2)), 413, BODY),
    Case("events of three bytes", lambda n: batch(*[b"{}"] * n), 422, (250, 500, 1_000), 2_000),
    Case("events of three bytes, their faults by gzip",
         lambda n: batch(*[b"{}"] * n).replace(b"Host", b"Accept-Encoding: gzip\r\nHost"), 422, (250, 500, 1_000), 2_000),
    Case("events of three bytes by gzip, and their faults too",
         lambda n: bomb(b"[" + fill(b"{},", n) + b"{}]").replace(b"Host", b"Accept-Encoding: gzip\r\nHost"), 422,
         (750, 1_500, 2_990), 2_000, most_sent=MOST_AT_RATIO, is_coded=True),
    Case("numbers near the largest double",
         lambda n: repeated_event(n, b'{"x":[%s0]}' % (b"1e308," * 1_300), b"future"), 200, BODY),
    Case("numbers that begin as the largest double does",
         lambda n: repeated_event(n, b'{"x":[%s0]}' % (b"1.7976931348623157e308," * 350), b"future"), 200, BODY),
    Case("events of numbers, too many", lambda n: post(b"[" + fill(b"1e308,", n) + b"0]"), 413, BODY),
    # Codings
    Case("a bomb of numbers", lambda n: bomb(b"[" + fill(b"1e308,", n) + b"0]"), 413, BOMB, is_coded=True),
    Case("a bomb of numbers in a value",
         lambda n: bomb(b"[" + event(b'{"x":[%s0]}' % fill(b"1e308,", n), b"future") + b"]"),
         413, BOMB, is_coded=True),
    Case("numbers at the largest ratio of gzip",
         lambda n: largest_ratio(repeated_event(n, b'{"x":[%s0]}' % (b"1e308," * 1_300), b"future")),
         200, BOMB, most_sent=MOST_AT_RATIO, is_coded=True),
    Case("names at the largest ratio of gzip",
         lambda n: largest_ratio(repeated_event(n, named(7000, 64, b"\\u0061"), b"future")),
         200, BOMB, most_sent=MOST_AT_RATIO, is_coded=True),
    Case("user ids of combining marks at the largest ratio of gzip",
         lambda n: largest_ratio(batch(*[event().replace(b'"u"', b'"%03d%s"' % (i, MARKS * 48)) for i in range(n // 260)])),
         200, BODY, most_sent=MOST_AT_RATIO, is_coded=True),
    Case("text that is not ASCII at the largest ratio of gzip",
         lambda n: largest_ratio(valued(lambda n: b'"' + fill("é".encode(), n) + b'"', n)),
         422, BOMB, most_sent=MOST_AT_RATIO, is_coded=True),
    Case("a body of gzip", lambda n: gzipped(gzip.compress(fill(b"[{}, ", n), mtime=0)), 413, BODY, is_coded=True),
    Case("gzip of empty members", gzip_members, 400, BODY),
    Case("gzip of empty members behind a long one", lambda n: gzip_members(n, b" " * 500_000), 400, BODY),
    # An empty stored block has five bytes (RFC 1951, section 3.2.4).
    Case("gzip of empty blocks", lambda n: gzip_blocks(fill(b"\0\0\0\xff\xff", n)), 200, BODY),
    Case("gzip of tables", lambda n: gzip_blocks(blocks_of_tables(n)), 200, BODY, 1_000),
    Case("chunks of one byte", chunked(b"1\r\n \r\n"), 400, BODY, 600),
    Case("chunks with extensions", chunked(b"1;a\r\n \r\n"), 400, (2_000, 4_000, 8_000), 600),
]

def of_names(plural, parameter):
    """What is hostile in a list of names."""
    list_of = b"lat=0&long=0&" + parameter + b"="
    yield Case(f"{plural} without a name", query(list_of, b","), 400, QUERY)
    yield Case(f"{plural} that don't exist",
               lambda n: get(b"/locations?" + list_of + b",".join(b"restauran%d" % i for i in range(n))), 400, UP_TO_50, 6_000)
    yield Case(f"a {parameter.decode()} of combining marks", query(list_of + b"e", b"%CC%81%CC%96"), 400, QUERY)
    yield Case(f"{plural} of combining marks",
               lambda n: get(b"/locations?" + list_of
                             + b",".join(b"%d" % i + b"%CC%81%CC%96" * 22 for i in range(n // 268))), 400, QUERY, 1_000)


CASES += [
    # Edits
    Case("an edit's member again and again", lambda n: patch(b"{" + fill(b'"name":"A",', n) + b'"name":"A"}'), 422, EDIT),
    Case("members that no place has", lambda n: patch(b"{" + b",".join(b'"naem%05d":1' % i for i in range(n // 14)) + b"}"), 422, EDIT),
    Case("properties of a place, many",
         lambda n: patch(b'{"properties":{' + b",".join(b'"%05d":1' % i for i in range(n // 10)) + b"}}"), 422, EDIT),
    Case("a property's name of combining marks", lambda n: patch(b'{"properties":{"%s":1}}' % fill(MARKS, n)), 422, EDIT),
    Case("a name of combining marks", lambda n: patch(b'{"name":"e%s"}' % fill(MARKS, n)), 422, EDIT),
    Case("a property of arrays in arrays",
         lambda n: patch(b'{"properties":{"a":' + b"[" * (n // 2) + b"]" * (n // 2) + b"}}"), 422, EDIT),
    Case("a member that nobody edits, long", lambda n: patch(b'{"source":"%s"}' % fill(b"\\u0301", n)), 422, EDIT),
    Case("resets of what isn't there", lambda n: patch(b'{"reset":[' + fill(b'"properties.a",', n) + b'"nmae"]}'), 422, EDIT),
    Case("an edit that doesn't end", lambda n: patch(b'{"properties":' + fill(b'{"a":', n)), 400, EDIT),
    Case("tags of an edit", lambda n: patch(b"{}", field("If-Match", fill(b'"0",', n))), 412, HEAD),
    Case("an edit's key", lambda n: patch(b"{}", field("If-Match", b"*") + field("Idempotency-Key", b"k" * n)), 400, HEAD),
    # A client reports ten times a minute.
    Case("a report of combining marks",
         lambda n: post(b'{"reason":"other","text":"%s"}' % fill(MARKS, n)).replace(b"/events", b"/reports"), 422, QUERY),
    # Queries
    Case("parameters that don't exist", parameters, 400, LISTED, 6_000),
    Case("long parameters that don't exist", lambda n: parameters(n, b"%d" + b"longitud" * 8), 400, LISTED, 2_000),
    Case("parameters of combining marks",
         lambda n: get(b"/locations?" + b"&".join(b"%d" % i + b"%CC%81%CC%96" * 9 for i in range(n // 111))), 400, QUERY, 600),
    Case("parameters that are escaped", query(b"", b"%41=%42&"), 400, QUERY),
    Case("empty parameters", query(b"", b"&"), 400, QUERY),
    Case("digits of a number", query(b"long=0&lat=", b"7"), 400, QUERY),
    Case("decimals of a number", query(b"long=0&lat=0.", b"7"), 200, QUERY, 600),
    Case("an escaped number", query(b"long=0&lat=", b"%37"), 400, QUERY),
    Case("edges of a box", query(b"bbox=", b"1,"), 400, QUERY),
    *of_names("categories", b"category"),
    *of_names("datasets", b"dataset"),
    Case("properties that can't be filtered by",
         lambda n: get(b"/locations?lat=0&long=0&" + b"&".join(b"property.materia%d=x" % i for i in range(n))), 400, LISTED, 6_000),
    Case("a property of combining marks", query(b"lat=0&long=0&property.e", b"%CC%81%CC%96"), 400, QUERY),
    Case("values without a text", query(b"lat=0&long=0&property.world_heritage=", b","), 400, QUERY),
    Case("a value of combining marks", query(b"lat=0&long=0&property.world_heritage=e", b"%CC%81%CC%96"), 400, QUERY),
    Case("values of combining marks",
         lambda n: get(b"/locations?lat=0&long=0&property.world_heritage="
                       + b",".join(b"%d" % i + b"%CC%81%CC%96" * 22 for i in range(n // 268))), 400, QUERY, 1_000),
    Case("long values of combining marks",
         lambda n: get(b"/locations?lat=0&long=0&property.world_heritage="
                       + b",".join(b"%d" % i + b"%CC%81%CC%96" * 99 for i in range(n // 1_189))), 400, (1_200, 2_400, 4_800), 1_000),
    Case("languages without a tag", query(b"lat=0&long=0&lang=", b","), 400, QUERY),
    Case("a language of many subtags", query(b"lat=0&long=0&lang=en", b"-a"), 400, QUERY),
    Case("a language of combining marks", query(b"lat=0&long=0&lang=e", b"%CC%81%CC%96"), 400, QUERY),
    Case("a flag of combining marks", query(b"lat=0&long=0&featured=e", b"%CC%81%CC%96"), 400, QUERY),
    Case("a long search", query(b"lat=0&long=0&q=", b"%EF%B7%BA"), 400, QUERY),
    Case("a search that folds into long words",
         lambda n: get(b"/locations?lat=0&long=0&q=" + b"%EF%B7%BA" * n), 200, LISTED, 8_000),
    Case("a search of combining marks",
         lambda n: get(b"/locations?lat=0&long=0&q=" + b"%CC%81%CC%96" * (n // 2)), 200, LISTED, 8_000),
    Case("a search of many words", lambda n: get(b"/locations?lat=0&long=0&q=" + words(n)), 200, LISTED, 8_000),
    Case("edges of a cluster's box", query(b"zoom=3&bbox=", b"1,", "/locations/clusters"), 400, QUERY),
    Case("a cluster's search of many words",
         lambda n: get(b"/locations/clusters?zoom=3&bbox=-180,-90,180,90&q=" + words(n)), 200, LISTED, 8_000),
    Case("groups of a digest", query(b"group=", b"1,", "/locations/digest"), 400, QUERY),
    Case("buckets of a digest", query(b"bucket=", b"1.1,", "/locations/digest"), 400, QUERY),
    Case("a digest's category of combining marks",
         query(b"category=e", b"%CC%81%CC%96", "/locations/digest"), 400, QUERY),
    Case("parameters that attributions don't have",
         lambda n: parameters(n).replace(b"/locations?", b"/attributions?"), 400, LISTED, 6_000),
    Case("a long cursor", query(b"lat=0&long=0&cursor=", b"A"), 400, QUERY),
    # Paths
    Case("slashes", lambda n: get(b"/" * n), 404, QUERY),
    Case("segments", lambda n: get(b"/a" * (n // 2)), 404, QUERY),
    Case("an escaped id", lambda n: get(b"/locations/" + fill(b"%31", n)), 404, QUERY),
    Case("a long problem's name", lambda n: get(b"/problems/" + fill(b"%CC%81%CC%96", n)), 404, QUERY),
    # Fields
    Case("short fields", fields(b"a:\r\n"), 200, HEAD),
    Case("a long field", filled("A", b"a"), 200, HEAD),
    Case("a long field in pieces", filled("A", b"a"), 200, HEAD, piece_bytes=100),
    Case("media types", filled("Accept", b"a/b,", "/problems"), 406, HEAD),
    Case("media types of weight", filled("Accept", b"*/*;q=0,", "/problems"), 406, HEAD),
    Case("commas of Accept", filled("Accept", b",", "/problems"), 200, HEAD),
    Case("parameters of a media type", filled("Accept", b";a", "/problems"), 200, HEAD),
    Case("fields of media types", fields(b"Accept:a/b\r\n", "/problems"), 406, HEAD),
    Case("quoted media types", filled("Accept", b'"\\"', "/problems"), 200, HEAD),
    Case("codings", filled("Accept-Encoding", b"a,", "/problems"), 200, HEAD),
    Case("entity tags", filled("If-None-Match", b'"a",', "/problems"), 200, HEAD),
    Case("fields of entity tags", fields(b'If-None-Match:"a"\r\n', "/problems"), 200, HEAD),
    Case("entity tags that don't end", filled("If-None-Match", b'W/"', "/problems"), 200, HEAD),
    Case("addresses of proxies", filled("X-Forwarded-For", b"10.1.1.1,", "/problems"), 200, HEAD),
    Case("short addresses of proxies", filled("X-Forwarded-For", b"::,", "/problems"), 200, HEAD),
    Case("fields of proxies", fields(b"X-Forwarded-For:10.1.1.1\r\n", "/problems"), 200, HEAD),
    Case("commas of proxies", filled("X-Forwarded-For", b",", "/problems"), 200, HEAD),
    Case("a long address", filled("X-Forwarded-For", b"1", "/problems"), 200, HEAD),
    Case("blanks of proxies", filled("X-Forwarded-For", b"1 ", "/problems"), 200, HEAD),
    Case("an address of combining marks", filled("X-Forwarded-For", MARKS, "/problems"), 200, HEAD),
    Case("options of a connection", filled("Connection", b"a,"), 200, HEAD),
    Case("a long key", strange(lambda n: b"Bearer " + b"k" * n), 401, HEAD),
    Case("a key behind blanks", strange(lambda n: b"Bearer" + b" " * n + b"k"), 401, HEAD),
    Case("a scheme of combining marks", strange(lambda n: fill(MARKS, n) + b" k"), 401, HEAD),
    Case("a coding of combining marks", lambda n: post(b"[]", field("Content-Encoding", fill(MARKS, n))), 415, HEAD),
    Case("a media type of combining marks",
         lambda n: post(b"[]").replace(b"application/json", fill(MARKS, n)), 415, HEAD),
    Case("an origin of combining marks", filled("Origin", MARKS), 200, HEAD),
    Case("an origin that is not UTF-8", filled("Origin", b"\xff"), 200, HEAD),
    Case("a long media type",
         lambda n: post(b"[]", field("X", b"")).replace(b"/json", b"/json" + b" ;" * (n // 2)), 200, HEAD),
    Case("a long traceparent", filled("traceparent", b"0"), 200, HEAD),
    Case("a long request id", filled("X-Request-Id", b"a"), 200, HEAD),
    Case("a long host", lambda n: get(fields=b"").replace(b"Host: a", b"Host: " + fill(b"%41", n)), 200, HEAD),
    Case("a long method", lambda n: get().replace(b"GET", b"G" * n), 501, QUERY),
    # Connections
    Case("requests behind each other", lambda n: fill(get(), n), 200, (3_800, 7_600, 15_200), 2_000,
         responses=lambda size: max(1, size // len(get()))),
]

CASES += [
    # What a test sends to the mock itself
    Case("conditions of a rule", lambda n: ruled(n, b'"query":{', b'"%06d":"x"', b"}"), 422, BODY, 1_000),
    Case("conditions of a rule, escaped",
         lambda n: ruled(n, b'"headers":{', b'"\\u0061%06d":"\\u0061"', b"}"), 422, BODY, 1_000),
    Case("conditions of a rule that are no texts", lambda n: ruled(n, b'"query":{', b'"%06d":true', b"}"), 422, BODY, 1_500),
    Case("fields of a rule's response",
         lambda n: ruled(n, b'"fault":{"kind":"response","status":200,"headers":{', b'"a%06d":"x"', b"}}"), 422, BODY, 1_000),
    Case("a long body of a rule's response",
         filled_body(b"faults", b'[{"fault":{"kind":"response","status":200,"body":"%s"}}]', b"\\u0061"), 204, BODY),
    Case("members that no rule has", lambda n: ruled(n, b"", b'"a%06d":0', b""), 422, BODY, 1_000),
    Case("rules without number", filled_body(b"faults", b"[%s0]", b'{"delaySeconds":1},'), 422, BODY, 2_000),
    Case("a method of combining marks", filled_body(b"faults", b'[{"method":"%s"}]', MARKS), 422, BODY),
    Case("a member's name of combining marks", filled_body(b"faults", b'[{"%s":1}]', MARKS), 422, BODY),
    Case("fixtures' names of combining marks", filled_body(b"fixtures", b'[{"%s":1}]', MARKS), 422, BODY),
    Case("short names of combining marks",
         lambda n: ruled(n, b'"query":{', b'"%d' + MARKS * 60 + b'":0', b"}"), 422, BODY, 1_000),
    Case("a scenario that there isn't", filled_body(b"scenario", b'{"scenario":"%s"}', MARKS), 422, BODY),
    Case("a kind of combining marks", filled_body(b"faults", b'[{"fault":{"kind":"%s"}}]', MARKS), 422, BODY),
    # What an app sends to a session with rules
    Case("a body of a rule's text, nearly", lambda n: below(b"ruled", post(b"a" * n)), 400, BODY),
    Case("a body of pieces of a rule's text", lambda n: below(b"ruled", post(fill(NEARLY + b"c", n))), 400, BODY),
    Case("a query for rules", lambda n: below(b"ruled", query(b"", b"%41=%42&")(n)), 400, QUERY, 1_500),
    Case("a query of combining marks for rules", lambda n: below(b"ruled", query(b"x=", b"%CC%81%CC%96")(n)), 400, QUERY, 1_500),
    Case("fields for rules", lambda n: below(b"ruled", fields(b"A:a\r\n")(n)), 200, HEAD, 1_500),
]
