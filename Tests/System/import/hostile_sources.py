"""Files for `ogr2ogr` that would lead it to other files, to the network or to a database, and what shows that they did."""

import ctypes
import os
import select
import socket
import sqlite3
import struct
import subprocess
import threading
import zipfile

GPX = ('<gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1" creator="a">'
       '<wpt lat="1" lon="2"><name>A</name><type>cafe</type></wpt></gpx>')
KML = ('<kml xmlns="http://www.opengis.net/kml/2.2"><Document>{}<Placemark><name>A</name>'
       '<Point><coordinates>2,1</coordinates></Point></Placemark></Document></kml>')


class Canaries:
    """A folder that nobody may look into, and a port that nobody may connect to."""

    OPENED = 0x20
    CHANGED = 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800

    def __init__(self, folder):
        self.secrets = folder / "secrets"
        self.secrets.mkdir(mode=0o700)
        (self.secrets / "a.csv").write_text("name,category,lat,lon\nSECRET,leaked,1,2\n")
        self.sources = folder / "sources"
        self.sources.mkdir()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        # The ports of those who connected.
        self.peers = []
        self.libc = ctypes.CDLL(None)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, (_, port) = self.listener.accept()
            with connection:
                self.peers.append(port)

    def watch(self, run):
        """Calls a function; returns what it returns, and what happened meanwhile that must not."""
        events = self.libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        for path, mask in [(self.secrets, self.OPENED | self.CHANGED), (self.sources, self.CHANGED)]:
            self.libc.inotify_add_watch(events, str(path).encode(), mask)
        before = len(self.peers)
        try:
            result = run()
            # The last in the queue: those before it were accepted.
            with socket.create_connection(("127.0.0.1", self.port)) as last:
                own = last.getsockname()[1]
            while own not in self.peers[before:]:
                select.select([], [], [], 0.01)
            found = set()
            while select.select([events], [], [], 0)[0]:
                found |= set(self.names(os.read(events, 65536)))
        finally:
            os.close(events)
        if len(self.peers) - before > 1:
            found.add(f"{len(self.peers) - before - 1} connections")
        return result, sorted(found)

    @staticmethod
    def names(data):
        while data:
            _, mask, _, length = struct.unpack("iIII", data[:16])
            name = data[16:16 + length].rstrip(b"\0").decode() or "the folder"
            yield f"{name} {'opened' if mask & Canaries.OPENED else 'changed'}"
            data = data[16 + length:]


class Source:
    """What is imported, and what is to be said of it: no message means that it is read, and how many places it has."""

    def __init__(self, name, message="", options=(), places=1):
        self.name, self.message, self.options, self.places = name, message, list(options), places


def virtual_layer(source, sql=""):
    return (f'<OGRVRTDataSource><OGRVRTLayer name="a"><SrcDataSource>{source}</SrcDataSource>{sql}'
            '<GeometryField encoding="PointFromColumns" x="lon" y="lat"/></OGRVRTLayer></OGRVRTDataSource>')


def convert(driver, target, *options):
    """Makes a file of one place with GDAL itself."""
    folder = target.parent
    seed = folder.parent / "seed.gpx"
    seed.write_text(GPX)
    subprocess.run(["ogr2ogr", "-f", driver, *options, "-select", "name,type", "-nln", target.stem, str(target),
                    str(seed), "waypoints"], check=True, capture_output=True)


def sources(canaries):
    """The hostile sources; files are made in the folder of `canaries`."""
    yield from documents(canaries)
    yield from packages(canaries)
    yield from shapes(canaries)
    yield from spreadsheets(canaries)
    yield from names(canaries)


