import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Apache's Java client in the roles of tests/chaos/transactions/roles.py, which says what each does
 * and what its history means: one thread and one file of JSON lines for each role.
 *
 * <p>Arguments: bootstrap, directory, number, seed. Ends in good order when its standard input ends.
 */
public final class Transactor {
    private static final String INPUT = "input";
    private static final String OUTPUT = "output";
    private static final String MIXED = "mixed";
    private static final String GROUP = "transformers";
    private static final int PARTITION_COUNT = 4;
    private static final double ABORT_SHARE = 0.3;
    private static final int RECORDS_MAX = 8;
    private static final int PAUSE_MS_MAX = 50;
    private static final int PLAIN_PAUSE_MS_MAX = 400;
    private static final int OUTSTANDING_MAX = 500;
    private static final Duration POLL = Duration.ofMillis(200);

    private static volatile boolean isStopping;
    private static volatile boolean hasFailed;

    private interface Role {
        void run(Worker worker) throws Exception;
    }

    /** Nobody told how the transaction ended, or the producer is of no use: a new one. */
    private static final class Unclear extends Exception {
        private static final long serialVersionUID = 1;

        Unclear(Throwable cause) {
            super(cause);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, Role> roles = new LinkedHashMap<>();
        roles.put("write", Transactor::write);
        roles.put("transform", Transactor::transform);
        roles.put("mix", Transactor::mix);
        roles.put("idempotent", worker -> sendPlainly(worker, true));
        roles.put("plain", worker -> sendPlainly(worker, false));
        roles.put("committed", worker -> tail(worker, true));
        roles.put("uncommitted", worker -> tail(worker, false));
        List<Thread> threads = new ArrayList<>();
        for (Map.Entry<String, Role> role : roles.entrySet()) {
            Thread thread = new Thread(() -> run(role.getKey(), role.getValue(), arguments));
            thread.start();
            threads.add(thread);
        }
        Thread watch = new Thread(Transactor::stopAtEndOfInput);
        watch.setDaemon(true);
        watch.start();
        for (Thread thread : threads) {
            thread.join();
        }
        Runtime.getRuntime().halt(hasFailed ? 1 : 0);
    }

    private static void run(String role, Role body, String[] arguments) {
        Path file = Path.of(arguments[1], "java-" + role + "-" + arguments[2] + ".jsonl");
        String name = "java-" + role + "/" + arguments[2];
        Random dice = new Random((arguments[3] + name).hashCode());
        try (Journal journal = new Journal(file)) {
            body.run(new Worker(name, arguments[0], journal, dice));
        } catch (Throwable failure) {
            hasFailed = true;
            isStopping = true;
            failure.printStackTrace();
        }
    }

    private static void stopAtEndOfInput() {
        try {
            while (System.in.read() >= 0) {
                continue;
            }
        } catch (IOException ended) {
            // as good as an end
        }
        isStopping = true;
    }

    private static void write(Worker worker) throws Exception {
        KafkaProducer<String, String> producer = worker.newTransactional();
        while (producer != null && !isStopping) {
            Work work = new Work(worker, producer);
            try {
                work.begin();
                work.send(INPUT, Collections.nCopies(1 + worker.dice.nextInt(RECORDS_MAX), null));
                work.end();
            } catch (Unclear unclear) {
                producer.close(Duration.ZERO);
                producer = worker.newTransactional();
            }
            worker.pause(PAUSE_MS_MAX);
        }
        close(producer);
    }

