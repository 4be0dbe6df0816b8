// This module reads and writes the types of the contract.
@_exported import PointsOfInterestAPI
