/* Produce requests encoded beforehand: CONNECTIONS x IN_FLIGHT, as many as are answered.
 *
 *   requests PORT TOPIC CONNECTIONS IN_FLIGHT SECONDS ACKS [TOPICS PARTITIONS PER_REQUEST BYTES]
 *
 * Produce v7. By default each request is the same bytes: partition 0, one batch with one record of
 * 100 bytes. With the last four arguments requests go round TOPICS (TOPIC-0, ... above one) of
 * PARTITIONS each, with a batch of one record of BYTES for each of PER_REQUEST partitions, which is
 * how Java's producer sends when it has something for many. One thread with epoll, so that the
 * client costs little and the broker is measured. Prints one JSON object.
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

#define GIVE_UP_SECONDS 60 /* Kafka takes seconds to touch a thousand index files at first */
#define ROUNDS_MIN 2 /* through all partitions, however long it takes */
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

typedef struct {
    uint8_t *data;
    int bytes;
} encoded;

static encoded *frames;
static int frame_count, next_frame;
static int topic_bytes, partitions_per_request = 1, value_bytes = 100;
static uint8_t *frame; /* under construction */
static int frame_bytes;

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

static void encode_batch(void) {
    int batch_length, crc, covered;
    integer(8, 0), batch_length = frame_bytes, integer(4, 0);
    integer(4, (uint32_t)-1), frame[frame_bytes++] = 2;
    crc = frame_bytes, integer(4, 0), covered = frame_bytes; /* attributes to the end */
    uint64_t now_ms = (uint64_t)time(NULL) * 1000;
    integer(2, 0), integer(4, 0), integer(8, now_ms), integer(8, now_ms);
    integer(8, ~0ull), integer(2, 0xffff), integer(4, ~0u), integer(4, 1);
    int length_bytes = value_bytes < 64 ? 1 : value_bytes < 8192 ? 2 : 3;
    varint(1 + 1 + 1 + 1 + length_bytes + value_bytes + 1); /* deltas, key, value, headers */
    frame[frame_bytes++] = 0, varint(0), varint(0), varint(-1), varint(value_bytes);
    memset(frame + frame_bytes, 'x', value_bytes), frame_bytes += value_bytes;
    varint(0);
    fill_in(batch_length, frame_bytes - batch_length - 4);
    fill_in(crc, crc32c(frame + covered, frame_bytes - covered));
}

static encoded encode(const char *topic, int acks, int first_partition) {
    frame = malloc(256 + partitions_per_request * (128 + value_bytes));
    frame_bytes = 4; /* the length goes here */
    integer(2, 0), integer(2, 7), integer(4, 1), integer(2, 1), frame[frame_bytes++] = 'l';
    integer(2, (uint16_t)-1), integer(2, (uint16_t)acks), integer(4, 30000);
    integer(4, 1), integer(2, topic_bytes);
    memcpy(frame + frame_bytes, topic, topic_bytes), frame_bytes += topic_bytes;
    integer(4, partitions_per_request);
    for (int i = 0; i < partitions_per_request; i++) {
        integer(4, first_partition + i);
        int records_length = frame_bytes;
        integer(4, 0);
        encode_batch();
        fill_in(records_length, frame_bytes - records_length - 4);
    }
    fill_in(0, frame_bytes - 4);
    return (encoded){frame, frame_bytes};
}

static void encode_all(const char *name, int acks, int topics, int partitions) {
    char topic[256];
    frames = malloc(sizeof *frames * topics * (partitions / partitions_per_request + 1));
    for (int i = 0; i < topics; i++) {
        snprintf(topic, sizeof topic, topics > 1 ? "%s-%d" : "%s", name, i);
        topic_bytes = strlen(topic);
        for (int at = 0; at + partitions_per_request <= partitions; at += partitions_per_request)
            frames[frame_count++] = encode(topic, acks, at);
    }
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
    for (int i = 0; i < n; i++) {
        encoded *each = &frames[next_frame++ % frame_count];
        c->started[c->sent++ % IN_FLIGHT_MAX] = t;
        if (write(c->fd, each->data, each->bytes) != each->bytes) die("write");
    }
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
        /* [4 correlation][4 topics][2 + n name][4 partitions] then, for each,
         * [4 index][2 error][8 base offset][8 append time][8 log start] */
        const uint8_t *error_at = c->in + at + 4 + 4 + 4 + 2 + topic_bytes + 4 + 4;
        for (int i = 0; i < partitions_per_request; i++, error_at += 30) {
            int16_t error = (int16_t)(error_at[0] << 8 | error_at[1]);
            if (error) refused++, first_error = error;
        }
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
    if (argc != 7 && argc != 11) die("usage: see the head of the source");
    int topics = 1, partitions = 1;
    if (argc == 11) {
        topics = atoi(argv[7]), partitions = atoi(argv[8]);
        partitions_per_request = atoi(argv[9]), value_bytes = atoi(argv[10]);
    }
    int connections = atoi(argv[3]), in_flight = atoi(argv[4]);
    double duration = atof(argv[5]);
    if (connections < 1 || connections > CONNECTIONS_MAX) die("connections out of range");
    if (in_flight < 1 || in_flight > IN_FLIGHT_MAX || strlen(argv[2]) > 200) die("out of range");
    if (topics < 1 || topics > 10 || partitions_per_request < 1 || partitions_per_request > 500)
        die("topics or partitions per request out of range");
    encode_all(argv[2], atoi(argv[6]), topics, partitions);
    samples = malloc(sizeof(float) * SAMPLES_MAX);
    connection *all = calloc(connections, sizeof *all);
    int epoll = epoll_create1(0);
    for (int i = 0; i < connections; i++) open_connection(&all[i], atoi(argv[1]), epoll, i);
    double start = now(), used = cpu();
    for (int i = 0; i < connections; i++) send_frames(&all[i], in_flight, now());
    long outstanding = (long)connections * in_flight;
    while (outstanding > 0 && now() - start < duration + GIVE_UP_SECONDS) {
        struct epoll_event events[256];
        int ready = epoll_wait(epoll, events, 256, 100);
        for (int i = 0; i < ready; i++) {
            connection *c = &all[events[i].data.u32];
            int answers = receive(c);
            double t = now();
            int is_over = t - start > duration && next_frame >= ROUNDS_MIN * frame_count;
            int more = is_over ? 0 : answers;
            send_frames(c, more, t);
            outstanding += more - answers;
        }
    }
    double wall = now() - start;
    if (!sample_count) die("no answer");
    qsort(samples, sample_count, sizeof *samples, ascending);
    double records = (double)sample_count * partitions_per_request;
    printf("{\"requests\": %ld, \"records\": %.0f, \"bytes\": %.0f, \"seconds\": %.6f, \"p50_us\": %.1f, \"p99_us\": %.1f, "
           "\"refused\": %ld, \"error_code\": %d, \"unanswered\": %ld, \"client_cpu_seconds\": %.3f}\n",
           sample_count, records, records * value_bytes, wall, samples[sample_count / 2] * 1e6,
           samples[sample_count * 99 / 100] * 1e6, refused, first_error, outstanding, cpu() - used);
    return 0;
}