def documents(canaries):
    folder, secret, url = canaries.sources, canaries.secrets / "a.csv", f"http://127.0.0.1:{canaries.port}"
    database = f"PG:host=127.0.0.1 port={canaries.port} dbname=a"
    delete = "<SrcSQL>DELETE FROM locations RETURNING *</SrcSQL>"
    root = "its root element, "
    wfs = f"<OGRWFSDataSource><URL>{url}/wfs</URL></OGRWFSDataSource>"
    link = f"<NetworkLink><name>B</name><Link><href>{url}/a.kml</href></Link></NetworkLink>"
    style = f"<styleUrl>{url}/a.kml#b</styleUrl>"
    schema = (f'<ogr:FeatureCollection xmlns:ogr="http://ogr.maptools.org/" xmlns:gml="http://www.opengis.net/gml" '
              f'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://ogr.maptools.org/ '
              f'{url}/wfs?SERVICE=WFS&amp;REQUEST=DescribeFeatureType"><gml:featureMember><ogr:a><ogr:name>A</ogr:name>'
              "</ogr:a></gml:featureMember></ogr:FeatureCollection>")
    entity = '<!DOCTYPE a [<!ENTITY b SYSTEM "{}">]>'
    osm = '<osm version="0.6"><node id="1" lat="1" lon="2"><tag k="name" v="&b;"/><tag k="tourism" v="museum"/></node></osm>'
    as_text = ["--format", "gdal"]
    for name, content, message, options in [
        *[(f"file.{kind}", virtual_layer(secret), root, []) for kind in ["gpx", "kml", "osm", "gpkg", "vrt"]],
        ("url.gpx", virtual_layer(f"/vsicurl/{url}/a.csv"), root, []),
        ("database.gpx", virtual_layer(database, delete), root, []),
        ("service.gpx", wfs, root, []),
        ("schema.gpx", schema, root, []),
        ("schema.gml", schema, root, []),
        ("wms.kml", f'<GDAL_WMS><Service name="WMS"><ServerUrl>{url}</ServerUrl></Service></GDAL_WMS>', root, []),
        # GDAL's XML has room for a second root; the drivers are all that is between it and the file.
        ("two-roots.gpx", GPX + virtual_layer(secret), "ogr2ogr: ", []),
        ("two-roots.kml", KML.format("") + virtual_layer(database, delete), "ogr2ogr: ", []),
        ("two-roots.osm", osm.replace("&b;", "A") + virtual_layer(f"/vsicurl/{url}/a.csv"), "ogr2ogr: ", []),
        ("two-services.gpx", GPX + wfs, "ogr2ogr: ", []),
        ("comment.gpx", GPX.replace("<wpt", f"<!--{virtual_layer(secret)}--><wpt", 1), "", []),
        ("entity.gpx", entity.format(secret) + GPX.replace(">A<", ">&b;<"), "document type", []),
        ("entity.kml", entity.format(url) + KML.format("<name>&b;</name>"), "document type", []),
        ("entity.osm", entity.format(secret) + osm, "document type", []),
        ("inner-entity.gpx", GPX.replace("<wpt", entity.format(secret) + "<wpt", 1).replace(">A<", ">&b;<"), "ogr2ogr: ", []),
        ("link.kml", KML.format(link), "", []),
        ("style.kml", KML.format(style), "", []),
        ("crs.geojson", f'{{"type":"FeatureCollection","crs":{{"type":"link","properties":{{"href":"{url}"}}}},'
         '"features":[]}', "its first bytes", as_text),
        ("a.csv", f"a\n{secret}\n", "its first bytes", as_text),
    ]:
        (folder / name).write_text(content)
        # A place of KML has no category in a column.
        yield Source(folder / name, message, options, places=0 if name.endswith(".kml") else 1)
    with zipfile.ZipFile(folder / "link.kmz", "w") as archive:
        archive.writestr("doc.kml", KML.format(link + style))
        archive.writestr("../../secrets/b.kml", KML.format(""))
    yield Source(folder / "link.kmz", places=0)
    for name, message in [("layer.zip", "the archive has a.vrt"), ("layer.kmz", "ogr2ogr: ")]:
        with zipfile.ZipFile(folder / name, "w") as archive:
            archive.writestr("a.vrt", virtual_layer(secret))
        yield Source(folder / name, message)


def package(folder, name, script, options=()):
    file = folder / name
    convert("GPKG", file, *options)
    with sqlite3.connect(file) as database:
        database.executescript("PRAGMA writable_schema=1;" + script)
    database.close()
    return file


