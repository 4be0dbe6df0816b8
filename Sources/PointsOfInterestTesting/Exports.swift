// A test imports this alone and has the client with it, and what requests to the mock are made of.
@_exported import MockServerAPI
@_exported import PointsOfInterestClient
