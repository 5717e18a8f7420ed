import { expect, test } from 'vitest'
import { attentionOf } from './attention.ts'
import { heldTone } from './market-data.tsx'
import type { Overview } from './types.ts'

const calm: Overview = {
  at: '2026-01-01T00:00:00Z',
  role: 'withdraw',
  books: { balanced: true, accounts: [], differences: 0, open_clearing: [] },
  payments: [{ state: 'served', payments: 3, amount_micro: '60000', oldest_at: '2026-01-01T00:00:00Z' }],
  review_open: 0,
  payouts: [],
  disputes: [],
  notifications: null,
  withdrawals: { custody: [], destinations: [], newest: [] },
  customers: { payments: 0, data: [] },
  alarms: [],
  pauses: [{ name: 'sales', paused: false, stops: '', leaves_running: '', reason: '', changed_by: '', changed_at: '' }],
  audit: [],
}

test('a node that is well wants nobody', () => {
  expect(attentionOf(calm)).toEqual([])
})

test('books that do not balance come before everything else', () => {
  const wants = attentionOf({
    ...calm,
    review_open: 2,
    books: { ...calm.books, balanced: false },
    pauses: [
      { name: 'sales', paused: true, stops: '', leaves_running: '', reason: 'drill', changed_by: '', changed_at: '' },
    ],
  })
  expect(wants.map(({ tone }) => tone)).toEqual(['bad', 'warn', 'warn'])
  expect(wants[2]?.text).toContain('drill')
})

test('notifications that were given up and disputes that wait are shown', () => {
  const delivery = { kind: 'email', waiting: 0, late_since: null, sent_day: 5, given_up_day: 2 }
  const dispute = { id: 'dsp_1', payment_id: 'pay_1', payer: '0x', text: '', evidence_bytes: 0, opened_at: '' }
  const wants = attentionOf({
    ...calm,
    disputes: [dispute],
    notifications: { endpoints: [], deliveries: [delivery], failing: [] },
  })
  expect(wants.map(({ text }) => text)).toEqual([
    expect.stringContaining('1 dispute.'),
    expect.stringContaining('2 notifications'),
  ])
})

test('alarms and unknown outcomes are shown', () => {
  const wants = attentionOf({
    ...calm,
    alarms: [{ alarm: 'books_differ', count: 1, to_do: 'Compare them.' }],
    payments: [{ state: 'unknown', payments: 1, amount_micro: '250000000', oldest_at: '' }],
  })
  expect(wants.map(({ text }) => text).join(' ')).toMatch(/Books differ.*\$250\.00/)
  expect(wants[0]?.toDo).toBe('Compare them.')
})

test('market data that nobody has to fetch is not red', () => {
  const row = { present: 30, wanted: 40, stale: false, fix: null }
  expect(heldTone(row)).toBe('warn')
  expect(heldTone({ ...row, present: 40 })).toBe('good')
  expect(heldTone({ ...row, fix: 'assay ingest backfill' })).toBe('bad')
  expect(heldTone({ ...row, stale: true })).toBe('bad')
})
