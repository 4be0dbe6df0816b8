// Sends HTTP/1.1 or RESP requests from a file over connections that stay open, one request at a time on each, and
// measures how long the responses take.
//
//     load PORT FILE CONNECTIONS SECONDS RATE [COUNT]
//
// Ends after SECONDS, or once COUNT requests were sent, 16 million if it isn't said.
//
// RATE 0: closed loop. Each connection sends its next request when the response to the last one has arrived.
// RATE > 0: open loop. Requests are due at random moments (a Poisson process), whatever happened to those before. A
// request that finds no free connection waits, and its time counts from the moment at which it was due: no coordinated
// omission. After the end, what was due and not sent yet has 2 s more; the rest is reported as unsent.
//
// LOAD_SOURCE is the address that the connections come from, so that there are several clients.
//
// FILE has a line with each request's length, then its bytes. Prints one line of JSON. Responses of up to 256 KiB.
// "waited" is for how many seconds this program was ready to run and had no processor.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 256 << 10, MAXIMUM_REQUESTS = 16 << 20 };
struct request { const char *bytes; size_t length; };
struct connection { int file; uint64_t due; size_t count; char bytes[BUFFER + 1]; };

static struct request *requests;
static size_t request_count, sent, received, failed, items;
static size_t maximum_count = MAXIMUM_REQUESTS;
static uint64_t received_bytes;
// A queue: the connections take turns, as those of different clients do.
static struct connection **free_connections;
static size_t connection_count, free_count, first_free;
static uint32_t *latencies; // in units of 100 ns

static void die(const char *what) {
    perror(what);
    exit(1);
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// Nanoseconds in which this thread was ready to run and had no processor (the second number; proc-schedstat, Linux).
static uint64_t waited(void) {
    unsigned long long ran, waited = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    if (!file || fscanf(file, "%llu %llu", &ran, &waited) != 2) die("/proc/thread-self/schedstat");
    fclose(file);
    return waited;
}

static void read_requests(const char *path) {
    FILE *file = fopen(path, "rb");
    size_t length, capacity = 0;
    if (!file) die(path);
    while (fscanf(file, "%zu\n", &length) == 1) {
        char *bytes = malloc(length);
        if (!bytes || fread(bytes, 1, length, file) != length) die(path);
        if (request_count == capacity) {
            capacity = capacity ? capacity * 2 : 1024;
            if (!(requests = realloc(requests, capacity * sizeof *requests))) die("realloc");
        }
        requests[request_count++] = (struct request){bytes, length};
    }
    fclose(file);
    if (!request_count) die("no requests");
}

static struct connection *connect_to(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct connection *connection = calloc(1, sizeof *connection);
    int one = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!connection || (connection->file = socket(AF_INET, SOCK_STREAM, 0)) < 0) die("socket");
    if (getenv("LOAD_SOURCE")) {
        struct sockaddr_in source = {.sin_family = AF_INET};
        if (!inet_aton(getenv("LOAD_SOURCE"), &source.sin_addr)) die("LOAD_SOURCE");
        if (bind(connection->file, (struct sockaddr *)&source, sizeof source) < 0) die("bind");
    }
    if (connect(connection->file, (struct sockaddr *)&address, sizeof address) < 0) die("connect");
    setsockopt(connection->file, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return connection;
}

static void release(struct connection *connection) {
    free_connections[(first_free + free_count++) % connection_count] = connection;
}

static struct connection *take(void) {
    struct connection *connection = free_connections[first_free];
    first_free = (first_free + 1) % connection_count;
    free_count--;
    return connection;
}

// A request is small, so a free connection's buffer takes all of it.
static void send_request(struct connection *connection, uint64_t due) {
    struct request *request = &requests[sent++ % request_count];
    connection->due = due;
    connection->count = 0;
    if (write(connection->file, request->bytes, request->length) != (ssize_t)request->length) die("write");
}

// The length of an HTTP response, or 0 while it isn't complete. Only responses with Content-Length.
static size_t http_length(const char *bytes, size_t count) {
    const char *end = memmem(bytes, count, "\r\n\r\n", 4);
    if (!end) return 0;
    const char *field = strcasestr(bytes, "\r\ncontent-length:");
    size_t length = (size_t)(end - bytes) + 4 + (field && field < end ? strtoul(field + 17, NULL, 10) : 0);
    if (count < length) return 0;
    if (memcmp(bytes, "HTTP/1.1 2", 10) != 0) failed++;
    return length;
}

// The length of the RESP value at the beginning, or 0 while it isn't complete.
static size_t resp_length(const char *bytes, size_t count, int depth) {
    const char *end = memmem(bytes, count, "\r\n", 2);
    if (!end) return 0;
    size_t length = (size_t)(end - bytes) + 2;
    long number = strtol(bytes + 1, NULL, 10);
    if (bytes[0] == '-') failed++;
    if (bytes[0] == '$' && number >= 0) length += (size_t)number + 2;
    for (long i = 0; bytes[0] == '*' && i < number; i++) {
        size_t part = length < count ? resp_length(bytes + length, count - length, depth + 1) : 0;
        if (!part) return 0;
        length += part;
    }
    if (length > count) return 0;
    if (depth == 0 && bytes[0] == '*') items += (size_t)number;
    return length;
}

// Reads what has come; true if a response is complete.
static int receive(struct connection *connection) {
    char *bytes = connection->bytes;
    ssize_t count = read(connection->file, bytes + connection->count, BUFFER - connection->count);
    if (count <= 0) die("the server closed a connection, or a response is too long");
    connection->count += (size_t)count;
    bytes[connection->count] = 0;
    size_t length = bytes[0] == 'H' ? http_length(bytes, connection->count) : resp_length(bytes, connection->count, 0);
    if (!length) return 0;
    uint64_t ticks = (now() - connection->due) / 100;
    latencies[received++] = ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)ticks;
    received_bytes += length;
    return 1;
}

