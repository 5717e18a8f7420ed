import type { OperatorRole } from '@assay/protocol/operator-role'
import type { RouteDeclaration as SoldDeclaration } from '@assay/till/selling'

/** One declaration per route; HTTP handling, the 402, OpenAPI, llms.txt, manifests, MCP and the SDK are derived from it. */
export type RouteDeclaration = SoldDeclaration & {
  /** Name of its shop, which the node writes here when it opens the shop. */
  shop?: string
  /** What the route can do, under a name that nodes share. Default: the id. */
  capability?: string
  /** Decides the base address: A and B live at BASE_URL, C at API_URL; `core` at BASE_URL. */
  area: 'A' | 'B' | 'C' | 'core'
  output: NonNullable<SoldDeclaration['output']>
  example: NonNullable<SoldDeclaration['example']> & { output: unknown }
  /** Answered under whatever name it is asked for: load balancers probe by IP address. */
  anyHost?: boolean
  /**
   * How the face for models shows the route. Default: what is sold or `main` is a tool. `resource`: read by its address
   * and no tool; `both`: tool and resource; `none`: for what is done once, by a person with a wallet.
   */
  mcp?: 'both' | 'resource' | 'none'
  /** Id of the route that sells the same on another network: to a model both are one tool. */
  twinOf?: string
  /** Only there to try paying: documents recommend it where nothing else is sold. */
  testPurchase?: boolean
  /** For wallets of the operator alone, with this role at least; all such routes are below /v1/operator/. */
  operator?: OperatorRole
  /** Names the royalty though it is not of area C. */
  royalty?: boolean
  /** Path of the route that helps the caller next (X-x402-Next). A template may name the input's params as `:name`. */
  next: string
  /** In place of `next` where that belongs to a shop which is not open. */
  nextElse?: string
  /** In place of `next` where that is what the answer makes and nothing was made: with a price, with a refusal. */
  nextBefore?: string
  /** Where the node's own manifest has the URL of this route: section and name, such as `links.mesh`. */
  manifestPlaces?: readonly `${string}.${string}`[]
  /** Weight against the caller's rate limit; default 1. */
  cost?: number
  /** Free GET routes whose answer depends on nothing but the URL: the signed answer may be shared this long, at most 5 s. */
  cacheSeconds?: number
  /** Free GET routes whose answer, once there is one, stays the same for ever, so that it may be cached without end. */
  immutable?: boolean
}

/** Keeps the literal types of a declaration while checking its shape. */
export function defineRoute(route: RouteDeclaration): RouteDeclaration {
  return route
}
