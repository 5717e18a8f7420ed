import { expect, test } from 'vitest'
import type { EntitlementPort, PaidCall } from '../contract/paid-call.ts'
import type { GateDeps } from './gate-deps.ts'
import { inDoubtCommit } from './in-doubt-commit.ts'

const deps = { clock: { sleep: () => new Promise<void>(() => {}) } } as unknown as GateDeps
const answer = { status: 200, contentType: 'application/json', body: '{}' }
const told = (named: boolean, port: Partial<EntitlementPort>) =>
  inDoubtCommit(deps, { port: port as EntitlementPort, call: {} as PaidCall, callId: 'call_1', named, answer }).details

test('a name is promised only where calls can be named afterwards', () => {
  expect(told(false, { nameTaken: async () => true })).toMatchObject({ extra: { idempotency_key: 'call_1' } })
  const unnameable = told(false, {})
  expect(unnameable.extra).toBeUndefined()
  expect(unnameable.hint).toMatch(/may use another/)
  expect(told(true, {}).hint).toBeUndefined()
})
