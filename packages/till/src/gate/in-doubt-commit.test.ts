import { expect, test } from 'vitest'
import type { Hold } from '../contract/entitlement.ts'
import type { PaidCall } from '../contract/paid-call.ts'
import type { GateDeps } from './gate-deps.ts'
import { inDoubtCommit } from './in-doubt-commit.ts'

const deps = { clock: { sleep: () => new Promise<void>(() => {}) } } as unknown as GateDeps
const answer = { status: 200, contentType: 'application/json', body: '{}' }
const problemFor = (given: Pick<Hold, 'hasKey' | 'fallbackKey'>) => {
  const hold: Hold = { status: 'held', holdId: 'call_1', account: `0x${'1'.repeat(40)}`, ...given }
  return inDoubtCommit(deps, { call: {} as PaidCall, hold, answer }).details
}

test('a name is promised only where calls can be named afterwards', () => {
  expect(problemFor({ fallbackKey: 'call_1' })).toMatchObject({ extra: { idempotency_key: 'call_1' } })
  const unnameable = problemFor({})
  expect(unnameable.extra).toBeUndefined()
  expect(unnameable.hint).toMatch(/may use another/)
  expect(problemFor({ hasKey: true }).hint).toBeUndefined()
})
