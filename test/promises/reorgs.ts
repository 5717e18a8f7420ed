import { setTimeout as sleep } from 'node:timers/promises'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { testKey } from '../../packages/till/src/chain/wallet/wallet.fixture.ts'
import { type Clock, systemClock } from '../../packages/till/src/kernel/clock.ts'
import { faultsInBooks } from '../harness/books.ts'
import { openTill, type Payload, quote, send, signPayment, type TillFixture } from '../harness/till-fixture.ts'
import { isCharged, tokenBalance } from '../harness/token-balance.ts'
import { together } from '../harness/until.ts'
import { authorizationOf, cancelAuthorization } from '../harness/wallets.ts'
import { createDice, createFaults, createProgress, type Dice, type Faults, type Proof, plain } from './proof.ts'
import { type Kind, kinds, openReorgShop, type Passes, priceOf } from './reorg-shop.ts'

const depthMax = 64
const perReorg = 40
const reorgsPerNode = 10
const nodesAtOnce = 3
const capMicro = 100_000_000n
const custodyFundsMicro = 50_000_000n

type Order = {
  kind: Kind
  order: string
  payee: Address
  buyer: PrivateKeyAccount
  payload: Payload
  nonce: string
  status: number
}
type Tally = {
  orders: number
  reorgs: number
  reversed: number
  cancelled: number
  failed: number
  lossMicro: bigint
  depths: number[]
}

/**
 * Safe in a reorg: purchases through whose life chains are replaced, 0 to 64 blocks deep, at any point; some of what fell
 * out is cancelled before it can land again. Afterwards nobody was paid from money that went away, nothing stays granted
 * for it, and what could not be revoked is less than the cap. `count` is purchases.
 */
export const proveReorgs: Proof = async ({ count, say }) => {
  const faults = createFaults()
  const dice = createDice(Date.now() % 1_000_000)
  const tally: Tally = { orders: 0, reorgs: 0, reversed: 0, cancelled: 0, failed: 0, lossMicro: 0n, depths: [] }
  const progress = createProgress(say, count, 'purchases')
  // A chain is made again from its first block at every reorg, so it is left before it has grown long.
  const perNode = perReorg * reorgsPerNode
  await together(Math.ceil(count / perNode), nodesAtOnce, (index) =>
    reorganizeNode(Math.min(count - index * perNode, perNode), { dice, tally, faults, progress }),
  )
  if (tally.cancelled === 0 && count >= 200) faults.note('no payment was lost for good: this run shows little')
  const deepest = tally.depths.reduce((a, b) => Math.max(a, b), 0)
  return {
    seen: `${plain(tally.orders)} purchases through ${tally.reorgs} reorgs of 0 to ${deepest} blocks: ${plain(tally.reversed)} seen to fall out of their block, ${plain(tally.cancelled)} of them cancelled; ${plain(tally.failed)} payments failed in the end and nobody was paid from them; lost ${tally.lossMicro} micro, never above the cap of ${capMicro}; ${faults.count()} wrong`,
    faults: faults.all(),
  }
}

type Living = { dice: Dice; tally: Tally; faults: Faults; progress(done: number): void }

/** Time that matters runs as always; only waiting is shorter, so that jobs come round more often. */
const shortened: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms > 1_000 ? ms / 10 : ms, signal) }

async function reorganizeNode(count: number, living: Living): Promise<void> {
  const passes: Passes = new Set()
  const till = await openTill({
    ownShops: 'till',
    shops: [openReorgShop(passes)],
    clock: shortened,
    env: { EXPOSURE_CAP_USD: String(capMicro / 1_000_000n), PAYOUTS: '{"minimum_usd":"0.000001"}' },
  })
  try {
    const custody = till.node.config.networks[0]?.custody as Address
    // Enough of other people's money to pay everybody out of it, if somebody were to.
    await till.base.control.fund(custody, { microUsdc: custodyFundsMicro, wei: 0n })
    till.base.control.setFinalityLag(depthMax + 1)
    await till.base.control.mine(depthMax + 2)
    const orders: Order[] = []
    for (let done = 0; done < count; done += perReorg) {
      orders.push(...(await buyThroughReorg(till, Math.min(perReorg, count - done), living)))
      living.progress(living.tally.orders)
    }
    await waitUntilIdle(till, living.faults)
    await checkOutcome(till, orders, passes, living)
  } finally {
    await till.close()
  }
}

