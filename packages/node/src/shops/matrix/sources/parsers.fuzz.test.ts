import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sampleFiles, sampleNowMs } from '../demo/sample-files.fixture.ts'
import { FileRefused } from '../reading/refused.ts'
import { recogniseSource, sourceOf } from './catalogue.ts'
import type { ParsedFile, Source } from './source.ts'

/** A parser may take a file or refuse it with a reason; anything else is a fault of ours. */
function outcome(source: Source, name: string, bytes: Uint8Array): ParsedFile | FileRefused {
  try {
    return source.parse({ name, bytes, nowMs: sampleNowMs })
  } catch (error) {
    if (error instanceof FileRefused) return error
    throw error
  }
}

const hasTrailer = new Set([
  'finra-short-volume',
  'sec-fails',
  'ibkr-borrow',
  'nasdaq-halts',
  'nasdaq-directory',
  'sec-13f',
  'sec-shares',
  'sec-tickers',
])

describe.each(sampleFiles)('$source $file.name', ({ source: id, file }) => {
  const source = sourceOf(id)
  const whole = outcome(source, file.name, file.bytes) as ParsedFile

  test('is recognised and read whole', () => {
    expect(recogniseSource(file.name, file.bytes).id).toBe(id)
    expect(whole).not.toBeInstanceOf(FileRefused)
    expect(whole.rows.symbols).toHaveLength(whole.rows.count)
    expect(whole.asOf <= '2026-11-12').toBe(true)
  })

  test('any bytes are read or refused, never a crash', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        outcome(source, file.name, bytes)
      }),
      { numRuns: 60 },
    )
  })

  test('a changed byte is read or refused, and never adds rows', () => {
    fc.assert(
      fc.property(fc.nat(file.bytes.length - 1), fc.nat(255), (at, value) => {
        const bytes = Buffer.from(file.bytes)
        bytes[at] = value
        const read = outcome(source, file.name, bytes)
        if (!(read instanceof FileRefused)) expect(read.rows.count).toBeLessThanOrEqual(whole.rows.count + 1)
      }),
      { numRuns: 40 },
    )
  })

  test('a file cut off anywhere is refused', () => {
    fc.assert(
      // Less than its last few characters: delimiters behind a trailer carry nothing.
      fc.property(fc.nat(file.bytes.length - 12), (length) => {
        const read = outcome(source, file.name, file.bytes.subarray(0, length))
        if (hasTrailer.has(id)) expect(read).toBeInstanceOf(FileRefused)
      }),
      { numRuns: 40 },
    )
  })

  test('a cut within the date of a line that leaves the count of the lines before it is refused', () => {
    if (id !== 'finra-short-volume') return
    const third = Buffer.from(file.bytes).toString().split('\n').slice(0, 3).join('\n').length + 1
    expect(Buffer.from(file.bytes.subarray(third, third + 1)).toString()).toBe('2')
    expect(outcome(source, file.name, file.bytes.subarray(0, third + 1))).toBeInstanceOf(FileRefused)
  })

  test('an error page with status 200, UTF-16, NUL bytes and an empty file are refused', () => {
    const html = Buffer.from('<!DOCTYPE html><html><body>Not found</body></html>')
    for (const bytes of [
      html,
      Buffer.from('\ufeffDate|Symbol', 'utf16le'),
      Buffer.from('Date|Sy\0mbol\n1\n'),
      Buffer.alloc(0),
    ])
      expect(outcome(source, file.name, bytes)).toBeInstanceOf(FileRefused)
  })

  test('a file of the future is refused', () => {
    const early = Date.parse('2026-01-05T12:00:00Z')
    const dated = () => source.parse({ name: file.name, bytes: file.bytes, nowMs: early })
    if (id !== 'sec-tickers') expect(dated).toThrow(FileRefused)
  })
})

const textFormats = sampleFiles.filter(
  ({ source }) => !['sec-fails', 'sec-13f', 'sec-shares', 'sec-tickers', 'nasdaq-halts'].includes(source),
)

test.each(textFormats)('$source: a repeated row is refused', ({ source: id, file }) => {
  const lines = file.bytes.toString('latin1').split('\n')
  const at = id === 'ibkr-borrow' ? 2 : 1
  if (lines.length < 5) return
  const twice = [...lines.slice(0, at + 1), lines[at], ...lines.slice(at + 1)].join('\n')
  expect(outcome(sourceOf(id), file.name, Buffer.from(twice, 'latin1'))).toBeInstanceOf(FileRefused)
})

