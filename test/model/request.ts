import { isScreening, simulationConfirms } from '../../packages/till/src/facilitators/refusal-causes.ts'
import {
  answerRepeat,
  hasReachedUs,
  isLostAnswer,
  isStillActive,
  mayResume,
} from '../../packages/till/src/transitions/decide-claim.ts'
import { admitSale, isExposed } from '../../packages/till/src/transitions/decide-exposure.ts'
import { decideFinish, decideSettlement } from '../../packages/till/src/transitions/decide-settlement.ts'
import { decideSpentKey } from '../../packages/till/src/transitions/decide-spent-key.ts'
import { broughtMoney, reasonOfOtherUse } from '../../packages/till/src/transitions/other-use.ts'
import {
  decideNoAnswer,
  decideRefusal,
  decideReported,
  decideUsedKey,
  type KeyReading,
} from '../../packages/till/src/transitions/settlement-outcome.ts'
import type { SettlementResult } from '../../packages/till/src/transitions/settlement-result.ts'
import { moves } from '../../packages/till/src/transitions/state-changes.ts'
import {
  authorizationOf,
  confirmedOf,
  evidenceByKey,
  evidenceByTransaction,
  expectedOf,
  isFinal,
  isOurs,
  keyUse,
  recipientOf,
  seenIn,
  seenOf,
  useOf,
} from './abstract-chain.ts'
import {
  claim,
  conflictOf,
  credit,
  endRow,
  finish,
  intend,
  leaveUnsettled,
  reclaim,
  resume,
  rowOf,
} from './abstract-store.ts'
import { checkFreshPayers } from './invariants.ts'
import { reasons } from './reasons.ts'
import {
  type Bound,
  type Handler,
  headOf,
  type Row,
  type Said,
  timeOf,
  Violation,
  validBefore,
  type World,
  type Write,
} from './world.ts'

/** What one request does, step by step. Between two steps anything else may happen. */

export const isOursOn = (_network: string, address: string): boolean => isOurs(address)

export function handlerOf(world: World, n: number): Handler {
  const handler = world.handlers.find((one) => one.n === n)
  if (!handler) throw new Error(`no request ${n}`)
  return handler
}

/** The request is over. 402 asks for money: none may have moved as far as the request could know. */
export function answer(bound: Bound, world: World, handler: Handler, what: string): unknown {
  world.handlers = world.handlers.filter((one) => one !== handler)
  if (what !== '402') return
  const { key } = authorizationOf(bound, handler.auth)
  const use = useOf(world, key)
  if (use && use.at <= handler.checkedHead && authorizationOf(bound, use.auth).to === 'us')
    throw new Violation(`402 for ${handler.auth} though money had moved under ${key} in block ${use.at}`)
  if (!world.answered402.includes(key)) world.answered402.push(key)
  world.answered402.sort()
}

/** Reads the chain for a fresh request: is its key used? */
export function readFirst(bound: Bound, world: World, handler: Handler): unknown {
  const auth = authorizationOf(bound, handler.auth)
  handler.head = headOf(world)
  handler.checkedHead = headOf(world)
  // What has expired is refused before it is claimed.
  if (validBefore(auth.until) < BigInt(timeOf(world.now))) return answer(bound, world, handler, 'expired')
  const use = useOf(world, auth.key)
  if (!use) {
    handler.at = 'claim'
    return
  }
  const earlier = conflictOf(world.store, auth)
  if (earlier && isStillActive(earlier)) return answerKnown(bound, world, handler, earlier)
  const found = keyUse(bound, world, auth.key)
  const transfer = found.status === 'transfer' ? found.transfer : undefined
  const broughtUs = transfer !== undefined && broughtMoney(isOursOn, 'n', transfer)
  const decision = decideSpentKey({
    use: found.status,
    final: isFinal(world, confirmedOf(seenOf(world, use))),
    broughtMoney: broughtUs,
    becomesCredit: broughtUs,
  })
  answer(bound, world, handler, decision === 'pay_again' ? '402' : decision === 'unknown' ? '503' : '409')
}

