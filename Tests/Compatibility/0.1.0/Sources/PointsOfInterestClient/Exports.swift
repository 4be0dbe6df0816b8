// An app imports the client alone and has the contract's types with it.
@_exported import PointsOfInterestAPI
