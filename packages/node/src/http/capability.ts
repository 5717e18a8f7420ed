import type { RouteDeclaration } from './route.ts'

// Names are for those who look for a thing, not for those who wrote it: a shop's folder may be called otherwise.
const shopNames: Record<string, string> = {
  tokens: 'token.control',
  matrix: 'equity.squeeze',
  subscriptions: 'equity.subscription',
  cite: 'citations',
  attestations: 'citations.attestation',
  claims: 'citations.claim',
  sources: 'citations.source',
  creators: 'citations.creator',
  log: 'citations.log',
}

/** Two methods of one route do the same thing. */
const methodWords = /\.(?:get|post|put|delete)$/

/** What a route can do, under a name that nodes share: `tokens.report` becomes `token.control.report`. */
export function capabilityOf(route: Pick<RouteDeclaration, 'id'>): string {
  const [first = '', ...rest] = route.id.replace(methodWords, '').split('.')
  return [shopNames[first] ?? first, ...rest].join('.')
}
