import { type Address, checksumAddress, parseAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Network } from '../../chain/index.ts'
import type { Facilitator } from '../../contract/facilitator.ts'
import { equalBytes, sha256 } from '../../kernel/bytes.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import { Problem } from '../../kernel/problem.ts'
import type { Sql } from '../../store/database.ts'
import { type ExactPayment, exactPayment } from '../exact-payment.ts'
import { type BudgetUse, type FacilitatorBudget, recordLostGas, spendBudget } from './facilitator-budget.ts'
import type {
  FacilitatorRequest,
  FacilitatorSettleAnswer,
  FacilitatorSupported,
  FacilitatorVerifyAnswer,
} from './service-schemas.ts'

/** Our own facilitator, opened by the operator to others. */
export type FacilitatorServiceDeps = {
  facilitator: Facilitator
  networks: readonly Network[]
  /** PAY_TO and CUSTODY: payments to ourselves go through the gate or not at all. */
  ownPayees: ReadonlySet<Address>
  /** Our settlement wallets: money sent to them would be lost among the gas. */
  ownWallets: ReadonlySet<Address>
  token: string
  budget: FacilitatorBudget
  sql: Sql
  clock: Clock
  ids: Ids
  isPaused(): boolean | Promise<boolean>
  /** What a settlement for others cost in gas, for the books. */
  onGas?(cost: { id: string; network: string; gasGwei: bigint }): Promise<void>
  settleMs?: number
}

export type FacilitatorCaller = { authorization: string | undefined; remoteAddress: string; signal: AbortSignal }

/** Throws unless the caller shows the operator's token. Digests are compared, so that length and prefix tell nothing. */
export async function admitFacilitatorCaller(deps: FacilitatorServiceDeps, caller: FacilitatorCaller): Promise<void> {
  const given = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(caller.authorization ?? '')?.[1]
  if (given === undefined || !equalBytes(sha256(given), sha256(deps.token)))
    throw new Problem('proof_required', {
      detail: 'The facilitator of this node is for users the operator knows.',
      hint: 'Send Authorization: Bearer with the token you got from the operator.',
      headers: { 'www-authenticate': 'Bearer' },
    })
  if (await deps.isPaused())
    throw new Problem('not_available', {
      retryAfterSeconds: 60,
      detail: 'The operator has paused settlement.',
      extra: { why: 'paused' },
    })
}

export async function verifyForOthers(
  deps: FacilitatorServiceDeps,
  caller: FacilitatorCaller,
  request: FacilitatorRequest,
): Promise<FacilitatorVerifyAnswer> {
  await admitFacilitatorCaller(deps, caller)
  const payer = checksumAddress(request.paymentPayload.payload.authorization.from as Address)
  const payment = toPayment(deps, request)
  if ('reason' in payment)
    return { isValid: false, invalidReason: payment.reason, invalidMessage: payment.message, payer }
  const outcome = await deps.facilitator.verify(payment, caller.signal)
  if (outcome.status === 'valid') return { isValid: true, payer }
  if (outcome.status === 'could_not_check') throw new Problem('upstream_unavailable', { retryAfterSeconds: 5 })
  return {
    isValid: false,
    invalidReason: outcome.reason,
    ...(outcome.message ? { invalidMessage: outcome.message } : {}),
    payer,
  }
}

export async function settleForOthers(
  deps: FacilitatorServiceDeps,
  caller: FacilitatorCaller,
  request: FacilitatorRequest,
): Promise<FacilitatorSettleAnswer> {
  await admitFacilitatorCaller(deps, caller)
  const payment = toPayment(deps, request)
  const about = {
    payer: checksumAddress(request.paymentPayload.payload.authorization.from as Address),
    network: request.paymentRequirements.network,
    transaction: '',
  }
  if ('reason' in payment)
    return { success: false, errorReason: payment.reason, errorMessage: payment.message, ...about }
  const use: BudgetUse = { payer: payment.payer, address: caller.remoteAddress.slice(0, 100) }
  if (!(await spendBudget(deps.sql, deps.clock, deps.budget, use)))
    throw new Problem('rate_limited', { retryAfterSeconds: 600 })
  // Not the caller's own signal: a transaction that was begun is followed to its end.
  const deadline = new AbortController()
  void deps.clock.sleep(deps.settleMs ?? 30_000, deadline.signal).then(
    () => deadline.abort(),
    () => {},
  )
  const outcome = await deps.facilitator.settle(payment, deadline.signal).finally(() => deadline.abort())
  const gasGwei = outcome.status === 'unknown' ? 0n : (outcome.gasGwei ?? 0n)
  if (gasGwei > 0n) await deps.onGas?.({ id: payment.paymentId, network: payment.network, gasGwei })
  if (outcome.status === 'submitted')
    return { success: true, ...about, transaction: outcome.transaction, amount: payment.amountMicro.toString() }
  if (outcome.status === 'unknown')
    return { success: false, errorReason: 'settlement_pending', ...about, transaction: outcome.transaction ?? '' }
  if (gasGwei > 0n) await recordLostGas(deps.sql, deps.clock, use, gasGwei)
  return {
    success: false,
    errorReason: outcome.reason,
    ...(outcome.message ? { errorMessage: outcome.message } : {}),
    ...about,
  }
}

export async function supportedForOthers(
  deps: FacilitatorServiceDeps,
  signal: AbortSignal,
): Promise<FacilitatorSupported> {
  const { kinds, signers } = await deps.facilitator.supported(signal)
  return { kinds, extensions: [], signers }
}

type Refusal = { reason: string; message: string }

/** Terms of a stranger in our format, or what is wrong with them. */
function toPayment(deps: FacilitatorServiceDeps, request: FacilitatorRequest): ExactPayment | Refusal {
  const { paymentRequirements: terms, paymentPayload } = request
  const { authorization, signature } = paymentPayload.payload
  if (terms.scheme !== 'exact')
    return { reason: 'unsupported_scheme', message: 'Only the scheme exact is settled here.' }
  const network = deps.networks.find((one) => one.caip2 === terms.network)
  if (!network) return { reason: 'invalid_network', message: 'This network is not settled here.' }
  if (parseAddress(terms.asset) !== network.usdc.address)
    return { reason: 'invalid_payment_requirements', message: 'Only the USDC of this network is settled here.' }
  const payTo = parseAddress(terms.payTo) as Address
  if (deps.ownPayees.has(payTo) || deps.ownWallets.has(payTo))
    return { reason: 'invalid_payment_requirements', message: 'Payments to this node are made at its paid routes.' }
  return exactPayment({
    paymentId: deps.ids.next('fac'),
    network: network.caip2,
    asset: network.usdc,
    payTo,
    amountMicro: BigInt(terms.amount),
    maxTimeoutSeconds: terms.maxTimeoutSeconds,
    resource: { url: paymentPayload.resource?.url ?? '' },
    signature: signature.toLowerCase() as Hex,
    authorization: {
      from: parseAddress(authorization.from) as Address,
      to: parseAddress(authorization.to) as Address,
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
      nonce: authorization.nonce.toLowerCase() as Hex,
    },
  })
}
