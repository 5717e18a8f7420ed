import type { CaptureOutcome, Draw, Hold, HoldOutcome, HoldPort } from '../contract/entitlement.ts'
import type { AnswerContent, PaidCall, PreparedAnswer, Sale } from '../contract/paid-call.ts'
import { keepAnswers } from '../credit/entitled-calls.ts'
import { Problem } from '../kernel/problem.ts'
import { post } from '../ledger/index.ts'
import type { Tx } from '../store/database.ts'
import { CommitUnknown } from '../store/errors.ts'
import { createBatcher } from '../store/group-commit.ts'
import type { GateDeps } from './gate-deps.ts'
import { inDoubtCommit } from './in-doubt-commit.ts'
import { expectClearingEmpty } from './sale-postings.ts'

/** A held call whose answer is prepared. */
export type ReadyCall = {
  call: PaidCall
  port: HoldPort
  hold: Hold
  callId: string
  prepared: PreparedAnswer
  /** What the effect made of the prepared answer, as soon as it is known. */
  made?: AnswerContent
}

export type SaleOutcome =
  | { status: 'sold'; answer: AnswerContent; draw?: Draw }
  | { status: 'not_captured'; why(): Promise<HoldOutcome> }

/**
 * Ends held calls: capture, effect and sale hooks in one transaction. Draws of credit without their own effect
 * share one, so that one commit to disk carries many of them.
 */
export function createEntitledSales(deps: GateDeps) {
  const run = (items: readonly ReadyCall[]) => deps.database.transaction((tx) => sellAll(deps, tx, items))
  const plain = createBatcher<ReadyCall, SaleOutcome>({ maxItems: 128, maxConcurrent: 2, run })
  const sellAlone = async (item: ReadyCall) => (await run([item]))[0] as SaleOutcome
  return {
    sell(item: ReadyCall): Promise<SaleOutcome> {
      const draws = item.hold.chargeAfterPrepare || item.hold.draw !== undefined
      const selling = draws && !item.call.route.commit ? plain.submit(item) : sellAlone(item)
      return selling.catch((error: unknown) => afterLostCommit(deps, item, error))
    },
  }
}

export type EntitledSales = ReturnType<typeof createEntitledSales>

async function sellAll(deps: GateDeps, tx: Tx, items: readonly ReadyCall[]): Promise<SaleOutcome[]> {
  const captures = await captureAll(tx, items)
  const sold = items.flatMap((item, index) => {
    const capture = captures[index]
    return capture?.status === 'captured' ? [{ item, capture, sale: saleOf(deps, item, capture.draw) }] : []
  })
  for (const { item, capture, sale } of sold)
    item.made = item.call.route.commit
      ? await commitEffect(tx, item, sale, capture.draw !== undefined)
      : item.prepared.answer
  const paid = sold.filter(({ capture }) => capture.draw !== undefined).map(({ sale }) => sale)
  const unposted = sold.flatMap(({ capture }) => capture.posting ?? [])
  if (paid.length > 0) for (const hook of deps.saleHooks) await hook(tx, paid, unposted)
  await post(tx, unposted)
  await keepAll(
    tx,
    sold.map(({ item }) => item),
  )
  return items.map((item, index) => {
    const capture = captures[index] as CaptureOutcome
    if (capture.status === 'not_captured') return capture
    const { draw } = capture
    return { status: 'sold', answer: item.made ?? item.prepared.answer, ...(draw ? { draw } : {}) }
  })
}

async function keepAll(tx: Tx, sold: readonly ReadyCall[]): Promise<void> {
  for (const port of new Set(sold.map((item) => item.port))) {
    const items = sold.filter((item) => item.port === port)
    if (port.keep)
      await port.keep(
        tx,
        items.map(({ hold, call, made, prepared }) => ({
          hold,
          route: call.route,
          answer: wholeAnswer(made) ?? prepared.answer,
        })),
      )
    else
      await keepAnswers(
        tx,
        items.flatMap(({ hold: { hasKey, holdId: id, account }, made, prepared }) =>
          hasKey ? [{ id, account, answer: made ?? prepared.answer }] : [],
        ),
      )
  }
}

/** Streams are not stored. */
function wholeAnswer(made: AnswerContent | undefined): PreparedAnswer['answer'] | undefined {
  if (!made) return undefined
  const { body } = made
  return typeof body === 'string' || body instanceof Uint8Array ? { ...made, body } : undefined
}

/** Each port captures its own holds, all at once. */
async function captureAll(tx: Tx, items: readonly ReadyCall[]): Promise<CaptureOutcome[]> {
  const outcomes = new Array<CaptureOutcome>(items.length)
  for (const port of new Set(items.map((item) => item.port))) {
    const places = items.flatMap((item, place) => (item.port === port ? [place] : []))
    const held = places.map((place) => items[place] as ReadyCall).map(({ hold, call }) => ({ hold, route: call.route }))
    const captured = await port.capture(tx, held)
    if (captured.length !== places.length) throw new Error(`${port.name} did not answer every capture`)
    for (const [index, place] of places.entries()) outcomes[place] = captured[index] as CaptureOutcome
  }
  return outcomes
}

async function commitEffect(tx: Tx, item: ReadyCall, sale: Sale, isPaid: boolean): Promise<AnswerContent> {
  const { route } = item.call
  const answer = (await route.commit?.(tx, sale)) ?? item.prepared.answer
  if (isPaid && route.commit && route.payee === 'custody')
    await expectClearingEmpty(tx, { network: sale.network, routeId: route.id }, [sale])
  return answer
}

/** Where no money moves, nothing is posted; only the effect is committed. */
function saleOf(deps: GateDeps, { call, hold, callId, prepared }: ReadyCall, draw: Draw | undefined): Sale {
  return {
    paymentId: callId,
    routeId: call.route.id,
    network: draw?.network ?? call.route.networks[0] ?? '',
    payer: hold.account,
    amountMicro: draw?.amountMicro ?? 0n,
    payee: call.route.payee,
    attribution: call.attribution,
    reservation: prepared.reservation ?? null,
    provisional: false,
    transaction: '',
    settledAtMs: deps.clock.nowMs(),
    feeMicro: 0n,
    round: 0,
    source: 'credit',
  }
}

const checksMax = 5
const firstPauseMs = 200

/**
 * An in-doubt commit may have taken the price, and a call without an Idempotency-Key cannot be repeated: if it was paid
 * for, its answer is returned.
 */
async function afterLostCommit(deps: GateDeps, item: ReadyCall, error: unknown): Promise<SaleOutcome> {
  if (!(error instanceof CommitUnknown)) throw error
  const { port, hold, call, made } = item
  for (let look = 0; look < checksMax; look += 1) {
    await deps.clock.sleep(firstPauseMs * 2 ** look)
    // Waits for a commit that is still under way, and gives back what it did not take.
    const end = await port.release(hold.holdId).catch(() => ({ status: 'absent' as const }))
    if (end === undefined) throw error
    if (end.status === 'absent') continue
    if (end.status === 'released') throw new Problem('settlement_unavailable', { retryAfterSeconds: 1 })
    if (!made) throw error
    const { draw = hold.draw } = end
    return { status: 'sold', answer: made, ...(draw ? { draw } : {}) }
  }
  throw inDoubtCommit(deps, { call, hold, answer: made ?? item.prepared.answer })
}
