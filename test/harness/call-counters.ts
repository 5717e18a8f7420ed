import type { RouteDeclaration } from '../../packages/node/src/http/index.ts'
import type { Shop } from '../../packages/node/src/shops/shop.ts'
import type { Facilitator } from '../../packages/till/src/index.ts'

/** What a node did for its requests: paid handlers run, settlements requested. */
export type CallCounts = { prepared: number; settled: number }

/** Also tells which of its routes are paid. */
export function countHandlers(shop: Shop, callCounts: CallCounts, seen: RouteDeclaration[] = []): Shop {
  const routes = shop.routes.map((route): RouteDeclaration => {
    const { access } = route
    if (access.kind === 'free') return route
    const counted: RouteDeclaration = {
      ...route,
      access: {
        ...access,
        prepare: (input, call) => {
          callCounts.prepared += 1
          return access.prepare(input, call)
        },
      },
    }
    seen.push(counted)
    return counted
  })
  return { ...shop, routes }
}

export const countSettles = (real: Facilitator, callCounts: CallCounts): Facilitator => ({
  ...real,
  settle: (payment, signal) => {
    callCounts.settled += 1
    return real.settle(payment, signal)
  },
})
