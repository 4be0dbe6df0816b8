import Randomness

/// Names of places, and texts that find some of them.
enum PlaceNames {
    /// Mostly a word that few have; accents, apostrophes, other scripts, and words that begin alike.
    static let words = [
        "Café", "cafeteria", "Cafés", "Children's", "Musée d’Orsay", "Straße", "STRASSE", "Łódź", "Ærø",
        "ŒUVRE",
        "東京タワー", "Ελλάς", "ΣΊΣΥΦΟΣ", "Москва́", "naïve", "Place", "place", "№5", "ﬁne", "Ａｌｐｈａ", "don't",
        "100%",
        "a_b", "back\\slash", "\u{10FFFF}", "x\u{10FFFF}y", "İstanbul", "ŉ", "가나다", "ß", "-", "…",
    ]

    /// Whole words, beginnings, several, none, and what has no word in it.
    static let searches = [
        "cafe", "CAFÉ", "caf", "c", "children", "childrens", "s", "musee dorsay", "d'orsay", "strasse",
        "straß", "lodz",
        "aero", "東京", "ελλας", "σισυφος", "москва", "place", "place c", "no5", "fine", "alpha", "dont", "100",
        "a b", "back",
        "x\u{10FFFF}", "istanbul", "n", "가", "ss", "zzz", "place zzz", "%", "…", "'", "p l a c e", "place 7",
        "cafe 23", "c 31", "s 12 c", "17",
    ]

    static func random(using generator: inout SeededGenerator) -> String {
        (0..<Int.random(in: 1...3, using: &generator))
            .map { _ in words[Int.random(in: words.indices, using: &generator)] }.joined(separator: " ")
    }
}
