// Package main puts franz-go behind the wire of tests/interop: one JSON object per line in, one out.
// The operations are listed in tests/interop/README.md.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const callTimeout = 20 * time.Second

type header struct {
	name    string
	content []byte
}

func (h *header) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&h.name, &h.content})
}

func (h header) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{h.name, h.content})
}

// record travels in both directions. []byte is base64 in Go's JSON, nil is null: what the wire asks for.
type record struct {
	Key         []byte   `json:"key"`
	Value       []byte   `json:"value"`
	Headers     []header `json:"headers"`
	Partition   *int32   `json:"partition"`
	TimestampMs *int64   `json:"timestamp_ms"`
	Offset      int64    `json:"offset"`
}

type request struct {
	ID               int                `json:"id"`
	Op               string             `json:"op"`
	Topic            string             `json:"topic"`
	Topics           []string           `json:"topics"`
	Partition        int32              `json:"partition"`
	Partitions       int32              `json:"partitions"`
	Configs          map[string]*string `json:"configs"`
	Offset           int64              `json:"offset"`
	TimestampMs      int64              `json:"timestamp_ms"`
	TimeoutMs        int64              `json:"timeout_ms"`
	Count            int                `json:"count"`
	Records          []record           `json:"records"`
	Codec            string             `json:"codec"`
	Acks             string             `json:"acks"`
	Idempotent       bool               `json:"idempotent"`
	Member           string             `json:"member"`
	Group            string             `json:"group"`
	Strategy         string             `json:"strategy"`
	InstanceID       *string            `json:"instance_id"`
	SessionTimeoutMs int64              `json:"session_timeout_ms"`
	Isolation        string             `json:"isolation"`
	Transactor       string             `json:"transactor"`
	TransactionalID  string             `json:"transactional_id"`
	TxnTimeoutMs     int64              `json:"transaction_timeout_ms"`
	Commit           bool               `json:"commit"`
	Target           string             `json:"target"`
}

type failure struct {
	Code    *int16 `json:"code"`
	Message string `json:"message"`
}

type answer struct {
	ID     int      `json:"id"`
	Result any      `json:"result"`
	Error  *failure `json:"error,omitempty"`
}

type driver struct {
	bootstrap   string
	admin       *kadm.Client
	members     map[string]*member
	transactors map[string]*kgo.Client
}

func main() {
	client, err := kgo.NewClient(common(os.Args[1])...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	d := &driver{
		bootstrap: os.Args[1], admin: kadm.NewClient(client),
		members: map[string]*member{}, transactors: map[string]*kgo.Client{},
	}
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	answers := bufio.NewWriter(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var r request
		var a answer
		if err = json.Unmarshal(line, &r); err == nil {
			a.Result, err = d.perform(&r)
		}
		a.ID = r.ID
		if err != nil {
			a.Result, a.Error = nil, &failure{Message: err.Error()}
			var refused *kerr.Error
			if errors.As(err, &refused) {
				a.Error.Code = &refused.Code
			}
		}
		text, err := json.Marshal(a)
		if err != nil {
			panic(err)
		}
		answers.Write(append(text, '\n'))
		answers.Flush()
	}
}

func common(bootstrap string) []kgo.Opt {
	return []kgo.Opt{
		kgo.SeedBrokers(bootstrap),
		kgo.RetryTimeout(10 * time.Second),
		kgo.MetadataMinAge(50 * time.Millisecond),
		kgo.MetadataMaxAge(time.Second),
		kgo.DisableClientMetrics(),
	}
}

func (d *driver) perform(r *request) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	switch r.Op {
	case "hello":
		return map[string]any{
			"client": "franz-go",
			"codecs": []string{"none", "gzip", "snappy", "lz4", "zstd"},
			"lacks":  []string{"transactional_positions"}, // only of a consumer that is the producer too
		}, nil
	case "create_topic":
		created, err := d.admin.CreateTopic(ctx, r.Partitions, 1, r.Configs, r.Topic)
		return nil, explained(err, created.ErrMessage)
	case "delete_topic":
		_, err := d.admin.DeleteTopic(ctx, r.Topic)
		return nil, err
	case "add_partitions":
		grown, err := d.admin.UpdatePartitions(ctx, int(r.Partitions), r.Topic)
		if err == nil {
			err = grown.Error()
		}
		return nil, err
	case "partition_count":
		topics, err := d.admin.ListTopics(ctx, r.Topic)
		if err != nil {
			return nil, err
		}
		return len(topics[r.Topic].Partitions), topics[r.Topic].Err
	case "describe_configs":
		return d.describeConfigs(ctx, r.Topic)
	case "alter_configs":
		return nil, d.alterConfigs(ctx, r)
	case "delete_records":
		return d.deleteRecords(ctx, r)
	case "offsets":
		return d.offsets(ctx, r)
	case "offset_for_time":
		return d.offsetForTime(ctx, r)
	case "produce":
		return d.produce(ctx, r)
	case "fetch":
		return d.fetch(r)
	case "open_transactor":
		return nil, d.openTransactor(ctx, r)
	case "begin":
		return nil, d.transactors[r.Transactor].BeginTransaction()
	case "send":
		records := make([]*kgo.Record, len(r.Records))
		for index, each := range r.Records {
			records[index] = outgoing(r.Topic, each)
		}
		return nil, d.transactors[r.Transactor].ProduceSync(ctx, records...).FirstErr()
	case "end":
		return nil, d.transactors[r.Transactor].EndTransaction(ctx, kgo.TransactionEndTry(r.Commit))
	case "copy":
		return d.copyTopic(ctx, r)
	case "close_transactor":
		d.transactors[r.Transactor].Close()
		delete(d.transactors, r.Transactor)
		return nil, nil
	case "join":
		return nil, d.join(r)
	case "status":
		return d.members[r.Member].status(), nil
	case "commit":
		return nil, d.members[r.Member].commit(ctx)
	case "leave":
		d.members[r.Member].leave()
		delete(d.members, r.Member)
		return nil, nil
	case "committed":
		offsets, err := d.admin.FetchOffsets(ctx, r.Group)
		if err != nil {
			return nil, err
		}
		if found, ok := offsets.Lookup(r.Topic, r.Partition); ok && found.At >= 0 {
			return found.At, found.Err
		}
		return nil, nil
	case "groups":
		groups, err := d.admin.ListGroups(ctx)
		return groups.Groups(), err
	case "describe_group":
		groups, err := d.admin.DescribeGroups(ctx, r.Group)
		if err != nil {
			return nil, err
		}
		found := groups[r.Group]
		return map[string]any{
			"state":    strings.ToUpper(found.State),
			"members":  len(found.Members),
			"assignor": found.Protocol,
		}, found.Err
	case "delete_group":
		_, err := d.admin.DeleteGroup(ctx, r.Group)
		return nil, err
	}
	return nil, fmt.Errorf("no operation %q", r.Op)
}

