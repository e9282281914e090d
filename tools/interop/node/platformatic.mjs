// @platformatic/kafka behind the wire of wire.mjs: a client that speaks only high versions.
//
// It knows no consumption by assignment: `fetch` joins a group of its own in manual mode. zstd
// needs a Node newer than 22. After a rebalance it may hand out a batch twice (seen with Kafka), and
// it shows the producer's timestamp where the broker stamped the batch.

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import zlib from 'node:zlib'
import {
  Admin, Consumer, MessagesStreamFallbackModes, MessagesStreamModes, Producer, ProtocolError,
  compatibilityPartitioner
} from '@platformatic/kafka'
import { pack, placed, serve, unpack, until } from './wire.mjs'

const { dependencies } = JSON.parse(readFileSync(new URL('package.json', import.meta.url)))
const ACKS = { all: -1, 1: 1, 0: 0 }

// Positions only of messages that its own consumer handed out. It asks for the next epoch of producer
// 0 where it knows of none, so that a second producer is refused (PRODUCER_FENCED by Kafka too). Of
// several aborted transactions of a producer it hides the last one.
const NOT_IN_TRANSACTIONS = ['transactional_positions', 'taking_over', 'several_aborted']
const COPY_TIMEOUT_MS = 15_000
const ISOLATION = { read_uncommitted: 0, read_committed: 1 }
const TOPIC_RESOURCE = 2
const SET = 0
const DELETE = 1
const UNKNOWN_TOPIC_OR_PARTITION = 3

const common = {
  clientId: 'headwater-interop',
  bootstrapBrokers: [process.argv[2]],
  retries: 5,
  retryDelay: 100,
  metadataMaxAge: 1000
}
const admin = new Admin(common)
const members = new Map()
const transactors = new Map()

