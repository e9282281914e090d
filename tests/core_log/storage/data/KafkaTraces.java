package org.apache.kafka.storage.internals.log; // some of what is asked is visible in here only

import java.io.File;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.checkpoint.LeaderEpochCheckpointFile;
import org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache;

/** Records what Apache Kafka 4.3 writes and answers; README.md says how to run it. */
public final class KafkaTraces {
    private static final TopicPartition PARTITION = new TopicPartition("t", 0);
    private static final long SEQUENCE_MASK = Integer.MAX_VALUE;

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "files" -> files(Path.of(args[1]));
            case "producers" -> producers(new Random(Long.parseLong(args[1])), Integer.parseInt(args[2]));
            case "epochs" -> epochs(new Random(Long.parseLong(args[1])), Integer.parseInt(args[2]));
            default -> throw new IllegalArgumentException(args[0]);
        }
        System.out.flush();
        Runtime.getRuntime().halt(0); // Kafka's scheduler would keep the process alive
    }

    /** One batch for each codec, both markers, a producer snapshot, a transaction index, epochs. */
    private static void files(Path folder) throws Exception {
        for (CompressionType type : CompressionType.values()) {
            write(folder.resolve("java-" + type.name + ".batch"), MemoryRecords.withRecords(
                (byte) 2, 0L, Compression.of(type).build(), TimestampType.CREATE_TIME,
                77L, (short) 3, Integer.MAX_VALUE - 1, 9, false, records()));
        }
        write(folder.resolve("java-append-time.batch"), MemoryRecords.withRecords(
            (byte) 2, 5L, Compression.NONE, TimestampType.LOG_APPEND_TIME, records()));
        write(folder.resolve("java-commit.batch"), MemoryRecords.withEndTransactionMarker(
            12L, 5000L, 4, 77L, (short) 3, new EndTransactionMarker(ControlRecordType.COMMIT, 6)));
        write(folder.resolve("java-abort.batch"), MemoryRecords.withEndTransactionMarker(
            13L, 5001L, 4, 78L, (short) 0, new EndTransactionMarker(ControlRecordType.ABORT, 7)));

        Map<Long, ProducerStateEntry> producers = new LinkedHashMap<>();
        producers.put(77L, new ProducerStateEntry(77L, (short) 3, 6, 5000L, OptionalLong.empty()));
        producers.get(77L).addBatch((short) 3, 1, 11L, 2, 5000L);
        producers.put(78L, new ProducerStateEntry(78L, (short) 0, -1, 5001L, OptionalLong.of(9)));
        producers.get(78L).addBatch((short) 0, 0, 9L, 0, 5001L);
        producers.put(79L, new ProducerStateEntry(79L, (short) 1, 2, 5002L, OptionalLong.empty()));
        ProducerStateManager.writeSnapshot(folder.resolve("kafka-4.3.snapshot").toFile(), producers, true);

        TransactionIndex index = new TransactionIndex(0, folder.resolve("kafka-4.3.txnindex").toFile());
        index.append(new AbortedTxn(78L, 9L, 13L, 14L));
        index.append(new AbortedTxn(80L, 10L, 20L, 15L));
        index.close();

        File epochs = folder.resolve("kafka-4.3-leader-epoch-checkpoint").toFile();
        new LeaderEpochCheckpointFile(epochs, new LogDirFailureChannel(1)).write(
            List.of(new EpochEntry(0, 0), new EpochEntry(3, 1200), new EpochEntry(4, 1300)));
    }

    private static SimpleRecord[] records() {
        return new SimpleRecord[] {
            new SimpleRecord(1000, bytes("AA"), bytes("flight ".repeat(30)),
                new Header[] {new RecordHeader("h1", bytes("v1")), new RecordHeader("h2", null)}),
            new SimpleRecord(990, (byte[]) null, (byte[]) null),
            new SimpleRecord(1500, bytes(""), bytes(""), new Header[] {new RecordHeader("é", bytes(""))})
        };
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void write(Path file, MemoryRecords records) throws Exception {
        ByteBuffer buffer = records.buffer().duplicate();
        byte[] content = new byte[buffer.remaining()];
        buffer.get(content);
        Files.write(file, content);
    }

    /** What a partition's producer state says to clients that are right, late, repeating or wrong. */
    private static void producers(Random dice, int steps) throws Exception {
        File folder = Files.createTempDirectory("producers").toFile();
        ProducerStateManager states = open(folder);
        Map<Long, long[]> sent = new HashMap<>(); // by producer id: epoch, next sequence, last count
        long end = 0;
        long highWatermark = 0;
        for (int step = 0; step < steps; step++) {
            String action;
            String result;
            int kind = dice.nextInt(20);
            if (kind < 13) {
                long id = 1 + dice.nextInt(3);
                int count = 1 + dice.nextInt(3);
                long[] last = sent.getOrDefault(id, new long[] {0, Integer.MAX_VALUE - 2, 1});
                short epoch = (short) Math.max(0, last[0] + new int[] {0, 0, 0, 0, 0, 0, 1, -1}[dice.nextInt(8)]);
                int how = dice.nextInt(10);
                long sequence;
                if (epoch != last[0] && how < 6 || how == 8) {
                    sequence = 0;
                } else if (how < 5) {
                    sequence = last[1];
                } else if (how == 7) {
                    sequence = last[1] + 1;
                } else { // the last batch again, or one like it further back
                    count = (int) last[2];
                    sequence = last[1] - last[2] * (how < 7 ? 1 : 1 + dice.nextInt(7));
                }
                sequence &= SEQUENCE_MASK;
                boolean isOpen = states.lastEntry(id).map(e -> e.currentTxnFirstOffset().isPresent()).orElse(false);
                boolean transactional = isOpen ? dice.nextInt(6) != 0 : dice.nextInt(3) == 0;
                action = "data " + id + " " + epoch + " " + sequence + " " + count + " " + (transactional ? 1 : 0);
                SimpleRecord[] records = new SimpleRecord[count];
                for (int i = 0; i < count; i++) {
                    records[i] = new SimpleRecord(1000 + step, bytes("k"), bytes("v"));
                }
                RecordBatch batch = first(MemoryRecords.withRecords((byte) 2, end, Compression.NONE,
                    TimestampType.CREATE_TIME, id, epoch, (int) sequence, 0, transactional, records));
                Optional<BatchMetadata> duplicate = states.lastEntry(id).flatMap(e -> e.findDuplicateBatch(batch));
                if (duplicate.isPresent()) {
                    result = "duplicate " + duplicate.get().firstOffset() + " " + duplicate.get().lastOffset();
                } else {
                    try {
                        ProducerAppendInfo info = states.prepareUpdate(id, AppendOrigin.CLIENT);
                        info.append(batch, transactional
                            ? Optional.of(new LogOffsetMetadata(end, 0, 0)) : Optional.empty());
                        states.update(info);
                        result = "append " + end;
                        end += count;
                        states.updateMapEndOffset(end);
                        sent.put(id, new long[] {epoch, (sequence + count) & SEQUENCE_MASK, count});
                    } catch (ApiException error) {
                        result = Errors.forException(error).name();
                    }
                }
            } else if (kind < 17) {
                long id = 1 + dice.nextInt(4);
                long[] last = sent.getOrDefault(id, new long[] {0, 0, 1});
                int version = dice.nextInt(2) * 2;
                short epoch = (short) Math.max(0, last[0] + new int[] {0, 0, 1, 1, -1}[dice.nextInt(5)]);
                int coordinator = dice.nextInt(3) + step / 20;
                boolean abort = dice.nextBoolean();
                action = "marker " + id + " " + epoch + " " + coordinator + " "
                    + (abort ? "abort" : "commit") + " " + version;
                EndTransactionMarker marker = new EndTransactionMarker(
                    abort ? ControlRecordType.ABORT : ControlRecordType.COMMIT, coordinator);
                RecordBatch batch = first(
                    MemoryRecords.withEndTransactionMarker(end, 1000 + step, 0, id, epoch, marker));
                try {
                    ProducerAppendInfo info = states.prepareUpdate(id, AppendOrigin.COORDINATOR);
                    Optional<CompletedTxn> completed = info.append(batch, Optional.empty(), (short) version);
                    states.update(info);
                    result = "append " + end;
                    if (completed.isPresent()) {
                        CompletedTxn ended = completed.get();
                        result += " completed " + ended.firstOffset() + " " + ended.lastOffset() + " "
                            + states.lastStableOffset(ended);
                        states.completeTxn(ended);
                    }
                    end += 1;
                    states.updateMapEndOffset(end);
                    if (!sent.containsKey(id) || sent.get(id)[0] != epoch) {
                        sent.put(id, new long[] {epoch, 0, 1});
                    }
                } catch (ApiException error) {
                    result = Errors.forException(error).name();
                }
            } else if (kind < 19) {
                highWatermark += dice.nextInt((int) (end - highWatermark) + 1);
                action = "hw " + highWatermark;
                result = "ok";
            } else {
                highWatermark = end;
                states.onHighWatermarkUpdated(end);
                states.takeSnapshot();
                states = open(folder);
                states.truncateAndReload(0, end, 2000);
                action = "reload " + end;
                result = "ok";
            }
            states.onHighWatermarkUpdated(highWatermark);
            System.out.println(action + " -> " + result + " unstable "
                + states.firstUnstableOffset().map(o -> "" + o.messageOffset).orElse("none"));
        }
        new TreeMap<>(states.activeProducers()).forEach((id, entry) -> System.out.println(
            "producer " + id + " " + entry.producerEpoch() + " " + entry.lastSeq() + " "
            + entry.coordinatorEpoch() + " " + entry.currentTxnFirstOffset().orElse(-1)));
    }

    private static ProducerStateManager open(File folder) throws Exception {
        return new ProducerStateManager(
            PARTITION, folder, 900_000, new ProducerStateManagerConfig(86_400_000, false), Time.SYSTEM);
    }

    private static RecordBatch first(MemoryRecords records) {
        return records.batches().iterator().next();
    }

    /** How the leader epochs of a partition change and answer. */
    private static void epochs(Random dice, int steps) throws Exception {
        File file = Files.createTempDirectory("epochs").resolve("checkpoint").toFile();
        KafkaScheduler scheduler = new KafkaScheduler(1, true, "flush");
        scheduler.startup();
        LeaderEpochFileCache cache = new LeaderEpochFileCache(
            PARTITION, new LeaderEpochCheckpointFile(file, new LogDirFailureChannel(1)), scheduler);
        for (int step = 0; step < steps; step++) {
            int kind = dice.nextInt(10);
            int epoch = dice.nextInt(8);
            long offset = dice.nextInt(30);
            String action;
            if (kind < 4) {
                action = "assign " + epoch + " " + offset;
                cache.assign(epoch, offset);
            } else if (kind == 4) {
                action = "end " + offset;
                cache.truncateFromEndAsyncFlush(offset);
            } else if (kind == 5) {
                action = "start " + offset;
                cache.truncateFromStartAsyncFlush(offset);
            } else if (kind < 8) {
                Map.Entry<Integer, Long> answer = cache.endOffsetFor(epoch - 1, 40);
                action = "ask " + (epoch - 1) + " -> " + answer.getKey() + " " + answer.getValue();
            } else {
                action = "at " + offset + " -> " + cache.epochForOffset(offset).orElse(-1) + " "
                    + cache.previousEpoch(epoch).orElse(-1) + " before " + epoch;
            }
            StringBuilder entries = new StringBuilder();
            for (EpochEntry entry : cache.epochEntries()) {
                entries.append(" ").append(entry.epoch()).append(":").append(entry.startOffset());
            }
            System.out.println(action + " =" + entries);
        }
    }
}