func (d *driver) describeConfigs(ctx context.Context, topic string) (any, error) {
	described, err := d.admin.DescribeTopicConfigs(ctx, topic)
	if err != nil {
		return nil, err
	}
	found, err := described.On(topic, nil)
	if err != nil {
		return nil, err
	}
	configs := map[string]*string{}
	for _, each := range found.Configs {
		configs[each.Key] = each.Value
	}
	return configs, found.Err
}

func (d *driver) alterConfigs(ctx context.Context, r *request) error {
	var changes []kadm.AlterConfig
	for name, value := range r.Configs {
		op := kadm.SetConfig
		if value == nil {
			op = kadm.DeleteConfig
		}
		changes = append(changes, kadm.AlterConfig{Op: op, Name: name, Value: value})
	}
	altered, err := d.admin.AlterTopicConfigs(ctx, changes, r.Topic)
	if err != nil {
		return err
	}
	return explained(altered[0].Err, altered[0].ErrMessage)
}

func (d *driver) deleteRecords(ctx context.Context, r *request) (any, error) {
	offsets := kadm.Offsets{}
	offsets.Add(kadm.Offset{Topic: r.Topic, Partition: r.Partition, At: r.Offset, LeaderEpoch: -1})
	deleted, err := d.admin.DeleteRecords(ctx, offsets)
	if err != nil {
		return nil, err
	}
	found, _ := deleted.Lookup(r.Topic, r.Partition)
	return found.LowWatermark, found.Err
}

func (d *driver) offsets(ctx context.Context, r *request) (any, error) {
	starts, err := d.admin.ListStartOffsets(ctx, r.Topic)
	if err != nil {
		return nil, err
	}
	ends, err := d.admin.ListEndOffsets(ctx, r.Topic)
	if err != nil {
		return nil, err
	}
	start, _ := starts.Lookup(r.Topic, r.Partition)
	end, _ := ends.Lookup(r.Topic, r.Partition)
	return map[string]int64{"start": start.Offset, "end": end.Offset}, errors.Join(start.Err, end.Err)
}

// offsetForTime tells an offset that was found from kadm's fallback to the end, which has no timestamp.
func (d *driver) offsetForTime(ctx context.Context, r *request) (any, error) {
	listed, err := d.admin.ListOffsetsAfterMilli(ctx, r.TimestampMs, r.Topic)
	if err != nil {
		return nil, err
	}
	found, _ := listed.Lookup(r.Topic, r.Partition)
	if found.Timestamp < 0 {
		return nil, found.Err
	}
	return found.Offset, found.Err
}

