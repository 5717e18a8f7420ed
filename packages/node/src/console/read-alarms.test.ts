import { expect, test } from 'vitest'
import { createMetrics } from '../http/index.ts'
import { readAlarms } from './read-alarms.ts'
import { foldAccounts } from './read-overview.ts'

test('alarms are read from the metrics, whatever else is counted', async () => {
  const metrics = createMetrics()
  metrics.count('alarms', { alarm: 'books_differ' }, 2)
  metrics.count('alarms', { alarm: 'reorg' })
  metrics.count('http_requests', { route: 'alarms', status: '200' })
  expect(readAlarms(await metrics.text())).toEqual([
    { alarm: 'books_differ', rung: 2 },
    { alarm: 'reorg', rung: 1 },
  ])
})

test('a process in which nothing rang has no alarms', async () => {
  expect(readAlarms(await createMetrics().text())).toEqual([])
})

test('accounts of many holders become one line a kind and unit, and their sum stays', () => {
  const row = (name: string, balanceMicro: bigint) => ({
    name,
    kind: 'liability' as const,
    unit: 'eip155:8453/usdc',
    balanceMicro,
  })
  const rows = [
    row('credit:0xa@eip155:8453', -5n),
    row('credit:0xb@eip155:8453', -7n),
    row('revenue:match@eip155:8453', -1n),
  ]
  expect(foldAccounts({ rows })).toMatchObject([
    { group: 'credit', balance: '-12', accounts: 2 },
    { group: 'revenue', balance: '-1', accounts: 1 },
  ])
})
