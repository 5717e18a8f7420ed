import type {
  EntitlementPort,
  GateOutcome,
  HoldOutcome,
  PaidCall,
  PreparedAnswer,
  Promised,
  TakeOutcome,
} from '../contract/paid-call.ts'
import { asProblem, Problem } from '../kernel/problem.ts'
import { post } from '../ledger/index.ts'
import type { Tx } from '../store/database.ts'
import { CommitUnknown } from '../store/errors.ts'
import { createBatcher } from '../store/group-commit.ts'
import { releasedAnswer } from './earlier-payment.ts'
import { drawResponse, entitledSale, prepareForCaller } from './entitled-sale.ts'
import type { GateDeps } from './gate-deps.ts'
import { inDoubtCommit } from './in-doubt-commit.ts'

type Ready = { call: PaidCall; port: EntitlementPort; promised: Promised; prepared: PreparedAnswer }
type Unpromised = Exclude<HoldOutcome, { status: 'promised' }>

/** Takes the price of answers that are ready, with their sale hooks, many in one transaction. */
export function createPromisedSales(deps: GateDeps) {
  return createBatcher<Ready, TakeOutcome>({
    maxItems: 128,
    maxConcurrent: 2,
    run: (items) => deps.database.transaction((tx) => takeAll(deps, tx, items)),
  })
}

export type PromisedSales = ReturnType<typeof createPromisedSales>

/**
 * The answer first, then its price: for callers who had plenty a moment ago, so that preparing for somebody who cannot
 * pay stays a rare accident. Nothing leaves before the price is taken; when it cannot be, this says what a hold would.
 */
export async function servePromised(
  deps: GateDeps,
  sales: PromisedSales,
  call: PaidCall,
  port: EntitlementPort,
  promised: Promised,
): Promise<GateOutcome | Unpromised> {
  const { account, callId } = promised
  try {
    const prepared = await prepareForCaller(call, account, callId).catch((error: unknown) =>
      insteadOf(error, call, port, promised),
    )
    if ('status' in prepared) return prepared
    const outcome = await takeSurely(deps, sales, { call, port, promised, prepared })
    if (outcome.status === 'not_taken') return (await outcome.why()) as Unpromised
    const paymentResponse = drawResponse(account, callId, outcome.draw)
    const answer = await releasedAnswer(call, prepared.answer, paymentResponse)
    return { kind: 'served', answer, paymentResponse, delivered: () => {} }
  } catch (error) {
    if (!(error instanceof Problem))
      deps.log.error({ route: call.route.id, error: String(error) }, 'call from credit failed')
    return { kind: 'refused', problem: asProblem(error) }
  }
}

/** A hold finds a call of the same name before anything is prepared: what was paid for needs no second preparing. */
async function insteadOf(
  error: unknown,
  call: PaidCall,
  port: EntitlementPort,
  { named }: Promised,
): Promise<Unpromised> {
  const earlier = named ? await port.earlier?.(call) : undefined
  if (earlier === undefined) throw error
  return earlier as Unpromised
}

async function takeAll(deps: GateDeps, tx: Tx, items: readonly Ready[]): Promise<TakeOutcome[]> {
  const [first] = items
  const outcomes =
    (await first?.port.takeAll?.(
      tx,
      items.map(({ promised }) => promised),
    )) ?? []
  const taken = items.flatMap((item, index) => {
    const outcome = outcomes[index]
    return outcome?.status === 'taken' ? [{ ...item, ...outcome }] : []
  })
  const sales = taken.map(({ call, promised: { account, callId }, prepared, draw }) => ({
    ...entitledSale(deps, call, account, callId, prepared.reservation ?? null),
    network: draw.network,
    amountMicro: draw.amountMicro,
  }))
  const unposted = taken.map(({ posting }) => posting)
  if (sales.length > 0) for (const hook of deps.saleHooks) await hook(tx, sales, unposted)
  await post(tx, unposted)
  for (const { port, promised, prepared } of taken)
    if (promised.named) await port.keep?.(tx, promised.callId, prepared.answer)
  return outcomes
}

const looksMax = 5
const firstPauseMs = 200

/** A commit whose end nobody saw may have taken the price: then the answer that was paid for is given. */
async function takeSurely(deps: GateDeps, sales: PromisedSales, item: Ready): Promise<TakeOutcome> {
  try {
    return await sales.submit(item)
  } catch (error) {
    if (!(error instanceof CommitUnknown)) throw error
    for (let look = 0; look < looksMax; look += 1) {
      await deps.clock.sleep(firstPauseMs * 2 ** look)
      const draw = await item.port.taken?.(item.promised.callId).catch(() => undefined)
      if (draw) return { status: 'taken', draw }
    }
    const { port, call, promised, prepared } = item
    throw inDoubtCommit(deps, { port, call, callId: promised.callId, named: promised.named, answer: prepared.answer })
  }
}
