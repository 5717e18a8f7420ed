import { erc20Asset } from '@assay/protocol/asset'
import { ChainUnreadable } from '../chain/index.ts'
import { identifierHash, requestFingerprint } from '../contract/fingerprint.ts'
import type { GateOutcome, PaidCall } from '../contract/paid-call.ts'
import type { PaymentDialect } from '../contract/payment-dialect.ts'
import type { PaymentRecord } from '../contract/payment-record.ts'
import type { Invalid, PaymentEnvelope, Scheme, SchemePayment, SignatureOutcome } from '../contract/scheme.ts'
import { nowSeconds } from '../kernel/clock.ts'
import { payerMismatch, resourceMismatch } from '../schemes/match-offer.ts'
import { authorizationSecondsMax } from '../store/restore.ts'
import { isUnsold } from '../transitions/payment-state.ts'
import { answerSpentKey } from './credit-payment.ts'
import { answerDuplicate, reachedUs } from './earlier-payment.ts'
import type { GateDeps, SellingDeps } from './gate-deps.ts'
import { passEntitledScheme } from './pass-entitled-scheme.ts'
import { keyOf, type Presented, type Purchase } from './purchase.ts'
import { refuse, refuse402 } from './refuse.ts'
import { screenPayer } from './screen-payer.ts'
import { sellAnswer } from './sell-answer.ts'
import { keySearchStart } from './settle-payment.ts'
import { findConflict } from './store-advance.ts'

/** A request that carries a payment: everything that can be known without taking anything is checked first. */
export async function passPayment(
  deps: SellingDeps,
  call: PaidCall,
  dialect: PaymentDialect,
  header: string,
): Promise<GateOutcome> {
  const sent = await dialect.read(header, call)
  if ('problem' in sent) return { kind: 'refused', problem: sent.problem }
  const entitled = deps.schemes.entitled.get(sent.envelope.scheme)
  const outcome = await (entitled
    ? passEntitledScheme(deps, entitled, call, sent.envelope)
    : passEnvelope(deps, call, sent.envelope, sent.invalid))
  return dialect.write?.(outcome) ?? outcome
}

/** `refusal`: what is wrong with how the payment was sent, whatever it is worth. */
export async function passEnvelope(
  deps: GateDeps,
  call: PaidCall,
  envelope: PaymentEnvelope,
  refusal: Invalid | undefined,
): Promise<GateOutcome> {
  const read = readPayment(deps, call, resolveNetwork(deps, envelope))
  if ('kind' in read) return read
  const mistaken = payerMismatch(read.payment.payer, call)
  if (mistaken) return { kind: 'refused', problem: mistaken }
  const presented = {
    call,
    ...read,
    fingerprint: requestFingerprint(call),
    identifierHash: envelope.identifier === undefined ? null : identifierHash(envelope.identifier),
  }
  const purchase = await verifyPayment(deps, presented, refusal)
  if ('kind' in purchase) return purchase
  const problem = await screenPayer(deps, purchase.payment.payer)
  return problem ? { kind: 'refused', problem } : sellAnswer(deps, purchase)
}

/** A payment names chain and asset; from here on one in a further dollar names the network of that dollar. */
function resolveNetwork({ chains }: Pick<GateDeps, 'chains'>, envelope: PaymentEnvelope): PaymentEnvelope {
  const { network, asset } = envelope
  // Our keys for further dollars are internal and not accepted from callers, though `chains` would find them.
  if (network.includes('/')) return { ...envelope, network: '' }
  const further = asset && erc20Asset(network, asset)
  return further && chains.has(further) ? { ...envelope, network: further } : envelope
}

const refuseMalformed = (detail: string) => refuse('payment_malformed', { detail: `Payment: ${detail}.` })

/** The payment as the first scheme reads it that takes it. */
function readPayment(
  deps: GateDeps,
  call: PaidCall,
  envelope: PaymentEnvelope,
): { scheme: Scheme; payment: SchemePayment } | GateOutcome {
  const unsupported = (reason: string, detail: string) =>
    refuse402(deps, call, { code: 'payment_invalid', reason, detail, payer: '', network: '' })
  const taken = [...new Set(deps.schemes.all.map(({ name }) => name)), ...deps.schemes.entitled.keys()]
  if (!taken.includes(envelope.scheme))
    return unsupported('unsupported_scheme', `Schemes ${taken.slice(0, -1).join(', ')} and ${taken.at(-1)} are taken.`)
  let why = { reason: 'invalid_network', detail: `Not taken on ${envelope.network.slice(0, 64)}.` }
  for (const scheme of deps.schemes.named(envelope.scheme, envelope.network)) {
    const read = scheme.decode(envelope)
    if (read.status === 'ok') return { scheme, payment: read.payment }
    if (read.status === 'malformed') return refuseMalformed(read.detail)
    why = read
  }
  return unsupported(why.reason, why.detail)
}

/** Whatever its scheme allows: after a restore nothing is credited for as long as an earlier payment can be submitted. */
const tooLong: Invalid = {
  status: 'invalid',
  reason: 'invalid_payload',
  detail: `The payment must run out within ${authorizationSecondsMax} s.`,
}

