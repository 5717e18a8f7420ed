import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { useFolder } from '../kernel/use-folder.fixture.ts'
import { effectiveHistory } from './chain-state.ts'
import type { JournalEntry } from './history.ts'
import { formatLine, openJournal, parseJournal } from './journal.ts'

const hex = fc.uint8Array({ maxLength: 40 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}` as const)
const anyBlock = fc.record({
  kind: fc.constant('block' as const),
  timestamp: fc.nat(),
  transactions: fc.array(hex, { maxLength: 3 }),
  hash: hex,
})
const anyState = fc.record({
  kind: fc.constant('state' as const),
  method: fc.string(),
  params: fc.array(fc.string(), { maxLength: 3 }),
})
const anyEntry: fc.Arbitrary<JournalEntry> = fc.oneof(anyBlock, anyState)

test('what was written is read again', () => {
  fc.assert(
    fc.property(fc.array(anyEntry, { maxLength: 8 }), (entries) => {
      const read = parseJournal(Buffer.from(entries.map(formatLine).join('')), 'j')
      expect(read).toEqual({ entries, tornBytes: 0 })
    }),
  )
})

test('cut anywhere, a journal reads as the entries that were complete', () => {
  fc.assert(
    fc.property(fc.array(anyEntry, { minLength: 1, maxLength: 6 }), fc.nat(), (entries, at) => {
      const bytes = Buffer.from(entries.map(formatLine).join(''))
      const cut = bytes.subarray(0, at % bytes.byteLength)
      const read = parseJournal(cut, 'j')
      expect(read.entries).toEqual(entries.slice(0, read.entries.length))
      expect(Buffer.byteLength(read.entries.map(formatLine).join('')) + read.tornBytes).toBe(cut.byteLength)
    }),
  )
})

test('one changed character in a complete line is never read as something else', () => {
  fc.assert(
    fc.property(anyEntry, fc.nat(), fc.integer({ min: 33, max: 126 }), (entry, at, code) => {
      const line = formatLine(entry)
      const position = at % (line.length - 1)
      const changed = line.slice(0, position) + String.fromCharCode(code) + line.slice(position + 1)
      if (changed === line) return
      expect(() => parseJournal(Buffer.from(changed), 'j')).toThrow('line 1 is damaged')
    }),
  )
})

test('a torn tail is cut off the file in bytes, even inside a character', () => {
  const folder = useFolder('devnet-journal')
  const path = join(folder, 'chain.journal')
  const entry: JournalEntry = { kind: 'state', method: 'größe', params: [] }
  writeFileSync(path, Buffer.concat([Buffer.from(formatLine(entry)), Buffer.from([0xc3])]))
  const opened = openJournal(path)
  opened.journal.append([entry])
  const again = openJournal(path)
  expect(again.entries).toEqual([entry, entry])
  return Promise.all([opened.journal.close(), again.journal.close()])
})

test('rewinds cut the history they follow, and cannot reach beyond it', () => {
  const block = (timestamp: number): JournalEntry => ({ kind: 'block', timestamp, transactions: [], hash: '0x' })
  const entries = [block(1), block(2), block(3), { kind: 'rewind', length: 1 } as const, block(4)]
  expect(effectiveHistory(entries, 'j')).toEqual([block(1), block(4)])
  expect(() => effectiveHistory([{ kind: 'rewind', length: 1 }], 'j')).toThrow('beyond')
})
