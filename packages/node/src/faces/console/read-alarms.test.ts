import { expect, test } from 'vitest'
import { createMetrics } from '../../http/index.ts'
import { readAlarms } from './read-alarms.ts'

test('alarms are read from the metrics, whatever else is counted', async () => {
  const metrics = createMetrics()
  metrics.count('alarms', { alarm: 'books_differ' }, 2)
  metrics.count('alarms', { alarm: 'reorg' })
  metrics.count('http_requests', { route: 'alarms', status: '200' })
  expect(readAlarms(await metrics.text())).toEqual([
    { alarm: 'books_differ', count: 2 },
    { alarm: 'reorg', count: 1 },
  ])
})

test('a process in which nothing rang has no alarms', async () => {
  expect(readAlarms(await createMetrics().text())).toEqual([])
})
