import type {
  AnswerContent,
  EntitlementPort,
  GateOutcome,
  HoldOutcome,
  PaidCall,
  PreparedAnswer,
} from '../contract/paid-call.ts'
import { readCredit } from '../credit/credit-balance.ts'
import { asProblem, Problem } from '../kernel/problem.ts'
import type { Tx } from '../store/database.ts'
import { CommitUnknown } from '../store/errors.ts'
import { createBatcher } from '../store/group-commit.ts'
import { createPromisedSales, servePromised } from './charge-after-prepare.ts'
import { answerEarlier, releasedAnswer } from './earlier-payment.ts'
import { drawResponse, entitledSale, prepareForCaller } from './entitled-sale.ts'
import type { GateDeps } from './gate-deps.ts'
import { inDoubtCommit } from './in-doubt-commit.ts'
import { expectClearingEmpty } from './sale-postings.ts'

type Held = Extract<HoldOutcome, { status: 'held' }>

type Finished = {
  call: PaidCall
  port: EntitlementPort
  held: Held
  callId: string
  prepared: PreparedAnswer
  /** What the effect made of the prepared answer, as soon as it is known. */
  made?: AnswerContent
}

/**
 * Ends held calls: capture, effect and sale hooks in one transaction. Draws of credit without an effect of their own
 * share one, so that one commit to disk carries many of them.
 */
export function createEntitledSales(deps: GateDeps) {
  const plain = createBatcher<Finished, AnswerContent>({
    maxItems: 128,
    maxConcurrent: 2,
    run: (items) => deps.database.transaction((tx) => finishDraws(deps, tx, items)),
  })
  return {
    promised: createPromisedSales(deps),
    finish: (item: Finished): Promise<AnswerContent> =>
      item.held.draw && item.port.captureAll && !item.call.route.commit
        ? plain.submit(item)
        : deps.database.transaction((tx) => finish(deps, tx, item)),
  }
}

export type EntitledSales = ReturnType<typeof createEntitledSales>

/** A subscription, pass or credit in place of a payment: the first that covers the call is used, else the answer is a 402. */
export async function passEntitled(
  deps: GateDeps,
  sales: EntitledSales,
  call: PaidCall,
  ports: readonly EntitlementPort[],
): Promise<GateOutcome> {
  // What was right when it was paid for, a quote for instance, may have run out since.
  if (call.inputProblem)
    return (named(call) && (await answerEarlier(call, ports))) || { kind: 'refused', problem: call.inputProblem }
  const notes: Extract<HoldOutcome, { status: 'not_covered' }>[] = []
  for (const port of ports) {
    const answered = await port.hold(call)
    deps.metrics.count('entitlements', { port: port.name, outcome: answered.status })
    const beyondCap = await drawBeyondCap(deps, call, answered)
    if (beyondCap) {
      if (answered.status === 'held') await port.release(answered.holdId)
      return beyondCap
    }
    const hold =
      answered.status === 'promised' ? await servePromised(deps, sales.promised, call, port, answered) : answered
    if ('kind' in hold) return hold
    if (hold.status === 'held') return serveHeld(deps, sales, call, port, hold)
    if (hold.status === 'refused') return { kind: 'refused', problem: hold.problem }
    if (hold.status === 'served')
      return { kind: 'served', answer: await releasedAnswer(call, hold.answer, ''), delivered: () => {} }
    notes.push(hold)
  }
  return {
    kind: 'refused',
    problem: new Problem('payment_required', {
      detail: notes.map(({ note }) => note).join(' '),
      extra: Object.assign({}, ...notes.map(({ extra }) => extra ?? {})),
    }),
    paymentRequired: deps.challenges.header(call),
  }
}

/**
 * With the exposure cap used up, nothing more is given away for credit that a reorganisation could still take. Credit that
 * is final buys as always.
 */
async function drawBeyondCap(deps: GateDeps, call: PaidCall, hold: HoldOutcome): Promise<GateOutcome | undefined> {
  const draws = hold.status === 'promised' || (hold.status === 'held' && hold.draw !== undefined)
  if (!draws || call.route.revocable || (await deps.exposure.hasRoom(call.priceMicro))) return undefined
  const balances = await Promise.all(
    [...deps.chains.keys()].map((network) => readCredit(deps.database, network, hold.account)),
  )
  if (balances.some(({ movableMicro }) => movableMicro >= call.priceMicro)) return undefined
  return { kind: 'refused', problem: new Problem('exposure_limit', { retryAfterSeconds: 30 }) }
}

