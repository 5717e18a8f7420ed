import { systemClock } from '@assay/till/kernel/clock'
import { expect, test } from 'vitest'
import { createMetrics, mergedText } from '../../http/index.ts'
import { createTurnBatcher } from './gather-metrics.ts'

async function familiesOf(process: string, requests: number) {
  const metrics = createMetrics({ process })
  metrics.count('http_requests', { route: 'a', status: '200' }, requests)
  metrics.observeMs('http_request', 3, { route: 'a' })
  // As it arrives over the channel between processes.
  return structuredClone(await metrics.families())
}

test('a scrape shows the series of every worker under its own number', async () => {
  const gathering = createTurnBatcher(systemClock)
  const families = [await familiesOf('1', 3), await familiesOf('2', 4)]
  const gathered = await gathering.gather(families.map((own) => ({ ask: (id: number) => gathering.answered(id, own) })))
  const text = await mergedText(gathered)
  expect(text).toContain('assay_http_requests_total{route="a",status="200",process="1"} 3')
  expect(text).toContain('assay_http_requests_total{route="a",status="200",process="2"} 4')
  expect(text.match(/# TYPE assay_http_requests_total counter/g)).toHaveLength(1)
  expect(text).toContain('assay_http_request_seconds_bucket{le="0.005",route="a",process="2"} 1')
})

test('a worker that does not answer is left out', async () => {
  const gathering = createTurnBatcher({ ...systemClock, sleep: async () => {} })
  const own = await familiesOf('1', 3)
  expect(await gathering.gather([{ ask: (id) => gathering.answered(id, own) }, { ask: () => {} }])).toEqual([own])
})
