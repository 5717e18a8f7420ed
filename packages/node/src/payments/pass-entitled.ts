import { asProblem, Problem } from '../kernel/problem.ts'
import type { Tx } from '../store/database.ts'
import { requestFingerprint } from './fingerprint.ts'
import { expectClearingEmpty } from './finish-sale.ts'
import type { GateDeps } from './gate-deps.ts'
import type {
  AnswerContent,
  EntitlementPort,
  GateOutcome,
  HoldOutcome,
  PaidCall,
  PreparedAnswer,
  Sale,
} from './paid-call.ts'

type Held = Extract<HoldOutcome, { status: 'held' }>

/** A subscription, pass or credit in place of a payment: the first that covers the call is used, else the answer is a 402. */
export async function passEntitled(
  deps: GateDeps,
  call: PaidCall,
  ports: readonly EntitlementPort[],
): Promise<GateOutcome> {
  if (call.inputProblem) return { kind: 'refused', problem: call.inputProblem }
  const key = requestFingerprint(call).toString('hex')
  const notes: Extract<HoldOutcome, { status: 'not_covered' }>[] = []
  for (const port of ports) {
    const hold = await port.hold(call, key)
    deps.metrics.count('entitlements', { port: port.name, outcome: hold.status })
    if (hold.status === 'held') return serveHeld(deps, call, port, hold)
    if (hold.status === 'refused') return { kind: 'refused', problem: hold.problem }
    if (hold.status === 'served') return { kind: 'served', answer: hold.answer, delivered: () => {} }
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

/** Held, prepared, captured with the effect; released on any failure. */
async function serveHeld(
  deps: GateDeps,
  call: PaidCall,
  port: EntitlementPort,
  { holdId, account, callId = deps.ids.next('call') }: Held,
): Promise<GateOutcome> {
  try {
    const prepared = await prepareInTime(deps, call, account, callId)
    const answer = await deps.database.transaction((tx) =>
      finish(deps, tx, call, port, { holdId, account, callId, prepared }),
    )
    return { kind: 'served', answer, delivered: () => {} }
  } catch (error) {
    await port
      .release(holdId)
      .catch((failure: unknown) => deps.log.warn({ hold: holdId, error: String(failure) }, 'hold not released'))
    if (!(error instanceof Problem))
      deps.log.error({ route: call.route.id, error: String(error) }, 'entitled call failed')
    return { kind: 'refused', problem: asProblem(error) }
  }
}

function prepareInTime(
  deps: GateDeps,
  call: PaidCall,
  account: Held['account'],
  callId: string,
): Promise<PreparedAnswer> {
  const late = new AbortController()
  const timer = deps.clock.sleep(deps.limits.prepareMs, late.signal).then(
    () => {
      throw new Problem('upstream_unavailable', {
        detail: 'The answer could not be prepared in time.',
        retryAfterSeconds: 5,
      })
    },
    () => new Promise<never>(() => {}),
  )
  return Promise.race([call.prepare(account, callId, late.signal), timer]).finally(() => late.abort())
}

type Prepared = Omit<Held, 'status'> & { callId: string; prepared: PreparedAnswer }

async function finish(
  deps: GateDeps,
  tx: Tx,
  call: PaidCall,
  port: EntitlementPort,
  { holdId, account, callId, prepared }: Prepared,
): Promise<AnswerContent> {
  const moved = await port.capture(tx, holdId)
  const sale = { ...entitledSale(deps, call, account, callId, prepared.reservation ?? null), ...moved }
  const answer = (await call.route.commit?.(tx, sale)) ?? prepared.answer
  const { route } = call
  if (moved && route.commit && route.payee === 'custody')
    await expectClearingEmpty(tx, { id: callId, network: sale.network, routeId: route.id })
  if (moved) for (const hook of deps.saleHooks) await hook(tx, [sale])
  await port.keep?.(tx, holdId, answer)
  return answer
}

/** Until a capture says otherwise no money moved for this call, so its sale is worth nothing; only the effect is committed. */
function entitledSale(
  deps: GateDeps,
  call: PaidCall,
  account: Sale['payer'],
  callId: string,
  reservation: Sale['reservation'],
): Sale {
  return {
    paymentId: callId,
    routeId: call.route.id,
    network: call.route.networks[0] ?? '',
    payer: account,
    amountMicro: 0n,
    payee: call.route.payee,
    attribution: call.attribution,
    reservation,
    provisional: false,
    transaction: '',
    settledAtMs: deps.clock.nowMs(),
    feeMicro: 0n,
    round: 0,
    source: 'credit',
  }
}
