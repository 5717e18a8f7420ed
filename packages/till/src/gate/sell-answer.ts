import { type ChainPort, ChainUnreadable, type PayerStatus } from '../chain/index.ts'
import type { GateOutcome, PaidCall } from '../contract/paid-call.ts'
import { toHex } from '../kernel/bytes.ts'
import { inFlightPerPayerMax, isLostAnswer, stillStands } from '../transitions/decide-claim.ts'
import { answerSpentAuthorization } from './credit-payment.ts'
import { answerDuplicate, answerLost } from './earlier-payment.ts'
import type { GateDeps, VerifiedPayment } from './gate-deps.ts'
import { refuse, refuse402 } from './refuse.ts'
import { resumeAbandoned } from './resume-abandoned.ts'
import { findConflict, findPayment } from './store-advance.ts'
import type { Claim } from './store-claim.ts'
import { workOnClaim } from './work-on-claim.ts'

/** From a verified payment to a claim of it, or to what an earlier claim entitles to. */
export async function sellAnswer(deps: GateDeps, call: PaidCall, verified: VerifiedPayment): Promise<GateOutcome> {
  const { caip2 } = verified.terms.network
  const chain = deps.chains.get(caip2)
  if (!chain) throw new Error(`no chain for ${caip2}`)
  if (!(await deps.losses.allows(verified.payer, caip2, call.route.id)))
    // What was paid before is given all the same.
    return (await answerKnown(deps, call, verified)) ?? refuse('loss_limit', { retryAfterSeconds: 3_600 })
  const key = { network: caip2, payer: verified.payer, nonce: verified.nonce }
  if (!deps.claims.begin(key)) {
    const known = await answerKnown(deps, call, verified, true)
    if (known) return known
  }
  let claimed = false
  try {
    const drafted = await draftClaim(deps, chain, call, verified)
    if ('kind' in drafted) return drafted
    const { draft, payer } = drafted
    if (drafted.nonceUsed) return await nonceUsedBefore(deps, chain, call, payer, draft)
    return await claimAndWork(deps, chain, call, payer, draft, () => {
      claimed = true
    })
  } finally {
    if (!claimed) deps.claims.forget(key)
  }
}

/** A copy of what this process has in hand, answered without asking the chain; undefined when the chain must be asked. */
async function answerKnown(
  deps: GateDeps,
  call: PaidCall,
  verified: VerifiedPayment,
  beingClaimed = false,
): Promise<GateOutcome | undefined> {
  const earlier = await findConflict(deps.database, {
    network: verified.terms.network.caip2,
    asset: verified.terms.asset,
    payer: verified.payer,
    nonce: verified.nonce,
    identifierHash: verified.identifierHash,
  })
  if (!earlier) return beingClaimed ? refuse('payment_in_flight', { retryAfterSeconds: 1 }) : undefined
  // Anyone may have carried a refused authorization to the chain since: the next 402 needs a look at it.
  if (earlier.state === 'failed' && !earlier.final) return undefined
  const answer = await answerDuplicate(deps, call, verified, earlier)
  return answer.kind === 'reclaimable' ? undefined : answer
}

/** `payer` is the verified payment with what the chain says about the account. */
type Draft = { draft: Claim; nonceUsed: boolean; payer: VerifiedPayment }

