// Declarations of this module speak in the contract's types: who imports it needs them too.
@_exported import PointsOfInterestServerAPI
