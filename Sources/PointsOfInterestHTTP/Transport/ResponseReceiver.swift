import Foundation
import Locking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Receives the response to one request: its head, and no more of its body than a bound.
///
/// It is the delegate of the request's task, so that it is asked whatever delegate the session has. Where it has no method,
/// the session's delegate is called.
final class ResponseReceiver: NSObject, URLSessionDataDelegate {
    /// The maximum number of bytes of a body, decompressed. The service's largest response has less than a hundredth of it,
    /// but a stranger's may be of any size, and a few compressed bytes of it may be very many.
    static let maximumBodyBytes = 16 << 20

    private let body = Lock(Data())
    private let completion: @Sendable (Result<ServiceResponse, RequestError>) -> Void

    /// - Parameter completion: called once, on the session's delegate queue.
    init(completion: @escaping @Sendable (Result<ServiceResponse, RequestError>) -> Void) {
        self.completion = completion
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = body.withLock { body in
            if body.count <= Self.maximumBodyBytes { body.append(data) }
            return body.count > Self.maximumBodyBytes
        }
        if isTooLarge { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let body = body.withLock { $0 }
        if body.count > Self.maximumBodyBytes {
            completion(.failure(.bodyTooLarge))
        } else if let error {
            completion(.failure(RequestError(transportError: error)))
        } else if let response = task.response as? HTTPURLResponse {
            completion(.success(ServiceResponse(head: ResponseHead(response), body: body)))
        } else {
            completion(.failure(.notHTTP))
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        RedirectRefusal.shared.urlSession(
            session, task: task, willPerformHTTPRedirection: response, newRequest: request,
            completionHandler: completionHandler)
    }
}

extension RequestError {
    /// The error of a response whose body is larger than anybody reads.
    static let bodyTooLarge = RequestError.transport(
        code: URLError.Code.dataLengthExceedsMaximum.rawValue,
        reason: "the body has more than \(ResponseReceiver.maximumBodyBytes) bytes")
}

extension URLSession {
    /// Makes a task whose response a receiver gets.
    func task(with request: URLRequest, receiver: ResponseReceiver) -> URLSessionTask {
        #if canImport(FoundationNetworking)
            return ReceivingSession.like(self).task(with: request, receiver: receiver)
        #else
            let task = dataTask(with: request)
            task.delegate = receiver
            return task
        #endif
    }
}

#if canImport(FoundationNetworking)
    /// A session like another one, that hands what its tasks get to their receivers: on Linux (Swift 6.3) a task's own
    /// delegate gets no data.
    private final class ReceivingSession: Sendable {
        private let session: URLSession
        private let router: ReceiverRouter

        private init(_ base: URLSession) {
            router = ReceiverRouter(base.delegate)
            session = URLSession(
                configuration: base.configuration, delegate: router, delegateQueue: base.delegateQueue)
        }

        deinit { session.finishTasksAndInvalidate() }

        func task(with request: URLRequest, receiver: ResponseReceiver) -> URLSessionTask {
            let task = session.dataTask(with: request)
            router.add(receiver, for: task)
            return task
        }

        private struct Known {
            weak var base: URLSession?
            let session: ReceivingSession
        }

        private static let known = Lock<[ObjectIdentifier: Known]>([:])

        /// Returns the session like another one, always the same as long as there is that one.
        static func like(_ base: URLSession) -> ReceivingSession {
            known.withLock { known in
                if let found = known[ObjectIdentifier(base)], found.base === base { return found.session }
                known = known.filter { $0.value.base != nil }
                let session = ReceivingSession(base)
                known[ObjectIdentifier(base)] = Known(base: base, session: session)
                return session
            }
        }
    }

    /// The delegate of a `ReceivingSession`. What isn't a receiver's goes to the delegate of the app's session.
    private final class ReceiverRouter: NSObject, URLSessionDataDelegate {
        private let base: (any URLSessionDelegate)?
        private let receivers = Lock<[Int: ResponseReceiver]>([:])

        init(_ base: (any URLSessionDelegate)?) {
            self.base = base
        }

        func add(_ receiver: ResponseReceiver, for task: URLSessionTask) {
            receivers.withLock { $0[task.taskIdentifier] = receiver }
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            let receiver = receivers.withLock { $0[dataTask.taskIdentifier] }
            receiver?.urlSession(session, dataTask: dataTask, didReceive: data)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
        ) {
            let receiver = receivers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
            receiver?.urlSession(session, task: task, didCompleteWithError: error)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            RedirectRefusal.shared.urlSession(
                session, task: task, willPerformHTTPRedirection: response, newRequest: request,
                completionHandler: completionHandler)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) ->
                Void
        ) {
            guard let base = base as? any URLSessionTaskDelegate else {
                return completionHandler(.performDefaultHandling, nil)
            }
            base.urlSession(
                session, task: task, didReceive: challenge, completionHandler: completionHandler)
        }
    }
#endif
