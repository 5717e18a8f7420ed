import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Sql } from '@assay/till/store/database'
import { z } from 'zod'
import { jsonAnswer, pageLimit, type RouteDeclaration } from '../../http/index.ts'
import type { ShopContext } from '../../shops/shop.ts'
import type { CallerDeps } from './caller.ts'
import { operatorRoute } from './operator-route.ts'

const payment = z.strictObject({
  id: z.string(),
  state: z.string(),
  payer: z.string(),
  route: z.string(),
  network: z.string(),
  amount_micro: z.string(),
  transaction: z.string().nullable(),
  reason: z.string().nullable(),
  final: z.boolean(),
  claimed_at: z.string(),
})

const query = z.strictObject({
  search: z.string().max(100).optional().describe('A payment id, a payer, or a route id.'),
  state: z.string().max(20).optional(),
  limit: pageLimit(100, 50),
  cursor: z.string().max(40).optional(),
})

/** Every payment of the node, newest first, for the operator. */
export function paymentsRoute(deps: CallerDeps & Pick<ShopContext, 'database'>): RouteDeclaration {
  return operatorRoute(deps, {
    operator: 'read',
    id: 'operator.payments',
    method: 'GET',
    path: '/v1/operator/payments',
    summary: 'Payments, newest first, by payer, route, state or id, for the operator',
    query,
    output: z.strictObject({ data: z.array(payment), next_cursor: z.string().nullable() }),
    example: {
      query: { state: 'served' },
      output: {
        data: [
          {
            ...{
              id: 'pay_06d1z8k4q2v7e9m3x5c0w8r2t4',
              state: 'served',
              route: 'tokens.report',
              network: 'eip155:8453',
            },
            ...{ payer: '0x1111111111111111111111111111111111111111', amount_micro: '20000', transaction: null },
            ...{ reason: null, final: true, claimed_at: '2026-01-01T00:00:00.000Z' },
          },
        ],
        next_cursor: null,
      },
    },
    next: '/v1/operator/overview',
    cost: 10,
    handle: async (input) => jsonAnswer(await readPayments(deps.database, input.query as z.infer<typeof query>)),
  })
}

type Row = Omit<z.infer<typeof payment>, 'claimed_at' | 'payer'> & { payer: Address; claimed_at: Date }

const unfinished: ReadonlySet<string> = new Set(['claimed', 'settling', 'unknown', 'settled'])
const scannedMax = 1_000

/** The oldest payment that one page looks at; null where it reaches the oldest there is. */
async function lastScanned(sql: Sql, cursor: string | undefined): Promise<string | null> {
  const { rows } = await sql.query<{ id: string }>(
    `select id from payment where ($1::text is null or id < $1) order by id desc offset $2 limit 1`,
    [cursor ?? null, scannedMax - 1],
  )
  return rows[0]?.id ?? null
}

/** Ids begin with their time, so their order is that of the claims and every page is found by the key. */
async function readPayments(sql: Sql, { search, state, limit = '50', cursor }: z.infer<typeof query>) {
  const wanted = search?.trim() ?? ''
  const payer = /^0x[0-9a-fA-F]{40}$/.test(wanted) ? wanted.toLowerCase() : null
  const id = wanted.startsWith('pay_') ? wanted : null
  const route = wanted !== '' && payer === null && id === null ? wanted : null
  // No index has routes or the states of what is over: a page looks through so many payments, and the next one goes on there.
  const isSearched =
    payer === null && id === null && (route !== null || (state !== undefined && !unfinished.has(state)))
  const scanned = isSearched ? await lastScanned(sql, cursor) : null
  const { rows } = await sql.query<Row>(
    `select id, state, payer, route_id as route, network, amount_micro::text as amount_micro, transaction, reason, final,
       claimed_at
     from payment
     where ($1::text is null or payer = $1) and ($2::text is null or id = $2) and ($3::text is null or route_id = $3)
       and ($4::text is null or state = $4) and ($5::text is null or id < $5) and ($7::text is null or id >= $7)
     order by id desc limit $6`,
    [payer, id, route, state ?? null, cursor ?? null, Number(limit), scanned],
  )
  return {
    data: rows.map((row) => ({ ...row, payer: checksumAddress(row.payer), claimed_at: row.claimed_at.toISOString() })),
    next_cursor: rows.length === Number(limit) ? (rows.at(-1)?.id ?? null) : scanned,
  }
}
