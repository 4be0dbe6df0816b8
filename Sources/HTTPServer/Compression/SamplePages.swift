/// Pages of places as services send them, a page for each of eleven scripts and languages.
///
/// ``ISALEncoder`` makes its codes from them. They are made of what stands here alone, so two servers have the same.
enum SamplePages {
    static let all = names.enumerated().map { number, names in page(names, number: number) }

    private static let names = [
        [
            "San Jose", "Museum of Art", "Golden Gate Park", "Union Station", "Central Library",
            "City Hall Plaza",
            "Farmers Market", "Convention Center", "Santa Clara Street", "Public Garden",
            "Japantown Post Office",
            "Mission Church of San Francisco", "Lincoln High School", "Grand Hotel and Theatre",
            "Riverside Café",
            "Memorial Hospital",
        ],
        [
            "Café de Paris", "Plaza de España", "Schönbrunner Straße", "Stadsbiblioteket Göteborg",
            "Kauppahalli Töölö",
            "Museu de São João", "Zamek Królewski", "İstanbul Kapalıçarşı", "Náměstí Václavské",
            "Quốc Tử Giám Hà Nội", "Église Saint-Étienne", "Università della Città",
        ],
        [
            "Парк Победы", "Музей искусств", "Белорусский вокзал", "Площадь Революции",
            "Городская библиотека",
            "Кафе на улице Ленина", "Театр оперы и балета", "Церковь Святого Николая",
        ],
        [
            "Μουσείο Ακρόπολης", "Εθνικός Κήπος", "Πλατεία Συντάγματος", "Σταθμός Θεσσαλονίκης",
            "Καφενείο της Αθήνας", "Εκκλησία Αγίου Γεωργίου",
        ],
        [
            "東京国立博物館", "新宿御苑公園", "カフェ・ド・パリ渋谷", "大阪城ホール", "京都市美術館", "横浜中央図書館", "みなとみらい駅",
            "日本橋ラーメン",
        ],
        ["北京故宫博物院", "上海人民公园", "中山路火车站", "广州市图书馆", "天安门广场", "南京大学医院"],
        ["국립중앙박물관", "서울역 광장", "남대문시장", "부산시립미술관", "한강공원 카페"],
        [
            "المتحف المصري", "ميدان التحرير", "حديقة الأزهر", "محطة القاهرة", "مكتبة الإسكندرية",
            "مطعم المدينة",
        ],
        ["מוזיאון ישראל", "תחנת הרכבת", "כיכר רבין תל אביב", "גן העיר ירושלים"],
        ["วัดพระแก้ว", "สวนลุมพินี", "สถานีรถไฟกรุงเทพ", "พิพิธภัณฑ์แห่งชาติ", "ตลาดน้ำเชียงใหม่"],
        ["राष्ट्रीय संग्रहालय", "लोधी उद्यान", "नई दिल्ली रेलवे स्टेशन", "महात्मा गांधी मार्ग", "केंद्रीय पुस्तकालय"],
    ]

    private static let categories = [
        "museum", "park", "railway_station", "library", "square", "cafe", "theatre", "church",
    ]

    /// A page of places near each other, with digits that look random and are always the same.
    private static func page(_ names: [String], number: Int) -> [UInt8] {
        var state = UInt32(number + 1)
        func digits(below bound: UInt32) -> UInt32 {
            // Numerical Recipes, 3rd edition, section 7.1.4: a linear congruential generator modulo 2³².
            state = state &* 1_664_525 &+ 1_013_904_223
            return (state >> 8) % bound
        }
        let latitude = digits(below: 60)
        let longitude = digits(below: 180)
        var decimetres: UInt32 = 0
        let places = (0..<12).map { index in
            decimetres += digits(below: 90_000)
            let street = names[(index * 5 + 3) % names.count]
            let address =
                index % 3 == 0 ? #","address":"\#(digits(below: 200)) \#(street), \#(names[0])""# : ""
            let importance = index % 2 == 0 ? "" : #","importance":\#(digits(below: 1000))"#
            return """
                {"id":\(digits(below: 99_999)),"name":"\(names[index % names.count])",\
                "category":"\(categories[Int(digits(below: 8))])",\
                "latitude":\(latitude).\(digits(below: 9_999_999)),"longitude":\(longitude).\(digits(below: 99_999)),\
                "featured":\(index % 8 == 7),"distance":\(decimetres / 10).\(decimetres % 10)\(address),\
                "source":{"dataset":"places","id":"node/\(digits(below: 9_999_999))","license":"ODbL-1.0"}\(importance)}
                """
        }
        return Array("[\(places.joined(separator: ","))]".utf8)
    }
}