static int compare(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void report(double seconds, double unsent, double waited) {
    const double parts[] = {0.5, 0.9, 0.99, 0.999, 1};
    qsort(latencies, received, sizeof *latencies, compare);
    printf("{\"requests\": %zu, \"failed\": %zu, \"unsent\": %.0f, \"seconds\": %.6f, \"bytes\": %llu, \"items\": %zu, "
           "\"waited\": %.6f",
           received, failed, unsent, seconds, (unsigned long long)received_bytes, items, waited);
    for (size_t i = 0; i < 5 && received; i++) {
        size_t rank = (size_t)ceil(parts[i] * (double)received);
        printf(", \"p%g\": %.1f", parts[i] * 100, latencies[rank ? rank - 1 : 0] / 10.0);
    }
    printf("}\n");
}

static void run(int poll, double seconds, double rate) {
    uint64_t waited_before = waited(), start = now(), end = start + (uint64_t)(seconds * 1e9), due = start;
    struct epoll_event events[256];
    for (;;) {
        uint64_t time = now();
        while (free_count && sent < maximum_count && (rate > 0 ? due <= time && due < end : time < end)) {
            send_request(take(), rate > 0 ? due : time);
            if (rate > 0) due += (uint64_t)(-log(1 - drand48()) / rate * 1e9);
        }
        int isOver = (rate > 0 ? due >= end : time >= end) || sent == maximum_count;
        if ((isOver && free_count == connection_count) || time > end + 2000000000u) break;
        uint64_t wait = rate > 0 && free_count && due > time && due < end ? due - time : 100000000;
        struct timespec timeout = {(time_t)(wait / 1000000000u), (long)(wait % 1000000000u)};
        int count = epoll_pwait2(poll, events, 256, &timeout, NULL);
        for (int i = 0; i < count; i++)
            if (receive(events[i].data.ptr)) release(events[i].data.ptr);
    }
    report((double)(now() - start) / 1e9, rate > 0 && due < end ? (double)(end - due) / 1e9 * rate : 0,
           (double)(waited() - waited_before) / 1e9);
}

int main(int count, char **arguments) {
    if (count != 6 && count != 7)
        return fprintf(stderr, "usage: load PORT FILE CONNECTIONS SECONDS RATE [COUNT]\n"), 64;
    if (count == 7 && strtoul(arguments[6], NULL, 10) < maximum_count) maximum_count = strtoul(arguments[6], NULL, 10);
    connection_count = strtoul(arguments[3], NULL, 10);
    int poll = epoll_create1(0);
    // Sleeps end when they should: the default is up to 50 us later.
    prctl(PR_SET_TIMERSLACK, 1);
    srand48(1);
    read_requests(arguments[2]);
    latencies = malloc(maximum_count * sizeof *latencies);
    free_connections = calloc(connection_count, sizeof *free_connections);
    if (poll < 0 || !latencies || !free_connections) die("start");
    for (size_t i = 0; i < connection_count; i++) {
        struct connection *connection = connect_to(atoi(arguments[1]));
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
        if (epoll_ctl(poll, EPOLL_CTL_ADD, connection->file, &event) < 0) die("epoll_ctl");
        release(connection);
    }
    run(poll, strtod(arguments[4], NULL), strtod(arguments[5], NULL));
    return 0;
}
