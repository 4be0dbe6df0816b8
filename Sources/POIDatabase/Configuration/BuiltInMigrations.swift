/// The migrations that this program was built with, as `scripts/record/record-migrations` records them.
enum BuiltInMigrations {
    /// The SHA-256 of each file of the schema, by its name without the extension.
    static let schema: KeyValuePairs = [
        "0201_create_place_functions":
            "eb728783c24a7478751611177a0d2727d5ee355f9420173dfa23318048784dee",
        "0202_create_locations":
            "529ce30060e7a327ce51a3dbf8ed1d7b1af556c5c08a4aa4ea5f50c15380486d",
        "0203_create_datasets":
            "c00aafe1879024f31265399ffdeeac908ecfdb12834310406380628b40a64409",
        "0204_create_filterable_properties":
            "ce8933ce533da8ec14a7838e84f3579ab90d4a319f1346930caa73ad9ae2f757",
        "0205_create_dataset_log":
            "fef824da0e8233d04e7a95e26dd9e3a33e063889018456f750731f4573f68b1a",
        "0206_create_events":
            "d48260c38478bdac6266407f5bdda38830fc37fa00a2cc02b58ba828564d7c10",
        "0210_create_location_versions":
            "9d40300e0bf448a419156d0eed732b1f85efa73fd0125077f91e83d071e8a6be",
        "0211_let_editors_edit":
            "7427498840a101ab1fc24a2b599c94ba184610f35911f05039e6a661316163b8",
        "0212_create_place_reports":
            "bd9163a066033a40db23a7fa017cb654d768fda4c97f0470f8b6eba19b7040eb",
        "0213_label_categories":
            "bd9e7926ee41b4efaa4321bd81849e9f818088ca7f78fac73f6fee84051f2a26",
        "0214_list_recent_changes":
            "6d3f4e5f87f9a149085fa5bc577298d53f7d4ffcd116436b355d4cf0af75918a",
        "0215_create_dataset_refreshes":
            "53307f2aa328af850dd7a4fe6237c673f64cec0c14a253d9389ec73bf6176d32",
    ]

    /// The same of the seeds, which a folder may lack.
    static let seeds: KeyValuePairs = [
        "0207_insert_san_jose":
            "4dbfd8e0011448548535cf06389931a1638b3f777ef0678c96464fc77a37305b",
        "0208_insert_world":
            "ca87ea74b1ac19912b73e09296ad3d44c370a97d9950a95ad53990eab5f88609",
        "0209_describe_places":
            "64fcbbe3d00ea0d4139dab09936f6a2f9cbcbf488bc411d106bee3b16edad8f4",
    ]
}
