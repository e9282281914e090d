/* Small requests: CONNECTIONS x IN_FLIGHT Produce requests of one record, as many as are answered.
 *
 *   requests PORT TOPIC CONNECTIONS IN_FLIGHT SECONDS ACKS
 *
 * Each request is the same bytes: Produce v7, partition 0, one batch with one record of 100 bytes,
 * encoded once. One thread with epoll, so that the client costs little and the broker is measured.
 * Prints one JSON object.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define VALUE_BYTES 100
#define IN_FLIGHT_MAX 64
#define CONNECTIONS_MAX 1024
#define SAMPLES_MAX 20000000

typedef struct {
    int fd;
    uint32_t sent, answered; /* positions in the ring of start times */
    double started[IN_FLIGHT_MAX];
    uint8_t in[16384];
    int in_bytes;
} connection;

static uint8_t frame[1024];
static int frame_bytes;
static int topic_bytes;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static double cpu(void) {
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return r.ru_utime.tv_sec + r.ru_stime.tv_sec + (r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

static void die(const char *what) {
    fprintf(stderr, "%s: %s\n", what, errno ? strerror(errno) : "");
    exit(2);
}

static uint32_t crc32c(const uint8_t *data, int n) { /* once per run: no table, no instruction */
    uint32_t crc = ~0u;
    while (n--) {
        crc ^= *data++;
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >> 1) ^ 0x82f63b78u : crc >> 1;
    }
    return ~crc;
}

static void integer(int width, uint64_t value) {
    for (int i = width - 1; i >= 0; i--) frame[frame_bytes++] = value >> (8 * i);
}

static void varint(int64_t value) {
    uint64_t zigzag = ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
    for (; zigzag >= 128; zigzag >>= 7) frame[frame_bytes++] = zigzag | 128;
    frame[frame_bytes++] = zigzag;
}

static void fill_in(int position, uint32_t value) {
    int end = frame_bytes;
    frame_bytes = position;
    integer(4, value);
    frame_bytes = end;
}

static void encode(const char *topic, int acks) {
    frame_bytes = 4; /* the length goes here */
    integer(2, 0), integer(2, 7), integer(4, 1), integer(2, 1), frame[frame_bytes++] = 'l';
    integer(2, (uint16_t)-1), integer(2, (uint16_t)acks), integer(4, 30000);
    integer(4, 1), integer(2, topic_bytes);
    memcpy(frame + frame_bytes, topic, topic_bytes), frame_bytes += topic_bytes;
    integer(4, 1), integer(4, 0);
    int records_length = frame_bytes;
    integer(4, 0);
    int batch = frame_bytes;
    integer(8, 0);
    int batch_length = frame_bytes;
    integer(4, 0), integer(4, (uint32_t)-1), frame[frame_bytes++] = 2;
    int crc = frame_bytes;
    integer(4, 0);
    int covered = frame_bytes; /* by the crc: attributes to the end */
    uint64_t now_ms = (uint64_t)time(NULL) * 1000;
    integer(2, 0), integer(4, 0), integer(8, now_ms), integer(8, now_ms);
    integer(8, ~0ull), integer(2, 0xffff), integer(4, ~0u), integer(4, 1);
    varint(1 + 1 + 1 + 1 + 2 + VALUE_BYTES + 1); /* attributes, deltas, key, value, headers */
    frame[frame_bytes++] = 0, varint(0), varint(0), varint(-1), varint(VALUE_BYTES);
    memset(frame + frame_bytes, 'x', VALUE_BYTES), frame_bytes += VALUE_BYTES;
    varint(0);
    fill_in(0, frame_bytes - 4);
    fill_in(records_length, frame_bytes - batch);
    fill_in(batch_length, frame_bytes - batch_length - 4);
    fill_in(crc, crc32c(frame + covered, frame_bytes - covered));
}

static void open_connection(connection *c, int port, int epoll, int index) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    int on = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    c->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (c->fd < 0 || connect(c->fd, (void *)&address, sizeof address)) die("connect");
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = index};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event)) die("epoll");
}