func (d *driver) produce(ctx context.Context, r *request) (any, error) {
	codec := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}[r.Codec]
	acks := map[string]kgo.Acks{"all": kgo.AllISRAcks(), "1": kgo.LeaderAck(), "0": kgo.NoAck()}[r.Acks]
	options := append(
		common(d.bootstrap),
		kgo.ProducerBatchCompression(codec),
		kgo.RequiredAcks(acks),
		kgo.ProducerBatchMaxBytes(20_000_000),
		kgo.BrokerMaxWriteBytes(40_000_000),
		kgo.ProducerLinger(5*time.Millisecond),
		kgo.AllowAutoTopicCreation(),
		kgo.RecordPartitioner(partitioner()),
	)
	if !r.Idempotent {
		options = append(options, kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(1))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	records := make([]*kgo.Record, len(r.Records))
	for index, each := range r.Records {
		records[index] = outgoing(r.Topic, each)
	}
	if err := client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return nil, err
	}
	placed := make([][2]int64, len(records))
	for index, each := range records {
		placed[index] = [2]int64{int64(each.Partition), each.Offset}
		if r.Acks == "0" {
			placed[index] = [2]int64{-1, -1}
		}
	}
	return placed, nil
}

func (d *driver) openTransactor(ctx context.Context, r *request) error {
	client, err := kgo.NewClient(append(
		common(d.bootstrap),
		kgo.TransactionalID(r.TransactionalID),
		kgo.TransactionTimeout(time.Duration(r.TxnTimeoutMs)*time.Millisecond),
		kgo.ProducerLinger(5*time.Millisecond),
		kgo.RecordPartitioner(partitioner()),
	)...)
	if err != nil {
		return err
	}
	d.transactors[r.Transactor] = client
	_, _, err = client.ProducerID(ctx)
	return err
}

// copyTopic consumes, transforms and produces in transactions, of which every other one is aborted and
// done again. Its result is how many records were committed.
func (d *driver) copyTopic(ctx context.Context, r *request) (any, error) {
	session, err := kgo.NewGroupTransactSession(append(
		common(d.bootstrap),
		kgo.TransactionalID(r.TransactionalID),
		kgo.ConsumerGroup(r.Group),
		kgo.ConsumeTopics(r.Topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.FetchMaxWait(100*time.Millisecond),
		kgo.RequireStableFetchOffsets(),
	)...)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	copied := 0
	for round := 0; copied < r.Count; round++ {
		polled := session.PollRecords(ctx, 10)
		if err := polled.Err(); err != nil {
			return nil, err
		}
		if err := session.Begin(); err != nil {
			return nil, err
		}
		failed := kgo.AbortingFirstErrPromise(session.Client())
		polled.EachRecord(func(each *kgo.Record) {
			out := &kgo.Record{Topic: r.Target, Key: each.Key, Value: append([]byte("copy of "), each.Value...)}
			session.Produce(ctx, out, failed.Promise())
		})
		if err := failed.Err(); err != nil {
			return nil, err
		}
		committed, err := session.End(ctx, kgo.TransactionEndTry(round%2 == 1))
		if err != nil {
			return nil, err
		}
		if committed {
			copied += polled.NumRecords()
		}
	}
	return copied, nil
}

// partitioner honours a partition that the test names and otherwise does what Kafka's own client does.
func partitioner() kgo.Partitioner {
	return named{kgo.StickyKeyPartitioner(nil)}
}

type named struct{ kgo.Partitioner }

func (n named) ForTopic(topic string) kgo.TopicPartitioner {
	return namedForTopic{n.Partitioner.ForTopic(topic)}
}

type namedForTopic struct{ kgo.TopicPartitioner }

func (n namedForTopic) Partition(r *kgo.Record, count int) int {
	if partition, ok := r.Context.Value(partitionKey{}).(int32); ok {
		return int(partition)
	}
	return n.TopicPartitioner.Partition(r, count)
}

type partitionKey struct{}

func outgoing(topic string, r record) *kgo.Record {
	out := &kgo.Record{Topic: topic, Key: r.Key, Value: r.Value}
	for _, each := range r.Headers {
		out.Headers = append(out.Headers, kgo.RecordHeader{Key: each.name, Value: each.content})
	}
	if r.TimestampMs != nil {
		out.Timestamp = time.UnixMilli(*r.TimestampMs)
	}
	out.Context = context.Background()
	if r.Partition != nil {
		out.Context = context.WithValue(out.Context, partitionKey{}, *r.Partition)
	}
	return out
}

func incoming(r *kgo.Record) record {
	timestamp := r.Timestamp.UnixMilli()
	in := record{
		Key: r.Key, Value: r.Value, Headers: []header{},
		Partition: &r.Partition, TimestampMs: &timestamp, Offset: r.Offset,
	}
	for _, each := range r.Headers {
		in.Headers = append(in.Headers, header{each.Key, each.Value})
	}
	return in
}

func (d *driver) fetch(r *request) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.TimeoutMs)*time.Millisecond)
	defer cancel()
	at := kgo.NewOffset().At(r.Offset)
	isolation := kgo.ReadUncommitted()
	if r.Isolation == "read_committed" {
		isolation = kgo.ReadCommitted()
	}
	client, err := kgo.NewClient(append(
		common(d.bootstrap),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{r.Topic: {r.Partition: at}}),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.FetchIsolationLevel(isolation),
		kgo.FetchMaxWait(100*time.Millisecond),
		kgo.FetchMaxPartitionBytes(20_000_000),
	)...)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	records := []record{}
	for len(records) < r.Count {
		polled := client.PollRecords(ctx, r.Count-len(records))
		if ctx.Err() != nil {
			break
		}
		if err := polled.Err(); err != nil {
			return nil, err
		}
		polled.EachRecord(func(each *kgo.Record) { records = append(records, incoming(each)) })
	}
	return records, nil
}

