// kafkajs behind the wire of wire.mjs.
//
// kafkajs knows no consumption by assignment: `fetch` joins a group of its own and seeks. It does
// not know static members, cooperative rebalancing or repeated header names either, and resets an
// offset that is out of range by itself.

import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import kafkajs from 'kafkajs'
import snappy from 'kafkajs-snappy'
import { lz4Compress, lz4Decompress } from '@platformatic/wasm-utils'
import { Refused, pack, placed, serve, unpack, until } from './wire.mjs'

const require = createRequire(import.meta.url)
const { CompressionCodecs, CompressionTypes, ConfigResourceTypes, Kafka, Partitioners, logLevel } = kafkajs
const { ZstdCodec } = require('zstd-codec')
const { version } = require('kafkajs/package.json')

// Streaming: other clients' frames do not say how large their content is.
const zstd = await new Promise(resolve => ZstdCodec.run(codec => resolve(new codec.Streaming())))
CompressionCodecs[CompressionTypes.Snappy] = snappy
CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: async encoder => lz4Compress(encoder.buffer),
  decompress: async buffer => lz4Decompress(buffer)
})
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: async encoder => Buffer.from(zstd.compress(encoder.buffer)),
  decompress: async buffer => Buffer.from(zstd.decompress(buffer))
})
const CODECS = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD
}
const ACKS = { all: -1, 1: 1, 0: 0 }

const kafka = new Kafka({
  brokers: [process.argv[2]],
  logLevel: logLevel.NOTHING,
  retry: { initialRetryTime: 50, maxRetryTime: 500, retries: 8 }
})
const admin = kafka.admin()
await admin.connect()
const members = new Map()
const transactors = new Map()

