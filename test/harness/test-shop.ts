import { z } from 'zod'
import type { RouteDeclaration } from '../../packages/node/src/http/index.ts'
import type { OpenShop } from '../../packages/node/src/shops/shop.ts'
import type { EntitlementPort, Sale } from '../../packages/till/src/index.ts'
import { SaleImpossible } from '../../packages/till/src/internal.ts'
import { Problem } from '../../packages/till/src/kernel/problem.ts'

/** What a test can alter while the node runs. */
export type TestShop = {
  open: OpenShop
  prepared: number
  committed: Sale[]
  revoked: Sale[]
  hooked: Sale[]
  priceMicro: bigint
  prepareFails: Problem | Error | undefined
  /** Runs while an answer is prepared. */
  whilePreparing: (() => Promise<unknown>) | undefined
  commitFails: Error | undefined
  held: Map<string, 'held' | 'captured' | 'released'>
  passes: Map<string, `0x${string}`>
}

const output = z.strictObject({ ok: z.boolean() })
const example = { output: { ok: true } }

/** Routes of every kind the gate knows: priced by input, with an effect, revocable or not, and payable with a pass. */
export function createTestShop(): TestShop {
  const shop: TestShop = {
    prepared: 0,
    committed: [],
    revoked: [],
    hooked: [],
    priceMicro: 2_000n,
    prepareFails: undefined,
    whilePreparing: undefined,
    commitFails: undefined,
    held: new Map(),
    passes: new Map(),
    open: ({ base: { caip2: network } }) => ({
      routes: [
        route(shop, network, 'small', { kind: 'fixed', micro: 1_500n }),
        route(shop, network, 'large', { kind: 'fixed', micro: 2_000_000n }),
        route(shop, network, 'subscription', { kind: 'fixed', micro: 3_000_000n }),
        route(shop, network, 'priced', {
          kind: 'from_input',
          lowestMicro: 1n,
          highestMicro: 10_000_000n,
          of: () => shop.priceMicro,
        }),
        route(shop, network, 'dollar', { kind: 'fixed', micro: 1_000_000n }),
      ],
      entitlements: [passPort(shop)],
      saleHooks: [
        async (_tx, sales) => {
          shop.hooked.push(...sales)
        },
      ],
    }),
  }
  return shop
}

type PaidAccess = Extract<RouteDeclaration['access'], { kind: 'paid' }>
type Price = PaidAccess['price']

function route(shop: TestShop, network: string, name: string, price: Price): RouteDeclaration {
  const [id, path] = [`test.${name}`, `/test/${name}`]
  return {
    id,
    area: 'core',
    method: 'GET',
    path,
    summary: `A test route at ${path}`,
    output,
    example,
    next: '/',
    access: {
      kind: 'paid',
      price,
      networks: [network],
      payee: 'pay_to',
      revocable: name === 'subscription',
      prepare: async () => {
        shop.prepared += 1
        await shop.whilePreparing?.()
        if (shop.prepareFails) throw shop.prepareFails
        return {
          answer: { status: 200, contentType: 'application/json', body: '{"ok":true}' },
          reservation: { seat: shop.prepared },
        }
      },
      ...effect(shop, id),
      revoke: async (_tx, sale) => {
        shop.revoked.push(sale)
      },
    },
  }
}

/** The smallest one commits many at once, so that whatever the tests do to it they do to a shared transaction too. */
function effect(shop: TestShop, id: string): Pick<PaidAccess, 'commit' | 'commitMany'> {
  const commitMany: PaidAccess['commitMany'] = async (_tx, sales) => {
    if (shop.commitFails) throw shop.commitFails
    shop.committed.push(...sales)
    return sales.map(() => undefined)
  }
  return id === 'test.small' ? { commitMany } : { commit: async (tx, sale) => (await commitMany(tx, [sale], []))[0] }
}

/** A pass in `Authorization: Pass <id>`, good for one call at a time. */
function passPort(shop: TestShop): EntitlementPort {
  const passOf = (headers: ReadonlyMap<string, string>) => /^Pass (\w+)$/.exec(headers.get('authorization') ?? '')?.[1]
  return {
    name: 'test pass',
    claims: (headers) => passOf(headers) !== undefined,
    hold: async (call) => {
      const pass = passOf(call.headers) ?? ''
      const account = shop.passes.get(pass)
      if (!account) return { status: 'refused', problem: new Problem('proof_invalid', { detail: 'No such pass.' }) }
      if (call.route.id !== 'test.small') return { status: 'not_covered', note: 'The pass covers /test/small only.' }
      if (shop.held.get(pass) === 'held' || shop.held.get(pass) === 'captured')
        return { status: 'not_covered', note: 'The pass is used up.' }
      shop.held.set(pass, 'held')
      return { status: 'held', holdId: pass, account }
    },
    capture: async (_tx, held) =>
      held.map(({ hold }) => {
        shop.held.set(hold.holdId, 'captured')
        return { status: 'captured' }
      }),
    release: async (holdId) => {
      shop.held.set(holdId, 'released')
      return undefined
    },
    describe: async () => undefined,
  }
}

export const impossible = () => new SaleImpossible('the last seat was taken')