    private static void mix(Worker worker) throws Exception {
        try (KafkaConsumer<String, String> reader = worker.assigned(List.of(MIXED), true)) {
            KafkaProducer<String, String> producer = worker.newTransactional();
            while (producer != null && !isStopping) {
                Work work = new Work(worker, producer);
                try {
                    work.begin();
                    for (int left = 1 + worker.dice.nextInt(3); left > 0; left--) {
                        if (worker.dice.nextBoolean()) {
                            work.poll(reader, false);
                        } else {
                            int count = 1 + worker.dice.nextInt(3);
                            work.send(MIXED, Collections.nCopies(count, null));
                        }
                    }
                    work.end();
                } catch (Unclear unclear) {
                    producer.close(Duration.ZERO);
                    producer = worker.newTransactional();
                }
                worker.pause(PAUSE_MS_MAX);
            }
            close(producer);
        }
    }

    private static void transform(Worker worker) throws Exception {
        try (KafkaConsumer<String, String> reader = worker.consumer(GROUP, true)) {
            reader.subscribe(List.of(INPUT), worker.rebalances);
            KafkaProducer<String, String> producer = worker.newTransactional();
            while (producer != null && !isStopping) {
                Work work = new Work(worker, producer);
                try {
                    List<ConsumerRecord<String, String>> records = work.poll(reader, true);
                    if (!records.isEmpty()) {
                        work.begin();
                        List<String> sources = new ArrayList<>();
                        records.forEach(record -> sources.add(record.value()));
                        work.send(OUTPUT, sources);
                        work.sendOffsets(records, reader);
                        if (!work.end()) {
                            rewind(worker, reader);
                        }
                    }
                } catch (Unclear unclear) {
                    producer.close(Duration.ZERO);
                    producer = worker.newTransactional();
                    rewind(worker, reader);
                }
            }
            close(producer);
        }
    }

    private static void rewind(Worker worker, KafkaConsumer<String, String> reader)
            throws Exception {
        long askedMs = System.currentTimeMillis();
        Map<TopicPartition, OffsetAndMetadata> committed = null;
        while (committed == null) {
            try {
                committed = reader.committed(reader.assignment());
            } catch (TimeoutException nothingIsKnownYet) {
                continue;
            }
        }
        StringBuilder offsets = new StringBuilder();
        for (Map.Entry<TopicPartition, OffsetAndMetadata> entry : committed.entrySet()) {
            long offset = entry.getValue() == null ? -1 : entry.getValue().offset();
            reader.seek(entry.getKey(), Math.max(offset, 0));
            append(offsets, entry.getKey(), offset);
        }
        worker.journal.after("{\"type\":\"moved\",\"process\":\"" + worker.name + "\"}");
        worker.journal.after(
            "{\"type\":\"offsets-fetched\",\"process\":\"" + worker.name + "\",\"group\":\"" + GROUP
                + "\",\"stable\":true,\"offsets\":[" + offsets + "],\"asked_ms\":" + askedMs
                + ",\"at_ms\":" + System.currentTimeMillis() + "}");
    }

    private static void sendPlainly(Worker worker, boolean isIdempotent) throws Exception {
        worker.newProcess();
        KafkaProducer<String, String> producer = worker.producer(null, isIdempotent);
        Deque<Future<RecordMetadata>> outstanding = new ArrayDeque<>();
        while (!isStopping) {
            List<String> values = new ArrayList<>();
            for (int left = 1 + worker.dice.nextInt(RECORDS_MAX); left > 0; left--) {
                String value = worker.nextValue();
                worker.journal.after(
                    "{\"type\":\"send\",\"process\":\"" + worker.process + "\",\"value\":\"" + value
                        + "\",\"idempotent\":" + isIdempotent + "}");
                values.add(value);
            }
            worker.journal.flush();
            for (String value : values) {
                Future<RecordMetadata> answer = worker.send(producer, INPUT, value);
                if (answer != null) {
                    outstanding.add(answer);
                }
            }
            while (!outstanding.isEmpty()
                    && (outstanding.peek().isDone() || outstanding.size() > OUTSTANDING_MAX)) {
                try {
                    outstanding.poll().get();
                } catch (Exception givenUp) {
                    continue; // ambiguous: the history says nothing of it
                }
            }
            worker.pause(PLAIN_PAUSE_MS_MAX);
        }
        producer.close(Duration.ofSeconds(60));
    }

