import { expect, test } from 'vitest'
import { planLabel } from './plans.tsx'

test('a subscriber is offered more time, with its end', () => {
  const plan = { tier: 'vip', days: 30 } as const
  expect(planLabel(plan, undefined, 'Base')).toBe('Subscribe vip on Base')
  expect(planLabel(plan, '2026-01-10T12:00:00.000Z', 'Polygon')).toBe('Extend vip until 2026-02-09 on Polygon')
})