async function verifyPayment(
  deps: GateDeps,
  presented: Presented,
  refusal: Invalid | undefined,
): Promise<Purchase | GateOutcome> {
  const { call, scheme, payment } = presented
  const invalid = ({ reason, detail, code = 'payment_invalid' }: Invalid) =>
    refuse402(deps, call, { code, reason, detail, payer: payment.payer, network: payment.network })

  const mismatch = resourceMismatch(payment.envelope, call)
  if (mismatch) return { kind: 'refused', problem: mismatch }
  const matched = refusal ?? scheme.match(payment, call, deps.termsOf(call), deps.offers)
  if (matched.status === 'invalid') return answerIfClaimed(deps, presented, invalid(matched))
  if (call.inputProblem) return answerIfSold(deps, presented, { kind: 'refused', problem: call.inputProblem })

  const window = scheme.checkWindow(payment, matched.terms, nowSeconds(deps.clock))
  if (window.status === 'invalid') return answerIfClaimed(deps, presented, invalid(window))
  if (payment.validBefore > BigInt(nowSeconds(deps.clock) + authorizationSecondsMax)) return invalid(tooLong)
  const signature = await signatureOutcome(deps, presented)
  if (signature.status === 'could_not_check') return refuseUnread(signature.reason)
  if (signature.status === 'invalid') return invalid(signature)
  const { caip2 } = matched.terms.network
  const chain = deps.chains.get(caip2)
  if (!chain) throw new Error(`no chain for ${caip2}`)
  return {
    ...presented,
    chain,
    terms: matched.terms,
    payerIsKey: signature.by === 'key',
    signedDigest: signature.digest,
  }
}

const refuseUnread = (detail: string) => refuse('settlement_unavailable', { detail, retryAfterSeconds: 3 })

/**
 * A 402 asks to pay again. A payment that does not fit any more, because its time or our price has passed, may
 * be one that has paid us: then it gets what that payment entitles to.
 */
async function answerIfClaimed(deps: GateDeps, presented: Presented, refusal: GateOutcome): Promise<GateOutcome> {
  if (!deps.chains.has(presented.payment.network)) return refusal
  const earlier = await findConflict(deps.database, { ...keyOf(presented), identifierHash: null })
  const soldNothing = !earlier || isUnsold(earlier.state)
  if (soldNothing && !earlier?.final) return answerIfSubmitted(deps, presented, refusal)
  if (soldNothing && !(await reachedUs(deps, earlier))) return refusal
  return answerSigner(deps, presented, earlier, refusal)
}

/**
 * Input that was valid when it was paid for may be invalid now, as when a quote has expired: it still gets its answer.
 */
async function answerIfSold(deps: GateDeps, presented: Presented, refusal: GateOutcome): Promise<GateOutcome> {
  const earlier = await findConflict(deps.database, { ...keyOf(presented), identifierHash: null })
  return !earlier || isUnsold(earlier.state) ? refusal : answerSigner(deps, presented, earlier, refusal)
}

/** Only the signer may learn what became of it. */
async function answerSigner(
  deps: GateDeps,
  presented: Presented,
  earlier: PaymentRecord,
  refusal: GateOutcome,
): Promise<GateOutcome> {
  const signature = await signatureOutcome(deps, presented)
  if (signature.status === 'could_not_check') return refuseUnread(signature.reason)
  if (signature.status === 'invalid') return refusal
  if (isUnsold(earlier.state)) return refuse('payment_credited', { extra: { status_url: deps.statusUrl(earlier.id) } })
  const answer = await answerDuplicate(deps, presented, earlier)
  return answer.kind === 'reclaimable' ? refusal : answer
}

/**
 * No claim is active, but anyone may have submitted the payment to the chain: its money then becomes the payer's
 * credit once it is final, and a 402 would ask for it a second time.
 */
async function answerIfSubmitted(deps: GateDeps, presented: Presented, refusal: GateOutcome): Promise<GateOutcome> {
  const { call, scheme, payment } = presented
  const chain = deps.chains.get(payment.network)
  if (!chain || !deps.termsOf(call).some((terms) => terms.payTo === payment.payTo)) return refusal
  const signature = await signatureOutcome(deps, presented)
  if (signature.status === 'invalid') return refusal
  if (signature.status === 'could_not_check') return refuseUnread(signature.reason)
  try {
    if (!(await scheme.evidence.isUsed(chain, payment, 'latest'))) return refusal
    const searchFrom = keySearchStart((await chain.head()).number)
    return await answerSpentKey(
      deps,
      { scheme, chain, key: payment, searchFrom },
      // It may be older than our rows of transfers: nothing shows that it brought us nothing.
      { payAgain: () => refusal, usedLongAgo: async () => refuse('settlement_unknown', { retryAfterSeconds: 10 }) },
    )
  } catch (error) {
    if (!(error instanceof ChainUnreadable)) throw error
    return refuseUnread(error.message)
  }
}

async function signatureOutcome(deps: GateDeps, { scheme, payment }: Presented): Promise<SignatureOutcome> {
  const chain = deps.chains.get(payment.network)
  if (!chain) throw new Error(`no chain for ${payment.network}`)
  try {
    return await scheme.checkSignature(payment, chain)
  } catch (error) {
    if (error instanceof ChainUnreadable) return { status: 'could_not_check', reason: error.message }
    throw error
  }
}
