import type { MatrixAnswer } from '@assay/sdk'
import { expect, test } from 'vitest'
import { feedTable, sparkline } from './feed-table.ts'

const value = (number: number) => ({
  value: number,
  source: 'sec-fails',
  as_of: '2026-10-14',
  available_at: '2026-11-01T00:00:00.000Z',
  licence: 'synthetic',
})

const answer: MatrixAnswer = {
  feed: 'squeeze',
  tier: 'delayed',
  as_of: '2026-11-13',
  available_at: '2026-11-13T23:00:00.000Z',
  data_vintage: '2026-06-30',
  sha256: 'a'.repeat(64),
  method: 'assay-squeeze-2',
  coverage_pct: 100,
  row_count: 1,
  ranked_by: 'score',
  synthetic: true,
  stale: true,
  next_expected_at: null,
  sources: [
    {
      source: 'sec-fails',
      as_of: '2026-10-14',
      available_at: '2026-11-01T00:00:00.000Z',
      licence: 'synthetic',
      attribution: '',
    },
  ],
  left_out: [{ source: 'ibkr-borrow', reason: 'terms are not established' }],
  unranked: { ZZETF: 'etf' },
  disclaimer: 'Not advice.',
  data: [
    {
      rank: 1,
      symbol: 'ZZABC',
      name: 'Synthetic',
      kind: 'share',
      score: 91.25,
      coverage_pct: 65,
      values: { score: value(91.25), fails: value(1200), short_interest_to_shares: null },
      trend: { of: 'short_volume_ratio', values: [0.1, null, 0.5] },
    },
  ],
  next_cursor: null,
}

test('a sparkline spans its values, keeps gaps, and a flat line stays in the middle', () => {
  expect(sparkline([0, 7, null, 3.5])).toBe('▁█ ▅')
  expect(sparkline([2, 2])).toBe('▄▄')
})

test('the table says what is synthetic, stale, left out, not ranked and unknown', () => {
  const text = feedTable(answer)
  for (const part of [
    'SYNTHETIC',
    'STALE',
    'left out: ibkr-borrow',
    'ZZETF: etf',
    'as of 2026-11-13',
    'sec-fails (2026-10-14)',
    '1,200',
    'Not advice.',
  ])
    expect(text).toContain(part)
  expect(text).toMatch(/ZZABC.*91\.25.*65 %.*-/)
})

test('of a few symbols the factors are shown, the most points first, and the unknown ones named', () => {
  const factor = (number: number, points: number) => ({ ...value(number), percentile: 99, weight: 25, points })
  const [row] = answer.data as [MatrixAnswer['data'][number]]
  const factors = { borrow_fee: factor(12.5, 3.25), price_vs_vwap: factor(4, 8), short_interest_to_shares: null }
  const text = feedTable({ ...answer, tier: 'vip', data: [{ ...row, strength: 4.1, factors }] })
  expect(text).toMatch(/why ZZABC[\s\S]*price vs vwap +4 +99 +25 +8 +sec-fails[\s\S]*borrow fee +12\.50 +99 +25 +3\.25/)
  expect(text).toContain('strength 4.10; not known: short_interest_to_shares')
})

test('history of a symbol is one line a series: a picture, from where, to where', () => {
  const day = (as_of: string, values: Record<string, number | null>) => ({
    as_of,
    source: 'prices',
    available_at: `${as_of}T22:00:00.000Z`,
    ingested_at: `${as_of}T23:00:00.000Z`,
    revision: 1,
    licence: 'synthetic',
    ...values,
  })
  const text = feedTable({
    ...answer,
    history: {
      symbol: 'ZZABC',
      days: 60,
      actions: [
        { kind: 'split', date: '2026-10-20', factor: 3, source: 'actions', available_at: '2026-10-20T08:00:00.000Z' },
        {
          kind: 'split',
          date: '2026-09-01',
          factor: null,
          source: 'sec-fails',
          available_at: '2026-10-01T00:00:00.000Z',
        },
        {
          kind: 'symbol',
          date: '2026-08-01',
          from: 'ZZOLD',
          to: 'ZZABC',
          source: 'sec-fails',
          available_at: '2026-09-01T00:00:00.000Z',
        },
      ],
      series: {
        price: [day('2026-11-11', { close: 4 }), day('2026-11-12', { close: null }), day('2026-11-13', { close: 8.5 })],
        short_volume: [day('2026-11-13', { short_volume: 5, total_volume: 20 })],
        borrow: [],
      },
    },
  })
  for (const line of [
    'split on 2026-10-20: 3 new for 1 old',
    'split on 2026-09-01: ratio unknown',
    'ZZOLD is ZZABC since',
  ])
    expect(text).toContain(line)
  expect(text).toMatch(/close +▁ █ {2}4 on 2026-11-11 to 8\.50 on 2026-11-13/)
  expect(text).toMatch(/short share +▄ {2}0\.25 on 2026-11-13/)
  expect(text).not.toContain('borrow fee')
})
