import type { RouteDeclaration } from '../selling/route.ts'

/**
 * Agents read the whole of `/openapi.json` before they call anything, so it is kept to what buyers use: all that is
 * sold, and the free routes declared as main. The rest is in the full document. Indexers warn above the same number.
 */
export const operationsInlineMax = 40

export function isMainOperation({ main, access }: RouteDeclaration): boolean {
  return access.kind === 'paid' || main === true
}
