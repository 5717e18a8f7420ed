import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { ChainPort, Network, Rpc } from '../chain/index.ts'
import {
  aggregate3Call,
  readAggregate3,
  type SendResult,
  type SettlementWallets,
  transferCall,
} from '../chain/wallet/index.ts'
import { type Clock, nowSeconds } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Database } from '../store/database.ts'
import { authorizationOf, type Payout, payoutColumns, toPayout } from './payout-record.ts'
import type { PayoutPolicy } from './policy.ts'
import { revertText } from './revert-text.ts'

export type SendDeps = {
  database: Database
  clock: Clock
  log: Log
  metrics: Metrics
  policy: PayoutPolicy
}

export type SendChain = { chain: ChainPort; rpc: Rpc; wallets: SettlementWallets }

/** What a transfer needs with its signature check, a new nonce and a payee that never held the token. */
const gasEach = 120_000n
const gasBase = 100_000n
/** An authorization that ends sooner than this may fail in its block for nothing. */
const marginSeconds = 120

export const payoutsPerTransaction = ({ transactionGasMax }: Pick<Network, 'transactionGasMax'>): number =>
  Number((transactionGasMax - gasBase) / gasEach)

/** A payout may cost this share of what it moves in gas, and a batch this much whatever it moves. */
const costShare = 20n
const costFloorMicro = 500_000n

/**
 * Sends all that is signed and not on its way, in as few transactions as the gas limit of the chain allows. A payee that
 * cannot receive is left out and parked.
 */
export async function sendSigned(deps: SendDeps, place: SendChain): Promise<number> {
  const ready = await readReady(deps, place.chain.network.caip2)
  const batchMax = payoutsPerTransaction(place.chain.network)
  let sent = 0
  for (let start = 0; start < ready.length; start += batchMax) {
    const batch = await passingOf(deps, place, ready.slice(start, start + batchMax))
    if (batch && batch.length > 0) sent += await sendBatch(deps, place, batch)
  }
  return sent
}

const callOf = (chain: ChainPort, payout: Payout) => {
  const { authorization, signature } = authorizationOf(payout)
  return { target: chain.network.usdc.address, data: transferCall(authorization, signature) }
}

/** Those whose transfer would succeed now; undefined when the chain could not be asked. */
async function passingOf(
  deps: SendDeps,
  { chain, rpc, wallets }: SendChain,
  payouts: readonly Payout[],
): Promise<Payout[] | undefined> {
  const calls = payouts.map((payout) => callOf(chain, payout))
  const verdicts = await simulate(rpc, wallets.addresses[0] as Address, chain, calls)
  if (!verdicts) return undefined
  for (const [index, payout] of payouts.entries()) {
    const verdict = verdicts[index]
    if (verdict !== undefined && verdict !== 'passes') await setAside(deps, payout, verdict)
  }
  return payouts.filter((_payout, index) => verdicts[index] === 'passes')
}

/** A batch that every endpoint refuses is sent in halves: limits differ, and one member may be the reason. */
async function sendBatch(deps: SendDeps, place: SendChain, payouts: readonly Payout[]): Promise<number> {
  const { chain, wallets } = place
  const network = chain.network.caip2
  const movedMicro = payouts.reduce((sum, { amountMicro }) => sum + amountMicro, 0n)
  const result = await wallets.send({
    purpose: 'payout',
    references: payouts.map(({ id }) => id),
    to: chain.network.multicall3,
    data: aggregate3Call(payouts.map((payout) => callOf(chain, payout))),
    gasLimit: gasBase + gasEach * BigInt(payouts.length),
    costMicroMax: movedMicro / costShare > costFloorMicro ? movedMicro / costShare : costFloorMicro,
    usefulUntil: Math.min(...payouts.map(({ validBefore }) => Number(validBefore))),
    stillWanted: () => true,
  })
  if (result.status === 'sent') return followBatch(deps, network, payouts, result)
  const { reason, message } = result
  if (reason === 'refused' && payouts.length > 1) {
    const middle = Math.ceil(payouts.length / 2)
    const first = await sendBatch(deps, place, payouts.slice(0, middle))
    return first + (await sendBatch(deps, place, payouts.slice(middle)))
  }
  if (reason === 'refused') {
    deps.metrics.count('alarms', { alarm: 'payouts_refused' })
    deps.log.error({ network, payout: payouts[0]?.id, message }, 'every endpoint refused a payout')
  } else deps.log.warn({ network, reason, message }, 'payouts were not sent')
  return 0
}

async function followBatch(
  deps: SendDeps,
  network: string,
  payouts: readonly Payout[],
  sent: Extract<SendResult, { status: 'sent' }>,
): Promise<number> {
  deps.metrics.count('payout_batches', { network })
  deps.log.info({ network, transaction: sent.transaction, payouts: payouts.length }, 'payouts are on their way')
  // Only a hint, to find the transfers sooner: what counts is read from the chain, and a crash here changes nothing.
  const outcome = await Promise.race([sent.outcome, deps.clock.sleep(10_000)])
  if (outcome?.status === 'mined')
    await deps.database.query(
      `update payout set transaction = $2 where id = any($1::text[]) and state = 'signed' and transaction is null`,
      [payouts.map(({ id }) => id), outcome.receipt.transactionHash],
    )
  return payouts.length
}

/** Signed, in no block that we know of, and carried by no transaction that may still land. */
async function readReady({ database, clock, policy }: SendDeps, network: string): Promise<Payout[]> {
  const { rows } = await database.query(
    `select ${payoutColumns} from payout p where network = $1 and state = 'signed' and block_number is null
       and valid_before > $2
       and not exists (select from payout_hold h where h.network = p.network and h.payee = p.payee)
       and not exists (select from settlement_transaction t where t.network = p.network and t.purpose = 'payout'
         and t.state in ('signed', 'broadcast') and t.reference_ids @> array[p.id])
     order by signed_at, id limit $3`,
    [network, nowSeconds(clock) + marginSeconds, policy.batchMax],
  )
  return rows.map(toPayout)
}

/** Undefined when too few endpoints say the same: nothing is then sent, and nobody is parked. */
async function simulate(
  rpc: Rpc,
  sender: Address,
  chain: ChainPort,
  calls: readonly { target: Address; data: Hex }[],
): Promise<string[] | undefined> {
  try {
    const gas = gasBase + gasEach * BigInt(calls.length)
    const answer = await rpc.agreed('eth_call', [
      { from: sender, to: chain.network.multicall3, data: aggregate3Call(calls), gas: `0x${gas.toString(16)}` },
      'latest',
    ])
    return readAggregate3(answer, calls.length)?.map(({ success, returnData }) =>
      success ? 'passes' : revertText(returnData),
    )
  } catch {
    return undefined
  }
}

/** Only what is about the payee parks its payout; a paused token or an empty wallet concerns everybody and passes. */
async function setAside({ database, log, metrics }: SendDeps, payout: Payout, reason: string): Promise<void> {
  const blocked = /blacklist|zero address/i.test(reason)
  await database.query(`update payout set state = $2, reason = $3 where id = $1 and state = 'signed'`, [
    payout.id,
    blocked ? 'parked' : 'signed',
    reason.slice(0, 200),
  ])
  if (!blocked || payout.state === 'parked') return
  metrics.count('alarms', { alarm: 'payee_blocked' })
  log.error({ payout: payout.id, payee: payout.payee, reason }, 'a payee cannot receive; its payout is parked')
}
