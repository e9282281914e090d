import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.AppInfoParser;
import org.apache.kafka.common.utils.Exit;

/**
 * Apache's Java client, and Apache's command-line tools, behind the wire of tests/interop: one JSON
 * object per line in, one out. The operations are listed in tests/interop/README.md.
 *
 * <p>"tool" runs the main method of a tool inside this JVM, with its own standard streams: a start
 * of a JVM per command would cost a second each.
 */
public final class Driver {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long CALL_SECONDS = 20;
    private static final Duration MEMBER_POLL = Duration.ofMillis(50);

    private final String bootstrap;
    private final Admin admin;
    private final Map<String, Member> members = new HashMap<>();
    private final Map<String, KafkaProducer<byte[], byte[]>> transactors = new HashMap<>();

    private Driver(String bootstrap) {
        this.bootstrap = bootstrap;
        this.admin = Admin.create(common());
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        Driver driver = new Driver(arguments[0]);
        BufferedReader requests =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 20);
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            answers.println(driver.answer(JSON.readTree(line)));
            answers.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private ObjectNode answer(JsonNode request) {
        ObjectNode answer = JSON.createObjectNode();
        answer.set("id", request.get("id"));
        try {
            answer.set("result", JSON.valueToTree(perform(request)));
        } catch (Exception | Error failure) {
            Throwable cause = failure;
            while (cause instanceof ExecutionException && cause.getCause() != null) {
                cause = cause.getCause();
            }
            ObjectNode error = answer.putObject("error");
            Integer code = codeOf(cause);
            error.put("code", code);
            error.put("message", code == null ? trace(cause) : cause.toString());
        }
        return answer;
    }

    private static Integer codeOf(Throwable cause) {
        if (cause instanceof OffsetOutOfRangeException) {
            return (int) Errors.OFFSET_OUT_OF_RANGE.code();
        }
        if (cause instanceof ApiException) {
            Errors error = Errors.forException(cause);
            return error == Errors.UNKNOWN_SERVER_ERROR ? null : (int) error.code();
        }
        return null;
    }

    private Object perform(JsonNode request) throws Exception {
        String topic = request.path("topic").asText();
        int partition = request.path("partition").asInt();
        String group = request.path("group").asText();
        TopicPartition where = new TopicPartition(topic, partition);
        switch (request.get("op").asText()) {
            case "hello":
                return Map.of(
                    "client", "kafka-clients " + AppInfoParser.getVersion(),
                    "codecs", List.of("none", "gzip", "snappy", "lz4", "zstd"),
                    "lacks", List.of());
            case "create_topic":
                NewTopic created = new NewTopic(topic, request.get("partitions").asInt(), (short) 1);
                created.configs(strings(request.get("configs")));
                return get(admin.createTopics(List.of(created)).all());
            case "delete_topic":
                return get(admin.deleteTopics(List.of(topic)).all());
            case "add_partitions":
                NewPartitions grown = NewPartitions.increaseTo(request.get("partitions").asInt());
                return get(admin.createPartitions(Map.of(topic, grown)).all());
            case "partition_count":
                return get(admin.describeTopics(List.of(topic)).allTopicNames())
                    .get(topic).partitions().size();
            case "describe_configs":
                return configs(topic);
            case "alter_configs":
                return alter(topic, strings(request.get("configs")));
            case "delete_records":
                RecordsToDelete older = RecordsToDelete.beforeOffset(request.get("offset").asLong());
                return get(admin.deleteRecords(Map.of(where, older)).lowWatermarks().get(where))
                    .lowWatermark();
            case "offsets":
                return Map.of(
                    "start", offset(where, OffsetSpec.earliest()),
                    "end", offset(where, OffsetSpec.latest()));
            case "offset_for_time":
                long timestamp = request.get("timestamp_ms").asLong();
                long found = offset(where, OffsetSpec.forTimestamp(timestamp));
                return found < 0 ? null : found;
            case "produce":
                return produce(request);
            case "fetch":
                return fetch(request);
            case "open_transactor":
                return openTransactor(request);
            case "begin":
                transactor(request).beginTransaction();
                return null;
            case "send":
                send(transactor(request), request);
                return null;
            case "send_position":
                return sendPosition(request, group, where);
            case "end":
                if (request.get("commit").asBoolean()) {
                    transactor(request).commitTransaction();
                } else {
                    transactor(request).abortTransaction();
                }
                return null;
            case "close_transactor":
                transactors.remove(request.get("transactor").asText()).close(Duration.ofSeconds(5));
                return null;
            case "join":
                members.put(request.get("member").asText(), new Member(request));
                return null;
            case "status":
                return member(request).status();
            case "commit":
                Member committing = member(request);
                return committing.order(() -> {
                    committing.consumer.commitSync();
                    return null;
                });
            case "leave":
                members.remove(request.get("member").asText()).leave();
                return null;
            case "committed":
                OffsetAndMetadata committed =
                    get(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata())
                        .get(where);
                return committed == null ? null : committed.offset();
            case "groups":
                List<String> names = new ArrayList<>();
                get(admin.listGroups().all()).forEach(listed -> names.add(listed.groupId()));
                return names;
            case "describe_group":
                return describe(group);
            case "delete_group":
                return get(admin.deleteConsumerGroups(List.of(group)).all());
            case "tool":
                return tool(request);
            default:
                throw new IllegalArgumentException("no operation " + request.get("op"));
        }
    }

