import Foundation

extension ContractConfiguration {
    /// What the environment of this process says.
    static let attempt = Result { () throws(ContractConfigurationError) in
        try ContractConfiguration(environment: ProcessInfo.processInfo.environment)
    }

    /// The same; where it can't be used, this process ends with one line and exit code 64.
    static let current: ContractConfiguration = {
        switch attempt {
        case .success(let configuration): return configuration
        case .failure(let error):
            FileHandle.standardError.write(Data("contract tests: \(error)\n".utf8))
            exit(64)
        }
    }()
}