const named = (call: PaidCall): boolean => call.headers.has('idempotency-key')

/** Held, prepared, captured with the effect; released on any failure. */
async function serveHeld(
  deps: GateDeps,
  sales: EntitledSales,
  call: PaidCall,
  port: EntitlementPort,
  held: Held,
): Promise<GateOutcome> {
  const { holdId, account, draw, callId = deps.ids.next('call') } = held
  try {
    const prepared = await prepareForCaller(call, account, callId)
    const answer = await finishSurely(deps, sales, { call, port, held, callId, prepared })
    const paymentResponse = draw ? drawResponse(account, callId, draw) : undefined
    return {
      kind: 'served',
      answer: await releasedAnswer(call, answer, paymentResponse ?? ''),
      ...(paymentResponse === undefined ? {} : { paymentResponse }),
      delivered: () => {},
    }
  } catch (error) {
    await port
      .release(holdId)
      .catch((failure: unknown) => deps.log.warn({ hold: holdId, error: String(failure) }, 'hold not released'))
    if (!(error instanceof Problem))
      deps.log.error({ route: call.route.id, error: String(error) }, 'entitled call failed')
    return { kind: 'refused', problem: asProblem(error) }
  }
}

const looksMax = 4
const firstPauseMs = 200

/**
 * A commit whose end nobody saw may have taken the price, and a call without a name cannot be asked for again: then the
 * answer that was paid for is given.
 */
async function finishSurely(deps: GateDeps, sales: EntitledSales, item: Finished): Promise<AnswerContent> {
  const { port, held } = item
  try {
    return await sales.finish(item)
  } catch (error) {
    if (!(error instanceof CommitUnknown) || !port.captured) throw error
    for (let look = 0; look < looksMax; look += 1) {
      await deps.clock.sleep(firstPauseMs * 2 ** look)
      const captured = await port
        // Waits for a commit that is still under way, and gives back what it did not take.
        .release(held.holdId)
        .then(() => port.captured?.(held.holdId))
        .catch(() => undefined)
      if (captured === undefined) continue
      if (captured && item.made) return item.made
      throw captured ? error : new Problem('settlement_unavailable', { retryAfterSeconds: 1 })
    }
    throw inDoubtCommit(deps, {
      port,
      call: item.call,
      callId: held.holdId,
      named: held.named !== false,
      answer: item.made,
    })
  }
}

async function finish(deps: GateDeps, tx: Tx, item: Finished): Promise<AnswerContent> {
  const { call, port, held, callId, prepared } = item
  const { holdId, account } = held
  const moved = await port.capture(tx, holdId)
  const sale = { ...entitledSale(deps, call, account, callId, prepared.reservation ?? null), ...moved }
  const answer = (await call.route.commit?.(tx, sale)) ?? prepared.answer
  const { route } = call
  if (moved && route.commit && route.payee === 'custody')
    await expectClearingEmpty(tx, { network: sale.network, routeId: route.id }, [sale])
  if (moved) for (const hook of deps.saleHooks) await hook(tx, [sale])
  if (held.named !== false) await port.keep?.(tx, holdId, answer)
  item.made = answer
  return answer
}

/** Many draws that have no effect beside their price. */
async function finishDraws(deps: GateDeps, tx: Tx, items: readonly Finished[]): Promise<AnswerContent[]> {
  const ports = new Set(items.map(({ port }) => port))
  for (const port of ports)
    await port.captureAll?.(
      tx,
      items.flatMap(({ port: own, held, call }) =>
        own === port && held.draw
          ? [{ holdId: held.holdId, account: held.account, route: call.route, draw: held.draw }]
          : [],
      ),
    )
  const sales = items.map(({ call, held, callId, prepared }) => ({
    ...entitledSale(deps, call, held.account, callId, prepared.reservation ?? null),
    network: held.draw?.network ?? '',
    amountMicro: held.draw?.amountMicro ?? 0n,
  }))
  for (const hook of deps.saleHooks) await hook(tx, sales)
  for (const { port, held, prepared } of items)
    if (held.named !== false) await port.keep?.(tx, held.holdId, prepared.answer)
  return items.map((item) => {
    item.made = item.prepared.answer
    return item.made
  })
}