    private Map<String, Object> common() {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("default.api.timeout.ms", 15_000);
        settings.put("request.timeout.ms", 10_000);
        settings.put("retry.backoff.ms", 20);
        settings.put("enable.metrics.push", false);
        settings.put("metric.reporters", "");
        return settings;
    }

    private long offset(TopicPartition where, OffsetSpec spec) throws Exception {
        return get(admin.listOffsets(Map.of(where, spec)).partitionResult(where)).offset();
    }

    private Map<String, String> configs(String topic) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        Config described = get(admin.describeConfigs(List.of(resource)).all()).get(resource);
        Map<String, String> configs = new HashMap<>();
        described.entries().forEach(entry -> configs.put(entry.name(), entry.value()));
        return configs;
    }

    private Object alter(String topic, Map<String, String> configs) throws Exception {
        Collection<AlterConfigOp> changes = new ArrayList<>();
        configs.forEach((name, value) -> changes.add(new AlterConfigOp(
            new ConfigEntry(name, value),
            value == null ? AlterConfigOp.OpType.DELETE : AlterConfigOp.OpType.SET)));
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        return get(admin.incrementalAlterConfigs(Map.of(resource, changes)).all());
    }

    private Map<String, Object> describe(String group) throws Exception {
        ConsumerGroupDescription described =
            get(admin.describeConsumerGroups(List.of(group)).all()).get(group);
        return Map.of(
            "state", described.groupState().name(),
            "members", described.members().size(),
            "assignor", described.partitionAssignor());
    }

    private List<long[]> produce(JsonNode request) throws Exception {
        Map<String, Object> settings = common();
        settings.put("acks", request.get("acks").asText());
        settings.put("compression.type", request.get("codec").asText());
        settings.put("enable.idempotence", request.get("idempotent").asBoolean());
        settings.put("linger.ms", 5);
        settings.put("max.request.size", 20_000_000);
        settings.put("max.block.ms", 10_000);
        settings.put("delivery.timeout.ms", 15_000);
        try (KafkaProducer<byte[], byte[]> producer = producer(settings)) {
            return send(producer, request);
        }
    }

    private static KafkaProducer<byte[], byte[]> producer(Map<String, Object> settings) {
        return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private Object openTransactor(JsonNode request) {
        Map<String, Object> settings = common();
        settings.put("transactional.id", request.get("transactional_id").asText());
        settings.put("transaction.timeout.ms", request.get("transaction_timeout_ms").asInt());
        settings.put("linger.ms", 5);
        settings.put("max.block.ms", 10_000);
        settings.put("delivery.timeout.ms", 15_000);
        KafkaProducer<byte[], byte[]> opened = producer(settings);
        transactors.put(request.get("transactor").asText(), opened);
        opened.initTransactions();
        return null;
    }

    private KafkaProducer<byte[], byte[]> transactor(JsonNode request) {
        return transactors.get(request.get("transactor").asText());
    }

    private Object sendPosition(JsonNode request, String group, TopicPartition where)
        throws Exception {
        ConsumerGroupMetadata metadata = new ConsumerGroupMetadata(group);
        if (!request.get("member").isNull()) {
            Member member = member(request);
            metadata = (ConsumerGroupMetadata) member.order(() -> member.consumer.groupMetadata());
        }
        OffsetAndMetadata position = new OffsetAndMetadata(request.get("offset").asLong());
        transactor(request).sendOffsetsToTransaction(Map.of(where, position), metadata);
        return null;
    }

    /** Sends and waits; where each record came to lie. */
    private static List<long[]> send(KafkaProducer<byte[], byte[]> producer, JsonNode request)
        throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (JsonNode each : request.get("records")) {
            sent.add(producer.send(new ProducerRecord<>(
                request.get("topic").asText(),
                each.get("partition").isNull() ? null : each.get("partition").asInt(),
                each.get("timestamp_ms").isNull() ? null : each.get("timestamp_ms").asLong(),
                bytes(each.get("key")),
                bytes(each.get("value")),
                headers(each.get("headers")))));
        }
        producer.flush();
        List<long[]> placed = new ArrayList<>();
        for (Future<RecordMetadata> each : sent) {
            RecordMetadata metadata = each.get();
            placed.add(new long[] {metadata.partition(), metadata.offset()});
        }
        return placed;
    }

    private ArrayNode fetch(JsonNode request) {
        Map<String, Object> settings = common();
        settings.put("auto.offset.reset", "none");
        settings.put("isolation.level", request.get("isolation").asText());
        settings.put("enable.auto.commit", false);
        settings.put("allow.auto.create.topics", false);
        settings.put("fetch.max.wait.ms", 100);
        settings.put("max.partition.fetch.bytes", 20_000_000);
        TopicPartition where =
            new TopicPartition(request.get("topic").asText(), request.get("partition").asInt());
        int count = request.get("count").asInt();
        long deadline = System.nanoTime() + request.get("timeout_ms").asLong() * 1_000_000;
        ArrayNode records = JSON.createArrayNode();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
            settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(List.of(where));
            consumer.seek(where, request.get("offset").asLong());
            while (records.size() < count && System.nanoTime() < deadline) {
                for (ConsumerRecord<byte[], byte[]> each : consumer.poll(Duration.ofMillis(100))) {
                    if (records.size() < count) {
                        records.add(record(each));
                    }
                }
            }
        }
        return records;
    }

    private Member member(JsonNode request) {
        return members.get(request.get("member").asText());
    }

    /** Runs a command-line tool of Apache Kafka and returns what it wrote and how it ended. */
    private Map<String, Object> tool(JsonNode request) throws Exception {
        List<String> arguments = new ArrayList<>();
        request.get("arguments").forEach(each -> arguments.add(each.asText()));
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        PrintStream formerOutput = System.out;
        PrintStream formerErrors = System.err;
        InputStream formerInput = System.in;
        byte[] input = request.path("input").asText("").getBytes(StandardCharsets.UTF_8);
        List<Integer> statuses = new ArrayList<>();
        try {
            System.setIn(new ByteArrayInputStream(input));
            System.setOut(new PrintStream(output, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(errors, true, StandardCharsets.UTF_8));
            // Some tools catch what ends them and end once more: the first status is theirs.
            Exit.Procedure end = (code, message) -> {
                statuses.add(code);
                throw new Ended(code);
            };
            Exit.setExitProcedure(end);
            Exit.setHaltProcedure(end);
            Class.forName(request.get("name").asText())
                .getMethod("main", String[].class)
                .invoke(null, (Object) arguments.toArray(new String[0]));
        } catch (InvocationTargetException failure) {
            Throwable cause = failure.getCause();
            if (!(cause instanceof Ended)) {
                statuses.add(1);
                errors.write(trace(cause).getBytes(StandardCharsets.UTF_8));
            }
        } finally {
            System.out.flush();
            System.err.flush();
            System.setIn(formerInput);
            System.setOut(formerOutput);
            System.setErr(formerErrors);
            Exit.resetExitProcedure();
            Exit.resetHaltProcedure();
        }
        return Map.of(
            "status", statuses.isEmpty() ? 0 : statuses.get(0),
            "output", output.toString(StandardCharsets.UTF_8),
            "errors", errors.toString(StandardCharsets.UTF_8));
    }

    /** Thrown where a tool would end the process. */
    private static final class Ended extends Error {
        private static final long serialVersionUID = 1L;

        private Ended(int status) {
            super("exit " + status, null, false, false);
        }
    }

    /** A group member on its own thread: it polls all the time and obeys between polls. */
    private final class Member implements Runnable {
        private final JsonNode request;
        private final ConcurrentLinkedQueue<FutureTask<Object>> orders = new ConcurrentLinkedQueue<>();
        private final Thread thread = new Thread(this);
        private KafkaConsumer<byte[], byte[]> consumer;
        private ArrayNode records = JSON.createArrayNode();
        private volatile String failure;
        private volatile boolean left;

        private Member(JsonNode request) {
            this.request = request;
            thread.setDaemon(true);
            thread.start();
        }

        @Override
        public void run() {
            try (KafkaConsumer<byte[], byte[]> opened = open()) {
                consumer = opened;
                while (!left) {
                    ConsumerRecords<byte[], byte[]> polled = opened.poll(MEMBER_POLL);
                    polled.forEach(each -> records.add(record(each)));
                    for (FutureTask<Object> o = orders.poll(); o != null; o = orders.poll()) {
                        o.run();
                    }
                }
            } catch (Exception cause) {
                failure = trace(cause);
            }
        }

        private KafkaConsumer<byte[], byte[]> open() {
            Map<String, Object> settings = common();
            boolean eager = request.get("strategy").asText().equals("range");
            Class<?> assignor = eager ? RangeAssignor.class : CooperativeStickyAssignor.class;
            settings.put("group.id", request.get("group").asText());
            if (!request.get("instance_id").isNull()) {
                settings.put("group.instance.id", request.get("instance_id").asText());
            }
            settings.put("partition.assignment.strategy", assignor.getName());
            settings.put("auto.offset.reset", "earliest");
            settings.put("enable.auto.commit", false);
            settings.put("session.timeout.ms", request.get("session_timeout_ms").asInt());
            settings.put("heartbeat.interval.ms", 200);
            settings.put("fetch.max.wait.ms", 100);
            settings.put("metadata.max.age.ms", 1000);
            KafkaConsumer<byte[], byte[]> opened = new KafkaConsumer<>(
                settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
            List<String> topics = new ArrayList<>();
            request.get("topics").forEach(each -> topics.add(each.asText()));
            opened.subscribe(topics);
            return opened;
        }

        private Object order(Callable<Object> act) throws Exception {
            FutureTask<Object> task = new FutureTask<>(act);
            orders.add(task);
            return task.get(CALL_SECONDS, TimeUnit.SECONDS);
        }

        private Object status() throws Exception {
            if (failure != null) {
                ObjectNode broken = JSON.createObjectNode().put("failure", failure);
                broken.putArray("assignment");
                broken.putArray("records");
                return broken;
            }
            return order(() -> {
                ObjectNode status = JSON.createObjectNode();
                ArrayNode assignment = status.putArray("assignment");
                for (TopicPartition each : consumer.assignment()) {
                    assignment.addArray().add(each.topic()).add(each.partition());
                }
                status.set("records", records);
                status.putNull("failure");
                records = JSON.createArrayNode();
                return status;
            });
        }

        private void leave() throws InterruptedException {
            left = true;
            thread.join(CALL_SECONDS * 1000);
        }
    }

    private static ObjectNode record(ConsumerRecord<byte[], byte[]> received) {
        ObjectNode record = JSON.createObjectNode();
        record.put("partition", received.partition());
        record.put("offset", received.offset());
        record.put("key", text(received.key()));
        record.put("value", text(received.value()));
        record.put("timestamp_ms", received.timestamp());
        ArrayNode headers = record.putArray("headers");
        for (Header each : received.headers()) {
            headers.addArray().add(each.key()).add(text(each.value()));
        }
        return record;
    }

    private static Headers headers(JsonNode pairs) {
        RecordHeaders headers = new RecordHeaders();
        pairs.forEach(pair -> headers.add(pair.get(0).asText(), bytes(pair.get(1))));
        return headers;
    }

    private static Map<String, String> strings(JsonNode object) {
        return JSON.convertValue(object, new TypeReference<Map<String, String>>() { });
    }

    private static byte[] bytes(JsonNode text) {
        return text.isNull() ? null : Base64.getDecoder().decode(text.asText());
    }

    private static String text(byte[] data) {
        return data == null ? null : Base64.getEncoder().encodeToString(data);
    }

    private static <T> T get(KafkaFuture<T> future) throws Exception {
        return future.get(CALL_SECONDS, TimeUnit.SECONDS);
    }

    private static String trace(Throwable cause) {
        StringWriter text = new StringWriter();
        cause.printStackTrace(new PrintWriter(text));
        return text.toString();
    }
}
