import type { Address } from '@assay/protocol/address'
import { beforeAll, describe, expect, test } from 'vitest'
import type { EntitlementPort } from '../contract/entitlement.ts'
import type { PaidCall, PaidRoute } from '../contract/paid-call.ts'
import {
  type Asked,
  insertTestMandate,
  mandateCounters,
  openTestCredit,
  randomWallet,
} from '../credit/credit.fixture.ts'
import { heldDifferences } from '../credit/credit-balance.ts'
import { systemClock } from '../kernel/clock.ts'
import { createIds } from '../kernel/ids.ts'
import { Problem } from '../kernel/problem.ts'
import { systemRng } from '../kernel/random.ts'
import type { Database } from '../store/database.ts'
import { CommitUnknown, StoreUnavailable } from '../store/errors.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { createEntitledSales } from './entitled-sale.ts'
import type { GateDeps } from './gate-deps.ts'
import { passEntitled } from './pass-entitled.ts'

const network = 'eip155:8453'
let hasRoom = true
const db = await useTestDatabase()
const testCredit = openTestCredit(db)

/** A database whose connection is lost with the commit: it is carried out, or it is not. */
const losing = (commits: boolean): Database => ({
  ...db.database,
  transaction: async (work) => {
    const lost = new CommitUnknown(new Error('reset'))
    await db.database.transaction(async (tx) => {
      await work(tx)
      if (!commits) throw lost
    })
    throw lost
  },
})

/** `blind`: the database stays out of reach while the caller waits. */
type AskedCall = Asked & Partial<Pick<PaidCall, 'prepare' | 'clientGone'>> & { blind?: boolean }

async function ask(database: Database, asked: AskedCall, at = testCredit) {
  const deps = {
    database,
    clock: { ...systemClock, sleep: pause },
    ids: createIds(systemClock, systemRng),
    metrics: { count: () => {} },
    log: { warn: () => {}, error: () => {} },
    saleHooks: [],
    challenges: { headers: () => ({ paymentRequired: 'required' }) },
    // As the real one: what is revoked with its money needs no room.
    exposure: { hasRoom: async ({ revocable }: { revocable: boolean }) => revocable || hasRoom },
    chains: new Map([[network, {}]]),
  } as unknown as GateDeps
  const { prepare, clientGone } = asked
  const call = { ...at.callOf(asked), ...(prepare ? { prepare } : {}), ...(clientGone ? { clientGone } : {}) }
  const lost = () => Promise.reject(new StoreUnavailable(new Error('down')))
  const port: EntitlementPort = {
    ...at.port,
    hold: () => at.hold(asked),
    describe: () => at.earlier(asked),
    ...(asked.blind ? { release: lost } : {}),
  }
  return passEntitled({ ...deps, entitledSales: createEntitledSales(deps) }, call, [port])
}

/** The watch over preparing never rings; pauses between polls are over at once. */
const pause = (ms: number): Promise<void> => (ms >= 15_000 ? new Promise(() => {}) : Promise.resolve())

const withEffect: Partial<PaidRoute> = {
  commit: async () => ({ status: 200, contentType: 'application/json', body: '{"made":true}' }),
}

test('an unnamed call whose capture was committed in doubt gets the answer that it paid for', async () => {
  const wallet = randomWallet()
  await testCredit.topUp(wallet, 1_000n)
  const plain = await ask(losing(true), { by: wallet, micro: 300n })
  expect(plain).toMatchObject({ kind: 'served', answer: { body: '{}' } })
  const made = await ask(losing(true), { by: wallet, micro: 300n, route: withEffect })
  expect(made).toMatchObject({ kind: 'served', answer: { body: '{"made":true}' } })
  expect([await testCredit.balance(wallet), await testCredit.heldMicro(wallet)]).toEqual([400n, 0n])
})

test('an unnamed call whose capture was lost with its commit gets its money back', async () => {
  const wallet = randomWallet()
  await testCredit.topUp(wallet, 1_000n)
  for (const route of [{}, withEffect])
    expect(await ask(losing(false), { by: wallet, micro: 300n, route })).toMatchObject({ kind: 'refused' })
  expect([await testCredit.balance(wallet), await testCredit.heldMicro(wallet)]).toEqual([1_000n, 0n])
})

/** What the caller of an unnamed call gets when nobody can say whether it was paid for. */
async function nameOf(asked: Promise<unknown>): Promise<string> {
  const outcome = await asked
  expect(outcome).toMatchObject({ kind: 'refused', problem: { code: 'call_in_flight', status: 503 } })
  const { problem } = outcome as { problem: Problem }
  expect(problem.details.retryAfterSeconds).toBeGreaterThan(0)
  return String(problem.details.extra?.['idempotency_key'])
}