static void send_frames(connection *c, int n, double t) {
    uint8_t out[IN_FLIGHT_MAX * sizeof frame];
    int bytes = 0;
    for (int i = 0; i < n; i++) {
        memcpy(out + bytes, frame, frame_bytes);
        bytes += frame_bytes;
        c->started[c->sent++ % IN_FLIGHT_MAX] = t;
    }
    if (bytes && write(c->fd, out, bytes) != bytes) die("write");
}

static float *samples;
static long sample_count, refused;
static int first_error;

/* Takes in what has come; returns the number of whole answers. */
static int receive(connection *c) {
    int n = read(c->fd, c->in + c->in_bytes, sizeof c->in - c->in_bytes), at = 0, answers = 0;
    if (n <= 0) die("the broker closed the connection");
    c->in_bytes += n;
    double t = now();
    while (c->in_bytes - at >= 4) {
        uint32_t length;
        memcpy(&length, c->in + at, 4), length = ntohl(length);
        if ((uint32_t)(c->in_bytes - at - 4) < length) break;
        /* [4 correlation][4 topics][2 + n name][4 partitions][4 index][2 error] */
        int error_at = at + 4 + 4 + 4 + 2 + topic_bytes + 4 + 4;
        int16_t error = (int16_t)(c->in[error_at] << 8 | c->in[error_at + 1]);
        if (error) refused++, first_error = error;
        if (sample_count < SAMPLES_MAX)
            samples[sample_count++] = t - c->started[c->answered % IN_FLIGHT_MAX];
        c->answered++, answers++, at += 4 + length;
    }
    memmove(c->in, c->in + at, c->in_bytes -= at);
    return answers;
}

static int ascending(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
    if (argc != 7) die("usage: requests PORT TOPIC CONNECTIONS IN_FLIGHT SECONDS ACKS");
    int connections = atoi(argv[3]), in_flight = atoi(argv[4]);
    double duration = atof(argv[5]);
    topic_bytes = strlen(argv[2]);
    if (connections < 1 || connections > CONNECTIONS_MAX) die("connections out of range");
    if (in_flight < 1 || in_flight > IN_FLIGHT_MAX || topic_bytes > 200) die("out of range");
    encode(argv[2], atoi(argv[6]));
    samples = malloc(sizeof(float) * SAMPLES_MAX);
    connection *all = calloc(connections, sizeof *all);
    int epoll = epoll_create1(0);
    for (int i = 0; i < connections; i++) open_connection(&all[i], atoi(argv[1]), epoll, i);
    double start = now(), used = cpu();
    for (int i = 0; i < connections; i++) send_frames(&all[i], in_flight, now());
    long outstanding = (long)connections * in_flight;
    while (outstanding > 0 && now() - start < duration + 5) {
        struct epoll_event events[256];
        int ready = epoll_wait(epoll, events, 256, 100);
        for (int i = 0; i < ready; i++) {
            connection *c = &all[events[i].data.u32];
            int answers = receive(c);
            double t = now();
            int more = t - start < duration ? answers : 0;
            send_frames(c, more, t);
            outstanding += more - answers;
        }
    }
    double wall = now() - start;
    if (!sample_count) die("no answer");
    qsort(samples, sample_count, sizeof *samples, ascending);
    printf("{\"requests\": %ld, \"seconds\": %.6f, \"p50_us\": %.1f, \"p99_us\": %.1f, "
           "\"refused\": %ld, \"error_code\": %d, \"unanswered\": %ld, \"client_cpu_seconds\": %.3f}\n",
           sample_count, wall, samples[sample_count / 2] * 1e6,
           samples[sample_count * 99 / 100] * 1e6, refused, first_error, outstanding, cpu() - used);
    return 0;
}
