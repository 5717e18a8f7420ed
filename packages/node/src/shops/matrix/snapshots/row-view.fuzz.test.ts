import { anyText } from '@assay/protocol/any-text.fixture'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Page } from './page.ts'
import { renderJson, renderNdjson } from './render.ts'
import type { Snapshot } from './snapshot.ts'
import { unpackSnapshot } from './snapshot-layout.ts'
import { createTextBuffer } from './text-buffer.ts'

/** A snapshot of rows with any text in them, put together as the builder does. */
function snapshotOf(names: readonly string[]): Snapshot {
  const text = createTextBuffer()
  text.add('{}\n')
  const starts: number[] = []
  const liveEnds: number[] = []
  for (const [row, name] of names.entries()) {
    starts.push(text.length())
    text.add(`{"rank":${row + 1},"symbol":"S${row}","name":${JSON.stringify(name)}`)
    liveEnds.push(text.length())
    text.add(`,"factors":${JSON.stringify([name])}}\n`)
  }
  starts.push(text.length())
  const layout = Buffer.concat([
    Buffer.from(new Uint32Array([names.length, 0]).buffer),
    Buffer.from(new Float64Array(names.length).buffer),
    Buffer.from(new Uint32Array(starts).buffer),
    Buffer.from(new Uint32Array(liveEnds).buffer),
  ])
  return unpackSnapshot('a'.repeat(64), text.bytes(), layout) as Snapshot
}

const cases = fc
  .array(anyText(), { maxLength: 12 })
  .chain((names) =>
    fc.tuple(
      fc.constant(names),
      fc.uniqueArray(fc.nat({ max: Math.max(0, names.length - 1) }), { maxLength: names.length }),
    ),
  )

test('any choice of rows in any tier is well-formed JSON and NDJSON with exactly those rows', () => {
  fc.assert(
    fc.property(cases, fc.constantFrom('live', 'vip', 'delayed'), ([names, chosen], tier) => {
      const rows = chosen.filter((row) => row < names.length).sort((a, b) => a - b)
      const page: Page = { rows, nextCursor: null, unranked: {} }
      const head = { facts: {}, text: '{"feed":"squeeze"' }
      const snapshot = snapshotOf(names)
      const expected = rows.map((row) => ({
        rank: row + 1,
        symbol: `S${row}`,
        name: names[row],
        ...(tier === 'vip' ? { factors: [names[row]] } : {}),
      }))
      expect(JSON.parse(renderJson(snapshot, page, tier, head).toString())).toEqual({
        feed: 'squeeze',
        data: expected,
        next_cursor: null,
      })
      const lines = renderNdjson(snapshot, page, tier, head).toString().split('\n')
      expect(lines.pop()).toBe('')
      expect(lines.slice(1).map((line) => JSON.parse(line))).toEqual(expected)
    }),
    { numRuns: 150 },
  )
})

test('a layout that does not fit its text is not believed', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (layout) => {
      const found = unpackSnapshot('a'.repeat(64), Buffer.from('{}\n'), Buffer.from(layout))
      expect(found === undefined || found.bytes.length >= (found.starts[found.values.length] as number)).toBe(true)
    }),
  )
})
