// How the tests talk to a client in Node: one JSON object per line in, one out.
// The operations are listed in tests/interop/README.md.

import { createInterface } from 'node:readline'

// Kafka refused: `code` is the protocol's error code.
export class Refused extends Error {
  constructor (code, message) {
    super(message)
    this.code = code
  }
}

// Answers requests with the methods of `operations` until standard input ends.
// `codeOf(error)` finds Kafka's error code in an error of the client's, or returns null.
export async function serve (operations, codeOf) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, op, ...options } = JSON.parse(line)
    const answer = { id }
    try {
      answer.result = (await operations[op](options)) ?? null
    } catch (error) {
      const code = error instanceof Refused ? error.code : codeOf(error) ?? null
      answer.error = { code, message: code === null ? String(error.stack) : error.message }
    }
    process.stdout.write(JSON.stringify(answer) + '\n')
  }
  process.exit(0)
}

export function pack (data) {
  return data === null || data === undefined ? null : Buffer.from(data).toString('base64')
}

export function unpack (text) {
  return text === null ? null : Buffer.from(text, 'base64')
}

// Where each record came to lie, from the partition each was sent to and the base offset of each
// partition: both clients report one base offset per partition.
export function placed (partitions, baseOffsets) {
  const next = new Map(baseOffsets)
  return partitions.map(partition => {
    if (!next.has(partition)) return [-1, -1]
    const offset = next.get(partition)
    next.set(partition, offset + 1)
    return [partition, offset]
  })
}

// Waits until `done()` is true or `timeoutMs` is over; says which.
export async function until (done, timeoutMs) {
  const deadline = Date.now() + timeoutMs
  while (!done()) {
    if (Date.now() > deadline) return false
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  return true
}
