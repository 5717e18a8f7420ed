import type { Address } from '@assay/protocol/address'
import { includesRole, operatorRoles } from '@assay/protocol/operator-role'
import type { Network } from '@assay/till/chain'
import { createIds } from '@assay/till/kernel/ids'
import { systemRng } from '@assay/till/kernel/random'
import { createTestDeps } from '@assay/till/proofs/proof-deps.fixture'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { signRequest } from '../../../../sdk/src/sign-request.ts'
import type { CallContext, FreeAccess, RouteInput } from '../../http/index.ts'
import { operatorRoutes } from './operator-routes.ts'
import { parseOperators } from './settings.ts'
import { walletRoutes } from './wallet-routes.ts'

const operator = privateKeyToAccount(`0x${'0a'.repeat(32)}`)
const reader = privateKeyToAccount(`0x${'0c'.repeat(32)}`)
const clerk = privateKeyToAccount(`0x${'0d'.repeat(32)}`)
const stranger = privateKeyToAccount(`0x${'0b'.repeat(32)}`)
const cold = `0x${'0c'.repeat(20)}` as const
const origin = 'http://127.0.0.1:4020'

// A contract wallet signs for itself on Polygon, whatever the signature is; nobody does on Base.
const proofs = createTestDeps(async ({ chainId }) => (chainId === 137 ? 'valid' : 'invalid'))
const db = await useTestDatabase()
const network = (chainId: number) =>
  ({ chainId, caip2: `eip155:${chainId}`, usdc: { address: `0x${'aa'.repeat(20)}` } }) as Network
const context = {
  proofs,
  database: db.database,
  clock: proofs.clock,
  base: network(8453),
  networks: [network(8453), network(137)],
  assets: [network(8453), network(137)],
}
const routes = [
  ...operatorRoutes({
    ...context,
    operators: [operator, reader, clerk].map(({ address }, index) => ({
      address: address.toLowerCase() as Address,
      role: (['withdraw', 'read', 'operate'] as const)[index] ?? 'read',
    })),
    alarms: async () => [{ alarm: 'reorg', count: 1 }],
    notifies: true,
    ids: createIds(proofs.clock, systemRng),
    withdrawals: { destinations: [{ network: 'eip155:8453', address: cold }], minimumMicro: 0n },
  }),
  ...walletRoutes(context),
]

type Ask = { body?: unknown; path?: string; chainId?: number; query?: object }

async function insertPayment(by: PrivateKeyAccount, state: string, atMs: number): Promise<string> {
  const id = createIds({ nowMs: () => atMs }, systemRng).next('pay')
  await db.owner.query(
    `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id, resource,
       fingerprint, revocable, owner, lease_until, claimed_at, head_block, ended_at)
     values ('exact', 20, $1::text, $2::text, 'eip155:8453', 'eip155:8453/erc20:0xa', $3, sha256(convert_to($1::text, 'UTF8')), '', 'pay_to', 20, 0, 'test', '', '', false, 0, $4, $4, 1,
       case when $2::text = 'settling' then null else $4::timestamptz end)`,
    [id, state, by.address.toLowerCase(), new Date(atMs)],
  )
  return id
}