const operations = {
  hello: () => ({
    client: `@platformatic/kafka ${dependencies['@platformatic/kafka']}`,
    codecs: ['none', 'gzip', 'snappy', 'lz4', ...(zlib.zstdCompressSync === undefined ? [] : ['zstd'])],
    lacks: ['range', 'cooperative', 'append_time', 'framed_snappy', 'single_delivery', ...NOT_IN_TRANSACTIONS]
  }),

  async create_topic ({ topic, partitions, configs }) {
    const entries = Object.entries(configs).map(([name, value]) => ({ name, value }))
    await admin.createTopics({ topics: [topic], partitions, replicas: 1, configs: entries })
  },

  async delete_topic ({ topic }) {
    await admin.deleteTopics({ topics: [topic] })
  },

  async add_partitions ({ topic, partitions }) {
    await admin.createPartitions({ topics: [{ name: topic, count: partitions, assignments: null }] })
  },

  async partition_count ({ topic }) {
    const metadata = await admin.metadata({ topics: [topic], autocreateTopics: false, forceUpdate: true })
    return metadata.topics.get(topic).partitionsCount
  },

  async describe_configs ({ topic }) {
    const resource = { resourceType: TOPIC_RESOURCE, resourceName: topic, configurationKeys: null }
    const [{ configs }] = await admin.describeConfigs({ resources: [resource] })
    return Object.fromEntries(configs.map(({ name, value }) => [name, value]))
  },

  async alter_configs ({ topic, configs }) {
    const changes = Object.entries(configs)
      .map(([name, value]) => ({ name, configOperation: value === null ? DELETE : SET, value }))
    const resource = { resourceType: TOPIC_RESOURCE, resourceName: topic, configs: changes }
    await admin.incrementalAlterConfigs({ resources: [resource] })
  },

  async delete_records ({ topic, partition, offset }) {
    const partitions = [{ partition, offset: BigInt(offset) }]
    const [deleted] = await admin.deleteRecords({ topics: [{ name: topic, partitions }] })
    return Number(deleted.partitions[0].lowWatermark)
  },

  async offsets ({ topic, partition }) {
    return {
      start: Number((await listed(topic, partition, -2)).offset),
      end: Number((await listed(topic, partition, -1)).offset)
    }
  },

  async offset_for_time ({ topic, partition, timestamp_ms: timestampMs }) {
    const { offset } = await listed(topic, partition, timestampMs)
    return offset < 0n ? null : Number(offset)
  },

  async produce ({ topic, records, codec, acks, idempotent }) {
    const metadata = await admin.metadata({ topics: [topic], autocreateTopics: true })
    const { partitionsCount } = metadata.topics.get(topic)
    const producer = new Producer({ ...common, idempotent })
    try {
      const messages = records.map(each => message(topic, each, partitionsCount))
      const { offsets } = await producer.send({
        messages,
        acks: ACKS[acks],
        ...(codec === 'none' ? {} : { compression: codec })
      })
      const bases = (offsets ?? []).map(each => [each.partition, Number(each.offset)])
      return placed(messages.map(each => each.partition), bases)
    } finally {
      await producer.close()
    }
  },

  async open_transactor ({ transactor, transactional_id: transactionalId, transaction_timeout_ms: timeout }) {
    const producer = new Producer({ ...common, idempotent: true, transactionalId, timeout })
    transactors.set(transactor, { producer, transaction: null })
  },

  // The first transaction asks for the producer id.
  async begin ({ transactor }) {
    const state = transactors.get(transactor)
    state.transaction = await state.producer.beginTransaction()
  },

  async send ({ transactor, topic, records }) {
    const metadata = await admin.metadata({ topics: [topic], autocreateTopics: true })
    const { partitionsCount } = metadata.topics.get(topic)
    const messages = records.map(each => message(topic, each, partitionsCount))
    await transactors.get(transactor).transaction.send({ messages, acks: ACKS.all })
  },

  async end ({ transactor, commit }) {
    const { transaction } = transactors.get(transactor)
    await (commit ? transaction.commit() : transaction.abort())
  },

  // Consumes, transforms and produces in transactions, of which every other one is aborted and done again.
  async copy ({ transactional_id: transactionalId, group: groupId, topic, target, count }) {
    const consumer = new Consumer({ ...common, groupId, isolationLevel: ISOLATION.read_committed, maxWaitTime: 100, autocommit: false })
    const producer = new Producer({ ...common, idempotent: true, transactionalId })
    try {
      const stream = await consumer.consume({
        topics: [topic],
        mode: MessagesStreamModes.COMMITTED,
        fallbackMode: MessagesStreamFallbackModes.EARLIEST
      })
      const read = []
      stream.on('data', each => read.push(each))
      await until(() => read.length >= count, COPY_TIMEOUT_MS)
      for (let start = 0; start < count; start += 10) {
        const batch = read.slice(start, start + 10)
        const messages = batch.map(({ key, value }) => ({
          topic: target,
          ...(key === undefined ? {} : { key }),
          value: Buffer.concat([Buffer.from('copy of '), value ?? Buffer.alloc(0)])
        }))
        for (const commit of [false, true]) {
          const transaction = await producer.beginTransaction()
          await transaction.addConsumer(consumer)
          await transaction.send({ messages, acks: ACKS.all })
          await transaction.addOffset(batch.at(-1))
          await (commit ? transaction.commit() : transaction.abort())
        }
      }
      return read.length
    } finally {
      await producer.close(true)
      await consumer.close(true)
    }
  },

  async close_transactor ({ transactor }) {
    await transactors.get(transactor).producer.close(true)
    transactors.delete(transactor)
  },

  async fetch ({ topic, partition, offset, count, timeout_ms: timeoutMs, isolation }) {
    const groupId = `fetch-${randomUUID()}`
    const consumer = new Consumer({
      ...common,
      groupId,
      isolationLevel: ISOLATION[isolation],
      maxWaitTime: 100,
      autocommit: false,
      maxBytes: 20_000_000
    })
    const records = []
    const stream = await consumer.consume({
      topics: [topic],
      mode: MessagesStreamModes.MANUAL,
      offsets: [{ topic, partition, offset: BigInt(offset) }]
    })
    stream.on('data', each => { if (each.partition === partition) records.push(record(each)) })
    let failure = null
    stream.on('error', error => { failure = error })
    await until(() => failure !== null || records.length >= count, timeoutMs)
    await consumer.close(true)
    await admin.deleteGroups({ groups: [groupId] }).catch(() => {})
    if (failure !== null) throw failure
    return records.slice(0, count)
  },

  async join ({ member, group, topics, instance_id: groupInstanceId, session_timeout_ms: sessionTimeout }) {
    const state = { records: [], next: new Map(), failure: null }
    state.consumer = new Consumer({
      ...common,
      retries: 200, // it gives up otherwise while a broker starts again
      groupId: group,
      ...(groupInstanceId === null ? {} : { groupInstanceId }),
      sessionTimeout,
      rebalanceTimeout: Math.max(10_000, sessionTimeout),
      heartbeatInterval: 200,
      maxWaitTime: 100,
      autocommit: false
    })
    members.set(member, state)
    state.consumer.consume({
      topics,
      mode: MessagesStreamModes.COMMITTED,
      fallbackMode: MessagesStreamFallbackModes.EARLIEST
    }).then(stream => {
      stream.on('error', error => { state.failure = String(error) })
      stream.on('data', each => {
        state.records.push(record(each))
        state.next.set(`${each.topic} ${each.partition}`, each.offset + 1n)
      })
    }, error => { state.failure = String(error) })
  },

  status ({ member }) {
    const state = members.get(member)
    const assignment = (state.consumer.assignments ?? [])
      .flatMap(({ topic, partitions }) => partitions.map(each => [topic, each]))
    const { records, failure } = state
    state.records = []
    return { assignment, records, failure }
  },

  async commit ({ member }) {
    const { consumer, next } = members.get(member)
    await consumer.commit({
      offsets: [...next].map(([where, offset]) => {
        const [topic, partition] = where.split(' ')
        return { topic, partition: Number(partition), offset, leaderEpoch: -1 }
      })
    })
  },

  async leave ({ member }) {
    await members.get(member).consumer.close(true)
    members.delete(member)
  },

  async committed ({ group, topic, partition }) {
    const topics = [{ name: topic, partitionIndexes: [partition] }]
    const [found] = await admin.listConsumerGroupOffsets({ groups: [{ groupId: group, topics }] })
    const offset = found.topics[0].partitions[0].committedOffset
    return offset < 0n ? null : Number(offset)
  },

  groups: async () => [...(await admin.listGroups()).keys()],

  async describe_group ({ group }) {
    const { state, members, protocol } = (await admin.describeGroups({ groups: [group] })).get(group)
    return { state: state.toUpperCase(), members: members.size, assignor: protocol ?? '' }
  },

  async delete_group ({ group }) {
    await admin.deleteGroups({ groups: [group] })
  }
}

