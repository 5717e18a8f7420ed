import { silentLog } from '@assay/till/kernel/log'
import { expect, test } from 'vitest'
import type { OutboundOutcome, OutboundRequest } from '../../outbound/index.ts'
import { createAskEligibility } from './ask-eligibility.ts'
import { walletOf } from './exchange.fixture.ts'

const url = 'https://desk.example/eligible'

function asking(answer: { httpStatus: number; body: string } | { failed: 'timeout' | 'dns' }) {
  const asked: { url: string; request: OutboundRequest }[] = []
  const fetch = async (to: string, request: OutboundRequest): Promise<OutboundOutcome> => {
    asked.push({ url: to, request })
    if ('failed' in answer) return { status: 'failed', reason: answer.failed, detail: '', url: to, retryable: true }
    return {
      status: 'ok',
      httpStatus: answer.httpStatus,
      headers: new Map(),
      bytes: Buffer.from(answer.body),
      cut: false,
      url: to,
      redirectedFrom: [],
      address: '192.0.2.1',
      secure: true,
    }
  }
  return { asked, isEligible: createAskEligibility({ fetch }, silentLog, url) }
}

test('a clear yes lets a wallet in, a clear no keeps it out', async () => {
  const yes = asking({ httpStatus: 200, body: '{"eligible":true,"note":"checked"}' })
  expect(await yes.isEligible(walletOf(0xb1), 'buy')).toBe(true)
  expect(yes.asked).toHaveLength(1)
  expect(yes.asked[0]).toMatchObject({ url, request: { method: 'POST', redirectsMax: 0 } })
  expect(JSON.parse(yes.asked[0]?.request.body ?? '')).toMatchObject({ action: 'buy' })
  const no = asking({ httpStatus: 200, body: '{"eligible":false}' })
  expect(await no.isEligible(walletOf(0xb1), 'write')).toBe(false)
})

test('a hook that is away, broken or unclear lets nobody in', async () => {
  for (const answer of [
    { failed: 'timeout' as const },
    { failed: 'dns' as const },
    { httpStatus: 500, body: '{"eligible":true}' },
    { httpStatus: 204, body: '' },
    { httpStatus: 200, body: '' },
    { httpStatus: 200, body: '{"eligible":"true"}' },
    { httpStatus: 200, body: '{}' },
    { httpStatus: 200, body: 'true' },
    { httpStatus: 200, body: '<html>' },
  ])
    await expect(asking(answer).isEligible(walletOf(0xb1), 'buy')).rejects.toMatchObject({
      code: 'upstream_unavailable',
    })
})
