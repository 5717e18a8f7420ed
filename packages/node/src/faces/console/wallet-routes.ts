import type { Address } from '@assay/protocol/address'
import type { Network } from '@assay/till/chain'
import type { Sql } from '@assay/till/store/database'
import { z } from 'zod'
import { defineRoute, jsonAnswer, pageLimit, type RouteDeclaration } from '../../http/index.ts'
import type { ShopContext } from '../../shops/shop.ts'
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

const query = z.strictObject({
  limit: pageLimit(100, 50),
  cursor: z
    .string()
    .regex(/^\d{1,17}\.pay_[0-9a-z]{1,40}$/, 'is not a cursor of this node')
    .optional(),
})

/** What a wallet paid, as the node's own books have it: shown to that wallet alone. */
export function walletRoutes(deps: Pick<ShopContext, 'proofs' | 'database' | 'assets'>): RouteDeclaration[] {
  return [
    defineRoute({
      id: 'wallet.payments',
      area: 'core',
      method: 'GET',
      path: '/v1/wallet/payments',
      summary: 'The newest payments of the wallet that signed the request',
      description:
        'Signed (ERC-8128); nobody else can list what a wallet bought. Those under way come first, with the first page, then the newest that ended.',
      query,
      output: z.strictObject({ data: z.array(payment), next_cursor: z.string().nullable() }),
      example: {
        query: { limit: '50' },
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
        handle: async (input, call) => {
          const caller = await provenCaller(deps, call)
          const networks = deps.assets.filter(
            // A contract wallet may belong to somebody else on the other chain.
            ({ chainId }) => caller.kind === 'key' || chainId === caller.chainId,
          )
          return jsonAnswer(await readPayments(deps.database, caller.address, networks, input.query))
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
  /** Microseconds, for the cursor; null while it is under way. */
  ended_us: string | null
}

const inProgressMax = 100

/** Those under way and the newest that ended, each found by the payer. */
async function readPayments(
  sql: Sql,
  payer: Address,
  networks: readonly Network[],
  { limit = '50', cursor }: z.infer<typeof query>,
) {
  const [endedUs = null, id = null] = cursor?.split('.') ?? []
  const { rows } = await sql.query<Row>(
    `select id, state, route_id as route, network, amount_micro::text as amount_micro,
       '0x' || encode(transaction, 'hex') as transaction, final, claimed_at,
       ended_us::text as ended_us
     from ((select *, null::bigint as ended_us from payment
         where payer = $1 and open_to_payer and not final and ended_at is null and network = any($2) and $4::bigint is null
         order by id desc limit ${inProgressMax})
       union all (select *, (extract(epoch from ended_at) * 1000000)::bigint as ended_us from payment
         where payer = $1 and ended_at is not null and network = any($2)
           and ($4::bigint is null
             or (ended_at, id) < (timestamptz 'epoch' + $4::bigint * interval '1 microsecond', $5::text))
         order by ended_at desc, id desc limit $3)) p
     order by ended_us desc nulls first, id desc`,
    [payer, networks.map(({ caip2 }) => caip2), Number(limit), endedUs, id],
  )
  const last = rows.filter(({ ended_us }) => ended_us !== null).length === Number(limit) ? rows.at(-1) : undefined
  return {
    data: rows.map(({ ended_us: _, ...row }) => ({ ...row, claimed_at: row.claimed_at.toISOString() })),
    next_cursor: last === undefined ? null : `${last.ended_us}.${last.id}`,
  }
}