async function listed (topic, partition, timestamp) {
  const partitions = [{ partitionIndex: partition, timestamp: BigInt(timestamp) }]
  const [found] = await admin.listOffsets({ topics: [{ name: topic, partitions }] })
  return found.partitions[0]
}

// The partition is chosen here, by the client's own hash: its answer does not tell whither it sent.
function message (topic, { key, value, headers, partition, timestamp_ms: timestampMs }, count) {
  return {
    topic,
    ...(key === null ? {} : { key: unpack(key) }),
    ...(value === null ? {} : { value: unpack(value) }),
    headers: new Map(headers.map(([name, content]) => [Buffer.from(name), unpack(content)])),
    partition: partition ?? compatibilityPartitioner(null, unpack(key)) % count,
    ...(timestampMs === null ? {} : { timestamp: BigInt(timestampMs) })
  }
}

function record ({ partition, offset, key, value, headers, timestamp }) {
  return {
    partition,
    offset: Number(offset),
    key: pack(key),
    value: pack(value),
    headers: [...headers].map(([name, content]) => [name.toString(), pack(content)]),
    timestamp_ms: Number(timestamp)
  }
}

// The errors of single records come first, all as -1; the partition's own code follows.
function codeOf (error) {
  if (error?.message?.startsWith('Unknown topic ')) return UNKNOWN_TOPIC_OR_PARTITION
  if (error?.path?.includes('/record_errors/')) return null
  if (error instanceof ProtocolError && typeof error.apiCode === 'number') return error.apiCode
  for (const each of [error?.cause, ...(error?.errors ?? [])]) {
    const code = each === undefined ? null : codeOf(each)
    if (code !== null) return code
  }
  return null
}

await serve(operations, codeOf)
