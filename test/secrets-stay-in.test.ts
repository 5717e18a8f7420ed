import { afterAll, expect, test } from 'vitest'
import { describeVariables } from '../packages/node/src/config/load-config.ts'
import { shopList } from '../packages/node/src/shop-list.ts'
import { sendBadInput } from './secrets/bad-input.ts'
import { canary } from './secrets/canaries.ts'
import {
  failToStart,
  withoutDatabase,
  withoutFacilitator,
  withoutProviders,
  withRandomFaults,
} from './secrets/failures.ts'
import { openGuardedNode } from './secrets/guarded-node.ts'
import { proveIdentity, useTokens, visitEverything } from './secrets/honest-use.ts'
import { leakKinds } from './secrets/leaking-shop.ts'
import { createVisitor } from './secrets/visitor.ts'

const guarded = await openGuardedNode()
const visitor = createVisitor(guarded.watch)
afterAll(() => guarded?.close())

test('every variable that can hold a secret holds a canary', () => {
  const secret = Object.entries(describeVariables(shopList)).flatMap(([name, one]) => (one.secret ? [name] : []))
  expect(secret.length).toBeGreaterThan(15)
  // A broker is not installed everywhere; that a wrong address of one stays in is seen without it.
  expect(secret.filter((name) => !guarded.configured.has(name) && name !== 'NATS_URL')).toEqual([])
  expect(new URL(guarded.db.databaseUrl).password.length).toBeGreaterThan(15)
})

test('every shop is visited and bought at, and tokens, sessions and passes are given and used', async () => {
  const bought = await visitEverything(guarded, visitor)
  expect(guarded.routes().length).toBeGreaterThan(100)
  expect(bought).toBeGreaterThan(10)
  await useTokens(guarded, visitor)
  await proveIdentity(guarded, visitor)
  expect(guarded.providers.every((provider) => provider.refused() === 0)).toBe(true)
})

test('every route refuses what is wrong', () => sendBadInput(guarded, visitor))

test('database, chain, providers and facilitator fail', async () => {
  await withRandomFaults(guarded, visitor)
  await withoutProviders(guarded, visitor)
  await withoutFacilitator(guarded, visitor)
  await failToStart(guarded)
  await keepStoredSecrets()
  await withoutDatabase(guarded, visitor)
  // What a provider quoted of its own address has reached a log, without the keys in it.
  expect(guarded.watch.logged().join('')).toContain('[key]')
})

test('E5: no secret reached a log, an answer, a header or a page of operations, on any path', () => {
  const { secrets, texts, bytes } = guarded.watch.size()
  expect(guarded.watch.leaks()).toEqual([])
  expect(secrets).toBeGreaterThan(100)
  expect(texts).toBeGreaterThan(1_000)
  console.log(`seen: 0 of ${secrets} secrets in ${texts} answers, headers and lines (${Math.round(bytes / 1e6)} MB)`)
})

test('a secret that is let out by a leaking line, header, body, error or metric is found, and so is nothing else', async () => {
  const secret = canary('planted')
  guarded.watch.keep('planted', secret)
  guarded.odd.plant(secret)
  for (const how of leakKinds) await visitor.ask(`${guarded.node.url}${guarded.odd.pathOf(how)}`)
  await visitor.ask(`${guarded.node.url}/metrics`)
  expect(guarded.watch.leaks().sort()).toEqual([
    'planted in body of GET /metrics 200',
    'planted in body of GET /odd/body 200',
    'planted in header of GET /odd/header 200',
    'planted in log',
  ])
})

test('a token is allowed in the one answer that hands it out, and found in any other', async () => {
  const token = `asub_${'4'.repeat(20)}${canary('t').slice(-16)}`
  guarded.watch.reportFigures('given', token, guarded.watch.saw('its own answer', token))
  expect(guarded.watch.leaks().filter((leak) => leak.startsWith('given'))).toEqual([])
  guarded.watch.saw('another answer', JSON.stringify({ token }))
  expect(guarded.watch.leaks().filter((leak) => leak.startsWith('given'))).toEqual(['given in another answer'])
})

test('E4: text from outside is escaped and cut in logs, so it cannot forge lines', async () => {
  const lines = guarded.watch.logged()
  await visitor.ask(`${guarded.node.url}/x`, {
    headers: { 'x-request-id': 'a"}forged', 'user-agent': 'u'.repeat(5_000) },
  })
  const written = guarded.watch.logged().slice(lines.length)
  expect(written.length).toBeGreaterThan(0)
  for (const line of written.flatMap((text) => text.split('\n')).filter(Boolean)) {
    expect(() => JSON.parse(line)).not.toThrow()
    expect(line.length).toBeLessThan(2_000)
    expect(line).not.toContain('\u001b')
  }
})

/** What the node made for itself and keeps in its database: every column that says it is secret. */
async function keepStoredSecrets(): Promise<void> {
  const { owner } = guarded.db
  const { rows: columns } = await owner.query<{ table: string; column: string }>(
    `select table_name as table, column_name as column from information_schema.columns
     where table_schema = 'public' and column_name ~ 'secret|private' and data_type in ('text', 'bytea')`,
  )
  let kept = 0
  for (const { table, column } of columns) {
    const { rows } = await owner.query<{ value: string | Buffer }>(
      `select "${column}" as value from "${table}" where "${column}" is not null`,
    )
    for (const { value } of rows) {
      guarded.watch.keep(`${table}.${column}`, value)
      if (typeof value === 'string') guarded.watch.keep(`${table}.${column}`, Buffer.from(value, 'base64url'))
      kept += 1
    }
  }
  expect(kept).toBeGreaterThanOrEqual(2)
}
