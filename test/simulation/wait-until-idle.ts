import { Violation } from '../harness/violation.ts'
import type { Scene } from './buyers.ts'
import { readPayments } from './check-answers.ts'
import { creatorsUnsettled } from './check-creators.ts'
import { checkMoney } from './check-money.ts'
import { buyOnce } from './perform-buyers.ts'
import { payByVoucher } from './perform-channels.ts'
import { approveWaiting } from './perform-world.ts'
import { finalityLagBlocks } from './world.ts'

const roundMs = 60_000
/** Most jobs come back after a second or two and find nothing more to do. */
const stepMs = 65_000
const roundsMax = 24

/**
 * Faults end, blocks come again, honest buyers try once more. Now everything must reach its end: no payment in a middle
 * state, every order answered for one charge, and the same money in the books and on the chain.
 */
export async function waitUntilIdle(scene: Scene): Promise<void> {
  const { world } = scene
  world.plan.clear()
  await world.revive()
  for (const life of world.lives()) life.skewMs = 0
  for (const { control } of world.chains) await control.releaseMining()
  // As after a day: payers whom the facilitator did not serve are asked about again.
  await world.db.owner.query('delete from refused_payer')
  await endPayments(scene)
  const unanswered = scene.history.orders.filter((one) => one.honest && one.body === undefined)
  for (const order of unanswered) {
    let last: unknown
    for (let tries = 0; order.body === undefined && tries < 20; tries += 1) {
      last = await buyOnce(scene, order)
      if (order.body === undefined) await passAndMine(scene, 5_000)
    }
    if (order.body === undefined)
      throw new Violation('promise 4', `${order.id} is never answered: ${last} ${order.path} ${order.refusal}`)
  }
  const calls = scene.history.channels.calls.filter(({ body }) => body === undefined)
  for (const call of calls) {
    for (let tries = 0; call.body === undefined && tries < 8; tries += 1)
      if (!(await payByVoucher(scene, call))) await passAndMine(scene, 20_000)
    if (call.body === undefined)
      throw new Violation('promise 4', `${call.id} is never answered by its channel: ${call.refusal}`)
  }
  await settleDown(scene)
  await checkMoney(scene)
}

async function passAndMine({ world }: Scene, ms: number): Promise<void> {
  // Whatever came into a block in the round before is final in this one.
  for (const { control } of world.chains) await control.mine(finalityLagBlocks + 1)
  await world.time.passInSteps(ms, stepMs)
}

/** Until nothing is in the middle of its way. */
async function endPayments(scene: Scene, roundsLeft = roundsMax): Promise<number> {
  for (let left = roundsLeft; left > 0; left -= 1) {
    await approveWaiting(scene)
    await freeDailyLimits(scene)
    await passAndMine(scene, roundMs)
    if (await isQuiet(scene)) return left
  }
  throw new Violation('I7', `still not at an end: ${await describeUnfinished(scene)}`)
}

/** As after a day: what was paid no longer counts against the limit that a payout waits for. */
async function freeDailyLimits({ world }: Scene): Promise<void> {
  await world.db.owner.query(
    `update payout set signed_at = signed_at - interval '1 day' where state = 'paid'
       and exists (select from payout where state = 'queued' and reason = 'daily_limit')`,
  )
}

/** Until books and chain have been compared after that, too. */
async function settleDown(scene: Scene): Promise<void> {
  const { world } = scene
  for (let left = roundsMax; ; left -= 1) {
    left = await endPayments(scene, left)
    const heads = new Map(world.chains.map(({ chainId, control }) => [chainId, control.head().number]))
    for (const { control } of world.chains) await control.mine(finalityLagBlocks + 1)
    await world.time.passInSteps(65_000, stepMs)
    if ((await isQuiet(scene)) && (await isCompared(scene, heads))) return
  }
}

async function describeUnfinished(scene: Scene): Promise<string> {
  const sql = scene.world.db.owner
  const { rows } = await sql.query<{ what: string }>(
    `select 'payment ' || id || ' ' || state || ' ' || coalesce(reason, '') || ' final ' || final as what from payment
       where state in ('claimed','settling','unknown','settled') or (not final and state in ('served','credited'))
     union all select 'payout ' || id || ' ' || state from payout where state in ('waiting','queued','signed')
     union all select 'refund ' || payment_id from refund where state = 'asked'
     union all select 'deposit ' || payer || ' ' || amount_micro from channel_deposit where state = 'sending'
     union all select 'channel of ' || payer || ' claimed ' || claimed_micro || ' posted ' || posted_micro from channel
       where claimed_micro <> posted_micro
     union all select 'compared ' || network || ' ' || address || ' up to ' || block_number from reconcile_cursor
     union all select 'lease ' || name || ' until ' || expires_at from job_lease where expires_at > to_timestamp($1)`,
    [scene.world.time.nowMs() / 1000],
  )
  const heads = scene.world.chains.map(({ chainId, control }) => `head ${chainId} ${control.head().number}`)
  return [...rows.map(({ what }) => what), ...(await creatorsUnsettled(scene)), ...heads].join('; ')
}

const middleStates = new Set(['claimed', 'settling', 'unknown', 'settled'])

async function isQuiet(scene: Scene): Promise<boolean> {
  if ((await readPayments(scene)).some(({ state }) => middleStates.has(state))) return false
  const { rows } = await scene.world.db.owner.query<{ open: bigint }>(
    `select (select count(*) from payout where state in ('waiting','queued','signed'))
       + (select count(*) from refund r join payment p on p.id = r.payment_id where r.state = 'asked')
       + (select count(*) from payment where not final and state in ('served','credited'))
       + (select count(*) from channel_deposit where state = 'sending')
       + (select count(*) from channel where claimed_micro <> posted_micro) as open`,
  )
  return rows[0]?.open === 0n && (await creatorsUnsettled(scene)).length === 0
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