def packages(canaries):
    folder, secret, url = canaries.sources, canaries.secrets / "a.csv", f"http://127.0.0.1:{canaries.port}"
    add = "INSERT INTO gpkg_contents(table_name, data_type, identifier) VALUES ('leak', 'attributes', 'leak');"
    schema = "its schema has"

    def entry(sql):
        return ("INSERT INTO sqlite_master(type, name, tbl_name, rootpage, sql) "
                f"VALUES ('table', 'leak', 'leak', 0, {sql});{add}")

    module = f"VirtualText('{secret}', 'UTF-8', 1, POINT, NONE, ',')"
    text = f"CREATE VIRTUAL TABLE leak USING {module}".replace("'", "''")
    # Long enough for several pages, whose borders are within the words.
    padding = "a" * 5000
    views = {
        "geocode": f"ogr_geocode('a', '', 'SERVICE=OSM_NOMINATIM', 'QUERY_TEMPLATE={url}/%s')",
        "extension": f"load_extension('{secret}')",
        "layers": f"ogr_datasource_load_layers('{secret}')",
    }
    for name, view in views.items():
        yield Source(package(folder, f"{name}.gpkg", f"CREATE VIEW leak AS SELECT {view} AS a;{add}"), schema)
    for name, script in {
        "text": entry(f"'{text}'"),
        "bytes": entry(f"CAST('{text}' AS BLOB)"),
        "dataset": entry(f"'CREATE VIRTUAL TABLE leak USING VirtualOGR(''{secret}'')'"),
        "database": entry(f"'CREATE VIRTUAL TABLE leak USING VirtualOGR(''PG:host=127.0.0.1 port={canaries.port}'')'"),
        "long": entry(f"'CREATE VIRTUAL TABLE \"{padding} USING rtree(\" USING {module}'".replace(
            module, module.replace("'", "''"))),
        "comment": entry(f"'{text.replace('VIRTUAL', '/**/VIRTUAL')}'"),
    }.items():
        yield Source(package(folder, f"{name}.gpkg", script), schema)
    for name, definition, message in [
        ("srs-url", url, "missing ["), ("srs-file", secret, "missing ["),
        ("srs-grid", f'GEOGCS["a",DATUM["b",SPHEROID["c",6378137,298],EXTENSION["PROJ4_GRIDS","{secret}"]],'
         'PRIMEM["d",0],UNIT["degree",0.0174532925199433]]', "names another file"),
        ("srs-json", '{"type":"BoundCRS"}', "isn't in WKT"),
    ]:
        script = ("UPDATE gpkg_spatial_ref_sys SET organization='A', organization_coordsys_id=1, "
                  f"definition='{definition}' WHERE srs_id=4326;")
        yield Source(package(folder, f"{name}.gpkg", script), message)
    # Nothing but reading: no triggers, and no files beside it.
    trigger = "CREATE TRIGGER leak AFTER INSERT ON gpkg_contents BEGIN DELETE FROM leak; END;"
    yield Source(package(folder, "trigger.gpkg", trigger))
    yield Source(package(folder, "log.gpkg", "PRAGMA journal_mode=WAL;"))
    file = folder / "plain.gpkg"
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE a(b)")
    database.close()
    yield Source(file, "isn't a GeoPackage")


def shapes(canaries):
    folder, secret, url = canaries.sources, canaries.secrets / "a.csv", f"http://127.0.0.1:{canaries.port}"
    grid = f'GEOGCS["a",DATUM["b",SPHEROID["c",6378137,298],EXTENSION["PROJ4_GRIDS","{secret}"]],PRIMEM["d",0],UNIT["e",0.0174]]'
    for name, side, content, message in [
        ("grid", "prj", grid, "names another file"), ("web", "prj", url, ""), ("path", "prj", str(secret), ""),
        ("coding", "cpg", f"../..{secret}", ""),
        ("index", "idm", f"<OGRMILayerAttrIndex><MIIDFilename>{secret}</MIIDFilename></OGRMILayerAttrIndex>", ""),
    ]:
        convert("ESRI Shapefile", folder / f"{name}.shp")
        (folder / f"{name}.{side}").write_text(content)
        yield Source(folder / f"{name}.shp", message)
    for side in ["dbf", "prj", "cpg"]:
        convert("ESRI Shapefile", folder / f"link-{side}.shp")
        (folder / f"link-{side}.{side}").unlink(missing_ok=True)
        (folder / f"link-{side}.{side}").symlink_to(secret)
        yield Source(folder / f"link-{side}.shp", "it isn't a file in the folder")
    # Of a system with a long name, GDAL writes a text that is long enough for another one.
    convert("FlatGeobuf", folder / "grid.fgb", "-a_srs", grid.replace(f'EXTENSION["PROJ4_GRIDS","{secret}"]', "")
            .replace("298],", "298]").replace('"a"', f'"{"a" * 1000}"'))
    content = (folder / "grid.fgb").read_bytes()
    start = content.index(b"GEOGCRS[")
    length = int.from_bytes(content[start - 4:start], "little")
    (folder / "grid.fgb").write_bytes(content[:start] + grid.encode().ljust(length) + content[start + length:])
    yield Source(folder / "grid.fgb", "names another file")


