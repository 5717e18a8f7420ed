import { Writable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { demoAccount } from '../packages/node/src/devnet/index.ts'
import { createLog } from '../packages/node/src/http/index.ts'
import {
  buy,
  echoPath,
  encodePayload,
  openTill,
  quote,
  send,
  signPayment,
  type TillFixture,
} from './support/till-fixture.ts'

let till: TillFixture
let logged = ''
const answers: string[] = []

beforeAll(async () => {
  const destination = new Writable({
    write: (chunk, _encoding, done) => {
      logged += String(chunk)
      done()
    },
  })
  till = await openTill({
    ownShops: 'till',
    log: createLog({ level: 'info', destination }),
    env: { FACILITATOR_TOKEN: 'canary-facilitator-token-0123456789' },
  })
})
afterAll(() => till.close())

const keep = async (response: Response) => {
  answers.push(await response.text())
  return response.status
}

test('E5: no secret reaches a log or an answer, on any path', async () => {
  const url = `${till.node.url}${echoPath}`
  const buyer = await till.newBuyer()
  const identifier = 'canary-identifier-0123456789'
  expect(await keep(await buy(buyer, url, { identifier }))).toBe(200)
  const payload = await signPayment(buyer, await quote(url), { identifier: 'canary-identifier-9876543210', value: 1n })
  await keep(await send(url, payload))
  await keep(await send(url, `${encodePayload(payload)}canary-malformed`))
  await keep(
    await fetch(`${till.node.url}/v1/auth/session`, { headers: { authorization: 'Bearer canary-bearer-token' } }),
  )
  await keep(
    await fetch(`${till.node.url}/facilitator/verify`, {
      method: 'POST',
      headers: { authorization: 'Bearer canary-wrong-token', 'content-type': 'application/json' },
      body: '{}',
    }),
  )
  await keep(
    await fetch(`${till.node.url}/v1/auth/session`, {
      method: 'POST',
      headers: { 'sign-in-with-x': 'canary-siwx-header' },
    }),
  )
  await keep(await fetch(`${till.node.url}/nowhere?api_key=canary-query-secret`))
  const password = new URL(till.db.databaseUrl).password
  const secrets = [
    identifier,
    'canary-identifier-9876543210',
    'canary-malformed',
    'canary-bearer-token',
    'canary-wrong-token',
    'canary-siwx-header',
    'canary-query-secret',
    'canary-facilitator-token',
    payload.payload.signature.slice(2, 60),
    demoAccount('settler').privateKey.slice(2),
    demoAccount('custody').privateKey.slice(2),
    ...(password ? [password] : []),
  ]
  expect(logged.length).toBeGreaterThan(200)
  for (const secret of secrets) {
    expect(logged, secret.slice(0, 20)).not.toContain(secret)
    expect(answers.join('\n'), secret.slice(0, 20)).not.toContain(secret)
  }
})

test('E4: text from outside is escaped and cut in logs, so it cannot forge lines', async () => {
  logged = ''
  await fetch(`${till.node.url}/x`, {
    headers: { 'x-request-id': 'a"}forged', 'user-agent': 'u'.repeat(5_000) },
  }).then((response) => response.text())
  for (const line of logged.split('\n').filter(Boolean)) {
    expect(() => JSON.parse(line)).not.toThrow()
    expect(line.length).toBeLessThan(2_000)
    expect(line).not.toContain('\u001b')
  }
})