function answerKnown(bound: Bound, world: World, handler: Handler, earlier: Row): unknown {
  const auth = authorizationOf(bound, handler.auth)
  const sameRequest = earlier.request === auth.request
  const kind = answerRepeat({ ...earlier, sameKey: true, sameRequest, knowsIdentifier: false })
  if (kind === 'reclaim') {
    handler.row = earlier.id
    handler.at = 'reclaim'
    return
  }
  if (kind !== 'failed') return answer(bound, world, handler, kind)
  const transfers = world.store.transfers
    .filter(({ key }) => key === auth.key)
    .map((transfer) => ({ ...transfer, recipient: recipientOf(transfer) }))
  answer(bound, world, handler, hasReachedUs(earlier, transfers, isOurs) ? '409' : '402')
}

export function claimStep(bound: Bound, world: World, handler: Handler): void {
  const { outcome, id } = claim(bound, world.store, handler, handler.at === 'claim_again')
  if (outcome.status === 'claimed') {
    handler.row = id
    handler.at = 'claimed'
  } else if (outcome.status === 'conflict') handler.at = 'conflict'
  else if (outcome.status === 'over_limit') answer(bound, world, handler, '503')
  else askForLost(bound, world, handler, rowOf(world.store, outcome.paymentId))
}

function askForLost(bound: Bound, world: World, handler: Handler, earlier: Row): void {
  if (earlier.key === authorizationOf(bound, handler.auth).key) handler.at = 'conflict'
  else if (isLostAnswer(earlier, world.alive.includes(earlier.owner))) {
    if (earlier.state !== 'served') return void answer(bound, world, handler, '503')
    if (!leaveUnsettled(bound, world.store, handler)) {
      handler.at = 'conflict'
      return
    }
    earlier.delivered = true
    const { key } = authorizationOf(bound, handler.auth)
    if (!world.answeredBefore.includes(key)) world.answeredBefore.push(key)
    world.answeredBefore.sort()
    answer(bound, world, handler, 'stored')
  } else handler.at = 'claim_again'
}

export function conflictStep(bound: Bound, world: World, handler: Handler): unknown {
  const auth = authorizationOf(bound, handler.auth)
  const earlier = conflictOf(world.store, auth)
  if (!earlier) return answer(bound, world, handler, '503')
  const same = { sameRequest: earlier.request === auth.request, sameAuthorization: earlier.auth === auth.id }
  if (mayResume({ ...earlier, ...same }) && !reasonNotToSettle(bound, world, earlier)) {
    handler.row = earlier.id
    handler.head = earlier.head
    handler.at = 'resume'
    return
  }
  answerKnown(bound, world, handler, earlier)
}

export function reclaimStep(bound: Bound, world: World, handler: Handler): void {
  if (reclaim(bound, world.store, handler, rowOf(world.store, handler.row))) handler.at = 'claimed'
  else answer(bound, world, handler, '409')
}

export function resumeStep(bound: Bound, world: World, handler: Handler): void {
  if (resume(world.store, handler)) handler.at = 'sending'
  else answer(bound, world, handler, '503')
}

/** What is given away or about to be, with what this process has admitted and not yet written. */
export function exposed(bound: Bound, world: World): number {
  const rows = world.store.rows.filter((row) => isExposed({ ...row, revocable: bound.revocable === true }))
  const admitted = world.handlers.filter(({ at }) => at === 'intend')
  return [...rows, ...admitted.map(({ auth }) => authorizationOf(bound, auth))].reduce((sum, one) => sum + one.micro, 0)
}

function reasonNotToSettle(bound: Bound, world: World, row: Row): '402' | '503' | undefined {
  if (validBefore(row.until) < BigInt(timeOf(world.now))) return '402'
  return admits(bound, world, row) ? undefined : '503'
}