test.each(textFormats)('$source: line ends, a BOM and a trailing newline do not matter', ({ source: id, file }) => {
  const text = file.bytes.toString('latin1').replaceAll('\r\n', '\n')
  const plain = outcome(sourceOf(id), file.name, file.bytes) as ParsedFile
  for (const other of [text.replaceAll('\n', '\r\n'), `\u00ef\u00bb\u00bf${text}`, `${text}\n`]) {
    const read = outcome(sourceOf(id), file.name, Buffer.from(other, 'latin1')) as ParsedFile
    expect(read.rows?.count ?? read).toBe(plain.rows.count)
  }
})

test('columns may be moved and added: they are found by name', () => {
  const source = sourceOf('finra-short-volume')
  const text = 'Market|Symbol|Date|New|TotalVolume|ShortExemptVolume|ShortVolume\nB|AAPL|20261112|x|10|1|5.25\n1\n'
  const read = outcome(source, 'CNMSshvol20261112.txt', Buffer.from(text)) as ParsedFile
  expect(read.rows.numbers.short_volume?.[0]).toBe(5.25)
})

test('numbers with exponents, signs, separators or blanks are refused', () => {
  const source = sourceOf('finra-short-volume')
  for (const bad of ['1e3', '+5', '1,000', ' 5', '0x10', 'NaN', 'Infinity', '٥', '-1', ''])
    expect(
      outcome(
        source,
        'CNMSshvol20261112.txt',
        Buffer.from(`Date|Symbol|ShortVolume|ShortExemptVolume|TotalVolume|Market\n20261112|A|${bad}|0|10|B\n1\n`),
      ),
    ).toBeInstanceOf(FileRefused)
})

test('a description with the delimiter in it does not shift the price of a fail', () => {
  const row = '20261001|ZZ0000011|ZZAAA|7|SYN|THETIC | CORP|12.50'
  const text = `SETTLEMENT DATE|CUSIP|SYMBOL|QUANTITY (FAILS)|DESCRIPTION|PRICE\n${row}\nTrailer record count 1\nTrailer total quantity of shares 7\n`
  const read = outcome(sourceOf('sec-fails'), 'cnsfails202610a.txt', Buffer.from(text)) as ParsedFile
  expect(read.rows.numbers.price?.[0]).toBe(12.5)
})

test('days to cover of 999.99 and 1000 mean unknown', () => {
  const head = sampleFiles[1]?.file.bytes.toString('latin1').split('\n')[0]
  for (const sentinel of ['999.99', '1000.0', '1000']) {
    const text = `${head}\n20261030|ZZAAA|X|A|NNM|5|4||0|${sentinel}||25|1|2026-10-30\n`
    const read = outcome(sourceOf('finra-short-interest'), 'shrt20261030.csv', Buffer.from(text)) as ParsedFile
    expect(read.rows.numbers.days_to_cover?.[0]).toBeNaN()
  }
})

test('a borrow supply at the cap is distinguished from one that is known, and NA is not zero', () => {
  const text =
    '#BOF|2026.11.12|09:15:00\n#SYM|CUR|NAME|CON|ISIN|REBATERATE|FEERATE|AVAILABLE|\nA|USD|A|1|X|1.0|0.5|>10000000|\nBRK B|USD|B|2|X|NA|NA|NA|\n#EOF|2\n'
  const read = outcome(sourceOf('ibkr-borrow'), 'usa.txt', Buffer.from(text)) as ParsedFile
  expect(read.rows.symbols).toEqual(['A', 'BRK.B'])
  expect([...(read.rows.numbers.available_capped as Float64Array)]).toEqual([1, 0])
  expect(read.rows.numbers.available?.[1]).toBeNaN()
})

test('an entity bomb in the halts feed is refused', () => {
  const bomb = '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><rss>&b;</rss>'
  expect(outcome(sourceOf('nasdaq-halts'), 'tradehalts.xml', Buffer.from(bomb))).toBeInstanceOf(FileRefused)
})

test('an empty NYSE list for a day that was never published is no list', () => {
  const text = 'Symbol|Security Name|Market Category|Reg SHO Threshold Flag|Rule 3210|Filler\n20261112000500\n'
  expect(outcome(sourceOf('nyse-threshold'), 'threshold-nyse-2026-11-12.txt', Buffer.from(text))).toMatchObject({
    code: 'placeholder',
  })
})
