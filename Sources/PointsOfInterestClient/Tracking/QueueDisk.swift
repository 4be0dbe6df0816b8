import Foundation

/// A queue's operations on its folder and files that differ between platforms, or that a test replaces.
struct QueueDisk: Sendable {
    /// Waits until the file of a descriptor is on the disk.
    var synchronize: FileSync = { QueueDisk.synchronize($0, command: QueueDisk.fullSync) }
    /// Writes bytes to a descriptor, write(2): returns how many, or -1 and the reason in `errno`.
    var write: @Sendable (_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int = {
        Foundation.write($0, $1, $2)
    }
    /// Keeps a folder out of backups, and unreadable until the device was first unlocked.
    var protect: @Sendable (URL) throws -> Void = { try QueueDisk.protect($0) }

    /// The command of fcntl(2) that reaches the disk itself; nil where fsync(2) does.
    ///
    /// On Apple's platforms fsync(2) only moves data to the drive, which "may not physically write the data to the
    /// platters for quite some time"; its manual page names `F_FULLFSYNC` for what has to survive a power failure.
    private static var fullSync: Int32? {
        #if canImport(Darwin)
            F_FULLFSYNC
        #else
            nil
        #endif
    }

    /// Synchronizes by a command of fcntl(2), or by fsync(2) where the file system doesn't support the command.
    ///
    /// - Parameters:
    ///   - descriptor: the file or folder.
    ///   - command: the command; nil for fsync(2) alone.
    ///   - fcntl: fcntl(2), or a test's stand-in.
    ///   - fsync: fsync(2), or a test's stand-in.
    /// - Returns: 0, or another number and the reason in `errno`.
    static func synchronize(
        _ descriptor: Int32, command: Int32?,
        fcntl: (_ descriptor: Int32, _ command: Int32) -> Int32 = { Foundation.fcntl($0, $1) },
        fsync: FileSync = { Foundation.fsync($0) }
    ) -> Int32 {
        guard let command else { return fsync(descriptor) }
        let result = fcntl(descriptor, command)
        // fcntl(2) lists the file systems that have F_FULLFSYNC. Others refuse it with one of these: SMB with ENOTSUP,
        // FUSE with EINVAL.
        guard result < 0, [ENOTSUP, EINVAL, ENOTTY].contains(errno) else { return min(result, 0) }
        return fsync(descriptor)
    }

    /// Sets the properties of a folder that only Apple's platforms know; elsewhere Foundation ignores them. New files in
    /// the folder get its protection.
    private static func protect(_ folder: URL) throws {
        var folder = folder
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try folder.setResourceValues(values)
        // Not a stricter protection: events are also tracked and sent in the background, on a locked device.
        try FileManager.default.setAttributes(
            [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
            ofItemAtPath: folder.path)
    }
}