type member struct {
	client  *kgo.Client
	stop    context.CancelFunc
	stopped chan struct{}

	mutex   sync.Mutex
	held    map[string]map[int32]bool
	records []record
	polled  []*kgo.Record
	failure *string
}

func (d *driver) join(r *request) error {
	m := &member{stopped: make(chan struct{}), held: map[string]map[int32]bool{}}
	balancer := kgo.RangeBalancer()
	if r.Strategy == "cooperative-sticky" {
		balancer = kgo.CooperativeStickyBalancer()
	}
	options := append(
		common(d.bootstrap),
		kgo.ConsumerGroup(r.Group),
		kgo.ConsumeTopics(r.Topics...),
		kgo.Balancers(balancer),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
		kgo.SessionTimeout(time.Duration(r.SessionTimeoutMs)*time.Millisecond),
		kgo.HeartbeatInterval(200*time.Millisecond),
		kgo.FetchMaxWait(100*time.Millisecond),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, added map[string][]int32) { m.hold(added, true) }),
		kgo.OnPartitionsRevoked(func(_ context.Context, _ *kgo.Client, gone map[string][]int32) { m.hold(gone, false) }),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, gone map[string][]int32) { m.hold(gone, false) }),
	)
	if r.InstanceID != nil {
		options = append(options, kgo.InstanceID(*r.InstanceID))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	m.client, m.stop = client, cancel
	d.members[r.Member] = m
	go m.poll(ctx)
	return nil
}

func (m *member) hold(partitions map[string][]int32, held bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for topic, numbers := range partitions {
		if m.held[topic] == nil {
			m.held[topic] = map[int32]bool{}
		}
		for _, number := range numbers {
			m.held[topic][number] = held
		}
	}
}

func (m *member) poll(ctx context.Context) {
	defer close(m.stopped)
	for ctx.Err() == nil {
		polled := m.client.PollFetches(ctx)
		m.mutex.Lock()
		polled.EachError(func(_ string, _ int32, err error) {
			var session *kgo.ErrGroupSession // only told: the client joins again by itself
			if ctx.Err() == nil && !errors.As(err, &session) {
				text := err.Error()
				m.failure = &text
			}
		})
		polled.EachRecord(func(each *kgo.Record) {
			m.records = append(m.records, incoming(each))
			m.polled = append(m.polled, each)
		})
		m.mutex.Unlock()
	}
}

func (m *member) status() any {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	assignment := [][]any{}
	for topic, numbers := range m.held {
		for number, held := range numbers {
			if held {
				assignment = append(assignment, []any{topic, number})
			}
		}
	}
	taken := m.records
	m.records = []record{}
	if taken == nil {
		taken = []record{}
	}
	return map[string]any{"assignment": assignment, "records": taken, "failure": m.failure}
}

func (m *member) commit(ctx context.Context) error {
	m.mutex.Lock()
	polled := m.polled
	m.polled = nil
	m.mutex.Unlock()
	return m.client.CommitRecords(ctx, polled...)
}

func (m *member) leave() {
	m.stop()
	<-m.stopped
	m.client.Close()
}

func explained(err error, message string) error {
	if err == nil || message == "" {
		return err
	}
	return fmt.Errorf("%s: %w", message, err)
}
