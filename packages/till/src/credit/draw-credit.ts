import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { PaidRoute, Sale, SaleHook } from '../contract/paid-call.ts'
import { post } from '../ledger/index.ts'
import type { Tx } from '../store/database.ts'
import { isRestoring } from '../store/restore.ts'
import { readCredit } from './credit-balance.ts'
import { postingOfDraw, takeDraws } from './credit-draws.ts'
import { createMandateReader, type MandateTerms, matchesRoute } from './credit-mandate.ts'

export type CreditDraw = {
  id: string
  account: Address
  /** Networks where its credit may be, best first. */
  networks: readonly string[]
  amountMicro: Micro
  /** What is sold: named by the ledger entry, and by the mandate. */
  route: Pick<PaidRoute, 'id'>
  /** The caller's own name of the draw. It has a space, so no Idempotency-Key header is ever the same. */
  key: string
  mandateId?: string
  /** Called as for any other sale from credit. */
  hooks?: readonly SaleHook[]
}

export type CreditDrawOutcome = { status: 'taken'; network: string } | { status: 'refused'; why: string }

/**
 * Takes an amount of a wallet's credit in the caller's transaction, together with what it pays for. The right to it comes
 * from the caller: a request that the owner signed, or a mandate, within its limits. Only of money in final blocks: what
 * it pays for is not revoked when a reorg undoes the payment.
 */
export async function drawCredit(
  tx: Tx,
  nowMs: number,
  { mandateId, hooks = [], ...draw }: CreditDraw,
): Promise<CreditDrawOutcome> {
  const { networks, hasUnfinalCredit } = await finalCredit(tx, draw)
  const request = {
    ...draw,
    networks,
    route: { ...draw.route, payee: 'pay_to' } as PaidRoute,
    fingerprint: draw.key,
    mandateId,
    nonce: { key: `draw ${draw.id}`, expiresAtMs: nowMs + 86_400_000 },
    notHeld: () => Promise.reject(new Error('a draw is not a call')),
  }
  const [drawn] = await takeDraws(tx, nowMs, [request])
  if (drawn?.outcome !== 'held' || drawn.network === null)
    return {
      status: 'refused',
      why: hasUnfinalCredit && drawn?.outcome === 'not_enough' ? 'not_final' : (drawn?.outcome ?? 'not_enough'),
    }
  const sale = drawnSale({ ...draw, routeId: draw.route.id, network: drawn.network, atMs: nowMs })
  const unposted = [postingOfDraw(request, drawn.network)]
  for (const hook of hooks) await hook(tx, [sale], unposted)
  await post(tx, unposted)
  return { status: 'taken', network: drawn.network }
}

type Drawn = Pick<CreditDraw, 'id' | 'account' | 'amountMicro'> & { routeId: string; network: string; atMs: number }

/**
 * The sale of a draw whose price is the operator's own. It has no referrer; an affiliate of an earlier sale may still
 * count.
 */
export const drawnSale = ({ id, account, amountMicro, routeId, network, atMs }: Drawn): Sale => ({
  ...{ paymentId: id, routeId, network, payer: account, amountMicro, payee: 'pay_to', attribution: {} },
  ...{ reservation: null, provisional: false, transaction: '', settledAtMs: atMs, feeMicro: 0n, round: 0 },
  source: 'credit',
})

/** Where final credit covers the draw; whether credit that is not final would. */
async function finalCredit(tx: Tx, { account, networks, amountMicro }: Omit<CreditDraw, 'mandateId' | 'hooks'>) {
  const final: string[] = []
  let hasUnfinalCredit = false
  for (const network of networks) {
    const { creditMicro, movableMicro } = await readCredit(tx, network, account)
    // Restored books may show credit that was paid out since.
    if (movableMicro >= amountMicro && !(await isRestoring(tx, network))) final.push(network)
    else if (creditMicro >= amountMicro) hasUnfinalCredit = true
  }
  return { networks: final, hasUnfinalCredit }
}

/** The signed terms of a mandate, where one of `delegates` may draw under it for this route; otherwise why not. */
export async function mandateFor(
  tx: Tx,
  id: string,
  asked: { owner: Address; delegates: readonly Address[]; routeId: string; path: string },
): Promise<MandateTerms | 'mandate_unknown' | 'delegate_mismatch' | 'mandate_route'> {
  const terms = await createMandateReader(tx)(id)
  if (terms?.owner !== asked.owner) return 'mandate_unknown'
  if (!asked.delegates.includes(terms.delegate)) return 'delegate_mismatch'
  return terms.routes.some((pattern) => matchesRoute(pattern, asked.routeId, asked.path)) ? terms : 'mandate_route'
}