const isNamed = async (id: string) =>
  (await db.database.query(`select from entitled_call where id = $1 and idempotency_key is not null`, [id])).rowCount

test('a capture that stays in doubt is reported, with a name under which it is answered and paid for once', async () => {
  const wallet = randomWallet()
  await testCredit.topUp(wallet, 1_000n)
  const asked = { by: wallet, micro: 300n, route: withEffect }
  const taken = await nameOf(ask(losing(true), { ...asked, blind: true }))
  await expect.poll(() => isNamed(taken), { timeout: 20_000 }).toBe(1)
  const again = await ask(db.database, { ...asked, key: taken })
  expect(again).toMatchObject({ kind: 'served', answer: { status: 200 } })
  expect(await testCredit.balance(wallet)).toBe(700n)
})

describe('a caller who recently had enough credit', () => {
  const price = 300n
  const plenty = 100_000n
  let rich: ReturnType<typeof openTestCredit>
  beforeAll(() => {
    rich = openTestCredit(db, { chargesAfterPrepare: true })
  })
  const known = async () => {
    const wallet = randomWallet()
    await rich.topUp(wallet, plenty)
    expect((await rich.hold({ by: wallet, micro: price })).status).toBe('held')
    return wallet
  }
  const free = (wallet: Address) => rich.balance(wallet)

  test('pays with the answer, in one go: nothing is held in between and one posting is made', async () => {
    const wallet = await known()
    const before = await free(wallet)
    const served = await ask(db.database, { by: wallet, micro: price }, rich)
    expect(served).toMatchObject({ kind: 'served', answer: { body: '{}' } })
    expect(await free(wallet)).toBe(before - price)
    expect(await rich.heldMicro(wallet)).toBe(price)
    const { rows } = await db.database.query(
      `select e.state, (select count(*) from ledger_transaction t where t.payment_id = e.id)::int as postings
       from entitled_call e where e.account = $1 order by e.held_at desc limit 1`,
      [wallet],
    )
    expect(rows).toEqual([{ state: 'captured', postings: 1 }])
    expect(await heldDifferences(db.database)).toEqual([])
  })

  test('draws once for copies of one signature, and once for copies of one name', async () => {
    const wallet = await known()
    const before = await free(wallet)
    const copy = { by: wallet, micro: price, nonce: 'the-same' }
    const copies = await Promise.all([1, 2, 3, 4].map(() => ask(db.database, copy, rich)))
    expect(copies.map(({ kind }) => kind).sort()).toEqual(['refused', 'refused', 'refused', 'served'])
    const named = { by: wallet, micro: price, key: 'order-1' }
    await Promise.all([1, 2, 3].map(() => ask(db.database, named, rich)))
    expect(await ask(db.database, named, rich)).toMatchObject({ kind: 'served', answer: { status: 200 } })
    expect(await free(wallet)).toBe(before - 2n * price)
  })

  test('a caller who has spent it meanwhile gets a 402 and no answer', async () => {
    const wallet = await known()
    await openTestCredit(db).held({ by: wallet, micro: (await free(wallet)) - 10n })
    const refused = await ask(db.database, { by: wallet, micro: price }, rich)
    expect(refused).toMatchObject({ kind: 'refused', problem: { code: 'payment_required' } })
    expect(await free(wallet)).toBe(10n)
    // And is not believed the next time.
    expect((await rich.hold({ by: wallet, micro: 1n })).status).toBe('held')
  })

  test('keeps its money when no answer could be prepared, and its signature can be used again', async () => {
    const wallet = await known()
    const before = await free(wallet)
    const prepare = () => Promise.reject(new Problem('upstream_unavailable'))
    const asked = { by: wallet, micro: price, nonce: 'again' }
    expect(await ask(db.database, { ...asked, prepare }, rich)).toMatchObject({ kind: 'refused' })
    expect(await free(wallet)).toBe(before)
    expect(await ask(db.database, asked, rich)).toMatchObject({ kind: 'served' })
  })

  test('gets a named answer again even when it could not be prepared any more', async () => {
    const wallet = await known()
    const named = { by: wallet, micro: price, key: 'lost' }
    expect(await ask(db.database, named, rich)).toMatchObject({ kind: 'served' })
    const before = await free(wallet)
    const prepare = () => Promise.reject(new Problem('upstream_unavailable'))
    expect(await ask(db.database, { ...named, prepare }, rich)).toMatchObject({
      kind: 'served',
      answer: { status: 200 },
    })
    const other = { ...named, path: '/v1/test/other', prepare }
    expect(await ask(db.database, other, rich)).toMatchObject({ problem: { code: 'idempotency_conflict' } })
    const fresh = { ...named, key: 'never', prepare }
    expect(await ask(db.database, fresh, rich)).toMatchObject({ problem: { code: 'upstream_unavailable' } })
    expect(await free(wallet)).toBe(before)
  })

  test('pays nothing when it left before the answer was ready, and neither does one whose price is held', async () => {
    const wallet = await known()
    const before = await free(wallet)
    for (const at of [rich, testCredit]) {
      const leaving = new AbortController()
      const prepare: PaidCall['prepare'] = async () => {
        leaving.abort()
        return { answer: { status: 200, contentType: 'application/json', body: '{}' } }
      }
      const gone = { by: wallet, micro: price, prepare, clientGone: leaving.signal }
      expect(await ask(db.database, gone, at)).toMatchObject({ kind: 'refused' })
    }
    expect([await free(wallet), await rich.heldMicro(wallet)]).toEqual([before, price])
  })

  test('is bound by the caps of a mandate all the same', async () => {
    const [owner, delegate] = [randomWallet(), randomWallet()]
    await rich.topUp(owner, plenty)
    const mandate = await insertTestMandate(db, { owner, delegate, day: 1_000n })
    const asked = { by: delegate, micro: price, mandate }
    const kinds = []
    for (let n = 0; n < 4; n += 1) kinds.push((await ask(db.database, asked, rich)).kind)
    expect(kinds).toEqual(['served', 'served', 'served', 'refused'])
    expect(await mandateCounters(db, mandate)).toMatchObject({ day_micro: 900n, total_micro: 900n })
  })

  test('a commit that ended in doubt: the answer is given when the price was taken, and not when it was not', async () => {
    const wallet = await known()
    const before = await free(wallet)
    expect(await ask(losing(true), { by: wallet, micro: price }, rich)).toMatchObject({ kind: 'served' })
    expect(await free(wallet)).toBe(before - price)
    expect(await ask(losing(false), { by: wallet, micro: price }, rich)).toMatchObject({ kind: 'refused' })
    expect(await free(wallet)).toBe(before - price)
  })

  test('a commit that stays in doubt is reported, with a name under which it is answered and paid for once', async () => {
    const wallet = await known()
    const before = await free(wallet)
    const asked = { by: wallet, micro: price }
    const taken = await nameOf(ask(losing(true), { ...asked, blind: true }, rich))
    await expect.poll(() => isNamed(taken), { timeout: 20_000 }).toBe(1)
    const notTaken = await nameOf(ask(losing(false), { ...asked, blind: true }, rich))
    for (const key of [taken, taken, notTaken, notTaken])
      expect(await ask(db.database, { ...asked, key }, rich)).toMatchObject({ kind: 'served', answer: { status: 200 } })
    expect(await free(wallet)).toBe(before - 2n * price)
  })

  test('nothing is drawn under the name of a call that was paid for and has no answer yet', async () => {
    const wallet = await known()
    await ask(db.database, { by: wallet, micro: price }, rich)
    const { rows } = await db.database.query<{ id: string }>(
      `select id from entitled_call where account = $1 and state = 'captured'`,
      [wallet],
    )
    const before = await free(wallet)
    const key = rows[0]?.id ?? ''
    expect(await ask(db.database, { by: wallet, micro: price, key }, rich)).toMatchObject({
      problem: { code: 'call_in_flight' },
    })
    expect(await free(wallet)).toBe(before)
  })
})

