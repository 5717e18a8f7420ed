import { createSocket } from 'node:dgram'
import { connect } from 'node:net'
import type { Clock } from '@assay/till/kernel/clock'
import type { Rng } from '@assay/till/kernel/random'
import type { AddressAnswer, LookupFailure, RecordAnswer, Resolver } from '../resolver.ts'
import { withTimeLimit } from '../time-limit.ts'
import { type DnsReply, decodeReply, encodeQuery, type RecordType, typeCodes } from './wire.ts'

export type DnsResolverOptions = {
  /** IP address of a recursive resolver. */
  server: string
  port?: number
  clock: Clock
  rng: Rng
  attemptMs?: number
}

/** Asks one recursive resolver over UDP, and over TCP where the answer does not fit. */
export function createDnsResolver(options: DnsResolverOptions): Resolver {
  const ask = (name: string, type: RecordType, signal: AbortSignal) => askWithRetry(options, name, type, signal)
  return {
    name: options.server,
    addresses: async (host, signal) => {
      const [four, six] = await Promise.all([ask(host, 'A', signal), ask(host, 'AAAA', signal)])
      return joinAddresses(four, six)
    },
    txt: async (name, signal) => recordsOf(await ask(name, 'TXT', signal), 'TXT'),
    caa: async (name, signal) => recordsOf(await ask(name, 'CAA', signal), 'CAA'),
    srv: async (name, signal) => recordsOf(await ask(name, 'SRV', signal), 'SRV'),
  }
}

type Asked = DnsReply | LookupFailure

const isFailure = (asked: Asked): asked is LookupFailure => 'status' in asked

// Half an answer could hide a private address: both questions must be answered.
function joinAddresses(four: Asked, six: Asked): AddressAnswer {
  if (isFailure(four)) return four
  if (isFailure(six)) return six
  const pick = (reply: DnsReply, type: RecordType) =>
    reply.answers.filter((answer) => answer.type === typeCodes[type]).map((answer) => answer.text)
  return { status: 'ok', addresses: [...pick(four, 'A'), ...pick(six, 'AAAA')] }
}

function recordsOf(asked: Asked, type: RecordType): RecordAnswer | LookupFailure {
  if (isFailure(asked)) return asked
  const answers = asked.answers.filter((answer) => answer.type === typeCodes[type])
  return {
    status: 'ok',
    records: answers.map((answer) => answer.text),
    authenticated: asked.authenticated,
    ttlSeconds: answers.length === 0 ? 0 : Math.min(...answers.map((answer) => answer.ttlSeconds)),
  }
}

const attemptsMax = 2

async function askWithRetry(
  options: DnsResolverOptions,
  name: string,
  type: RecordType,
  signal: AbortSignal,
): Promise<Asked> {
  let failure: LookupFailure = { status: 'failed', detail: 'not asked' }
  for (let attempt = 0; attempt < attemptsMax && !signal.aborted; attempt += 1) {
    const random = options.rng.bytes(2)
    const id = ((random[0] ?? 0) << 8) | (random[1] ?? 0)
    const query = encodeQuery(id, name, type)
    if (!query) return { status: 'failed', detail: 'not a domain name' }
    const withTimeout = <T>(work: (within: AbortSignal) => Promise<T>) =>
      withTimeLimit(options.clock, options.attemptMs ?? 2_000, signal, work)
    try {
      const timed = await withTimeout((within) =>
        askUdp(options, query, (bytes) => decodeReply(bytes, id, name, type), within),
      )
      const reply = timed.truncated
        ? await withTimeout((within) => askTcp(options, query, (bytes) => decodeReply(bytes, id, name, type), within))
        : timed
      if (reply.code === 0 || reply.code === 3) return reply
      failure = { status: 'failed', detail: `${options.server} answers with DNS error ${reply.code}` }
    } catch {
      failure = { status: 'failed', detail: `${options.server} did not answer` }
    }
  }
  return failure
}

type Decode = (bytes: Uint8Array) => DnsReply | undefined

/** A connected socket hears only its server; what is not the answer to our question is ignored, as forgers send it. */
function askUdp(
  options: DnsResolverOptions,
  query: Uint8Array,
  decode: Decode,
  signal: AbortSignal,
): Promise<DnsReply> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(options.server.includes(':') ? 'udp6' : 'udp4')
    let closed = false
    const end = (settle: () => void) => {
      if (closed) return
      closed = true
      signal.removeEventListener('abort', stop)
      socket.close()
      settle()
    }
    const stop = () => end(() => reject(signal.reason))
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    socket.on('error', (error) => end(() => reject(error)))
    socket.on('message', (bytes) => {
      const reply = decode(bytes)
      if (reply) end(() => resolve(reply))
    })
    // A callback of `connect` would be called with the error, too; without one the error is an event.
    socket.once('connect', () => socket.send(query))
    socket.connect(options.port ?? 53, options.server)
  })
}

function askTcp(
  options: DnsResolverOptions,
  query: Uint8Array,
  decode: Decode,
  signal: AbortSignal,
): Promise<DnsReply> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: options.server, port: options.port ?? 53, signal })
    let received = Buffer.alloc(0)
    const end = (settle: () => void) => {
      socket.destroy()
      settle()
    }
    socket.on('error', (error) => end(() => reject(error)))
    socket.on('close', () => reject(new Error('closed')))
    socket.on('data', (part) => {
      received = Buffer.concat([received, part])
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return
      const reply = decode(received.subarray(2, 2 + received.readUInt16BE(0)))
      end(() => (reply ? resolve(reply) : reject(new Error('malformed'))))
    })
    socket.write(Buffer.concat([Buffer.from([query.length >> 8, query.length & 255]), query]))
  })
}
