import { disclaimer } from './envelope.ts'

const score = {
  value: 97.41,
  source: 'finra-short-interest+sec-shares',
  as_of: '2026-10-30',
  available_at: '2026-11-12T23:00:00.000Z',
  licence: 'synthetic',
}

export const pullExample = (tier: 'live' | 'vip' | 'delayed') => ({
  feed: 'squeeze',
  tier,
  as_of: '2026-11-13',
  available_at: '2026-11-13T23:00:00.000Z',
  data_vintage: '2026-09-30',
  sha256: 'a'.repeat(64),
  method: 'assay-squeeze-2',
  coverage_pct: 96.2,
  row_count: 8_121,
  ranked_by: 'score',
  synthetic: true,
  stale: false,
  next_expected_at: '2026-11-16T23:00:00.000Z',
  sources: [
    {
      source: 'finra-short-interest',
      as_of: '2026-10-30',
      available_at: '2026-11-12T23:00:00.000Z',
      licence: 'synthetic',
      attribution: 'Synthetic demo data; no real company or security.',
    },
  ],
  left_out: [],
  unranked: {},
  disclaimer,
  data: [
    {
      rank: 1,
      symbol: 'ZZABC',
      name: 'Synthetic Example Corp',
      kind: 'share',
      score: 97.41,
      strength: 4.87,
      values: { score },
    },
  ],
  next_cursor: null,
})