test('with the exposure cap used up, credit that is not final buys nothing, and final credit buys as always', async () => {
  const [fresh, known] = [randomWallet(), randomWallet()]
  await testCredit.topUp(fresh, 1_000n)
  await testCredit.topUp(known, 1_000n)
  await db.owner.query(
    `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id, resource,
       fingerprint, revocable, owner, lease_until, claimed_at, head_block, adds_credit)
     values ('exact', 1000, 'pay_young', 'served', $1::text, $1::text || '/erc20:0xa', $2, sha256('young'), $2, 'custody', 1000, 0, 'credit.topup', '', sha256('young'), true, 0,
       now(), now(), 1, true)`,
    [network, fresh],
  )
  hasRoom = false
  const refused = await ask(db.database, { by: fresh, micro: 300n })
  expect(refused).toMatchObject({ kind: 'refused', problem: { code: 'exposure_limit' } })
  // What credit bought is not revoked when the payment that brought the credit is undone.
  expect(await ask(db.database, { by: fresh, micro: 300n, route: { revocable: true } })).toMatchObject({
    kind: 'refused',
    problem: { code: 'exposure_limit' },
  })
  expect(await ask(db.database, { by: known, micro: 300n })).toMatchObject({ kind: 'served' })
  hasRoom = true
  expect(await ask(db.database, { by: fresh, micro: 300n })).toMatchObject({ kind: 'served' })
  expect(await heldDifferences(db.owner)).toEqual([])
})
