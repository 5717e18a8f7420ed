import type { Address } from '../kernel/address.ts'
import { sha256, toHex } from '../kernel/bytes.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Ids } from '../kernel/ids.ts'
import { formatUsd } from '../kernel/money.ts'
import { Problem } from '../kernel/problem.ts'
import { post } from '../ledger/index.ts'
import type { Database, Tx } from '../store/database.ts'
import { captureDraws, createDraws, type DrawOutcome, givePosting, takePosting } from './credit-draws.ts'
import {
  createMandateReader,
  type MandateTerms,
  mandateProblem,
  namedMandate,
  requireCovered,
} from './credit-mandate.ts'
import { takesCredit } from './credit-terms.ts'
import {
  type EntitledCall,
  earlierCall,
  endHold,
  expiredHolds,
  idempotencyKey,
  keepAnswer,
  wasCaptured,
} from './entitled-calls.ts'
import type { EntitlementPort, HoldOutcome, PaidCall } from './paid-call.ts'

/** Who signed a request, and the number that makes the signature count once; not claimed yet. */
export type CreditCaller = {
  address: Address
  /** A contract wallet is believed on its own chain only: elsewhere its address may have another owner. */
  kind: 'key' | 'contract'
  chainId: number
  nonce: { key: string; expiresAtMs: number }
}

export type CreditDeps = {
  database: Database
  clock: Clock
  ids: Ids
  /** Where credit can lie. */
  networks: readonly string[]
  /** Who signed this very request: money moves, so nothing less will do. */
  provenCaller(call: PaidCall): Promise<CreditCaller>
}

const name = 'credit'

/**
 * Pays for calls from what a wallet paid in before. The request is signed (ERC-8128) by the wallet itself, or by
 * somebody whom it gave a mandate; the price is held, then taken.
 */
export function createCreditEntitlement(deps: CreditDeps): EntitlementPort & { recover(): Promise<void> } {
  const { database, clock } = deps
  const parts = { ...deps, draws: createDraws(database, clock), mandateOf: createMandateReader(database) }
  const port: EntitlementPort = {
    name,
    claims: (headers) => /\berc8128:/.test(headers.get('signature-input') ?? ''),
    hold: (call, fingerprint) => holdCredit(parts, call, fingerprint).catch(asRefusal),
    capture: async (tx, holdId) => {
      const call = await endHold(tx, clock, holdId, 'captured')
      if (!call) throw new Error(`the credit hold ${holdId} is no longer held`)
      await post(tx, [takePosting(call)])
      return { network: call.subject, amountMicro: call.amount }
    },
    captureAll: (tx, held) => captureDraws(tx, clock.nowMs(), held),
    keep: keepAnswer,
    release: (holdId) => releaseDraw(database, clock, holdId),
    captured: (holdId) => wasCaptured(database, holdId),
  }
  return {
    ...port,
    recover: async () => {
      for (const id of await expiredHolds(database, clock, name)) await port.release(id)
    },
  }
}

function asRefusal(error: unknown): HoldOutcome {
  if (error instanceof Problem) return { status: 'refused', problem: error }
  throw error
}

type Parts = CreditDeps & {
  draws: ReturnType<typeof createDraws>
  mandateOf: ReturnType<typeof createMandateReader>
}

async function holdCredit(parts: Parts, call: PaidCall, fingerprint: string): Promise<HoldOutcome> {
  if (!takesCredit(call.route)) return { status: 'not_covered', note: 'Credit does not buy credit.' }
  const mandateId = namedMandate(call.headers)
  const caller = await parts.provenCaller(call)
  const mandate = mandateId === undefined ? undefined : await coveringMandate(parts, mandateId, call, caller)
  const account = mandate?.owner ?? caller.address
  const key = keyOf(mandate, idempotencyKey(call.headers))
  const id = parts.ids.next('call')
  const drawn = await parts.draws.hold({
    id,
    account,
    networks: networksFor(parts.networks, call, onlyNetwork(mandate, caller)),
    amountMicro: call.priceMicro,
    route: call.route,
    fingerprint,
    key,
    mandateId,
    nonce: caller.nonce,
  })
  if (drawn.outcome === 'held' && drawn.network !== null)
    return {
      status: 'held',
      holdId: id,
      account,
      callId: id,
      named: key !== undefined,
      draw: { network: drawn.network, amountMicro: call.priceMicro, leftMicro: drawn.leftMicro ?? 0n },
    }
  return notHeld(parts, call, drawn, { mandate, account, key, fingerprint })
}

