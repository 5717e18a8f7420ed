import { expect, test } from 'vitest'
import { planDemo } from '../demo/plan.ts'
import { sampleNowMs } from '../demo/sample-files.fixture.ts'
import { type Dated, dated, expectNoLookAhead } from './no-look-ahead.fixture.ts'

/** A second version of a file, published days later: the figures of its first data line are changed by its editor. */
const correction = (file: Dated, edit: (text: string) => string): Dated => ({
  ...file,
  bytes: Buffer.from(edit(Buffer.from(file.bytes).toString('latin1')), 'latin1'),
  availableAtMs: file.availableAtMs + 3 * 86_400_000,
})

test('what is published later, corrections included, never changes an answer as of earlier', async () => {
  const made = planDemo(sampleNowMs, { symbols: 100, tradingDays: 14 }).map((planned) =>
    dated({ ...planned.make(), source: planned.source, synthetic: true }),
  )
  const corrections = made.flatMap((file) => {
    if (file.availableAtMs + 3 * 86_400_000 > sampleNowMs) return []
    if (file.source === 'prices') return [correction(file, (text) => text.replace(/,(\d+)\n/, ',7$1\n'))]
    if (file.source === 'finra-short-interest')
      return [correction(file, (text) => text.replace(/\|A\|NNM\|(\d+)\|/, '|A|NNM|9$1|'))]
    return []
  })
  expect(corrections.length).toBeGreaterThan(5)
  await expectNoLookAhead([...made, ...corrections], { symbol: 'ZZAAA', moments: 16 })
}, 120_000)