def spreadsheet(target, changes, extra=()):
    """Makes a spreadsheet of one place with GDAL itself, and replaces texts in its members; adds further members."""
    seed = target.parent.parent / "seed.csv"
    seed.write_text("name,type,lat,lon\nA,cafe,1,2\n")
    plain = target.with_name(f"source{target.suffix}")
    plain.unlink(missing_ok=True)
    subprocess.run(["ogr2ogr", "-f", target.suffix[1:].upper(), str(plain), str(seed), "-oo", "AUTODETECT_TYPE=YES"],
                   check=True, capture_output=True)
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in source.namelist():
            text = source.read(member).decode()
            for name, old, new in changes:
                if name == member:
                    assert old in text
                    text = text.replace(old, new, 1)
            archive.writestr(member, text)
        for member, text in extra:
            archive.writestr(member, text)
    plain.unlink()
    return target


def spreadsheets(canaries):
    folder, secret, url = canaries.sources, canaries.secrets / "a.csv", f"http://127.0.0.1:{canaries.port}"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    texts, sheet, document = "xl/sharedStrings.xml", "xl/worksheets/sheet1.xml", "content.xml"
    laughs = "".join(f'<!ENTITY {after} "{f"&{before};" * 20}">' for before, after in zip("bcdefg", "cdefgh"))
    for name, leads in [("file", f'<!ENTITY h SYSTEM "{secret}">'), ("url", f'<!ENTITY h SYSTEM "{url}/a">'),
                        ("laughs", f'<!ENTITY b "aaaaaaaaaa">{laughs}')]:
        # What isn't followed leaves the place without a name, and what would expand is refused.
        message = "ogr2ogr: " if name == "laughs" else ""
        yield Source(spreadsheet(folder / f"entity-{name}.xlsx", [
            (texts, "<sst", f"<!DOCTYPE sst [{leads}]><sst"), (texts, "<t>A</t>", "<t>&h;</t>")]), message, places=0)
        yield Source(spreadsheet(folder / f"entity-{name}.ods", [
            (document, "<office:document-content", f"<!DOCTYPE a [{leads}]><office:document-content"),
            (document, "<text:p>A</text:p>", "<text:p>&h;</text:p>")]), message, places=0)
    link = (f'<Relationship Id="rId99" Type="{office}/externalLink" Target="{secret}" TargetMode="External"/>'
            f'<Relationship Id="rId98" Type="{office}/worksheet" Target="../../../../{secret}"/>')
    yield Source(spreadsheet(folder / "link.xlsx", [
        ("xl/_rels/workbook.xml.rels", "</Relationships>", f"{link}</Relationships>"),
        ("xl/workbook.xml", "</sheets>", '<sheet name="b" sheetId="9" r:id="rId98"/></sheets>'),
        (sheet, "<v>4</v>", f"<f>'[{url}/b.xlsx]c'!A1</f><v>4</v>")]))
    linked = (f'<table:table table:name="b"><table:table-source xlink:href="{url}/b.ods" '
              'xmlns:xlink="http://www.w3.org/1999/xlink" table:table-name="c"/></table:table>')
    yield Source(spreadsheet(folder / "link.ods", [
        (document, "</office:spreadsheet>", f"{linked}</office:spreadsheet>"),
        (document, '<table:table-cell office:value-type="string">\n<text:p>A',
         f"<table:table-cell table:formula=\"of:=WEBSERVICE('{url}')\" office:value-type=\"string\">\n<text:p>A")]))
    yield Source(spreadsheet(folder / "columns.xlsx", [(sheet, 'r="D1"', 'r="BGQCV1"')]), "ogr2ogr: ")
    yield Source(spreadsheet(folder / "columns.ods", [
        (document, '<table:table-cell office:value-type="string">',
         '<table:table-cell table:number-columns-repeated="1048576" office:value-type="string">')]), "ogr2ogr: ")


def names(canaries):
    secret, url = canaries.secrets / "a.csv", f"http://127.0.0.1:{canaries.port}"
    for name in [f"PG:host=127.0.0.1 port={canaries.port}", f"WFS:{url}", f"{url}/a.gpx", f"/vsicurl/{url}/a.gpx",
                 f"CSV:{secret}", f"/vsisubfile/0_9,{secret}", f"OAPIF:{url}"]:
        message = "it is a URL" if name.startswith("http") else "--unconfined-source"
        yield Source(name, message, ["--format", "gdal"])
