import Testing

@testable import EventGenerator

@Suite("A name")
struct SwiftNameTests {
    @Test(
        "A name becomes a name of a Swift member and type",
        arguments: [
            ("page-view", "pageView", "PageView"), ("user_id", "userId", "UserId"),
            ("URL scheme", "urlScheme", "URLScheme"),
            ("alreadyCamel", "alreadyCamel", "AlreadyCamel"), ("3d-map", "_3dMap", "3dMap"),
            ("URL", "url", "URL"), ("!", "", ""),
        ])
    func converts(name: String, member: String, type: String) {
        #expect(SwiftName.member(name) == member)
        #expect(SwiftName.type(name) == type)
    }

    @Test("A name that is a Swift keyword is escaped")
    func escapes() {
        #expect(SwiftName.escaped("class") == "`class`")
        #expect(SwiftName.escaped("page") == "page")
        #expect(!SwiftName.isTypeName("Self"))
    }
}
