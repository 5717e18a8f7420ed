import { z } from 'zod'
import type { OpenShop } from '../../packages/node/src/shops/shop.ts'

export const cheapPath = '/test/cheap'
export const cheapPrice = 1_500n

/** One cheap route, which may charge less than it quoted. */
export function createCheapShop() {
  const shop = {
    prepared: 0,
    prepareFails: undefined as Error | undefined,
    whilePreparing: undefined as (() => Promise<unknown>) | undefined,
  }
  const open: OpenShop = ({ base }) => ({
    routes: [
      {
        ...{ id: 'test.cheap', area: 'core', method: 'GET', path: cheapPath, summary: 'A cheap test route' },
        query: z.strictObject({ n: z.string().optional(), charge: z.string().optional() }),
        output: z.strictObject({ n: z.string(), made: z.int() }),
        example: { output: { n: '', made: 1 } },
        next: '/',
        access: {
          kind: 'paid',
          price: { kind: 'fixed', micro: cheapPrice },
          ...{ networks: [base.caip2], payee: 'pay_to', revocable: false },
          prepare: async ({ query: { n = '', charge } }: { query: { n?: string; charge?: string } }) => {
            shop.prepared += 1
            const made = shop.prepared
            await shop.whilePreparing?.()
            if (shop.prepareFails) throw shop.prepareFails
            return {
              answer: { status: 200, contentType: 'application/json', body: JSON.stringify({ n, made }) },
              ...(charge === undefined ? {} : { chargeMicro: BigInt(charge) }),
            }
          },
        },
      },
    ],
  })
  return Object.assign(shop, { open })
}
