// A test imports this alone and has the client with it.
@_exported import PointsOfInterestClient