async function buyThroughReorg(till: TillFixture, count: number, { dice, tally, faults }: Living): Promise<Order[]> {
  const { control } = till.base
  const head = control.head().number
  const orders: Order[] = []
  const buyers = await Promise.all(Array.from({ length: 8 }, () => till.newBuyer(1_000_000_000n)))
  const buying = together(count, 8, async (index, worker) => {
    const kind = dice.pick(kinds)
    const order = `o-${tally.orders}`
    tally.orders += 1
    const payee = testKey(`payee ${Date.now()} ${order}`).address
    const url = `${till.node.url}/reorg/${kind}?order=${order}${kind === 'share' ? `&payee=${payee}` : ''}`
    const buyer = buyers[worker] as (typeof buyers)[number]
    const validBefore = BigInt(Math.floor(Date.now() / 1000) + 25)
    const payload = await signPayment(buyer, await quote(url), { validBefore })
    const { nonce } = payload.payload.authorization as { nonce: string }
    const one: Order = { kind, order, payee, buyer, payload, nonce, status: 0 }
    orders.push(one)
    const response = await send(url, payload)
    await response.text()
    one.status = response.status
    if (dice.below(3) === 0) await control.mine(1 + dice.below(4))
    if (index === count - 1) await control.mine(dice.below(24))
  })
  // At any point: while they are being made, or when all are made.
  if (dice.below(2) === 0) await sleep(dice.below(600))
  else await buying
  const depth = Math.min(dice.below(depthMax + 1), control.head().number - head + depthMax)
  tally.reorgs += 1
  tally.depths.push(depth)
  if (depth > 0) await replaceBlocks(till, orders, depth, { dice, tally })
  await buying
  const odd = orders.filter(({ status }) => ![200, 402, 409, 503].includes(status))
  for (const { order, status } of odd) faults.note(`${order} was answered with ${status}`)
  return orders
}

async function replaceBlocks(
  till: TillFixture,
  orders: readonly Order[],
  depth: number,
  { dice, tally }: Pick<Living, 'dice' | 'tally'>,
): Promise<void> {
  const { control } = till.base
  const transactions = dice.pick(['reinclude', 'return_to_mempool', 'drop', 'drop'] as const)
  if (transactions !== 'drop') {
    await control.reorg(depth, { transactions })
    return
  }
  const before = new Set<Order>()
  for (const order of orders) if (await isCharged(till.base, order.buyer.address, order.nonce)) before.add(order)
  await control.holdMining()
  await control.reorg(depth, { transactions })
  for (const order of before) {
    if (await isCharged(till.base, order.buyer.address, order.nonce)) continue
    tally.reversed += 1
    if (dice.below(2) > 0) continue
    tally.cancelled += 1
    await cancelAuthorization(till.base, order.buyer, authorizationOf(order.payload).authorization.nonce)
  }
  await control.releaseMining()
}

/** Faults end and blocks come: everything is final, finished and paid out. */
async function waitUntilIdle(till: TillFixture, faults: Faults): Promise<void> {
  const question = `select
     (select count(*) from payment where state in ('claimed','settling','unknown','settled')
        or (not final and state in ('served','credited')))
     + (select count(*) from payout where state <> 'paid' and state <> 'returned')
     + (select count(*) from ledger_account a join ledger_balance b on b.account_id = a.id
        where a.name like 'payable:royalty:%' and b.owed_micro > 0) as n`
  for (let tries = 0; tries < 400; tries += 1) {
    await till.base.control.mine(tries % 10 === 0 ? depthMax + 2 : 1)
    const { rows } = await till.db.owner.query<{ n: bigint }>(question)
    if (rows[0]?.n === 0n) return
    await sleep(250)
  }
  const { rows } = await till.db.owner.query<{ what: string }>(
    `select 'payment ' || state || ' ' || coalesce(reason, '') || ' x ' || count(*) as what from payment
     where state not in ('released', 'failed') and not final group by state, reason
     union all select a.name || ' ' || b.owed_micro from ledger_account a join ledger_balance b on b.account_id = a.id
     where a.name like 'payable:royalty:%' and b.owed_micro > 0
     union all select 'payout ' || state || ' ' || coalesce(reason, '') || ' x ' || count(*) from payout group by state, reason`,
  )
  faults.note(`never at rest: ${rows.map(({ what }) => what).join(', ')}`)
}

async function checkOutcome(till: TillFixture, orders: readonly Order[], passes: Passes, { tally, faults }: Living) {
  for (const { kind, order, payee, buyer, nonce } of orders) {
    const state = await stateOf(till, nonce)
    const landed = (await isCharged(till.base, buyer.address, nonce)) && state !== 'failed' && state !== 'released'
    if (state === 'failed') tally.failed += 1
    if (kind === 'share') {
      const received = await tokenBalance(till.base, payee)
      const due = landed && state === 'served' ? priceOf.share : 0n
      if (received !== due) faults.note(`${order} (${state}): its payee has ${received}, due is ${due}`)
    }
    if (kind === 'pass' && passes.has(order) !== (state === 'served'))
      faults.note(`${order} is ${state} and its pass is ${passes.has(order) ? 'in force' : 'not in force'}`)
  }
  const { rows } = await till.db.owner.query<{ micro: bigint }>(
    `select coalesce(sum(e.amount_micro), 0)::bigint as micro from ledger_entry e join ledger_account a on a.id = e.account_id
     where a.name like 'loss:reorg@%'`,
  )
  const lossMicro = rows[0]?.micro ?? 0n
  tally.lossMicro += lossMicro
  if (lossMicro > capMicro) faults.note(`${lossMicro} was lost, above the cap`)
  for (const fault of await faultsInBooks(till.db.owner)) faults.note(fault)
}

async function stateOf(till: TillFixture, nonce: string): Promise<string> {
  const { rows } = await till.db.owner.query<{ state: string }>('select state from payment where payment_key = $1', [
    Buffer.from(nonce.slice(2), 'hex'),
  ])
  return rows[0]?.state ?? 'unclaimed'
}