/** Whether this may be given away, or settled for, before the money for it is final. */
export function admits(bound: Bound, world: World, row: Row): boolean {
  const cap = bound.capMicro
  if (cap === undefined) return true
  const sale = { amountMicro: BigInt(row.micro), revocable: bound.revocable === true }
  const facts = { exposedMicro: BigInt(exposed(bound, world)), capMicro: BigInt(cap) }
  const admitted = admitSale(sale, facts)
  const paidBefore = world.store.rows.some((one) => one.payer === row.payer && one.final && one.state === 'served')
  return admitted === 'yes' || (admitted === 'known_payer' && (paidBefore || bound.capForAll === true))
}

/** The answer is prepared; the last check before money may move. */
export function admitStep(bound: Bound, world: World, handler: Handler): void {
  const row = rowOf(world.store, handler.row)
  const stop = reasonNotToSettle(bound, world, row)
  if (stop) {
    handler.write = { do: 'end', row: row.id, move: 'release', reason: 'stopped' }
    handler.answer = stop
    handler.at = 'write'
  } else {
    checkFreshPayers(bound, world, row)
    handler.at = 'intend'
  }
}

export function releaseStep(handler: Handler, reason: string): void {
  handler.write = { do: 'end', row: handler.row, move: 'release', reason }
  handler.answer = '503'
  handler.at = 'write'
}

export function intendStep(bound: Bound, world: World, handler: Handler): void {
  if (intend(world.store, handler)) handler.at = 'sending'
  else answer(bound, world, handler, '503')
}

/** The transaction that a facilitator names. */
export function transactionSaid(bound: Bound, handler: Handler, said: Said): string | undefined {
  if (said === 'submitted') return bound.batch?.includes(handler.auth) ? 'f:batch' : `f:${handler.auth}`
  if (said === 'submitted_reverted') return 'reverted'
  if (said !== 'submitted_other') return undefined
  const { key } = authorizationOf(bound, handler.auth)
  const other = bound.authorizations.find((one) => one.key !== key)
  return other ? `f:${other.id}` : 'reverted'
}

/** What the chain shows to a request whose settlement was asked for; undefined while it waits. */
function decideOutcome(bound: Bound, world: World, handler: Handler, lastRead: boolean): SettlementResult | undefined {
  const row = rowOf(world.store, handler.row)
  const said = handler.said as Said
  const expected = expectedOf(row)
  const head = BigInt(handler.head)
  const byKey = (): KeyReading =>
    useOf(world, row.key) ? decideUsedKey(evidenceByKey(bound, world, expected), head) : undefined
  const tx = transactionSaid(bound, handler, said)
  if (tx !== undefined) {
    const evidence = evidenceByTransaction(bound, world, tx, expected)
    const found = lastRead && evidence.status !== 'confirmed' ? byKey() : undefined
    const verdict = decideReported(`0x${tx}`, evidence, found?.status === 'settled' ? found : 'not_read')
    const decided = verdict === 'read_key' ? decideReported(`0x${tx}`, evidence, byKey()) : verdict
    if (typeof decided !== 'string') return decided
    return lastRead ? { status: 'unknown', reason: 'not seen in a block yet', transaction: `0x${tx}` } : undefined
  }
  if (said === 'nothing') return decideNoAnswer({ reason: 'timeout' }, byKey())
  const reason = said === 'outage' ? 'facilitator_down' : said === 'screened' ? 'payer_blocked' : 'insufficient_funds'
  const facts = {
    byKey: handler.at === 'decide_again' ? undefined : byKey(),
    outage: said === 'outage',
    screening: isScreening(reason),
  }
  const refusal = { reason, payloadSent: said !== 'refused_unsent' && said !== 'outage' }
  const simulated =
    said === 'refused_confirmed'
      ? ({ status: 'fails', returnData: exceedsBalance } as const)
      : ({ status: 'passes' } as const)
  let verdict = decideRefusal(refusal, facts)
  if (verdict.status === 'need' && verdict.fact === 'simulationConfirms')
    verdict = decideRefusal(refusal, { ...facts, simulationConfirms: simulationConfirms(reason, simulated) })
  if (verdict.status !== 'need') return verdict
  // The key is read once more, after whatever happened since the first read.
  if (handler.at !== 'decide_again') {
    handler.at = 'decide_again'
    handler.checkedHead = headOf(world)
    return undefined
  }
  const usedSince = useOf(world, row.key) !== undefined
  verdict = decideRefusal(refusal, { ...facts, simulationConfirms: true, usedSince })
  if (verdict.status === 'need') throw new Error('a refusal is decided by now')
  return verdict
}