async function draftClaim(
  deps: GateDeps,
  chain: ChainPort,
  call: PaidCall,
  verified: VerifiedPayment,
): Promise<Draft | GateOutcome> {
  try {
    const [status, head] = await Promise.all([
      chain.payerStatus(verified.payer, verified.nonce),
      chain.head(),
      deps.deliveries.flushGone(),
    ])
    const { terms } = verified
    const payer = { ...verified, payerIsKey: verified.payerIsKey && !status.hasCode }
    const { balanceMicro, nonceUsed } = await confirmBadNews(chain, verified, status, head.number)
    // The token asks the code of the account, so a signature by its key alone says nothing.
    if (verified.payerIsKey && status.hasCode) {
      const refusal = await signedByCode(deps, chain, call, verified)
      if (refusal) return refusal
    }
    return {
      nonceUsed,
      payer,
      draft: {
        id: deps.ids.next('pay'),
        network: terms.network.caip2,
        asset: terms.asset,
        payer: verified.payer,
        payerIsKey: payer.payerIsKey,
        nonce: verified.nonce,
        authorizationDigest: verified.authorizationDigest,
        payTo: terms.payTo,
        payee: call.route.payee,
        amountMicro: terms.amountMicro,
        validBefore: verified.validBefore,
        routeId: call.route.id,
        resource: call.resourceUrl,
        fingerprint: verified.fingerprint,
        identifierHash: verified.identifierHash,
        ref: call.attribution.ref ?? null,
        aff: call.attribution.aff ?? null,
        revocable: call.route.revocable,
        headBlock: head.number,
        balanceMicro,
        ignoreUndelivered: false,
      },
    }
  } catch (error) {
    if (!(error instanceof ChainUnreadable)) throw error
    return refuse('settlement_unavailable', { detail: 'The chain could not be read.', retryAfterSeconds: 3 })
  }
}

/** One endpoint is enough to go on with; turning a buyer away takes enough of them that agree. */
async function confirmBadNews(
  chain: ChainPort,
  { payer, nonce, terms }: VerifiedPayment,
  status: PayerStatus,
  headBlock: bigint,
): Promise<Pick<PayerStatus, 'balanceMicro' | 'nonceUsed'>> {
  const tooLittle = status.balanceMicro < terms.amountMicro
  return {
    balanceMicro: tooLittle ? await chain.usdcBalance(payer, headBlock) : status.balanceMicro,
    nonceUsed: status.nonceUsed && (await chain.authorizationUsed(payer, nonce, 'latest')),
  }
}

async function signedByCode(
  deps: GateDeps,
  chain: ChainPort,
  call: PaidCall,
  { payer, network, authorizationDigest, signature }: VerifiedPayment,
): Promise<GateOutcome | undefined> {
  const verdict = await chain.checkContractSignature(payer, toHex(authorizationDigest), signature)
  if (verdict === 'valid') return undefined
  if (verdict === 'could_not_check')
    return refuse('settlement_unavailable', { detail: 'The payer’s contract could not be read.', retryAfterSeconds: 3 })
  return refuse402(deps, call, {
    code: 'payment_invalid',
    reason: 'invalid_exact_evm_payload_signature',
    detail: 'The payer has code, and that code does not accept the signature.',
    payer,
    network,
  })
}

async function claimAndWork(
  deps: GateDeps,
  chain: ChainPort,
  call: PaidCall,
  verified: VerifiedPayment,
  claim: Claim,
  onClaimed: () => void,
): Promise<GateOutcome> {
  const outcome = await deps.claims.claim(claim).catch((error: unknown) => releaseAndThrow(deps, claim.id, error))
  deps.metrics.count('payments_claims', { outcome: outcome.status })
  switch (outcome.status) {
    case 'claimed':
      onClaimed()
      return workOnClaim(deps, chain, call, verified, claim)
    case 'over_limit':
      return overLimit(deps, call, verified, claim)
    case 'undelivered':
      return afterUndelivered(deps, chain, call, verified, claim, outcome.paymentId, onClaimed)
    case 'conflict':
      return afterConflict(deps, chain, call, verified, claim, onClaimed)
  }
}

