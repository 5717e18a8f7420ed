import { openClearing } from '../../packages/node/src/ledger/index.ts'
import type { Scene } from './buyers.ts'
import { hasOwnAddress, readPayments, resourceOf } from './check-answers.ts'
import { buyOnce } from './perform-buyers.ts'
import { scanTransfers } from './scan-transfers.ts'
import { Violation } from './violation.ts'
import { finalityLagBlocks, fundedMicro } from './world.ts'

const roundMs = 20_000
const roundsMax = 9

/**
 * Faults end, blocks come again, honest buyers try once more. Now everything must reach its end: no payment in a middle
 * state, every order answered for one charge, and the same money in the books and on the chain.
 */
export async function comeToRest(scene: Scene): Promise<void> {
  const { world } = scene
  world.plan.clear()
  if (!world.life().alive) await world.restart()
  world.life().skewMs = 0
  for (const { control } of world.chains) await control.releaseMining()
  await settleDown(scene)
  for (const order of scene.history.orders.filter((one) => one.honest && one.body === undefined)) {
    let last: unknown
    for (let tries = 0; order.body === undefined && tries < 6; tries += 1) {
      last = await buyOnce(scene, order)
      if (order.body === undefined) await passAndMine(scene, 5_000)
    }
    if (order.body === undefined)
      throw new Violation('promise 4', `${order.id} is never answered: ${last} ${order.path}`)
  }
  await settleDown(scene)
  await checkMoney(scene)
}

async function passAndMine({ world }: Scene, ms: number): Promise<void> {
  for (const { control } of world.chains) await control.mine(1)
  await world.time.pass(ms)
}

async function settleDown(scene: Scene): Promise<void> {
  const { world } = scene
  for (let round = 0; round < roundsMax; round += 1) {
    await passAndMine(scene, roundMs)
    if (await isQuiet(scene)) {
      const heads = new Map(world.chains.map(({ chainId, control }) => [chainId, control.head().number]))
      for (const { control } of world.chains) await control.mine(finalityLagBlocks + 1)
      await world.time.pass(65_000)
      if ((await isQuiet(scene)) && (await isCompared(scene, heads))) return
    }
  }
  throw new Violation('I7', `still not at an end: ${await describeUnfinished(scene)}`)
}

async function describeUnfinished(scene: Scene): Promise<string> {
  const sql = scene.world.db.owner
  const { rows } = await sql.query<{ what: string }>(
    `select 'payment ' || id || ' ' || state || ' ' || coalesce(reason, '') || ' final ' || final as what from payment
       where state in ('claimed','settling','unknown','settled') or (not final and state in ('served','credited'))
     union all select 'payout ' || id || ' ' || state from payout where state in ('queued','signed')
     union all select 'refund ' || payment_id from refund where state = 'asked'
     union all select 'compared ' || network || ' ' || address || ' up to ' || block_number from reconcile_cursor
     union all select 'lease ' || name || ' until ' || expires_at from job_lease where expires_at > to_timestamp($1)`,
    [scene.world.time.nowMs() / 1000],
  )
  const heads = scene.world.chains.map(({ chainId, control }) => `head ${chainId} ${control.head().number}`)
  return [...rows.map(({ what }) => what), ...heads].join('; ')
}

const middleStates = new Set(['claimed', 'settling', 'unknown', 'settled'])

async function isQuiet(scene: Scene): Promise<boolean> {
  if ((await readPayments(scene)).some(({ state }) => middleStates.has(state))) return false
  const { rows } = await scene.world.db.owner.query<{ open: bigint }>(
    `select (select count(*) from payout where state in ('queued','signed'))
       + (select count(*) from refund r join payment p on p.id = r.payment_id where r.state = 'asked')
       + (select count(*) from payment where not final and state in ('served','credited')) as open`,
  )
  return rows[0]?.open === 0n
}

/** Books and chain were compared up to these blocks: all that came in is known. */
async function isCompared({ world }: Scene, upTo: ReadonlyMap<number, number>): Promise<boolean> {
  for (const chain of world.chains) {
    const { rows } = await world.db.owner.query<{ block: bigint; n: bigint }>(
      `select min(block_number) as block, count(*) as n from reconcile_cursor where network = $1`,
      [`eip155:${chain.chainId}`],
    )
    const [cursor] = rows
    if (cursor?.n !== 2n || Number(cursor.block) < (upTo.get(chain.chainId) ?? 0)) return false
  }
  return true
}

