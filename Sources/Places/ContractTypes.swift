// Declarations of this module use the types of the contract and of the exact order, so code that imports it needs both.
@_exported import Geodesy
@_exported import PointsOfInterestServerAPI
