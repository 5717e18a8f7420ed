import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { knownNetworks } from '@assay/till/chain'
import { silentLog } from '@assay/till/kernel/log'
import { systemRng } from '@assay/till/kernel/random'
import { expect, test } from 'vitest'
import type { IntentDeps } from '../deps.ts'
import { openPopulation } from './population.ts'

test('the simulated agents rest until somebody calls and when nobody does any more', async () => {
  let searches = 0
  let nowMs = Date.now()
  const server = createServer(({ rawHeaders }, response) => {
    searches += 1
    response.end('{}')
    agents.onAnswered(rawHeaders)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    // A minute of theirs takes a moment, so they buy once a minute.
    sleep: async (ms: number) => {
      nowMs += ms * 60
    },
  }
  const deps = { clock, rng: systemRng, log: silentLog } as unknown as IntentDeps
  const [base] = knownNetworks
  const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const context = { apiUrl, base, rpcs: new Map() } as unknown as Parameters<typeof openPopulation>[1]
  const agents = openPopulation(deps, context, 6)
  const passMinutes = async (minutes: number) => {
    const before = searches
    for (const untilMs = nowMs + minutes * 60_000; nowMs < untilMs; )
      await agents.job.work(new AbortController().signal)
    return searches - before
  }
  expect(await passMinutes(9)).toBe(0)
  for (const caller of ['curl/8', 'Mozilla/5.0']) {
    agents.onAnswered(['User-Agent', caller])
    expect(await passMinutes(9)).toBeGreaterThan(5)
    await passMinutes(2)
    agents.onAnswered(['User-Agent', 'AssayMonitor/1.0'])
    expect(await passMinutes(60)).toBe(0)
  }
  server.close()
})
