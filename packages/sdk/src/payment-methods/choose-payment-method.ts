import { formatUsd } from '@assay/protocol/money'

/** The payment methods of this client, by the names that `assay buy --scheme` takes. */
export const paymentMethods = ['exact', 'permit2', 'upto', 'batch-settlement', 'mpp', 'credit'] as const
export type PaymentMethod = (typeof paymentMethods)[number]

export type PaymentMethodPolicy = {
  /** This payment method and no other. */
  only?: PaymentMethod
  /** How many calls like this one are expected. Default: 1. */
  expectedCalls?: number
  /** The wallet has approved Permit2 to take its dollars, so that `upto` and `permit2` can be used. */
  permit2?: boolean
  /** Decimal USD that may be put into a payment channel at once, so that `batch-settlement` can be used. */
  depositUsd?: string
}

export type PaymentMethodFacts = PaymentMethodPolicy & {
  /** What the seller names. */
  offered: ReadonlySet<PaymentMethod>
  /** Offered methods that this wallet can sign now and that the policy allows. */
  possible: ReadonlySet<PaymentMethod>
  priceMicro: bigint
  /** Credit with the seller; undefined where it is not known or not to be used. */
  creditMicro?: bigint
}

/** A payment method, why it was chosen, and what would be better if the buyer prepared for it. To be shown as it is. */
export type PaymentMethodChoice = { paymentMethod: PaymentMethod; why: string; advice?: string }

/** Up to this price a settlement costs a good part of what it moves. */
const smallMicro = 10_000n
/** From this number on, paying in once saves more than it asks for. */
const manyCalls = 20

/** The payment method that costs and risks least; undefined when none is possible. Pure. */
export function choosePaymentMethod(facts: PaymentMethodFacts): PaymentMethodChoice | undefined {
  const { only, possible } = facts
  if (only !== undefined) return possible.has(only) ? { paymentMethod: only, why: `${only}: asked for` } : undefined
  const { expectedCalls = 1, priceMicro } = facts
  const isWorthChannel = expectedCalls >= manyCalls && priceMicro <= smallMicro
  const channel = ['batch-settlement'] as const
  const order: PaymentMethod[] = [
    'credit',
    ...(isWorthChannel ? channel : []),
    'upto',
    'exact',
    'permit2',
    'mpp',
    ...channel,
  ]
  const paymentMethod = order.find((one) => possible.has(one))
  if (paymentMethod === undefined) return undefined
  const advice = adviceFor(paymentMethod, facts)
  return {
    paymentMethod,
    why: `${paymentMethod}: ${reasonFor(paymentMethod, facts)}`,
    ...(advice === undefined ? {} : { advice }),
  }
}

/** Credit that covers the price is always the best payment method. */
export function creditChoice(priceMicro: bigint, creditMicro: bigint): PaymentMethodChoice {
  const only: ReadonlySet<PaymentMethod> = new Set(['credit'])
  return choosePaymentMethod({ offered: only, possible: only, priceMicro, creditMicro }) as PaymentMethodChoice
}

function reasonFor(
  paymentMethod: PaymentMethod,
  { priceMicro, creditMicro = 0n, expectedCalls = 1 }: PaymentMethodFacts,
): string {
  const price = `${formatUsd(priceMicro)} USD`
  switch (paymentMethod) {
    case 'credit':
      return `the credit of ${formatUsd(creditMicro)} USD covers it, and nothing is settled for this call`
    case 'upto':
      return `the answer is metered, so what was used is paid, ${price} at most`
    case 'exact':
      return `one signature for ${price}, without a balance or an allowance; no more than that is at risk`
    case 'permit2':
      return `the seller takes no EIP-3009 here, and the wallet has approved Permit2`
    case 'batch-settlement':
      return `one deposit into your own channel for ${expectedCalls} calls, of which each is charged its price`
    case 'mpp':
      return `the seller offers nothing else that is possible`
  }
}

function adviceFor(
  paymentMethod: PaymentMethod,
  { offered, priceMicro, expectedCalls = 1 }: PaymentMethodFacts,
): string | undefined {
  if (paymentMethod === 'credit' || paymentMethod === 'batch-settlement') return undefined
  const isMany = expectedCalls >= manyCalls && priceMicro <= smallMicro
  if (!offered.has('credit') && offered.has('batch-settlement') && isMany)
    return `for ${expectedCalls} calls, allow a deposit (depositUsd): one settlement in place of one for each call`
  if (offered.has('credit') && isMany)
    return (
      `for ${expectedCalls} calls, pay in ${formatUsd(priceMicro * BigInt(expectedCalls))} USD once and draw on it: ` +
      'one settlement in place of one for each call'
    )
  if (paymentMethod === 'exact' && offered.has('upto'))
    return 'the answer is metered: approve Permit2 once, and with upto only what was used is paid'
  return undefined
}
