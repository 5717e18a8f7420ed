import type { Address } from '@assay/protocol/address'
import { chainOfAsset } from '@assay/protocol/asset'
import { formatUsd } from '@assay/protocol/money'
import { takesCredit } from '../contract/credit-terms.ts'
import { asRefusal, type EntitlementPort, type Hold, type HoldOutcome } from '../contract/entitlement.ts'
import { callFingerprint } from '../contract/fingerprint.ts'
import type { PaidCall } from '../contract/paid-call.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Ids } from '../kernel/ids.ts'
import { Problem } from '../kernel/problem.ts'
import { post } from '../ledger/index.ts'
import type { Database, Tx } from '../store/database.ts'
import { createBalanceHints } from './balance-hints.ts'
import { type CaptureDeps, captureCredit, drawOf } from './capture-credit.ts'
import { readCredit } from './credit-balance.ts'
import {
  createDraws,
  type DrawOutcome,
  type DrawRequest,
  type EndedDraw,
  endOfDraw,
  voidDraw,
  voidPostings,
} from './credit-draws.ts'
import {
  createMandateReader,
  type MandateTerms,
  mandateProblem,
  namedMandate,
  requireCovered,
  requireDelegate,
} from './credit-mandate.ts'
import { earlierCall, expiredHolds, idempotencyKey, isNameless, keyWithin, paysIntoClearing } from './entitled-calls.ts'

/** Who signed a request, and the number that makes the signature count once; not claimed yet. */
export type CreditCaller = {
  address: Address
  /** A contract wallet is believed on its own chain only: on another one its address may have another owner. */
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
  /** Who signed this request: money moves, so nothing less will do. */
  provenCaller(call: PaidCall): Promise<CreditCaller>
  /** Where credit is paid in: named to a caller who has too little. */
  topUpPath: string
  /** False: every price is set aside before its answer is prepared. */
  chargesAfterPrepare?: boolean
}

const name = 'credit'

/**
 * Pays for calls from what a wallet paid in before. The request is signed (ERC-8128) by the wallet itself, or by
 * somebody whom it gave a mandate; the price is held, then taken.
 */
export function createCreditEntitlement(deps: CreditDeps): EntitlementPort & { recover(): Promise<void> } {
  const { database, clock } = deps
  const parts = {
    ...deps,
    draws: createDraws(database, clock),
    mandateOf: createMandateReader(database),
    hints: createBalanceHints(clock),
  }
  const port: EntitlementPort = {
    name,
    claims: (headers) => /\berc8128:/.test(headers.get('signature-input') ?? ''),
    hold: (call) => holdCredit(parts, call).catch(asRefusal),
    capture: (tx, held) => captureCredit(parts, tx, held),
    release: async (holdId) => {
      await releaseDraw(database, clock, holdId)
      return endOfDraw(database, holdId)
    },
    describe: (call) => earlierDraw(parts, call).catch(asRefusal),
  }
  return {
    ...port,
    recover: async () => {
      const failures: unknown[] = []
      // One that cannot be ended must not keep the money of all others aside.
      for (const id of await expiredHolds(database, clock, name))
        await port.release(id).catch((error: unknown) => failures.push(error))
      if (failures.length > 0) throw failures[0]
    },
  }
}

type Parts = CreditDeps &
  CaptureDeps & {
    draws: ReturnType<typeof createDraws>
    mandateOf: ReturnType<typeof createMandateReader>
  }

async function holdCredit(parts: Parts, call: PaidCall): Promise<HoldOutcome> {
  if (!takesCredit(call.route)) return { status: 'not_covered', note: 'Credit does not buy credit.' }
  const mandateId = namedMandate(call.headers)
  const caller = await parts.provenCaller(call)
  const mandate = mandateId === undefined ? undefined : await delegatedMandate(parts, mandateId, caller)
  const account = mandate?.owner ?? caller.address
  const key = keyOf(mandate, idempotencyKey(call.headers))
  if (mandate)
    try {
      requireCovered(mandate, call, parts.clock.nowMs())
    } catch (error) {
      // What was drawn while the terms still covered it is not refused now.
      const earlier = await earlierOf(parts, call, { account, key, caller })
      if (earlier) return earlier
      throw error
    }
  await requireNamed(parts, account, mandateId, idempotencyKey(call.headers))
  const id = parts.ids.next('call')
  const request: DrawRequest = {
    id,
    account,
    networks: networksFor(parts.networks, call, onlyNetwork(mandate, caller)),
    amountMicro: call.priceMicro,
    route: call.route,
    // Only a call with a name is compared with one that came before.
    fingerprint: key === undefined ? '' : callFingerprint(call),
    key,
    mandateId,
    nonce: caller.nonce,
    notHeld: (drawn) => notHeld(parts, call, drawn, { mandate, account, key }).catch(asRefusal),
  }
  const hold: Hold = {
    status: 'held',
    holdId: id,
    account,
    callId: id,
    isFinal: () => coversFinal(parts, request),
    hasKey: key !== undefined,
    fallbackKey: keyOf(mandate, id) ?? id,
  }
  if (parts.chargesAfterPrepare !== false && !call.route.commit && parts.hints.hasEnough(request))
    return { ...hold, chargeAfterPrepare: request }
  const drawn = await parts.draws.hold(request)
  parts.hints.saw(request, drawn)
  const draw = drawOf(request, drawn)
  return draw ? { ...hold, draw } : request.notHeld(drawn)
}

async function coversFinal({ database }: Parts, { account, networks, amountMicro }: DrawRequest): Promise<boolean> {
  const balances = await Promise.all(networks.map((network) => readCredit(database, network, account)))
  return balances.some(({ movableMicro }) => movableMicro >= amountMicro)
}

