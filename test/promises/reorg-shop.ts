import { z } from 'zod'
import type { RouteDeclaration } from '../../packages/node/src/http/index.ts'
import type { OpenShop } from '../../packages/node/src/shops/shop.ts'
import type { Address } from '../../packages/protocol/src/address.ts'
import type { PaidRoute } from '../../packages/till/src/internal.ts'
import { accounts, post } from '../../packages/till/src/ledger/index.ts'

export const kinds = ['small', 'share', 'pass'] as const
export type Kind = (typeof kinds)[number]
/** What cannot be revoked, what belongs to somebody else, and what is granted before it is final. */
export const priceOf: Readonly<Record<Kind, bigint>> = { small: 1_500n, share: 20_000n, pass: 2_000_000n }

/** Passes that are in force, by order. */
export type Passes = Set<string>

/** Everything a reorg can hurt: an answer that is gone, a share that is paid on, a grant that must be revoked. */
export const openReorgShop =
  (passes: Passes): OpenShop =>
  (context) => ({
    payoutPurposes: [{ purpose: 'royalty' }],
    routes: kinds.map(
      (kind): RouteDeclaration => ({
        id: `reorg.${kind}`,
        area: 'core',
        method: 'GET',
        path: `/reorg/${kind}`,
        summary: `Sells a ${kind}`,
        query: z.strictObject({ order: z.string().max(60), payee: z.string().max(42).optional() }),
        output: z.strictObject({ order: z.string() }),
        example: { query: { order: 'o-1' }, output: { order: 'o-1' } },
        next: '/',
        access: {
          kind: 'paid',
          price: { kind: 'fixed', micro: priceOf[kind] },
          networks: [context.base.caip2],
          payee: kind === 'share' ? 'custody' : 'pay_to',
          revocable: kind === 'pass',
          prepare: async ({ query }) => ({
            answer: { status: 200, contentType: 'application/json', body: JSON.stringify({ order: query.order }) },
            reservation: query,
          }),
          ...(kind === 'small' ? {} : effects(kind, passes)),
        },
      }),
    ),
  })

function effects(kind: 'share' | 'pass', passes: Passes): Pick<PaidRoute, 'commit' | 'revoke'> {
  const orderOf = (reservation: unknown) => reservation as { order: string; payee: Address }
  return {
    commit: async (tx, sale) => {
      const { order, payee } = orderOf(sale.reservation)
      if (kind === 'pass') passes.add(order)
      else
        await post(tx, [
          {
            reference: `share:${sale.paymentId}#${sale.round}`,
            kind: 'royalty',
            paymentId: sale.paymentId,
            lines: [
              { account: accounts.clearingPayments(sale.network), amount: sale.amountMicro },
              { account: accounts.payable(sale.network, payee, 'royalty'), amount: -sale.amountMicro },
            ],
          },
        ])
      return undefined
    },
    revoke: async (_tx, sale) => {
      if (kind === 'pass') passes.delete(orderOf(sale.reservation).order)
    },
  }
}
