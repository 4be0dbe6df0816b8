// Declarations of this module speak in the types of the contract and of the exact order: who imports it needs them too.
@_exported import Geodesy
@_exported import PointsOfInterestServerAPI