function overLimit(deps: GateDeps, call: PaidCall, verified: VerifiedPayment, claim: Claim): GateOutcome {
  // The nonce was read as unused and no claim of ours exists, so nothing moved for this payload.
  if (claim.balanceMicro < claim.amountMicro)
    return refuse402(deps, call, {
      code: 'payment_invalid',
      reason: 'insufficient_funds',
      detail: `The payer holds ${claim.balanceMicro} of ${claim.amountMicro} atomic units of USDC on ${claim.network}.`,
      payer: verified.payer,
      network: claim.network,
    })
  return refuse('payer_limit', {
    retryAfterSeconds: 2,
    detail: `At most ${inFlightPerPayerMax} payments of one payer are worked on at once, within its balance.`,
  })
}

async function afterUndelivered(
  deps: GateDeps,
  chain: ChainPort,
  call: PaidCall,
  verified: VerifiedPayment,
  claim: Claim,
  paymentId: string,
  onClaimed: () => void,
): Promise<GateOutcome> {
  const earlier = await findPayment(deps.database, paymentId)
  const sameAuthorization = earlier?.nonce === verified.nonce
  if (earlier && sameAuthorization) return afterConflict(deps, chain, call, verified, claim, onClaimed)
  const isLost =
    earlier &&
    isLostAnswer(
      { ...earlier, delivered: earlier.deliveredAt !== null },
      earlier.clientGone || (await deps.owner.isAlive(earlier.owner)),
    )
  if (isLost) return answerLost(deps, call, earlier)
  // Another process is serving it at this moment: this is a purchase of its own.
  return claimAndWork(deps, chain, call, verified, { ...claim, ignoreUndelivered: true }, onClaimed)
}

async function afterConflict(
  deps: GateDeps,
  chain: ChainPort,
  call: PaidCall,
  verified: VerifiedPayment,
  claim: Claim,
  onClaimed: () => void,
): Promise<GateOutcome> {
  // A batch of claims that breaks off is run again in halves: what stands in the way may be our own row.
  const earlier = await findConflict(deps.database, claim).catch((error: unknown) =>
    releaseAndThrow(deps, claim.id, error),
  )
  if (earlier?.id === claim.id) {
    onClaimed()
    return workOnClaim(deps, chain, call, verified, claim)
  }
  // It ended between the claim and this read, for example a failed purchase with the same identifier.
  if (!earlier) return refuse('payment_in_flight', { retryAfterSeconds: 1 })
  const resumed = await resumeAbandoned(deps, chain, call, verified, claim, earlier)
  if (resumed) return resumed
  const answer = await answerDuplicate(deps, call, verified, earlier)
  if (answer.kind !== 'reclaimable') return answer
  const again = await deps.claims.reclaim(claim).catch((error: unknown) => releaseAndThrow(deps, earlier.id, error))
  if (again.status === 'claimed') return workOnClaim(deps, chain, call, verified, { ...claim, id: again.paymentId })
  if (again.status === 'over_limit') return overLimit(deps, call, verified, claim)
  if (!earlier.authorizationDigest?.equals(claim.authorizationDigest))
    return refuse('payment_nonce_reused', { extra: { status_url: deps.statusUrl(earlier.id) } })
  return refuse('payment_in_flight', { retryAfterSeconds: 1, extra: { status_url: deps.statusUrl(earlier.id) } })
}

/** The claim may have been written though its answer was lost, or may yet be; nobody works on it. */
function releaseAndThrow(deps: GateDeps, paymentId: string, error: unknown): never {
  deps.deferred.letGoUnseen(paymentId)
  throw error
}

/** The chain says the nonce is spent. Either we know that payment, or the money came in before anybody claimed it. */
async function nonceUsedBefore(
  deps: GateDeps,
  chain: ChainPort,
  call: PaidCall,
  verified: VerifiedPayment,
  claim: Claim,
): Promise<GateOutcome> {
  const earlier = await findConflict(deps.database, claim)
  if (earlier && stillStands(earlier)) {
    const answer = await answerDuplicate(deps, call, verified, earlier)
    if (answer.kind !== 'reclaimable') return answer
  }
  return answerSpentAuthorization(deps, chain, call, verified, claim, earlier)
}
