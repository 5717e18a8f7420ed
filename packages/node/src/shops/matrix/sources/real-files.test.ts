import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { findActions, type Line, shareFactor } from '../as-of/find-actions.ts'
import { addToLine } from '../as-of/load-actions.ts'
import { recogniseSource } from './catalogue.ts'
import type { ParsedFile } from './source.ts'

const folder = fileURLToPath(new URL('../../../../../../../shared/data/', import.meta.url))

const parsed = new Map<string, ParsedFile>()

function read(path: string): ParsedFile {
  const before = parsed.get(path)
  if (before) return before
  const raw = readFileSync(`${folder}${path}`)
  const bytes = path.endsWith('.gz') ? gunzipSync(raw) : raw
  const name = (path.split('/').at(-1) ?? '').replace(/\.gz$/, '')
  const file = recogniseSource(name, bytes).parse({ name, bytes, nowMs: Date.parse('2026-11-15T00:00:00Z') })
  parsed.set(path, file)
  return file
}

afterAll(() => parsed.clear())

describe.skipIf(!existsSync(folder))('published files', () => {
  test('every CNMS day of the archive parses, and the facilities add up to it', () => {
    const days = readdirSync(`${folder}finra-short-volume`).filter((name) => name.startsWith('CNMS'))
    for (const name of days) expect(read(`finra-short-volume/${name}`).rows.count).toBeGreaterThan(9_000)
    for (const day of ['20210127', '20210128']) {
      const sums = new Map<string, number>()
      for (const facility of ['FNSQ', 'FNQC', 'FNYX', 'FNRA']) {
        const { rows } = read(`finra-short-volume/${facility}shvol${day}.txt.gz`)
        rows.symbols.forEach((symbol, i) => {
          sums.set(symbol, (sums.get(symbol) ?? 0) + (rows.numbers.total_volume?.[i] as number))
        })
      }
      const { rows } = read(`finra-short-volume/CNMSshvol${day}.txt.gz`)
      expect(rows.symbols.filter((symbol, i) => sums.get(symbol) !== rows.numbers.total_volume?.[i])).toEqual([])
    }
  })

  test('fails to deliver: both trailers hold, halves are distinguished, GameStop on 29 January 2021 is as published', () => {
    const periods = ['202012a', '202012b', '202101a', '202101b', '202102a'].map(
      (half) => read(`sec-fails/cnsfails${half}.txt.gz`).period,
    )
    expect(periods).toEqual(['2020-12a', '2020-12b', '2021-01a', '2021-01b', '2021-02a'])
    const { rows } = read('sec-fails/cnsfails202101b.txt.gz')
    const at = rows.symbols.findIndex((symbol, i) => symbol === 'GME' && rows.days[i] === 18_656)
    expect(rows.numbers.quantity?.[at]).toBe(138_179)
    expect(rows.numbers.price?.[at]).toBe(193.6)
  })

  test('splits and changes of symbols of early 2021 show in the fails, and the list of splits explains them', () => {
    const lines = new Map<string, Line>()
    for (const half of ['202101b', '202102a']) {
      const { rows } = read(`sec-fails/cnsfails${half}.txt.gz`)
      for (let i = 0; i < rows.count; i += 1)
        addToLine(lines, {
          cusip: rows.texts.cusip?.[i] as string,
          symbol: rows.symbols[i] as string,
          day: rows.days[i] as number,
          price: rows.numbers.price?.[i] as number,
          file: 1,
        })
    }
    const { splits, renames } = findActions([...lines.values()], [])
    const newName = (symbol: string) => renames.find(({ from }) => from === symbol)?.to
    expect(['AAXN', 'YLCO'].map(newName)).toEqual(['AXON', 'RNRG'])
    const signs = ['XELA', 'MBRX', 'SPXU', 'HDGE'].map((symbol) => splits.get(symbol)?.map(({ factor }) => factor))
    expect(signs).toEqual(signs.map(() => [Number.NaN]))
    // As many names changed their number without a split, or have none at all.
    for (const symbol of ['GME', 'AMC', 'KOSS', 'SLG', 'AAPL']) expect(splits.get(symbol)).toBeUndefined()
    const list = read('prices/splits.csv').rows
    const listed = list.symbols.map((symbol, i) => ({
      symbol,
      day: list.days[i] as number,
      factor: list.numbers.factor?.[i] as number,
      newSymbol: null,
      file: 2,
    }))
    const known = findActions([...lines.values()], listed).splits
    for (const symbol of ['XELA', 'MBRX'])
      expect(known.get(symbol)?.filter(({ factor }) => Number.isNaN(factor))).toEqual([])
    expect(known.get('XELA')?.[0]?.factor).toBeCloseTo(1 / 3)
    const day = (text: string) => Date.parse(text) / 86_400_000
    expect(shareFactor(known.get('EXPI'), day('2021-02-12'), day('2021-02-26'))).toBe(2)
  })

  test('directories of four dates, the borrow file and company facts parse', () => {
    for (const name of readdirSync(`${folder}symbols`))
      expect(read(`symbols/${name}`).rows.count).toBeGreaterThan(3_900)
    expect(read('ibkr/usa-20220806.txt.gz').rows.count).toBe(17_329)
    const { shares, float_usd } = read('sec-xbrl/CIK0001326380.json.gz').rows.numbers
    expect(shares?.filter((value) => !Number.isNaN(value)).at(-1)).toBe(71_815_131)
    expect(float_usd?.at(-1)).toBe(244_400_000)
  })

  test('a halts feed whose count does not match and a saved error page are refused', () => {
    expect(() => read('halts/tradehalts-20260922-excerpt.xml')).toThrow('numItems')
    expect(() => read('bad/CNMSshvol20210320.txt.gz')).toThrow('HTML')
  })

  test('the halts of the excerpt parse once its count is right', () => {
    const text = readFileSync(`${folder}halts/tradehalts-20260922-excerpt.xml`, 'utf8').replace('>49<', '>2<')
    const bytes = Buffer.from(text)
    const { rows } = recogniseSource('tradehalts.xml', bytes).parse({
      name: 'tradehalts.xml',
      bytes,
      nowMs: Date.parse('2026-11-15T00:00:00Z'),
    })
    expect(rows.symbols).toEqual(['BKKT.WS', 'JAGX'])
    expect(rows.texts.reason).toEqual(['H11', 'LUDP'])
    expect(new Date(rows.numbers.halted_at_ms?.[1] as number).toISOString()).toBe('2026-09-22T18:54:49.693Z')
  })
})