async function coveringMandate(
  { mandateOf, clock }: Parts,
  id: string,
  call: PaidCall,
  caller: CreditCaller,
): Promise<MandateTerms> {
  const mandate = await mandateOf(id)
  if (!mandate) throw new Problem('mandate_unknown')
  requireCovered(mandate, call, caller, clock.nowMs())
  return mandate
}

type Asked = {
  mandate: MandateTerms | undefined
  account: Address
  key: string | undefined
  fingerprint: string
}

async function notHeld(
  { database, clock }: Parts,
  call: PaidCall,
  { outcome, leftMicro }: DrawOutcome,
  { mandate, account, key, fingerprint }: Asked,
): Promise<HoldOutcome> {
  if (outcome === 'not_enough') return notEnough(call, mandate !== undefined)
  if (outcome === 'replayed')
    throw new Problem('proof_invalid', {
      detail: 'This signature has been used before; nothing was drawn for this copy of it.',
      hint: 'Sign the request again with a fresh nonce. With the same Idempotency-Key a lost answer costs nothing.',
    })
  if (mandate && outcome !== 'named') throw mandateProblem(outcome, mandate, call.priceMicro, leftMicro, clock.nowMs())
  const earlier = await earlierCall(database, name, account, key, fingerprint)
  return earlier ?? { status: 'refused', problem: new Problem('call_in_flight', { retryAfterSeconds: 1 }) }
}

/** Names given under a mandate are its own: nobody finds the answers of another by guessing. */
function keyOf(mandate: MandateTerms | undefined, key: string | undefined): string | undefined {
  return mandate === undefined || key === undefined ? key : `mandate:${toHex(sha256(`${mandate.id} ${key}`)).slice(2)}`
}

function onlyNetwork(mandate: MandateTerms | undefined, caller: CreditCaller): string | undefined {
  const owner = mandate ? { kind: mandate.ownerKind, chainId: mandate.chainId } : caller
  return owner.kind === 'contract' ? `eip155:${owner.chainId}` : undefined
}

/** Credit is owed on the chain where it was paid in; a chain on which the route is sold comes first. */
function networksFor(networks: readonly string[], call: PaidCall, only: string | undefined): string[] {
  const sold = call.route.networks.filter((network) => networks.includes(network))
  const ordered = [...sold, ...networks.filter((network) => !sold.includes(network))]
  return only === undefined ? ordered : ordered.filter((network) => network === only)
}

function notEnough(call: PaidCall, mandated: boolean): HoldOutcome {
  return {
    status: 'not_covered',
    note: `The credit of ${mandated ? 'the mandate’s owner' : 'this wallet'} does not cover this call.`,
    extra: { price_usd: formatUsd(call.priceMicro), topup: '/v1/credit/topup' },
  }
}

/** Void: the money and what the mandate counted go back. What was counted for a day that is over stays with that day. */
function releaseDraw(database: Database, clock: Clock, holdId: string): Promise<void> {
  return database.transaction(async (tx) => {
    const call = await endHold(tx, clock, holdId, 'released')
    if (!call) return
    // Mandates before balances, as a hold does, so that the two never wait for each other.
    await uncount(tx, call)
    await post(tx, [await givePosting(tx, call)])
  })
}

async function uncount(tx: Tx, { mandateId, mandateDay, amount }: EntitledCall): Promise<void> {
  if (mandateId === null) return
  await tx.query(
    `update mandate set total_micro = total_micro - $2,
       day_micro = case when day = $3::date then day_micro - $2 else day_micro end where id = $1`,
    [mandateId, amount, mandateDay],
  )
}
