/* One librdkafka client in C: produce for a time, consume a count, or produce at a rate.
 *
 *   bulk produce BOOTSTRAP TOPIC SETTING=VALUE...
 *   bulk consume BOOTSTRAP TOPIC SETTING=VALUE...
 *   bulk latency BOOTSTRAP TOPIC SETTING=VALUE...
 *
 * Settings of this program: size (bytes of a value), seconds, bytes_max, count, rate (records/s),
 * partitions (records go round them). All others are librdkafka's.
 * Prints one JSON object. Values are slices of a megabyte of log lines, so that compression has
 * something to do and not everything.
 */
#include "rdkafka_abi.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define POOL_BYTES (1 << 20)
#define POLL_BATCH 10000
#define GIVE_UP_SECONDS 60.0

static double seconds = 1, bytes_max = 4e9, rate = 1000;
static long count = 0, failed = 0, measured = 0;
static int size = 1024, partitions = 1, first_error = 0;
static double *latencies;

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

static void die(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(2);
}

static char *text_pool(void) {
    static const char *verbs[] = {"GET", "PUT", "POST", "DELETE"};
    char *pool = malloc(POOL_BYTES + 512);
    size_t filled = 0;
    srand(7);
    while (filled < POOL_BYTES)
        filled += sprintf(pool + filled,
                          "{\"time\":17%08d,\"host\":\"web-%02d\",\"verb\":\"%s\",\"path\":\"/item/%d\","
                          "\"status\":%d,\"bytes\":%d,\"agent\":\"Mozilla/5.0\",\"id\":\"%08x%08x\"}\n",
                          rand() % 100000000, rand() % 32, verbs[rand() % 4], rand() % 5000,
                          rand() % 20 ? 200 : 404, rand() % 65536, rand(), rand());
    return pool;
}

static void delivered(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque) {
    (void)client, (void)opaque;
    if (message->err) {
        failed++;
        first_error = first_error ? first_error : message->err;
    } else if (latencies) {
        double sent;
        memcpy(&sent, message->payload, sizeof sent);
        latencies[measured++] = now() - sent;
    }
}

static int set_own(const char *name, const char *value) {
    if (!strcmp(name, "size")) return size = atoi(value), 1;
    if (!strcmp(name, "seconds")) return seconds = atof(value), 1;
    if (!strcmp(name, "bytes_max")) return bytes_max = atof(value), 1;
    if (!strcmp(name, "count")) return count = atol(value), 1;
    if (!strcmp(name, "rate")) return rate = atof(value), 1;
    if (!strcmp(name, "partitions")) return partitions = atoi(value), 1;
    return 0;
}

static rd_kafka_topic_t *open_topic(rd_kafka_t *client, const char *name) {
    const struct rd_kafka_metadata *metadata;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, name, NULL);
    int error = rd_kafka_metadata(client, 0, topic, &metadata, 30000);
    if (error) die(name, rd_kafka_err2str(error));
    return topic;
}

static void put(rd_kafka_t *client, rd_kafka_topic_t *topic, long i, char *value) {
    while (rd_kafka_produce(topic, i % partitions, RD_KAFKA_MSG_F_COPY, value, size, NULL, 0, NULL))
        rd_kafka_poll(client, 1);
}

static void drain(rd_kafka_t *client) {
    double give_up = now() + GIVE_UP_SECONDS;
    while (rd_kafka_outq_len(client) > 0 && now() < give_up) rd_kafka_poll(client, 1);
    failed += rd_kafka_outq_len(client);
}

static void print(long records, double wall, double used) {
    printf("{\"records\": %ld, \"bytes\": %.0f, \"seconds\": %.6f, \"client_cpu_seconds\": %.3f, "
           "\"failed\": %ld, \"error\": \"%s\"",
           records, (double)records * size, wall, used, failed,
           first_error ? rd_kafka_err2str(first_error) : "");
}

