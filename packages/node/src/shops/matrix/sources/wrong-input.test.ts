import { expect, test } from 'vitest'
import { sampleFiles, sampleNowMs } from '../demo/sample-files.fixture.ts'
import { FileRefused } from '../reading/refused.ts'
import { sourceOf } from './catalogue.ts'
import type { ParsedFile, SourceId } from './source.ts'

const parse = (source: SourceId, name: string, bytes: Buffer): ParsedFile =>
  sourceOf(source).parse({ name, bytes, nowMs: sampleNowMs })

const isText = ({ file }: (typeof sampleFiles)[number]) => !/\.(zip|json|xml)$/.test(file.name)
const linesOf = (bytes: Buffer) => bytes.toString('latin1').replaceAll('\r\n', '\n').replace(/\n$/, '').split('\n')
const joined = (lines: readonly (string | undefined)[]) => Buffer.from(`${lines.join('\n')}\n`, 'latin1')

/** Lines before the first row, and after the last one. */
const frame: Partial<Record<SourceId, [number, number]>> = {
  'finra-short-volume': [1, 1],
  'ibkr-borrow': [2, 1],
  'nasdaq-directory': [1, 1],
  'nasdaq-threshold': [1, 1],
  'nyse-threshold': [1, 1],
  'cboe-threshold': [1, 1],
}

test.each(sampleFiles)('$source: the same file twice in one is refused', ({ source, file }) => {
  expect(() => parse(source, file.name, Buffer.concat([file.bytes, file.bytes]))).toThrow(FileRefused)
})

test.each(sampleFiles.filter(isText))('$source: a header that is not in its place is refused', ({ source, file }) => {
  const [first, second, ...rest] = linesOf(file.bytes)
  expect(() => parse(source, file.name, joined([second, first, ...rest]))).toThrow(FileRefused)
})

const framed = sampleFiles.filter(({ source, file }) => frame[source] && linesOf(file.bytes).length > 4)

test.each(framed)('$source: a trailer that is not at the end is refused', ({ source, file }) => {
  const lines = linesOf(file.bytes)
  const last = lines.pop()
  expect(() => parse(source, file.name, joined([...lines.slice(0, -1), last, lines.at(-1)]))).toThrow(FileRefused)
})

test.each(framed)('$source: rows in another order are the same rows', ({ source, file }) => {
  const [before, after] = frame[source] as [number, number]
  const lines = linesOf(file.bytes)
  const end = lines.length - after
  const turned = [...lines.slice(0, before), ...lines.slice(before, end).reverse(), ...lines.slice(end)]
  const rowsOf = ({ rows }: ParsedFile) =>
    rows.symbols
      .map((symbol, i) => `${symbol} ${rows.days[i]} ${Object.values(rows.numbers).map((column) => column[i])}`)
      .sort()
  expect(rowsOf(parse(source, file.name, joined(turned)))).toEqual(rowsOf(parse(source, file.name, file.bytes)))
})

test('bytes that are no UTF-8 are refused where UTF-8 is promised', () => {
  for (const source of ['finra-short-volume', 'prices', 'sec-tickers', 'sec-shares', 'nasdaq-halts'] as const) {
    const { file } = sampleFiles.find((one) => one.source === source) as (typeof sampleFiles)[number]
    const broken = Buffer.from(file.bytes)
    broken[broken.length >> 1] = 0xff
    expect(() => parse(source, file.name, broken)).toThrow(FileRefused)
  }
})
