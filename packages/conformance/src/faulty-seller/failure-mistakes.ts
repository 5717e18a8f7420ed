import type { FacilitatorFault } from '../facilitator/faults.ts'
import {
  type Asked,
  answers,
  freeAnswer,
  type Given,
  hasIdentifier,
  isServed,
  type Mistake,
  nonceOf,
  textOf,
  unpaid,
} from './exchange.ts'
import type { PaymentFacts } from './payment-facts.ts'

/** After this fault of the facilitator the buyer is asked to pay, or served, whatever is known. */
const afterFault = (fault: FacilitatorFault, wrong: (given: Given) => Given): Mistake =>
  answers(async (given, asked) =>
    asked.payment !== undefined && (await asked.lastFault()) === fault ? wrong(given) : given,
  )

const asksAgain = (fault: FacilitatorFault): Mistake => afterFault(fault, unpaid)

/** Serves a refused payment of which this is true. */
const servesRefusedWhen = (condition: (facts: PaymentFacts) => boolean): Mistake =>
  answers(async (given, { payment, facts }) =>
    payment && given.status >= 400 && condition(await facts(payment)) ? freeAnswer : given,
  )

/** Knows what it has seen of each nonce before. */
const remembering =
  <Memory>(
    change: (given: Given, asked: Asked, before: Memory | undefined) => Promise<{ given: Given; memory: Memory }>,
  ): Mistake =>
  (sell) => {
    const memories = new Map<string, Memory>()
    return async (asked) => {
      const key = nonceOf(asked)
      if (key === undefined) return sell(asked)
      const { given, memory } = await change(await sell(asked), asked, memories.get(key))
      memories.set(key, memory)
      return given
    }
  }

/** Takes the money of a buyer whom it has never seen, and answers 500. */
const failsNewBuyers: Mistake = (sell) => {
  const known = new Set<string>()
  const inProgress = new Map<string, number>()
  return async (asked) => {
    const payer = payerOf(asked) ?? ''
    const key = nonceOf(asked) ?? ''
    const isNew = !known.has(payer)
    known.add(payer)
    inProgress.set(key, (inProgress.get(key) ?? 0) + 1)
    const given = await sell(asked)
    const isAlone = inProgress.get(key) === 1 && !hasIdentifier(asked)
    if (!asked.payment || !isNew || !isServed(given) || !isAlone || (await asked.lastFault()) !== null) return given
    return (await asked.facts(asked.payment)).wasHeld ? given : { status: 500, headers: {}, body: 'error' }
  }
}

const payerOf = ({ payment }: Asked) => payment?.payload.authorization['from']

/** Ignores the purchase of a buyer who hung up: asked again, it wants money. */
const ignoresHangUps: Mistake = (sell) => {
  const lost = new Set<string | undefined>()
  return async (asked) => {
    const payer = payerOf(asked)
    const wasLost = payer !== undefined && lost.has(payer)
    const given = await sell(asked)
    if (asked.isGone()) lost.add(payer)
    return wasLost && isServed(given) ? unpaid(given) : given
  }
}

/** Asks a buyer for money when the settlement of the first request took long. */
const refuseAfterSlowSettlement: Mistake = (sell) => {
  const known = new Set<string | undefined>()
  return async (asked) => {
    const isFirst = !known.has(payerOf(asked))
    known.add(payerOf(asked))
    const given = await sell(asked)
    return asked.payment && isFirst && (await asked.lastFault()) === 'is_slow' ? unpaid(given) : given
  }
}

/** Ignores what was bought with an identifier as soon as it was sent. */
const ignoresIdentified: Mistake = remembering<'seen'>(async (given, asked, before) => ({
  given: before && hasIdentifier(asked) && asked.target.indexOf('?') < 0 ? unpaid(given) : given,
  memory: 'seen',
}))

export const failureMistakes: Record<string, Mistake> = {
  clean: failsNewBuyers,
  'accept-then-timeout': asksAgain('hangs_after'),
  '5xx-after-settle': asksAgain('fails_after'),
  'slow-answer': refuseAfterSlowSettlement,
  'declared-safe': asksAgain('refuses_after_sending'),
  'false-success': afterFault('claims_to_have_sent', () => freeAnswer),
  'foreign-transaction': afterFault('claims_foreign_transaction', () => freeAnswer),
  'settled-twice': asksAgain('settles_twice'),
  'refused-then-settled': asksAgain('refuses_and_settles_late'),
  'settled-late': asksAgain('settles_late'),
  'hang-ups': ignoresHangUps,
  'lost-answers': ignoresIdentified,
  cancelled: servesRefusedWhen(({ isCancelled, wasHeld }) => isCancelled && !wasHeld),
  'nonce-signed-twice': servesRefusedWhen(({ moved }) => moved === 1n),
  // Copies in other letters come at the same time as one that is refused.
  'carried-after-402': remembering<string | undefined>(async (given, asked, refused) => ({
    given: refused === textOf(asked) ? unpaid(given) : given,
    memory: given.status === 402 ? textOf(asked) : refused,
  })),
  reorganised: remembering<'sold' | 'other'>(async (given, { payment, facts }, before) => {
    const again = before === 'sold' && payment && !(await facts(payment)).isUsed
    return { given: again ? freeAnswer : given, memory: before === 'sold' || isServed(given) ? 'sold' : 'other' }
  }),
  'expiry-edge': answers((given, { payment, now }) => {
    const left = Number(payment?.payload.authorization['validBefore']) - now()
    return payment && given.status >= 400 && left > 3 && left < 11 ? freeAnswer : given
  }),
  'clock-skew': servesRefusedWhen(({ isExpiredOnChainOnly, isUsed }) => isExpiredOnChainOnly && !isUsed),
  'cancelled-while-settling': servesRefusedWhen(({ isCancelled, wasHeld }) => isCancelled && wasHeld),
  'drained-while-settling': servesRefusedWhen(
    ({ balance, wasHeld, code }) => balance === 0n && wasHeld && code === '0x',
  ),
  'carried-while-settling': answers(async (given, { payment, facts }) => {
    if (!payment) return given
    const { wasHeld, isUsed, isCancelled } = await facts(payment)
    return wasHeld && isUsed && !isCancelled ? unpaid(given) : given
  }),
  'contract-wallet-flips': servesRefusedWhen(({ code }) => code !== '0x' && !isDelegation(code)),
  'delegated-payer': servesRefusedWhen(({ code }) => isDelegation(code)),
  crash: remembering<number>(async (given, { restarts }, before) => ({
    given: before !== undefined && before !== restarts ? unpaid(given) : given,
    memory: before ?? restarts,
  })),
}

const isDelegation = (code: string) => code.startsWith('0xef0100')

export const failuresFoundByMore: Record<string, readonly string[]> = {
  '5xx-after-settle': ['5xx-after-settle', 'double-402', 'reconcile-unavailable'],
  // In both the transfer was not the one that the seller waited for.
  'carried-while-settling': ['carried-while-settling', 'crash'],
  'hang-ups': ['hang-up-0ms', 'hang-up-60ms', 'hang-up-250ms'],
  'lost-answers': ['cut-after-0-bytes', 'cut-after-1-bytes', 'cut-at-each-byte', 'identifier-replay', 'retention'],
  // The stored answer was bought before the restart.
  crash: ['crash', 'retention'],
}
