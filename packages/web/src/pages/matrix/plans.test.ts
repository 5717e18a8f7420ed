import { expect, test } from 'vitest'
import { planLabel } from './plans.tsx'

const standard = { tier: 'standard', days: 30, price_usd: '250' } as const
const vip = { tier: 'vip', days: 30, price_usd: '1000' } as const
const nowMs = Date.parse('2026-01-10T12:00:00.000Z')
const held = (tier: string) => ({ tier, until_at: '2026-01-30T12:00:00.000Z' })
const label = (plan: typeof standard | typeof vip, tier?: string) =>
  planLabel(plan, tier === undefined ? undefined : held(tier), [standard, vip], nowMs)

test('a subscriber is offered more time, with its end', () => {
  expect(label(vip)).toBe('Subscribe VIP')
  expect(label(vip, 'vip')).toBe('Extend VIP until 2026-03-01')
  expect(label(standard, 'standard')).toBe('Extend standard until 2026-03-01')
})

test('time of the other tier counts by its value, as the node counts it', () => {
  // 20 days of standard are 5 days of VIP, which begins at once; 30 days of standard are 7.5 days of VIP.
  expect(label(vip, 'standard')).toBe('Change to VIP until 2026-02-14')
  expect(label(standard, 'vip')).toBe('Extend VIP until 2026-02-07')
})
