import type { ChainPort } from '../chain/index.ts'
import { fromHex } from '../kernel/bytes.ts'
import { type Clock, nowSeconds } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Micro } from '../kernel/money.ts'
import type { Database } from '../store/database.ts'
import type { CustodyKey } from './custody-key.ts'
import { freeCustody } from './free-custody.ts'
import { authorizationOf, type Payout, payoutColumns, payoutNonce, toPayout } from './payout-record.ts'
import type { PayoutPolicy } from './policy.ts'

export type SignDeps = { database: Database; clock: Clock; log: Log; metrics: Metrics; policy: PayoutPolicy }

/**
 * Signs what may be paid now: within the day's limit, and only from money that is final at the custody wallet and not
 * already owed to somebody else. The bytes are stored before they leave this function.
 */
export async function signQueued(deps: SignDeps, chain: ChainPort, key: CustodyKey): Promise<number> {
  const { database, policy } = deps
  const network = chain.network.caip2
  const queued = await readQueued(database, network, policy.batchMax)
  if (queued.length === 0) return 0
  const money = await freeCustody(database, chain, key.address)
  let dayMicro = policy.dailyLimitMicro - (await signedToday(deps, network))
  const { number: headBlock } = await chain.head()
  const chosen: Payout[] = []
  for (const payout of queued) {
    if (payout.amountMicro > dayMicro) {
      await noteReason(database, payout, 'daily_limit')
      continue
    }
    if (!money.take(payout)) {
      deps.metrics.count('alarms', { alarm: 'payouts_unfunded' })
      deps.log.error({ network, payout: payout.id }, 'the custody wallet does not hold enough final money for a payout')
      await noteReason(database, payout, 'unfunded')
      continue
    }
    dayMicro -= payout.amountMicro
    chosen.push(payout)
  }
  if (chosen.length > 0) await storeSigned(deps, chain, key, chosen, headBlock)
  return chosen.length
}

async function readQueued(database: Database, network: string, limit: number): Promise<Payout[]> {
  const { rows } = await database.query(
    `select ${payoutColumns} from payout p where network = $1 and state = 'queued'
       and not exists (select from payout_hold h where h.network = p.network and h.payee = p.payee)
     order by created_at, id limit $2`,
    [network, limit],
  )
  return rows.map(toPayout)
}

async function signedToday({ database, clock }: SignDeps, network: string): Promise<Micro> {
  const { rows } = await database.query<{ micro: Micro }>(
    `select coalesce(sum(amount_micro), 0)::bigint as micro from payout
     where network = $1 and signed_at > $2 and state <> 'returned'`,
    [network, new Date(clock.nowMs() - 86_400_000)],
  )
  return rows[0]?.micro ?? 0n
}

async function noteReason(database: Database, payout: Payout, reason: string): Promise<void> {
  if (payout.reason !== reason)
    await database.query(`update payout set reason = $2 where id = $1 and state = 'queued'`, [payout.id, reason])
}

async function storeSigned(
  deps: SignDeps,
  chain: ChainPort,
  key: CustodyKey,
  payouts: readonly Payout[],
  headBlock: bigint,
): Promise<void> {
  const validBefore = BigInt(nowSeconds(deps.clock) + deps.policy.validSeconds)
  const signed = payouts.map((payout) => {
    const { authorization } = authorizationOf({ ...payout, payer: key.address, validBefore, signature: '0x' })
    return { id: payout.id, signature: key.authorize(chain.network, authorization) }
  })
  await deps.database.query(
    `update payout p set state = 'signed', reason = null, payer = $4, valid_before = $5, signed_at = $6, head_block = $7,
       nonce = t.nonce, signature = t.signature
     from unnest($1::text[], $2::bytea[], $3::bytea[]) t (id, nonce, signature) where p.id = t.id and p.state = 'queued'`,
    [
      signed.map(({ id }) => id),
      signed.map(({ id }) => fromHex(payoutNonce(id))),
      signed.map(({ signature }) => fromHex(signature)),
      key.address,
      validBefore,
      new Date(deps.clock.nowMs()),
      headBlock,
    ],
  )
}
