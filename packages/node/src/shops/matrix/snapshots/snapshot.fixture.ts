import { createHash } from 'node:crypto'
import type { FeedId } from '../feeds/feed.ts'
import type { Snapshot } from './snapshot.ts'
import { unpackSnapshot } from './snapshot-layout.ts'
import { createTextBuffer } from './text-buffer.ts'

export type SampleRow = { symbol: string; top?: string; values: Record<string, unknown>; vip?: Record<string, unknown> }

/** A snapshot of these rows in this order, put together as the builder does. */
export function sampleSnapshot(feed: FeedId, method: string, rows: readonly SampleRow[]): Snapshot {
  const text = createTextBuffer()
  text.add(
    `${JSON.stringify({ feed, method, row_count: rows.length, inputs: [], as_of: '2026-11-13', available_at: '2026-11-13T23:00:00.000Z' })}\n`,
  )
  const starts: number[] = []
  const liveEnds: number[] = []
  const cells = (values: Record<string, unknown>) =>
    Object.entries(values)
      .map(
        ([name, value]) => `"${name}":${value === null ? 'null' : `{"value":${JSON.stringify(value)},"source":"x"}`}`,
      )
      .join(',')
  for (const [row, { symbol, top = '', values, vip = {} }] of rows.entries()) {
    starts.push(text.length())
    text.add(`{"rank":${row + 1},"symbol":"${symbol}","name":null,"kind":"share"${top},"values":{${cells(values)}}`)
    liveEnds.push(text.length())
    text.add(`,"details":{${cells(vip)}}}\n`)
  }
  starts.push(text.length())
  const layout = Buffer.concat([
    Buffer.from(new Uint32Array([rows.length, 0]).buffer),
    Buffer.from(Float64Array.from(rows, (_, row) => rows.length - row).buffer),
    Buffer.from(new Uint32Array(starts).buffer),
    Buffer.from(new Uint32Array(liveEnds).buffer),
  ])
  const bytes = text.bytes()
  return unpackSnapshot(createHash('sha256').update(bytes).digest('hex'), bytes, layout) as Snapshot
}
