import type { Address } from '@assay/protocol/address'
import type { Network } from '@assay/till/chain'
import type { Sql } from '@assay/till/store/database'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration, type ShopContext } from '../../http/index.ts'
import { provenCaller } from './caller.ts'

const payment = z.strictObject({
  id: z.string(),
  state: z.string(),
  route: z.string(),
  network: z.string(),
  amount_micro: z.string(),
  transaction: z.string().nullable(),
  final: z.boolean(),
  claimed_at: z.string(),
})

const shownMax = 50

/** What a wallet paid, as the node's own books have it: shown to that wallet alone. */
export function walletRoutes(deps: Pick<ShopContext, 'proofs' | 'database' | 'networks'>): RouteDeclaration[] {
  return [
    defineRoute({
      id: 'wallet.payments',
      area: 'core',
      method: 'GET',
      path: '/v1/wallet/payments',
      summary: 'The newest payments of the wallet that signed the request',
      description: 'Signed (ERC-8128); nobody else can list what a wallet bought. Newest first, 50 at most.',
      output: z.strictObject({ data: z.array(payment), next_cursor: z.null() }),
      example: {
        output: {
          data: [
            {
              id: 'pay_06d1z8k4q2v7e9m3x5c0w8r2t4',
              state: 'served',
              route: 'tokens.report',
              network: 'eip155:8453',
              amount_micro: '20000',
              transaction: `0x${'ab'.repeat(32)}`,
              final: true,
              claimed_at: '2026-01-01T00:00:00.000Z',
            },
          ],
          next_cursor: null,
        },
      },
      next: '/',
      cost: 5,
      access: {
        kind: 'free',
        security: 'erc8128',
        handle: async (_input, call) => {
          const caller = await provenCaller(deps, call)
          const networks = deps.networks.filter(
            // A contract wallet may belong to somebody else on the other chain.
            ({ chainId }) => caller.kind === 'key' || chainId === caller.chainId,
          )
          return jsonAnswer({ data: await readPayments(deps.database, caller.address, networks), next_cursor: null })
        },
      },
    }),
  ]
}

type Row = {
  id: string
  state: string
  route: string
  network: string
  amount_micro: string
  transaction: string | null
  final: boolean
  claimed_at: Date
}

/** Those under way and the newest that ended, each found by the payer. */
async function readPayments(sql: Sql, payer: Address, networks: readonly Network[]) {
  const { rows } = await sql.query<Row>(
    `select id, state, route_id as route, network, amount_micro::text as amount_micro, transaction, final, claimed_at
     from ((select * from payment where payer = $1 and not final and ended_at is null)
       union all (select * from payment where payer = $1 and ended_at is not null and network = any($2)
         order by ended_at desc limit $3)) p
     where network = any($2) order by claimed_at desc, id desc limit $3`,
    [payer, networks.map(({ caip2 }) => caip2), shownMax],
  )
  return rows.map((row) => ({ ...row, claimed_at: row.claimed_at.toISOString() }))
}
