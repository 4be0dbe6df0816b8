// The tests are that library's. They run because it is linked: see "The contract suite" in Documentation/testing.md.
import PointsOfInterestContract