static void produce(rd_kafka_t *client, const char *name) {
    char *pool = text_pool();
    long sent = 0, limit = count ? count : (long)(bytes_max / size);
    rd_kafka_topic_t *topic = open_topic(client, name);
    double start = now(), used = cpu();
    while (sent < limit) {
        put(client, topic, sent, pool + (sent * 509) % (POOL_BYTES - size));
        if ((++sent & 255) == 0) {
            rd_kafka_poll(client, 0);
            if (!count && now() - start > seconds) break;
        }
    }
    drain(client);
    print(sent - failed, now() - start, cpu() - used);
    printf("}\n");
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void latency(rd_kafka_t *client, const char *name) {
    char *value = text_pool();
    long wanted = (long)(seconds * rate), warm = wanted / 10;
    latencies = malloc(sizeof(double) * (wanted + 1));
    if (size < (int)sizeof(double)) die("size", "too small to carry a time");
    rd_kafka_topic_t *topic = open_topic(client, name);
    double start = now(), used = cpu();
    for (long i = 0; i < wanted; i++) {
        while (now() - start < i / rate) rd_kafka_poll(client, 0);
        double t = now();
        memcpy(value, &t, sizeof t);
        put(client, topic, i, value);
    }
    while (rd_kafka_outq_len(client) > 0 && now() - start < seconds + GIVE_UP_SECONDS)
        rd_kafka_poll(client, 0);
    print(measured, now() - start, cpu() - used);
    /* The first tenth warms the connection up and is left out. */
    if (measured <= warm) die("latency", "too few answers");
    double *steady = latencies + warm;
    long n = measured - warm;
    qsort(steady, n, sizeof(double), ascending);
    printf(", \"p50_us\": %.1f, \"p99_us\": %.1f, \"p999_us\": %.1f}\n", steady[n / 2] * 1e6,
           steady[n * 99 / 100] * 1e6, steady[n * 999 / 1000] * 1e6);
}

static void consume(rd_kafka_t *client, const char *name) {
    rd_kafka_message_t **batch = malloc(sizeof(*batch) * POLL_BATCH);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    long got = 0;
    double bytes = 0;
    rd_kafka_topic_t *topic = open_topic(client, name);
    double start = now(), used = cpu();
    for (int i = 0; i < partitions; i++)
        rd_kafka_consume_start_queue(topic, i, RD_KAFKA_OFFSET_BEGINNING, queue);
    while (got < count && now() - start < GIVE_UP_SECONDS) {
        ssize_t n = rd_kafka_consume_batch_queue(queue, 100, batch, POLL_BATCH);
        for (ssize_t i = 0; i < n; i++) {
            if (batch[i]->err) first_error = batch[i]->err;
            else got++, bytes += batch[i]->len;
            rd_kafka_message_destroy(batch[i]);
        }
    }
    failed = count - got;
    size = got ? (int)(bytes / got) : size;
    print(got, now() - start, cpu() - used);
    printf("}\n");
}

int main(int argc, char **argv) {
    char error[512];
    if (argc < 4) die("usage", "bulk produce|consume|latency BOOTSTRAP TOPIC SETTING=VALUE...");
    const char *mode = argv[1];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", argv[2], error, sizeof error);
    for (int i = 4; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (!value) die(argv[i], "expected SETTING=VALUE");
        *value++ = 0;
        if (!set_own(argv[i], value) && rd_kafka_conf_set(conf, argv[i], value, error, sizeof error))
            die(argv[i], error);
    }
    int is_consumer = !strcmp(mode, "consume");
    /* A report per record costs the client more than the record; latency needs them. */
    if (!strcmp(mode, "produce"))
        rd_kafka_conf_set(conf, "delivery.report.only.error", "true", error, sizeof error);
    if (!is_consumer) rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    rd_kafka_t *client =
        rd_kafka_new(is_consumer ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER, conf, error, sizeof error);
    if (!client) die("librdkafka", error);
    if (is_consumer) consume(client, argv[3]);
    else if (!strcmp(mode, "latency")) latency(client, argv[3]);
    else produce(client, argv[3]);
    fflush(stdout);
    _exit(0); /* tearing a client down takes longer than some runs */
}
