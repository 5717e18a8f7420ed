import type { ChainPort } from '../chain/index.ts'
import { fromHex } from '../kernel/bytes.ts'
import type { Clock } from '../kernel/clock.ts'
import { accounts, post } from '../ledger/index.ts'
import type { Database, Tx } from '../store/database.ts'
import { creditLines } from './credit-balance.ts'
import type { GateDeps, VerifiedPayment } from './gate-deps.ts'
import type { GateOutcome, PaidCall } from './paid-call.ts'
import { refuse, refuse402 } from './refuse.ts'
import { type FinishedClaim, postingReference } from './sale-postings.ts'
import { type Confirmed, fromNonceEvidence } from './settle-payment.ts'
import type { Claim } from './store-claim.ts'
import { markCredited } from './store-finish.ts'

type CreditDeps = { database: Database; clock: Clock }

/** A payment of ours whose money is here but buys nothing: it becomes the payer's credit, once. */
export async function creditPayment(
  deps: CreditDeps,
  claim: FinishedClaim,
  evidence: Confirmed,
  reason = 'spent_before_claim',
): Promise<void> {
  await deps.database.transaction(async (tx) => {
    const { rows } = await tx.query<{ state: string }>(`select state from payment where id = $1 for update`, [claim.id])
    const wasHeld = rows[0]?.state === 'settled'
    if (!(await markCredited(tx, claim.id, evidence, deps.clock.nowMs(), reason))) return
    await postCredit(tx, claim, wasHeld)
  })
}

export async function postCredit(tx: Tx, claim: FinishedClaim, wasHeld: boolean): Promise<void> {
  const source = wasHeld ? accounts.clearingPayments(claim.network) : accounts.onchain(claim.network, claim.payee)
  await post(tx, [
    {
      reference: postingReference('credit', claim),
      kind: 'credit',
      paymentId: claim.id,
      lines: [
        { account: source, amount: claim.amountMicro },
        ...(await creditLines(tx, claim.network, claim.payer, claim.amountMicro)),
      ],
    },
  ])
}

/** The nonce was spent and no claim explains it: the claim is inserted with its credit in one transaction. */
export async function creditSpentAuthorization(
  deps: GateDeps,
  chain: ChainPort,
  call: PaidCall,
  verified: VerifiedPayment,
  claim: Claim,
): Promise<GateOutcome> {
  const { payer, payTo, amountMicro, nonce, headBlock } = claim
  const searchFrom = headBlock > 5_000n ? headBlock - 5_000n : 0n
  const found = await chain.settlementByNonce({ payer, payTo, amountMicro, nonce }, searchFrom)
  // Whatever block it stands in, it was used before this request could claim it.
  const result = fromNonceEvidence(found, found.status === 'confirmed' ? found.blockNumber : headBlock)
  if (result.status === 'failed')
    return refuse402(deps, call, {
      code: 'payment_failed',
      reason: result.reason,
      detail: result.message ?? 'The authorization was cancelled.',
      payer: verified.payer,
      network: claim.network,
    })
  // Nothing was claimed, so there is no status to follow; reconciliation credits the transfer once it is final.
  if (result.status !== 'spent_before') return refuse('settlement_unknown', { retryAfterSeconds: 10 })
  // Credit can be spent at once, so it waits for finality; until then reconciliation has not passed this transfer.
  const final = await chain.finalizedBlock()
  if (final.number < result.evidence.blockNumber)
    return refuse('payment_credited', { detail: 'Its money becomes your credit once the transfer is final.' })
  const paymentId = await insertCredited(deps, claim, result.evidence)
  return refuse('payment_credited', paymentId ? { extra: { status_url: deps.statusUrl(paymentId) } } : {})
}

/** Inserts a claim that was never asked for, already credited. Undefined when somebody else explained the transfer first. */
export async function insertCredited(deps: CreditDeps, claim: Claim, evidence: Confirmed): Promise<string | undefined> {
  return deps.database.transaction(async (tx) => {
    const nowMs = deps.clock.nowMs()
    const { rowCount } = await tx.query(
      `insert into payment (id, state, network, asset, payer, nonce, pay_to, payee, amount_micro, valid_before, route_id, resource,
         fingerprint, revocable, owner, lease_until, claimed_at, head_block, transaction, block_number, block_hash, log_index, reason,
         settled_at, ended_at, delivered_at)
       values ($1, 'credited', $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, false, 0, $13, $13, $14, $15, $16, $17, $18,
         'spent_before_claim', $13, $13, $13)
       on conflict do nothing`,
      [
        claim.id,
        claim.network,
        claim.asset,
        claim.payer,
        fromHex(claim.nonce),
        claim.payTo,
        claim.payee,
        claim.amountMicro,
        claim.validBefore,
        claim.routeId,
        claim.resource,
        claim.fingerprint,
        new Date(nowMs),
        claim.headBlock,
        evidence.transaction,
        evidence.blockNumber,
        evidence.blockHash,
        evidence.logIndex,
      ],
    )
    if (rowCount === 0) return undefined
    await postCredit(tx, claim, false)
    return claim.id
  })
}