const operations = {
  hello: () => ({
    client: `kafkajs ${version}`,
    codecs: Object.keys(CODECS),
    lacks: ['range', 'cooperative', 'static', 'repeated_headers', 'null_header', 'out_of_range', 'unset_config']
  }),

  async create_topic ({ topic, partitions, configs }) {
    const configEntries = Object.entries(configs).map(([name, value]) => ({ name, value }))
    const topics = [{ topic, numPartitions: partitions, replicationFactor: 1, configEntries }]
    const created = await admin.createTopics({ topics, waitForLeaders: true })
    if (!created) throw new Refused(36, 'createTopics answered false')
  },

  delete_topic: ({ topic }) => admin.deleteTopics({ topics: [topic] }),

  async add_partitions ({ topic, partitions }) {
    await admin.createPartitions({ topicPartitions: [{ topic, count: partitions }] })
  },

  async partition_count ({ topic }) {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
    return topics[0].partitions.length
  },

  async describe_configs ({ topic }) {
    const resource = { type: ConfigResourceTypes.TOPIC, name: topic }
    const { resources } = await admin.describeConfigs({ resources: [resource], includeSynonyms: false })
    const entries = resources[0].configEntries
    return Object.fromEntries(entries.map(entry => [entry.configName, entry.configValue]))
  },

  async alter_configs ({ topic, configs }) {
    const configEntries = Object.entries(configs).map(([name, value]) => ({ name, value }))
    const resource = { type: ConfigResourceTypes.TOPIC, name: topic, configEntries }
    await admin.alterConfigs({ resources: [resource], validateOnly: false })
  },

  async delete_records ({ topic, partition, offset }) {
    await offsets(topic, partition) // kafkajs finds no leader for a topic it never asked about
    await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(offset) }] })
    return (await offsets(topic, partition)).start
  },

  offsets: ({ topic, partition }) => offsets(topic, partition),

  async offset_for_time ({ topic, partition, timestamp_ms: timestampMs }) {
    const found = await admin.fetchTopicOffsetsByTimestamp(topic, timestampMs)
    const offset = Number(found.find(each => each.partition === partition).offset)
    const { end } = await offsets(topic, partition)
    return offset === end ? null : offset // kafkajs answers the end when there is none
  },

  async produce ({ topic, records, codec, acks, idempotent }) {
    const chosen = []
    const producer = kafka.producer({
      idempotent,
      ...(idempotent ? { maxInFlightRequests: 1 } : {}),
      createPartitioner: () => {
        const choose = Partitioners.DefaultPartitioner()
        return options => {
          const partition = choose(options)
          chosen.push(partition)
          return partition
        }
      }
    })
    await producer.connect()
    try {
      const reports = await producer.send({
        topic,
        acks: ACKS[acks],
        compression: CODECS[codec],
        messages: records.map(message)
      })
      const bases = reports ?? []
      return placed(chosen, bases.map(each => [each.partition, Number(each.baseOffset)]))
    } finally {
      await producer.disconnect()
    }
  },

  async open_transactor ({ transactor, transactional_id: transactionalId, transaction_timeout_ms: transactionTimeout }) {
    const producer = kafka.producer({
      transactionalId,
      transactionTimeout,
      idempotent: true,
      maxInFlightRequests: 1,
      createPartitioner: Partitioners.DefaultPartitioner
    })
    await producer.connect()
    transactors.set(transactor, { producer, transaction: null })
  },

  async begin ({ transactor }) {
    const state = transactors.get(transactor)
    state.transaction = await state.producer.transaction()
  },

  async send ({ transactor, topic, records }) {
    await transactors.get(transactor).transaction.send({ topic, messages: records.map(message) })
  },

  // Of the group this client tells its name alone.
  async send_position ({ transactor, group: consumerGroupId, topic, partition, offset }) {
    const topics = [{ topic, partitions: [{ partition, offset: String(offset) }] }]
    await transactors.get(transactor).transaction.sendOffsets({ consumerGroupId, topics })
  },

  async end ({ transactor, commit }) {
    const { transaction } = transactors.get(transactor)
    await (commit ? transaction.commit() : transaction.abort())
  },

  async close_transactor ({ transactor }) {
    await transactors.get(transactor).producer.disconnect()
    transactors.delete(transactor)
  },

  async fetch ({ topic, partition, offset, count, timeout_ms: timeoutMs, isolation }) {
    const records = []
    const groupId = `fetch-${randomUUID()}`
    const readUncommitted = isolation === 'read_uncommitted'
    const consumer = kafka.consumer({ groupId, readUncommitted, maxWaitTimeInMs: 100, maxBytesPerPartition: 20_000_000 })
    let joined = false
    consumer.on(consumer.events.GROUP_JOIN, () => { joined = true })
    await consumer.connect()
    try {
      await consumer.subscribe({ topic, fromBeginning: true })
      await consumer.run({
        autoCommit: false,
        eachBatch: async ({ batch }) => {
          if (batch.partition === partition) records.push(...batch.messages.map(each => record(partition, each)))
        }
      })
      await until(() => joined, timeoutMs) // a start that failed is repeated in the background
      consumer.seek({ topic, partition, offset: String(offset) })
      await until(() => records.length >= count, timeoutMs)
    } finally {
      await consumer.disconnect()
    }
    await admin.deleteGroups([groupId]).catch(() => {})
    return records.filter(each => each.offset >= offset).slice(0, count)
  },

  async join ({ member, group, topics, session_timeout_ms: sessionTimeout }) {
    const state = { assignment: [], records: [], next: new Map(), failure: null }
    state.consumer = kafka.consumer({
      groupId: group,
      sessionTimeout,
      heartbeatInterval: 200,
      maxWaitTimeInMs: 100,
      metadataMaxAge: 1000
    })
    state.consumer.on(state.consumer.events.GROUP_JOIN, ({ payload }) => {
      state.assignment = Object.entries(payload.memberAssignment)
        .flatMap(([topic, partitions]) => partitions.map(each => [topic, each]))
    })
    state.consumer.on(state.consumer.events.CRASH, ({ payload }) => {
      if (!payload.restart) state.failure = String(payload.error)
    })
    await state.consumer.connect()
    await state.consumer.subscribe({ topics, fromBeginning: true })
    await state.consumer.run({
      autoCommit: false,
      eachBatch: async ({ batch }) => {
        state.records.push(...batch.messages.map(each => record(batch.partition, each)))
        state.next.set(`${batch.topic} ${batch.partition}`, Number(batch.lastOffset()) + 1)
      }
    })
    members.set(member, state)
  },

  status ({ member }) {
    const { assignment, records, failure } = members.get(member)
    members.get(member).records = []
    return { assignment, records, failure }
  },

  async commit ({ member }) {
    const { consumer, next } = members.get(member)
    await consumer.commitOffsets([...next].map(([where, offset]) => {
      const [topic, partition] = where.split(' ')
      return { topic, partition: Number(partition), offset: String(offset) }
    }))
  },

  async leave ({ member }) {
    await members.get(member).consumer.disconnect()
    members.delete(member)
  },

  async committed ({ group, topic, partition }) {
    const [found] = await admin.fetchOffsets({ groupId: group, topics: [topic] })
    const offset = Number(found.partitions.find(each => each.partition === partition).offset)
    return offset < 0 ? null : offset
  },

  groups: async () => (await admin.listGroups()).groups.map(each => each.groupId),

  async describe_group ({ group }) {
    const { groups } = await admin.describeGroups([group])
    const { state, members, protocol } = groups[0]
    return { state: state.toUpperCase(), members: members.length, assignor: protocol }
  },

  delete_group: ({ group }) => admin.deleteGroups([group])
}

async function offsets (topic, partition) {
  const found = (await admin.fetchTopicOffsets(topic)).find(each => each.partition === partition)
  return { start: Number(found.low), end: Number(found.high) }
}

function message ({ key, value, headers, partition, timestamp_ms: timestampMs }) {
  return {
    key: unpack(key),
    value: unpack(value),
    headers: Object.fromEntries(headers.map(([name, content]) => [name, unpack(content)])),
    ...(partition === null ? {} : { partition }),
    ...(timestampMs === null ? {} : { timestamp: String(timestampMs) })
  }
}

// A repeated name arrives as an array under the name: the order among different names is lost.
function record (partition, { offset, key, value, headers, timestamp }) {
  return {
    partition,
    offset: Number(offset),
    key: pack(key),
    value: pack(value),
    headers: Object.entries(headers ?? {}).flatMap(([name, content]) =>
      (Array.isArray(content) ? content : [content]).map(each => [name, pack(each)])),
    timestamp_ms: Number(timestamp)
  }
}

// kafkajs wraps the protocol's error up to three times.
function codeOf (error) {
  if (error === null || typeof error !== 'object') return null
  if (typeof error.code === 'number' && error.type !== undefined) return error.code
  if (typeof error.errorCode === 'number' && error.errorCode !== 0) return error.errorCode
  const inner = [error.cause, error.originalError, error.error, ...(error.errors ?? []), ...(error.groups ?? []), ...(error.partitions ?? [])]
  for (const each of inner) {
    const code = each === undefined ? null : codeOf(each)
    if (code !== null) return code
  }
  return null
}

await serve(operations, codeOf)