    private static void tail(Worker worker, boolean isReadCommitted) throws Exception {
        List<String> topics = List.of(INPUT, OUTPUT, MIXED);
        try (KafkaConsumer<String, String> reader = worker.assigned(topics, isReadCommitted)) {
            while (!isStopping) {
                worker.journal.poll(
                    worker.name, records(reader.poll(POLL)), false, false, isReadCommitted, null);
            }
        }
    }

    private static List<ConsumerRecord<String, String>> records(
            ConsumerRecords<String, String> polled) {
        List<ConsumerRecord<String, String>> records = new ArrayList<>();
        polled.forEach(records::add);
        return records;
    }

    private static void close(KafkaProducer<String, String> producer) {
        if (producer != null) {
            producer.close(Duration.ofSeconds(5));
        }
    }

    private static void append(StringBuilder offsets, TopicPartition partition, long offset) {
        offsets.append(offsets.length() == 0 ? "" : ",").append("[\"").append(partition.topic());
        offsets.append("\",").append(partition.partition()).append(',').append(offset).append(']');
    }

    /** One role's place: its name, file, dice. */
    private static final class Worker {
        final String name;
        final Journal journal;
        final Random dice;
        final Rebalances rebalances = new Rebalances();
        String process = "";
        private final String bootstrap;
        private int incarnation;
        private int number;

        Worker(String name, String bootstrap, Journal journal, Random dice) {
            this.name = name;
            this.bootstrap = bootstrap;
            this.journal = journal;
            this.dice = dice;
        }

        String nextValue() {
            return process + ":" + number++;
        }

        void newProcess() {
            process = name + "." + incarnation++;
        }

        void pause(int msMax) throws InterruptedException {
            Thread.sleep(dice.nextInt(msMax));
        }

        /** Null when told to stop before the broker gave one. */
        KafkaProducer<String, String> newTransactional() throws InterruptedException {
            newProcess();
            while (!isStopping) {
                KafkaProducer<String, String> producer =
                    producer(name.substring(0, name.lastIndexOf('/')), true);
                try {
                    producer.initTransactions();
                    return producer;
                } catch (KafkaException notNow) {
                    producer.close(Duration.ZERO);
                    Thread.sleep(100);
                }
            }
            return null;
        }

        KafkaProducer<String, String> producer(String transactionalId, boolean isIdempotent) {
            Map<String, Object> config = common();
            config.put("enable.idempotence", isIdempotent);
            config.put("acks", "all");
            config.put("linger.ms", 1);
            config.put("retry.backoff.ms", 50);
            config.put("max.block.ms", 20_000);
            config.put("delivery.timeout.ms", transactionalId == null ? 120_000 : 10_000);
            if (transactionalId != null) {
                config.put("transactional.id", transactionalId);
                config.put("transaction.timeout.ms", 15_000);
            }
            return new KafkaProducer<>(config, new StringSerializer(), new StringSerializer());
        }

        KafkaConsumer<String, String> assigned(List<String> topics, boolean isReadCommitted) {
            KafkaConsumer<String, String> consumer = consumer(null, isReadCommitted);
            List<TopicPartition> partitions = new ArrayList<>();
            for (String topic : topics) {
                for (int partition = 0; partition < PARTITION_COUNT; partition++) {
                    partitions.add(new TopicPartition(topic, partition));
                }
            }
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            return consumer;
        }

        KafkaConsumer<String, String> consumer(String group, boolean isReadCommitted) {
            Map<String, Object> config = common();
            if (group != null) {
                config.put("group.id", group);
            }
            config.put("isolation.level", isReadCommitted ? "read_committed" : "read_uncommitted");
            config.put("partition.assignment.strategy", RangeAssignor.class.getName());
            config.put("auto.offset.reset", "earliest");
            config.put("enable.auto.commit", false);
            config.put("session.timeout.ms", 6_000);
            config.put("heartbeat.interval.ms", 300);
            config.put("max.poll.records", group == null ? 500 : RECORDS_MAX);
            return new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer());
        }

