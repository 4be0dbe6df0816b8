import Testing

@testable import PointsOfInterestClient

@Suite("A Link field")
struct LinkHeaderTests {
    @Test(
        "The target of the requested relation is found in a Link field",
        arguments: [
            (#"<?a=1>; rel="next""#, "?a=1"),
            ("<?a=1>;rel=next", "?a=1"),
            (#"<?a=1,2;3>; rel="next""#, "?a=1,2;3"),
            (#"</first>; rel="first", <?b>; rel="next""#, "?b"),
            (#"</first>; rel="first"; title="a, <b>; rel=\"next\"", <?b>; rel="next""#, "?b"),
            (#"<?c>; title*=UTF-8''x; rel="prev NEXT""#, "?c"),
            (#"<?d>; flag; rel = "next" ; rel="first""#, "?d"),
            (#",  ,<?e>;rel="next","#, "?e"),
            (##"<?f>; rel="next"; anchor="#other", <?g>; rel="next""##, "?g"),
            (#"<?h>;;; ;rel="next""#, "?h"), ("<?i>; REL=Next", "?i"), (#"<>; rel="next""#, ""),
        ])
    func findsTarget(field: String, target: String) {
        #expect(LinkHeader.target(of: "next", in: field) == target)
    }

    @Test(
        "A Link field without the relation, or a malformed one, has no target",
        arguments: [
            "", "?a=1", "<?a=1", "<?a=1>", #"<?a=1>; rel="prev""#, #"<?a=1>; rel="next"#, "<?a=1>; rel",
            #"<?a=1>; title="rel=next""#, #"<?a=1>; rel="first"; rel="next""#, #"x<?a=1>; rel="next""#,
            "<?a=1>; rel=\"\\", #"<?a=1>; rel="next"; anchor="/other""#, #"<?a=1>; rel="nextly""#, ";", "<>",
            String(repeating: "<", count: 20_000), "<a>" + String(repeating: ";", count: 20_000),
            "<a>;" + String(repeating: "\"", count: 20_000), String(repeating: "<a>;rel=x,", count: 2000),
        ])
    func findsNone(field: String) {
        #expect(LinkHeader.target(of: "next", in: field) == nil)
    }
}
