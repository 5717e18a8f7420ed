import { anyText } from '@assay/protocol/any-text.fixture'
import { verifyForkEvidence } from '@assay/protocol/log/fork-evidence'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { leafHash } from '../tree-hash.ts'
import { cutEntryBundle, parseEntryBundle } from './entry-bundle.ts'
import { growthChart } from './growth-chart.ts'
import { decodeAnchorCall } from './read-anchors.ts'
import { parseDescription, parseHead } from './read-head.ts'
import { commitmentsIn, hashOf } from './receipts.ts'
import { age, escapeHtml, renderStatusPage } from './status-page.ts'
import { emptyState } from './types.ts'

const bundleOf = (entries: readonly Uint8Array[]) =>
  Buffer.concat(
    entries.flatMap((entry) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(entry.length)
      return [length, entry]
    }),
  )

describe('entry bundles', () => {
  const lists = fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 1, maxLength: 20 })

  test('give back what was written, and any cut of it', () => {
    fc.assert(
      fc.property(lists, fc.nat(), (entries, place) => {
        const bundle = bundleOf(entries)
        expect(parseEntryBundle(bundle, entries.length)?.map((entry) => [...entry])).toEqual(
          entries.map((entry) => [...entry]),
        )
        const count = place % (entries.length + 1)
        expect(cutEntryBundle(bundle, count)).toEqual(bundleOf(entries.slice(0, count)))
      }),
    )
  })

  test('are not read with another count, a byte too many or too few', () => {
    fc.assert(
      fc.property(lists, (entries) => {
        const bundle = bundleOf(entries)
        expect(parseEntryBundle(bundle, entries.length + 1)).toBeUndefined()
        expect(parseEntryBundle(bundle, entries.length - 1)).toBeUndefined()
        expect(parseEntryBundle(Buffer.concat([bundle, Buffer.alloc(1)]), entries.length)).toBeUndefined()
        expect(parseEntryBundle(bundle.subarray(0, -1), entries.length)).toBeUndefined()
      }),
    )
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.nat(300), (bytes, count) => {
        const parsed = parseEntryBundle(Buffer.from(bytes), count)
        if (parsed) expect(bundleOf(parsed)).toEqual(Buffer.from(bytes))
        cutEntryBundle(Buffer.from(bytes), count)
      }),
    )
  })
})

test('receipts: a leaf hash in base64 or hex is the same one, and nothing else is a hash', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const hash = Buffer.from(bytes)
      const hex = hash.toString('hex')
      for (const text of [hash.toString('base64'), hex, `0x${hex}`, hex.toUpperCase()]) expect(hashOf(text)).toBe(hex)
      const found = commitmentsIn(JSON.stringify({ log: { origin: 'x/log', leaf_hash: hash.toString('base64') } }))
      expect(found).toEqual([{ origin: 'x/log', leafHash: hex }])
    }),
  )
  for (const wrong of ['', 'AA==', 'g'.repeat(64), `${'A'.repeat(43)}B`, 7, null]) expect(hashOf(wrong)).toBeUndefined()
})

test('receipts: an attestation that was saved before it had its place names the leaf of its record', () => {
  const record = { type: 'assay.citation/v1', node: 'https://api.example.org', b: 1, a: 2 }
  const leaf = leafHash(Buffer.from('{"a":2,"b":1,"node":"https://api.example.org","type":"assay.citation/v1"}'))
  expect(commitmentsIn(JSON.stringify({ record, log: { state: 'pending', url: 'x' } }))).toEqual([
    { origin: 'api.example.org/v1/log', leafHash: leaf.toString('hex') },
  ])
  expect(commitmentsIn(JSON.stringify({ record: { ...record, node: 'nowhere' }, log: { state: 'pending' } }))).toEqual(
    [],
  )
})

test('nothing that a log, a chain or a folder may hold makes a parser throw', async () => {
  await fc.assert(
    fc.asyncProperty(anyText(), fc.json(), async (text, json) => {
      for (const given of [text, json]) {
        parseHead(given)
        parseDescription(given)
        commitmentsIn(given)
        decodeAnchorCall(given, '0x', 'x')
        decodeAnchorCall(`0x${Buffer.from(given).toString('hex')}`, '0x', 'x')
        age(given, 0)
      }
      expect(await verifyForkEvidence(JSON.parse(json))).toBeUndefined()
      expect(await verifyForkEvidence({ ...Object(JSON.parse(json)), format: 'assay-log-fork' })).toMatchObject({
        proven: false,
      })
    }),
  )
  await fc.assert(
    fc.asyncProperty(fc.anything(), fc.anything(), fc.anything(), async (heads, keys, consistency) => {
      expect(await verifyForkEvidence({ format: 'assay-log-fork', heads, keys, consistency })).toMatchObject({
        proven: false,
      })
    }),
  )
})

test('no text of a log becomes markup on the status page', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(escapeHtml(`<${text}>"'`)).not.toMatch(/[<>"']/)
      const nasty = `<script>${text}</script>`
      const state = {
        ...emptyState(nasty),
        origin: nasty,
        checked_at: nasty,
        grown_at: nasty,
        head: { size: 1, root: nasty, note: nasty, seen_at: nasty },
        witnesses: { [nasty]: { size: 1, cosigned_at: nasty } },
        views: { [nasty]: { size: 1, verdict: nasty, seen_at: nasty } },
        anchors: { block: 1, seen: [{ size: 1, transaction: nasty, agrees: false }] },
        findings: [{ kind: 'fork' as const, severity: 'alarm' as const, detail: nasty }],
      }
      expect(renderStatusPage([state], 0)).not.toContain('<script')
    }),
    { numRuns: 30 },
  )
  expect(growthChart([], 5)).toBe('')
  expect(
    growthChart(
      [
        [0, 5],
        [10, 5],
      ],
      20,
    ),
  ).not.toContain('NaN')
})
