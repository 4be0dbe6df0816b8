import EventLoop
import Foundation
import Locking
import PointsOfInterestAPI
import Randomness

/// What libFuzzer calls with each input (https://llvm.org/docs/LibFuzzer.html). It brings `main`.
@_cdecl("LLVMFuzzerTestOneInput")
package func runTarget(_ start: UnsafeRawPointer?, _ count: Int) -> CInt {
    Target.chosen.run([UInt8](UnsafeRawBufferPointer(start: start, count: count)))
    return 0
}

/// What is fuzzed: `POI_FUZZ_TARGET` names one. Each has a file in `Corpus`.
enum Target: String, CaseIterable {
    case connection, copy, cursor, events, gzip, migrations, places, queries, rows

    static let chosen: Target = {
        let name = ProcessInfo.processInfo.environment["POI_FUZZ_TARGET"] ?? ""
        guard let target = Target(rawValue: name) else {
            let names = allCases.map(\.rawValue).joined(separator: ", ")
            FileHandle.standardError.write(Data("POI_FUZZ_TARGET is none of \(names)\n".utf8))
            exit(64)
        }
        return target
    }()

    /// Runs the code with an input, and stops the process where a property doesn't hold.
    func run(_ input: [UInt8]) {
        switch self {
        case .connection: fuzzConnection(input)
        case .copy: fuzzCopy(input)
        case .cursor: fuzzCursor(input)
        case .events: fuzzEvents(input)
        case .gzip: fuzzGzip(input)
        case .migrations: fuzzMigrations(input)
        case .places: fuzzPlaces(input)
        case .queries: fuzzQueries(input)
        case .rows: fuzzRows(input)
        }
    }
}

/// Stops the process with a message, which libFuzzer takes for a finding. `precondition` says nothing in release mode.
func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { fatalError(message()) }
}

extension [UInt8] {
    /// The same random numbers for the same input, so that a finding's bytes repeat it.
    var generator: SeededGenerator { SeededGenerator(seed: StableHash.hash(self)) }

    /// The bytes in up to five pieces.
    var pieces: [[UInt8]] {
        var random = generator
        let cuts = (0..<Int.random(in: 1...4, using: &random)).map { _ in
            Int.random(in: 0...count, using: &random)
        }
        let ends = [0] + cuts.sorted() + [count]
        return zip(ends, ends.dropFirst()).map { [UInt8](self[$0..<$1]) }.filter { !$0.isEmpty }
    }

    /// The bytes as text, for messages.
    var text: String { String(decoding: self, as: UTF8.self) }
}

/// The loop of targets whose code is confined to one. libFuzzer's thread waits for it.
struct LoopThread {
    static let only = LoopThread()

    private let thread: EventLoopThread

    private init() {
        do { thread = try EventLoopThread.start(name: "fuzzed-loop") } catch { fatalError("\(error)") }
    }

    var loop: EventLoop { thread.loop }

    /// Runs `body` on the loop.
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value {
        let done = DispatchSemaphore(value: 0)
        let value = Lock<Value?>(nil)
        thread.loop.execute {
            let made = body()
            value.withLock { $0 = made }
            done.signal()
        }
        done.wait()
        guard let made = value.withLock({ $0 }) else { fatalError("the loop's closure has returned nothing") }
        return made
    }
}