        /** Null when the record certainly did not leave the client. */
        Future<RecordMetadata> send(
                KafkaProducer<String, String> producer, String topic, String value) {
            int partition = dice.nextInt(PARTITION_COUNT);
            try {
                return producer.send(
                    new ProducerRecord<>(topic, partition, "key-" + dice.nextInt(50), value),
                    (placed, failure) -> {
                        if (failure == null) {
                            journal.acked(topic, partition, value, placed);
                        }
                    });
            } catch (KafkaException | IllegalStateException notSent) {
                journal.after("{\"type\":\"refused\",\"value\":\"" + value + "\"}");
                return null;
            }
        }

        private Map<String, Object> common() {
            Map<String, Object> config = new HashMap<>();
            config.put("bootstrap.servers", bootstrap);
            config.put("request.timeout.ms", 4_000);
            config.put("default.api.timeout.ms", 10_000);
            config.put("reconnect.backoff.ms", 20);
            config.put("reconnect.backoff.max.ms", 200);
            return config;
        }
    }

    /** One transaction, written down step by step; after a failure only an abort is left. */
    private static final class Work {
        private final Worker worker;
        private final KafkaProducer<String, String> producer;
        private final String name;
        private boolean hasFailed;

        Work(Worker worker, KafkaProducer<String, String> producer) {
            this.worker = worker;
            this.producer = producer;
            this.name = worker.nextValue();
        }

        void begin() throws Unclear {
            worker.journal.after(
                "{\"type\":\"begun\",\"process\":\"" + worker.process + "\",\"transaction\":\"" + name
                    + "\",\"at_ms\":" + System.currentTimeMillis() + "}");
            attempt(producer::beginTransaction);
        }

        void send(String topic, List<String> sources) {
            if (hasFailed) {
                return;
            }
            List<String> values = new ArrayList<>();
            for (String source : sources) {
                String value = worker.nextValue();
                worker.journal.after(
                    "{\"type\":\"send\",\"process\":\"" + worker.process + "\",\"value\":\"" + value
                        + "\",\"idempotent\":true,\"transaction\":\"" + name + "\",\"source\":"
                        + (source == null ? "null" : "\"" + source + "\"") + "}");
                values.add(value);
            }
            worker.journal.flush();
            for (String value : values) {
                worker.send(producer, topic, value);
            }
        }

        List<ConsumerRecord<String, String>> poll(
                KafkaConsumer<String, String> reader, boolean isSubscribed) {
            List<ConsumerRecord<String, String>> records = records(
                reader.poll(isSubscribed ? POLL : Duration.ofMillis(20)));
            worker.journal.poll(
                worker.name, records, isSubscribed, worker.rebalances.take(), true, name);
            return records;
        }

        void sendOffsets(
                List<ConsumerRecord<String, String>> records, KafkaConsumer<String, String> reader)
                throws Unclear {
            if (hasFailed) {
                return;
            }
            Map<TopicPartition, OffsetAndMetadata> ends = new HashMap<>();
            for (ConsumerRecord<String, String> record : records) {
                TopicPartition partition = new TopicPartition(record.topic(), record.partition());
                ends.put(partition, new OffsetAndMetadata(record.offset() + 1));
            }
            StringBuilder offsets = new StringBuilder();
            ends.forEach((partition, end) -> append(offsets, partition, end.offset()));
            worker.journal.after(
                "{\"type\":\"offsets-sent\",\"process\":\"" + worker.name + "\",\"group\":\"" + GROUP
                    + "\",\"transaction\":\"" + name + "\",\"offsets\":[" + offsets
                    + "],\"at_ms\":" + System.currentTimeMillis() + "}");
            worker.journal.flush();
            attempt(() -> producer.sendOffsetsToTransaction(ends, reader.groupMetadata()));
        }

