/* The few functions and the one structure of librdkafka's C interface that the clients here use.
 *
 * Declared by hand so that the library inside the confluent-kafka wheel, which comes without
 * headers, can be linked: the benchmark then drives the very library that confluent-kafka users
 * run, and needs no package of the system. The interface is stable within librdkafka 1 and 2.
 */
#ifndef RDKAFKA_ABI_H
#define RDKAFKA_ABI_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct rd_kafka_s rd_kafka_t;
typedef struct rd_kafka_topic_s rd_kafka_topic_t;
typedef struct rd_kafka_conf_s rd_kafka_conf_t;
typedef struct rd_kafka_topic_conf_s rd_kafka_topic_conf_t;
typedef struct rd_kafka_queue_s rd_kafka_queue_t;
struct rd_kafka_metadata;

typedef struct {
    int err;
    rd_kafka_topic_t *rkt;
    int32_t partition;
    void *payload;
    size_t len;
    void *key;
    size_t key_len;
    int64_t offset;
    void *private_;
} rd_kafka_message_t;

enum { RD_KAFKA_PRODUCER = 0, RD_KAFKA_CONSUMER = 1 };
enum { RD_KAFKA_MSG_F_COPY = 2 };
enum { RD_KAFKA_OFFSET_BEGINNING = -2 };

rd_kafka_conf_t *rd_kafka_conf_new(void);
int rd_kafka_conf_set(rd_kafka_conf_t *, const char *name, const char *value, char *error, size_t);
typedef void (*delivery_t)(rd_kafka_t *, const rd_kafka_message_t *, void *opaque);
void rd_kafka_conf_set_dr_msg_cb(rd_kafka_conf_t *, delivery_t);
rd_kafka_t *rd_kafka_new(int type, rd_kafka_conf_t *, char *error, size_t);
rd_kafka_topic_t *rd_kafka_topic_new(rd_kafka_t *, const char *, rd_kafka_topic_conf_t *);
int rd_kafka_metadata(rd_kafka_t *, int all, rd_kafka_topic_t *,
                      const struct rd_kafka_metadata **, int timeout_ms);
int rd_kafka_produce(rd_kafka_topic_t *, int32_t partition, int flags, void *payload, size_t,
                     const void *key, size_t, void *opaque);
int rd_kafka_poll(rd_kafka_t *, int timeout_ms);
int rd_kafka_outq_len(rd_kafka_t *);
rd_kafka_queue_t *rd_kafka_queue_new(rd_kafka_t *);
int rd_kafka_consume_start_queue(rd_kafka_topic_t *, int32_t, int64_t offset, rd_kafka_queue_t *);
ssize_t rd_kafka_consume_batch_queue(rd_kafka_queue_t *, int timeout_ms, rd_kafka_message_t **,
                                     size_t);
void rd_kafka_message_destroy(rd_kafka_message_t *);
const char *rd_kafka_message_errstr(const rd_kafka_message_t *);
const char *rd_kafka_err2str(int);
#endif
