// What this module reads and writes are the contract's types.
@_exported import PointsOfInterestAPI