/** Error("exceeds balance"), as the token answers. */
const exceedsBalance: `0x${string}` = `0x08c379a0${[32, 15].map((word) => word.toString(16).padStart(64, '0')).join('')}${Buffer.from('exceeds balance').toString('hex').padEnd(64, '0')}`

export function decideStep(bound: Bound, world: World, handler: Handler, lastRead: boolean): boolean {
  const before = handler.at
  const result = decideOutcome(bound, world, handler, lastRead)
  if (!result) return handler.at !== before
  handler.checkedHead = headOf(world)
  const other =
    result.status === 'used_otherwise'
      ? { final: isFinal(world, result.use), ...reasonOfOtherUse(reasons, isOursOn, 'n', result.use) }
      : undefined
  const decision = decideSettlement(result, other)
  if (decision.do === 'end' && decision.answer === 'pay_again') checkProvable(world, handler)
  const row = rowOf(world.store, handler.row)
  handler.at = 'write'
  if (decision.do === 'finish') {
    const seen = seenIn(decision.evidence)
    const final = world.final >= seen.at
    handler.write = { do: 'finish', row: row.id, seen, ...decideFinish(finishFacts(bound, row, final, true)) }
    handler.answer = 'served'
  } else if (decision.do === 'credit') {
    handler.write = { do: 'credit', row: row.id, seen: seenIn(decision.evidence), reason: 'spent_before_claim' }
    handler.answer = '409'
  } else {
    const move = Object.keys(moves).find((name) => moves[name as keyof typeof moves] === decision.move) as string
    const tx = decision.transaction?.slice(2)
    handler.write = { do: 'end', row: row.id, move, reason: decision.reason, ...(tx === undefined ? {} : { tx }) }
    handler.answer = decision.answer === 'pay_again' ? '402' : decision.answer === 'credited' ? '409' : '503'
  }
  return true
}

/** The payload has left: it can be carried until it expires, unless our own simulation fails or its key is used up. */
function checkProvable(world: World, handler: Handler): void {
  const isUnsent = handler.said === 'refused_unsent' || handler.said === 'refused_confirmed'
  const use = useOf(world, rowOf(world.store, handler.row).key)
  if (!isUnsent && !(use && use.at <= world.final))
    throw new Violation(`402 for ${handler.auth} though it can still be submitted`)
}

export const finishFacts = (bound: Bound, row: Row, final: boolean, hasRoom: boolean) => ({
  amountMicro: BigInt(row.micro),
  inclusionMicroMax: BigInt(bound.inclusionMicroMax ?? 1_000),
  revocable: bound.revocable === true,
  final,
  hasRoom,
})

/** Writes what was decided, and answers by what the store says. `lost`: the answer does not reach the buyer. */
export function writeStep(bound: Bound, world: World, handler: Handler, lost: boolean): unknown {
  const write = handler.write as Write
  const worker = { owner: handler.owner, attempt: handler.n }
  if (write.do === 'finish') {
    const row = rowOf(world.store, write.row)
    const finished = finish(world, write)
    if (finished === 'served') {
      if (lost) row.clientGone = true
      else row.delivered = true
      return answer(bound, world, handler, 'served')
    }
    if (finished === 'held') row.clientGone = true
    return answer(bound, world, handler, finished === 'posted_otherwise' ? '409' : '503')
  }
  if (write.do === 'credit') credit(world.store, write)
  else if (write.do === 'end') {
    const ended = endRow(world.store, write, worker)
    // Recovery took it over meanwhile: the chain decides, and no longer this refusal.
    if (!ended && write.move.startsWith('fail')) return answer(bound, world, handler, '503')
  }
  answer(bound, world, handler, handler.answer as string)
}
