import { z } from 'zod'
import type { Interceptors } from '../../packages/node/src/compose/infrastructure.ts'
import type { RouteDeclaration } from '../../packages/node/src/http/index.ts'
import type { NodeOptions } from '../../packages/node/src/node.ts'
import type { OpenShop } from '../../packages/node/src/shops/shop.ts'
import { type CallCounts, countHandlers, countSettles } from '../harness/call-counters.ts'
import { type FixtureOptions, openTill, type TillFixture } from '../harness/till-fixture.ts'

/** Words that stand in paid answers of the test shop and nowhere else. */
export const canary = 'these-bytes-were-paid-for'

export type ProofNode = {
  till: TillFixture
  callCounts: CallCounts
  paidRoutes: readonly RouteDeclaration[]
  /** Shops beside the node's own, for a second process. */
  shops: NonNullable<NodeOptions['shops']>
}

/** A whole node with every shop, whose paid handlers and settlements are counted. */
export async function openProofNode(options: FixtureOptions = {}): Promise<ProofNode> {
  const callCounts: CallCounts = { prepared: 0, settled: 0 }
  const paidRoutes: RouteDeclaration[] = []
  const intercept: Interceptors = {
    ...options.intercept,
    shop: (shop) => countHandlers(shop, callCounts, paidRoutes),
    facilitator: (real) => countSettles(options.intercept?.facilitator?.(real) ?? real, callCounts),
  }
  const shops = [proofShop, ...(options.shops ?? [])]
  const till = await openTill({ ...options, shops, intercept })
  return { till, callCounts, paidRoutes, shops }
}

export const proofPath = '/proof/answer'
export const proofPriceMicro = 1_000n
/** Costs `proofPriceMicro` for what is used, of a higher maximum. */
export const meteredPath = '/proof/metered'
const methods = ['GET', 'POST', 'PUT', 'DELETE'] as const

/** The same path and price by every method, so that only the binding tells one purchase from another. */
const proofShop: OpenShop = (context) => ({
  routes: answerRoutes(context),
})

/** For proofs of metered payment methods. */
export const meteredShop: OpenShop = (context) => ({ routes: [meteredRoute(context)] })

const meteredRoute = ({ base }: Parameters<OpenShop>[0]): RouteDeclaration => ({
  ...{ id: 'proof.metered', area: 'core', method: 'GET', path: meteredPath, summary: 'A metered answer', next: '/' },
  query: z.strictObject({ of: z.string().max(60).optional() }),
  output: z.strictObject({ words: z.string() }),
  example: { output: { words: canary } },
  access: {
    kind: 'paid',
    price: { kind: 'fixed', micro: 20n * proofPriceMicro, metered: true },
    ...{ networks: [base.caip2], payee: 'pay_to', revocable: false },
    prepare: async () => ({
      answer: { status: 200, contentType: 'application/json', body: JSON.stringify({ words: canary }) },
      chargeMicro: proofPriceMicro,
    }),
  },
})

const answerRoutes = (context: Parameters<OpenShop>[0]): RouteDeclaration[] =>
  methods.map(
    (method): RouteDeclaration => ({
      id: `proof.answer.${method.toLowerCase()}`,
      area: 'core',
      method,
      path: proofPath,
      summary: `A paid answer by ${method}`,
      query: z.strictObject({ of: z.string().max(60).optional() }),
      ...(method === 'GET' || method === 'DELETE' ? {} : { body: z.strictObject({ of: z.string().max(60) }) }),
      output: z.strictObject({ words: z.string(), of: z.string() }),
      example: {
        ...(method === 'GET' || method === 'DELETE' ? {} : { body: { of: 'a' } }),
        output: { words: canary, of: 'a' },
      },
      next: '/',
      access: {
        kind: 'paid',
        price: { kind: 'fixed', micro: proofPriceMicro },
        networks: [context.base.caip2],
        payee: 'pay_to',
        revocable: false,
        prepare: async ({ query, body }) => ({
          answer: {
            status: 200,
            contentType: 'application/json',
            body: JSON.stringify({ words: canary, of: String(body?.of ?? query?.of ?? '') }),
          },
        }),
      },
    }),
  )

/** Payments the node has taken note of, by state. */
export async function paymentStates({ db }: Pick<TillFixture, 'db'>): Promise<Record<string, number>> {
  const { rows } = await db.owner.query<{ state: string; n: bigint }>(
    'select state, count(*) as n from payment group by state',
  )
  return Object.fromEntries(rows.map(({ state, n }) => [state, Number(n)]))
}