/** The route's own handler, given a request as the app would give it. */
async function ask(id: string, by: PrivateKeyAccount | undefined, { body, path, chainId, query = {} }: Ask = {}) {
  const route = routes.find((declared) => declared.id === id)
  if (route === undefined) throw new Error(`no route ${id}`)
  const init = { method: route.method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  const platform = { nowMs: () => proofs.clock.nowMs(), randomBytes: (length: number) => systemRng.bytes(length) }
  const signed =
    by === undefined
      ? new Request(`${origin}${route.path}`, init)
      : await signRequest(`${origin}${path ?? route.path}`, init, {
          account: by,
          platform,
          ...(chainId ? { chainId } : {}),
        })
  const call = {
    method: route.method,
    received: { authority: '127.0.0.1:4020', path: route.path, query: '?' },
    headers: new Map(signed.headers),
    rawBody: Buffer.from(await signed.arrayBuffer()),
  } as unknown as CallContext
  const answer = () => (route.access as FreeAccess).handle({ params: {}, query, body } as RouteInput, call)
  return { call, answer, json: async () => JSON.parse(String((await answer()).body)) }
}

test('the operator sees which notifications wait, were given up, and whose endpoint fails', async () => {
  const at = new Date(proofs.clock.nowMs() - 60_000)
  await db.owner.query(
    `insert into notification_endpoint (id, wallet, kind, target, state, created_at, changed_at, failing_since, last_status)
     values ('nep_1', $1, 'webhook', 'https://hook.example/x', 'active', $2, $2, $2, 'HTTP 500')`,
    [`0x${'1'.repeat(40)}`, at],
  )
  const { notifications } = await (await ask('operator.overview', operator)).json()
  expect(notifications).toMatchObject({
    endpoints: [{ kind: 'webhook', state: 'active', endpoints: 1 }],
    failing: [
      { id: 'nep_1', target: 'https://hook.example/x', failing_since: at.toISOString(), last_status: 'HTTP 500' },
    ],
  })
})

test('the operator sees balanced books, alarms and pauses', async () => {
  const overview = await (await ask('operator.overview', operator)).json()
  expect(overview).toMatchObject({
    books: { balanced: true, differences: 0 },
    alarms: [{ alarm: 'reorg', count: 1, to_do: expect.stringContaining('assay pause sales') }],
  })
  expect(overview.pauses.map(({ name }: { name: string }) => name)).toContain('payouts')
  const declared = routes.find(({ id }) => id === 'operator.overview')
  expect(declared?.output['~standard'].validate(overview)).not.toHaveProperty('issues')
})

test('everybody else is refused, whatever they sign', async () => {
  const refused = async (promise: ReturnType<typeof ask>) =>
    (await promise).answer().then(
      () => 'answered',
      (problem: { code: string }) => problem.code,
    )
  for (const id of [
    'operator.overview',
    'operator.pause',
    'operator.withdraw',
    'operator.revenue',
    'operator.dispute',
  ]) {
    expect(await refused(ask(id, undefined))).toBe('proof_required')
    expect(await refused(ask(id, stranger))).toBe('forbidden')
    expect(await refused(ask(id, operator, { path: '/v1/auth/check' }))).toBe('proof_invalid')
    expect(await refused(ask(id, operator, { path: '/v1/auth/check', chainId: 137 }))).toBe('forbidden')
  }
})

test('every route for the operator refuses a role below the one it declares, and keeps who tried', async () => {
  const wallets = { read: reader, operate: clerk, withdraw: operator }
  const guarded = routes.filter((route) => route.operator !== undefined)
  expect(routes.filter(({ path }) => path.startsWith('/v1/operator/'))).toEqual(guarded)
  let refusals = 0
  for (const { id, operator: needed = 'withdraw', example } of guarded)
    for (const role of operatorRoles) {
      const asked = (await ask(id, wallets[role], { body: example.body })).answer()
      // What its example names need not be there: the role alone is checked.
      if (includesRole(role, needed))
        await asked.catch(({ code }: { code: string }) => expect(code, `${id} by ${role}`).toBe('input_invalid'))
      else {
        refusals += 1
        await expect(asked, `${id} by ${role}`).rejects.toMatchObject({
          code: 'forbidden',
          message: `This wallet has the role ${role}, and ${needed} is needed.`,
        })
      }
    }
  expect(refusals).toBeGreaterThan(0)
  const { rows } = await db.database.query<{ count: number }>(
    `select count(*)::int as count from audit_log where action = 'refused'`,
  )
  expect(rows).toEqual([{ count: refusals }])
  expect(await (await ask('operator.overview', reader)).json()).toMatchObject({ role: 'read' })
})

test('rejecting a dispute needs operate, giving money back needs withdraw', async () => {
  const decide = async (by: PrivateKeyAccount, refund_usd: string) => {
    const body = { id: 'dsp_none', refund_usd, reason: 'The cap was misread.' }
    return (await ask('operator.dispute', by, { body })).answer().catch(({ code }: { code: string }) => code)
  }
  for (const refund of ['all', '0.01']) {
    expect(await decide(clerk, refund)).toBe('forbidden')
    expect(await decide(operator, refund)).toBe('input_invalid')
  }
  expect(await decide(clerk, 'none')).toBe('input_invalid')
})

test('a role is named behind its wallet, and what is none stops the start', () => {
  const [one, two, three] = [operator, reader, clerk].map(({ address }) => address) as [string, string, string]
  expect(parseOperators([one, `${two}:read`, `${three}:operate`]).map(({ role }) => role)).toEqual([
    'withdraw',
    'read',
    'operate',
  ])
  for (const wrong of [
    [`${one}:root`],
    [`${one}:`],
    [`${one}:read:operate`],
    [one.toLowerCase()],
    [one, `${one}:read`],
  ])
    expect(() => parseOperators(wrong), wrong.join()).toThrow('OPERATORS')
})

test('a proof counts once', async () => {
  const { answer } = await ask('operator.overview', operator)
  await answer()
  await expect(answer()).rejects.toMatchObject({ code: 'proof_invalid' })
})

test('a pause is set, with its reason in the audit log', async () => {
  const body = { name: 'options', paused: true, reason: 'drill' }
  expect(await (await ask('operator.pause', operator, { body })).json()).toEqual(body)
  const overview = await (await ask('operator.overview', operator)).json()
  expect(overview.pauses).toContainEqual(expect.objectContaining({ name: 'options', paused: true, reason: 'drill' }))
  expect(overview.audit[0]).toMatchObject({ action: 'pause', subject: 'options' })
  expect(overview.audit[0].actor).toContain(operator.address.toLowerCase())
})

test('a wallet lists its own payments, and proves that it is the one that asks', async () => {
  expect(await (await ask('wallet.payments', stranger)).json()).toEqual({ data: [], next_cursor: null })
  const nowMs = proofs.clock.nowMs()
  const paid = [3, 2, 1].map((minutes) => insertPayment(stranger, 'served', nowMs - minutes * 60_000))
  const [oldest, middle, newest] = await Promise.all(paid)
  const inProgress = await insertPayment(stranger, 'settling', nowMs - 600_000)
  await insertPayment(operator, 'served', nowMs)
  const page = async (query: object) => (await ask('wallet.payments', stranger, { query })).json()
  const first = await page({ limit: '2' })
  expect(first.data.map(({ id }: { id: string }) => id)).toEqual([inProgress, newest, middle])
  const second = await page({ limit: '2', cursor: first.next_cursor })
  expect(second).toMatchObject({ data: [{ id: oldest }], next_cursor: null })
  const { customers } = await (await ask('operator.overview', operator)).json()
  expect(customers).toMatchObject({
    payments: 5,
    data: [
      { wallet: stranger.address, payments: 4, amount_micro: '60' },
      { wallet: operator.address, payments: 1, amount_micro: '20' },
    ],
  })
  await expect((await ask('wallet.payments', undefined)).answer()).rejects.toMatchObject({ code: 'proof_required' })
})

test('the operator asks for its own money, to an address of its settings and no other', async () => {
  const body = { network: 'eip155:8453', to: cold, amount_usd: '12.5' }
  const asked = await (await ask('operator.withdraw', operator, { body })).json()
  expect(asked).toMatchObject({ state: 'asked' })
  const { withdrawals } = await (await ask('operator.overview', operator)).json()
  expect(withdrawals.newest).toMatchObject([{ id: asked.id, asked_micro: '12500000', state: 'asked', payout: null }])
  const refused = async (changes: object) =>
    (await ask('operator.withdraw', operator, { body: { ...body, ...changes } })).answer().then(
      () => 'answered',
      (problem: { details: { extra: { problems: { problem: string }[] } } }) =>
        problem.details.extra.problems[0]?.problem,
    )
  expect(await refused({ to: operator.address })).toBe('is not in WITHDRAW_TO for this network')
  expect(await refused({ network: 'eip155:137' })).toBe('is not in WITHDRAW_TO for this network')
  expect(await refused({ amount_usd: '0' })).toBe('must be decimal USD above zero')
  expect(await refused({})).toBe('a withdrawal to this address waits already')
})
