import type { RouteDeclaration } from '../../http/index.ts'

/**
 * Agents read the whole of `/openapi.json` before they call anything, so it is kept to what buyers use: all that is
 * sold, and these free routes. The rest is in it by reference. Indexers warn above the same number.
 */
export const operationsInlineMax = 40

const freeAndMain = new Set([
  'discovery.index',
  'discovery.x402',
  'payments.status',
  'credit.balance',
  'tokens.check',
  'tokens.check_batch',
  'matrix.index',
  'matrix.delayed',
  'subscriptions.plans',
  'rewards.loyalty',
  'rewards.affiliate',
  'rewards.redeem_info',
  'rewards.redeem',
  'sources.register',
  'sources.verify',
  'attestations.show',
  'did.resolve',
  'mesh.manifest',
  'market.intents.sample',
  'options.series',
  'options.quote',
])

export function isMainOperation({ id, access }: RouteDeclaration): boolean {
  return access.kind === 'paid' || freeAndMain.has(id)
}
