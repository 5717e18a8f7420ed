import { expect, test } from 'vitest'
import { openMandates } from './store.ts'

test('what anybody sees of a mandate is its kind and its limits, neither counters nor nonce', () => {
  const row = {
    ...{ id: 'mnd_1', owner: `0x${'1'.repeat(40)}`, delegate: `0x${'2'.repeat(40)}`, chain_id: 8453, routes: ['*'] },
    ...{ cap_call_micro: '1', cap_day_micro: '2', cap_total_micro: '3', day: '2026-01-01', day_micro: '1' },
    ...{ total_micro: '2', valid_until: '2027-01-01T00:00:00Z', nonce: '0x01', created_at: '2026-01-01T00:00:00Z' },
    revoked_at: null,
  }
  const [shown] = openMandates.show([row], Date.UTC(2026, 0, 1))
  expect(shown).toMatchObject({
    kind: 'mandate',
    id: 'mnd_1',
    cap_per_call_micro: '1',
    cap_total_micro: '3',
    state: 'open',
  })
  expect(Object.keys(shown ?? {}).filter((name) => /drawn|nonce/.test(name))).toEqual([])
})
