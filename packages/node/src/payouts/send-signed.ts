import type { ChainPort, Rpc } from '../chain/index.ts'
import { aggregate3Call, readAggregate3, type SettlementWallets, transferCall } from '../chain/wallet/index.ts'
import type { Address } from '../kernel/address.ts'
import type { Hex } from '../kernel/bytes.ts'
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

/** One transaction for all that is signed and not on its way; a payee that cannot receive is left out and parked. */
export async function sendSigned(deps: SendDeps, { chain, rpc, wallets }: SendChain): Promise<number> {
  const ready = await readReady(deps, chain.network.caip2)
  if (ready.length === 0) return 0
  const calls = ready.map((payout) => {
    const { authorization, signature } = authorizationOf(payout)
    return { target: chain.network.usdc.address, data: transferCall(authorization, signature) }
  })
  const verdicts = await simulate(rpc, wallets.addresses[0] as Address, chain, calls)
  if (!verdicts) return 0
  const passing = ready.filter((_payout, index) => verdicts[index] === 'passes')
  for (const [index, payout] of ready.entries()) {
    const verdict = verdicts[index]
    if (verdict !== undefined && verdict !== 'passes') await setAside(deps, payout, verdict)
  }
  if (passing.length === 0) return 0
  const chosen = calls.filter((_call, index) => verdicts[index] === 'passes')
  const result = await wallets.send({
    purpose: 'payout',
    references: passing.map(({ id }) => id),
    to: chain.network.multicall3,
    data: aggregate3Call(chosen),
    gasLimit: gasBase + gasEach * BigInt(chosen.length),
    usefulUntil: Math.min(...passing.map(({ validBefore }) => Number(validBefore))),
    stillWanted: () => true,
  })
  if (result.status === 'not_sent') {
    deps.log.warn(
      { network: chain.network.caip2, reason: result.reason, message: result.message },
      'payouts were not sent',
    )
    return 0
  }
  deps.metrics.count('payout_batches', { network: chain.network.caip2 })
  deps.log.info(
    { network: chain.network.caip2, transaction: result.transaction, payouts: passing.length },
    'payouts are on their way',
  )
  // Only a hint, to find the transfers sooner: what counts is read from the chain, and a crash here changes nothing.
  const outcome = await Promise.race([result.outcome, deps.clock.sleep(10_000)])
  if (outcome?.status === 'mined')
    await deps.database.query(
      `update payout set transaction = $2 where id = any($1::text[]) and state = 'signed' and transaction is null`,
      [passing.map(({ id }) => id), outcome.receipt.transactionHash],
    )
  return passing.length
}

/** Signed, in no block that we know of, and carried by no transaction that may still land. */
async function readReady({ database, clock, policy }: SendDeps, network: string): Promise<Payout[]> {
  const { rows } = await database.query(
    `select ${payoutColumns} from payout p where network = $1 and state = 'signed' and block_number is null
       and valid_before > $2
       and not exists (select from settlement_transaction t where t.network = p.network and t.purpose = 'payout'
         and t.state in ('signed', 'broadcast') and t.reference_ids @> array[p.id])
     order by signed_at, id limit $3`,
    [network, nowSeconds(clock) + marginSeconds, policy.batchMax],
  )
  return rows.map(toPayout)
}

/** Undefined when the chain could not be asked: nothing is then sent, and nobody is parked. */
async function simulate(
  rpc: Rpc,
  sender: Address,
  chain: ChainPort,
  calls: readonly { target: Address; data: Hex }[],
): Promise<string[] | undefined> {
  try {
    const gas = gasBase + gasEach * BigInt(calls.length)
    const answer = await rpc.first('eth_call', [
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
