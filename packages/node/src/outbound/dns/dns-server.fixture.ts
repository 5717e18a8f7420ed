import { createSocket } from 'node:dgram'
import { once } from 'node:events'

export const nameBytes = (name: string) => [
  ...name.split('.').flatMap((label) => [label.length, ...Buffer.from(label)]),
  0,
]

/** A reply to `query` with the given records, as a resolver would send it. */
export function reply(query: Uint8Array, records: { type: number; data: number[] }[], flags = 0x81a0): Buffer {
  const end = query.indexOf(0, 12) + 5
  const answers = records.flatMap(({ type, data }) => [
    0xc0,
    12,
    type >> 8,
    type & 255,
    0,
    1,
    0,
    0,
    0,
    60,
    data.length >> 8,
    data.length & 255,
    ...data,
  ])
  return Buffer.from([
    query[0] ?? 0,
    query[1] ?? 0,
    flags >> 8,
    flags & 255,
    0,
    1,
    records.length >> 8,
    records.length & 255,
    0,
    0,
    0,
    0,
    ...query.subarray(12, end),
    ...answers,
  ])
}

export type SrvRecord = { priority: number; port: number; target: string }

/** A resolver on this machine that knows SRV records of the names given, and no others. */
export async function startDnsServer(zone: ReadonlyMap<string, readonly SrvRecord[]>) {
  const asked: string[] = []
  const udp = createSocket('udp4')
  udp.on('message', (query, from) => {
    const name = nameIn(query)
    asked.push(name)
    const records = (zone.get(name) ?? []).map(({ priority, port, target }) => ({
      type: 33,
      data: [priority >> 8, priority & 255, 0, 1, port >> 8, port & 255, ...(target === '' ? [0] : nameBytes(target))],
    }))
    udp.send(reply(query, records), from.port, from.address)
  })
  udp.bind(0, '127.0.0.1')
  await once(udp, 'listening')
  return { port: udp.address().port, asked, stop: () => new Promise<void>((resolve) => udp.close(() => resolve())) }
}

function nameIn(query: Buffer): string {
  const labels: string[] = []
  for (let at = 12; (query[at] ?? 0) !== 0; at += 1 + (query[at] ?? 0))
    labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)))
  return labels.join('.')
}