        /** Whether it is committed. */
        boolean end() throws Unclear {
            if (!hasFailed && worker.dice.nextDouble() >= ABORT_SHARE) {
                step("committing");
                worker.journal.flush();
                attempt(this::commit);
                if (!hasFailed) {
                    step("committed");
                    return true;
                }
            }
            try {
                producer.abortTransaction();
            } catch (RuntimeException notTold) {
                throw new Unclear(notTold);
            }
            step("aborted");
            return false;
        }

        /** A commit that timed out may be asked for once more, and must not be aborted. */
        private void commit() throws Unclear {
            try {
                producer.commitTransaction();
            } catch (TimeoutException | InterruptException late) {
                try {
                    producer.commitTransaction();
                } catch (KafkaException notTold) {
                    throw new Unclear(notTold);
                }
            }
        }

        private void step(String type) {
            worker.journal.after(
                "{\"type\":\"" + type + "\",\"transaction\":\"" + name + "\",\"at_ms\":"
                    + System.currentTimeMillis() + "}");
        }

        private interface Step {
            void run() throws Unclear;
        }

        private void attempt(Step step) throws Unclear {
            try {
                step.run();
            } catch (IllegalStateException fatal) {
                throw new Unclear(fatal);
            } catch (KafkaException failure) {
                hasFailed = true;
            }
        }
    }

    /** Counts; the consumer calls it inside poll. */
    private static final class Rebalances implements ConsumerRebalanceListener {
        private int count;
        private int told;

        boolean take() {
            boolean isNew = count != told;
            told = count;
            return isNew;
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            count++;
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            count++;
        }
    }

    /** The history file: lines are there before what they announce is done, if flushed. */
    private static final class Journal implements AutoCloseable {
        private final OutputStream file;
        private final StringBuilder pending = new StringBuilder();

        Journal(Path path) throws IOException {
            file = Files.newOutputStream(
                path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }

        synchronized void after(String line) {
            pending.append(line).append('\n');
            if (pending.length() > 4096) {
                flush();
            }
        }

        synchronized void flush() {
            try {
                file.write(pending.toString().getBytes(StandardCharsets.UTF_8));
            } catch (IOException error) {
                throw new IllegalStateException("the history cannot be written", error);
            }
            pending.setLength(0);
        }

        void acked(String topic, int partition, String value, RecordMetadata placed) {
            String offset = placed.hasOffset() ? Long.toString(placed.offset()) : "null";
            after(
                "{\"type\":\"acked\",\"value\":\"" + value + "\",\"topic\":\"" + topic
                    + "\",\"partition\":" + partition + ",\"offset\":" + offset + ",\"at_ms\":"
                    + System.currentTimeMillis() + "}");
        }

        void poll(
                String process, List<ConsumerRecord<String, String>> records, boolean isSubscribed,
                boolean hasRebalanced, boolean isReadCommitted, String transaction) {
            if (records.isEmpty()) {
                return;
            }
            StringBuilder line = new StringBuilder();
            for (ConsumerRecord<String, String> record : records) {
                line.append(line.length() == 0 ? "" : ",").append("[\"").append(record.topic());
                line.append("\",").append(record.partition()).append(',').append(record.offset());
                line.append(",\"").append(record.value()).append("\"]");
            }
            after(
                "{\"type\":\"poll\",\"process\":\"" + process + "\",\"records\":[" + line
                    + "],\"subscribed\":" + isSubscribed + ",\"rebalanced\":" + hasRebalanced
                    + ",\"read_committed\":" + isReadCommitted + ",\"transaction\":"
                    + (transaction == null ? "null" : "\"" + transaction + "\"")
                    + ",\"at_ms\":" + System.currentTimeMillis() + "}");
        }

        @Override
        public synchronized void close() throws IOException {
            flush();
            file.close();
        }
    }
}