async function delegatedMandate({ mandateOf }: Parts, id: string, caller: CreditCaller): Promise<MandateTerms> {
  const mandate = await mandateOf(id)
  if (!mandate) throw new Problem('mandate_unknown')
  requireDelegate(mandate, caller)
  return mandate
}

/** Draws nothing: a price that moved, or a quote that ran out, does not undo a call that was paid for. */
async function earlierDraw(parts: Parts, call: PaidCall): Promise<HoldOutcome | undefined> {
  const mandateId = namedMandate(call.headers)
  const caller = await parts.provenCaller(call)
  const mandate = mandateId === undefined ? undefined : await delegatedMandate(parts, mandateId, caller)
  const key = keyOf(mandate, idempotencyKey(call.headers))
  return earlierOf(parts, call, { account: mandate?.owner ?? caller.address, key, caller })
}

type Before = { account: Address; key: string | undefined; caller: CreditCaller }

/** A copy of a signature gets no answer, for it may be somebody else's copy; its own signer names the call and signs again. */
async function earlierOf({ database }: Parts, call: PaidCall, { account, key, caller }: Before) {
  const used = await database.query(`select from nonce_claim where scope = 'erc8128' and key = $1`, [caller.nonce.key])
  if (used.rowCount > 0) throw replayed()
  return earlierCall(database, name, account, key, call)
}

const replayed = () =>
  new Problem('proof_invalid', {
    detail: 'This signature has been used before; nothing was drawn for this copy of it.',
    hint: 'Sign the request again with a fresh nonce. With the same Idempotency-Key a lost answer costs nothing.',
  })

type Asked = {
  mandate: MandateTerms | undefined
  account: Address
  key: string | undefined
}

async function notHeld(
  { database, clock, topUpPath }: Parts,
  call: PaidCall,
  { outcome, leftMicro }: DrawOutcome,
  { mandate, account, key }: Asked,
): Promise<HoldOutcome> {
  if (outcome === 'not_enough') return notEnough(call, mandate !== undefined, topUpPath)
  if (outcome === 'replayed') throw replayed()
  if (mandate && outcome !== 'named') throw mandateProblem(outcome, mandate, call.priceMicro, leftMicro, clock.nowMs())
  const earlier = await earlierCall(database, name, account, key, call)
  return earlier ?? { status: 'refused', problem: new Problem('call_in_flight', { retryAfterSeconds: 1 }) }
}

const callIdPattern = /^call_[0-9a-z]{26}$/

/**
 * A call whose commit is in doubt is about to get its id as Idempotency-Key. Until it has, nothing is drawn under that
 * key.
 */
async function requireNamed(
  { database }: Parts,
  account: Address,
  mandateId: string | undefined,
  key: string | undefined,
): Promise<void> {
  if (key !== undefined && callIdPattern.test(key) && (await isNameless(database, account, mandateId, key)))
    throw new Problem('call_in_flight', { retryAfterSeconds: 5 })
}

/** Names given under a mandate are its own: nobody finds the answers of another by guessing. */
function keyOf(mandate: Pick<MandateTerms, 'id'> | undefined, key: string | undefined): string | undefined {
  return mandate === undefined ? key : keyWithin('mandate', mandate.id, key)
}

function onlyNetwork(mandate: MandateTerms | undefined, caller: CreditCaller): string | undefined {
  const owner = mandate ? { kind: mandate.ownerKind, chainId: mandate.chainId } : caller
  return owner.kind === 'contract' ? `eip155:${owner.chainId}` : undefined
}

/**
 * Credit is owed on the chain where it was paid in; a chain on which the route is sold comes first, or is the only one. A
 * dollar that is not USDC pays only where the route takes it: its price may differ.
 */
function networksFor(networks: readonly string[], call: PaidCall, only: string | undefined): string[] {
  const sold = call.route.networks.filter((network) => networks.includes(network))
  const others = networks.filter((network) => !sold.includes(network) && !network.includes('/'))
  const ordered = call.route.creditOnNetworksOnly ? sold : [...sold, ...others]
  return only === undefined ? ordered : ordered.filter((network) => chainOfAsset(network) === only)
}

function notEnough(call: PaidCall, mandated: boolean, topup: string): HoldOutcome {
  const { creditOnNetworksOnly, networks } = call.route
  const where = creditOnNetworksOnly ? ` on ${networks.join(' or ')}` : ''
  const shared = paysIntoClearing(call.route)
    ? ' A part of its price is owed to others, so credit from payments for other calls does not pay for it.'
    : ''
  return {
    status: 'not_covered',
    note: `The credit of ${mandated ? 'the mandate’s owner' : 'this wallet'}${where} does not cover this call.${shared}`,
    extra: { price_usd: formatUsd(call.priceMicro), topup },
  }
}

/** Void: the money and what the mandate counted go back. What was counted for a day that is over stays with that day. */
function releaseDraw(database: Database, clock: Clock, holdId: string): Promise<void> {
  return database.transaction(async (tx) => {
    const call = await voidDraw(tx, clock.nowMs(), holdId)
    if (!call) return
    await uncount(tx, call)
    await post(tx, await voidPostings(tx, call))
  })
}

async function uncount(tx: Tx, { mandateId, mandateDay, amount }: EndedDraw): Promise<void> {
  if (mandateId === null) return
  await tx.query(
    `update mandate set total_micro = total_micro - $2,
       day_micro = case when day = $3::date then day_micro - $2 else day_micro end where id = $1`,
    [mandateId, amount, mandateDay],
  )
}