async function checkMoney(scene: Scene): Promise<void> {
  const { world } = scene
  await scanTransfers(scene)
  const [open] = await openClearing(world.db.owner)
  if (open) throw new Violation('I7', `${open.name} still holds ${open.balanceMicro} for ${open.paymentId}`)
  await checkPayers(scene)
  await checkOwnAddresses(scene)
  await checkPayouts(scene)
  const payments = await readPayments(scene)
  for (const order of scene.history.orders.filter((one) => one.honest && hasOwnAddress(one))) {
    const own = payments.filter(({ resource }) => resource === resourceOf(scene, order))
    const served = own.filter(({ state }) => state === 'served').length
    // Who was given the money back may have bought again; what a reorg took after it was served is the seller's loss.
    const undone = own.some(({ state, reorgs }) => state === 'refunded' || reorgs > 0)
    if (served > 1 || (served === 0 && !undone))
      throw new Violation(
        'promise 4',
        `${order.id} was answered for ${served} payments: ${JSON.stringify(own.map(({ id, state, reason }) => [id, state, reason]))}`,
      )
  }
}

const balanceOf = async (scene: Scene, chainIndex: number, address: string): Promise<bigint> => {
  const chain = scene.world.chains[chainIndex]
  const data = `0x70a08231${address.slice(2).toLowerCase().padStart(64, '0')}`
  return BigInt((await chain?.request('eth_call', [{ to: chain.usdc, data }, 'latest'])) as string)
}

/** What each payer is short of on chain is what its payments took, less what was paid back to it. */
async function checkPayers(scene: Scene): Promise<void> {
  const { world } = scene
  const payments = await readPayments(scene)
  const { rows: payouts } = await world.db.owner.query<{ network: string; payee: string; micro: bigint }>(
    `select network, payee, sum(amount_micro)::bigint as micro from payout where state = 'paid' group by network, payee`,
  )
  for (const [index, chain] of world.chains.entries())
    for (const buyer of world.buyers) {
      const payer = buyer.address.toLowerCase()
      const network = `eip155:${chain.chainId}`
      const of = <T extends { network: string }>(list: readonly T[]) => list.filter((one) => one.network === network)
      const taken = of(payments)
        .filter((one) => one.payer === payer && ['served', 'credited', 'refunded'].includes(one.state))
        .reduce((sum, one) => sum + one.amount_micro, 0n)
      const given = of(payouts).find(({ payee }) => payee === payer)?.micro ?? 0n
      const plain = await plainTransfersOf(scene, network, payer)
      const spent = fundedMicro - (await balanceOf(scene, index, payer))
      if (spent !== taken - given + plain)
        throw new Violation(
          'I9',
          `${payer} spent ${spent} on ${network}; the node knows of ${taken} - ${given} + ${plain}`,
        )
    }
}

async function plainTransfersOf({ world }: Scene, network: string, payer: string): Promise<bigint> {
  const { rows } = await world.db.owner.query<{ micro: bigint | null }>(
    `select sum(amount_micro)::bigint as micro from inbound_review where network = $1 and sender = $2`,
    [network, payer],
  )
  return rows[0]?.micro ?? 0n
}

/** I9: what the books call ours lies at our addresses, to the micro. */
async function checkOwnAddresses(scene: Scene): Promise<void> {
  const { world } = scene
  for (const [index, chain] of world.chains.entries())
    for (const [wallet, address] of [['pay_to', world.payTo] as const, ['custody', world.custody] as const]) {
      const { rows } = await world.db.owner.query<{ micro: bigint | null }>(
        `select sum(e.amount_micro)::bigint as micro from ledger_entry e join ledger_account a on a.id = e.account_id where a.name = $1`,
        [`onchain:${wallet}@eip155:${chain.chainId}`],
      )
      const there = await balanceOf(scene, index, address)
      if ((rows[0]?.micro ?? 0n) !== there)
        throw new Violation('I9', `${wallet} on ${chain.chainId} holds ${there}, the books say ${rows[0]?.micro}`)
    }
}

/** I8: a payout that is called paid is one transfer, and no other transfer left custody. */
async function checkPayouts(scene: Scene): Promise<void> {
  const { world, history } = scene
  const { rows } = await world.db.owner.query<{
    id: string
    network: string
    payee: string
    amount_micro: bigint
    transaction: string
  }>(`select id, network, payee, amount_micro, transaction from payout where state = 'paid'`)
  const left = [...history.transfers.values()].filter(({ from }) => from === world.custody)
  for (const payout of rows) {
    const index = left.findIndex(
      ({ transaction, to, micro, chainId }) =>
        transaction === payout.transaction &&
        to === payout.payee &&
        micro === payout.amount_micro &&
        `eip155:${chainId}` === payout.network,
    )
    if (index < 0) throw new Violation('I8', `${payout.id} is called paid and no transfer shows it`)
    left.splice(index, 1)
  }
}
