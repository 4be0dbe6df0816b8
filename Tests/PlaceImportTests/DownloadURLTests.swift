import PlaceImport
import Testing

@Suite("What a dataset is downloaded from")
struct DownloadURLTests {
    @Test(
        "Of a URL, host and path are shown",
        arguments: [
            "https://data.example/cafes.csv": "data.example/cafes.csv",
            "HTTP://data.example": "data.example/",
            "https://anna:hunter2@data.example:8443/a/b.json?key=hunter2": "data.example:8443/a/b.json",
            "http://hunter2@[2001:db8::1]/%C3%A9.csv": "[2001:db8::1]/%C3%A9.csv",
            "http://127.0.0.1?hunter2": "127.0.0.1/", "http://data.example/a@b?c@d": "data.example/a@b",
        ])
    func shown(text: String, shown: String) {
        let url = DownloadURL(text)
        #expect(url?.text == text && url?.description == shown)
    }

    @Test(
        "What isn't plainly a URL of http or https isn't one",
        arguments: [
            "", "data.example/a.csv", "ftp://data.example/a.csv", "file:///etc/passwd", "http:///a.csv",
            "http://",
            "http://a@b@data.example/", "http://data.example/a b", "http://data.example/\"a",
            "http://data.example/a\\b",
            "http://data.example/a\nurl=b", "http://data.example/{a,b}", "http://data.example/#a",
            "http://é.example/",
            "http://data.example:port/", "http://data.example/" + String(repeating: "a", count: 4096),
        ])
    func refused(text: String) {
        #expect(DownloadURL(text) == nil)
    }
}
