import { z } from 'zod'
import { jsonAnswer, type RouteDeclaration } from '../../packages/node/src/http/index.ts'
import type { OpenShop, ShopContext } from '../../packages/node/src/shops/shop.ts'
import type { AnswerContent } from '../../packages/till/src/index.ts'

/** What a leaking shop would do with a secret. */
export const leakKinds = ['log', 'error', 'header', 'body', 'metric'] as const
export type LeakKind = (typeof leakKinds)[number]

/** Learns every route of the node, and leaks what it is given when asked to. */
export type LeakingShop = {
  open: OpenShop
  routes(): readonly RouteDeclaration[]
  context(): ShopContext
  /** What the leaking routes let out. */
  plant(secret: string): void
  pathOf(how: LeakKind): string
}

const pathOf = (how: LeakKind) => `/odd/${how}`
export const isOdd = (id: string) => id.startsWith('odd.')

export function createLeakingShop(): LeakingShop {
  let routes: readonly RouteDeclaration[] = []
  let context: ShopContext | undefined
  let secret = 'nothing'
  return {
    open: (given) => {
      context = given
      return {
        routes: leakKinds.map((how) => leakingRoute(how, () => leak(how, given, secret))),
        onRoutes: (all) => {
          routes = all.filter(({ id }) => !isOdd(id))
        },
      }
    },
    routes: () => routes,
    context: () => {
      if (!context) throw new Error('the shop is not open')
      return context
    },
    plant: (given) => {
      secret = given
    },
    pathOf,
  }
}

const leakingRoute = (how: LeakKind, handle: () => AnswerContent): RouteDeclaration => ({
  id: `odd.${how}`,
  area: 'core',
  method: 'GET',
  path: pathOf(how),
  summary: `Lets a secret out by way of: ${how}`,
  output: z.unknown(),
  example: { output: {} },
  next: '/',
  hidden: true,
  access: { kind: 'free', handle: async () => handle() },
})

function leak(how: LeakKind, { log, metrics }: ShopContext, secret: string): AnswerContent {
  const encoded = Buffer.from(JSON.stringify({ at: 1, secret })).toString('base64')
  switch (how) {
    case 'log':
      // By a name that says nothing, and cut off behind its beginning as long texts are.
      log.warn({ note: `${'x'.repeat(220)} ${secret}` }, 'a leaking line')
      return jsonAnswer({})
    case 'error':
      throw new Error(`failed for ${secret}`)
    case 'header':
      return { ...jsonAnswer({}), headers: { 'X-Odd': encoded } }
    case 'body':
      return jsonAnswer({ deep: [{ within: Buffer.from(secret).toString('hex') }] })
    case 'metric':
      metrics.count('odd', { by: secret })
      return jsonAnswer({})
  }
}
