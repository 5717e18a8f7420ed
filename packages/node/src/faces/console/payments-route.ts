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

const scannedMax = 1_000
const inProgressMax = 100

const columns = `id, state, payer, route_id as route, network, amount_micro::text as amount_micro,
       '0x' || encode(transaction, 'hex') as transaction, reason, final,
       claimed_at`

/** Ids begin with their time, so their order is that of the claims and every page is found by the key. */
export async function readPayments(sql: Sql, { search, state, limit = '50', cursor }: z.infer<typeof query>) {
  const wanted = search?.trim() ?? ''
  const payer = /^0x[0-9a-fA-F]{40}$/.test(wanted) ? wanted.toLowerCase() : undefined
  const id = wanted.startsWith('pay_') ? wanted : undefined
  const route = wanted !== '' && payer === undefined && id === undefined ? wanted : undefined
  const phase = route === undefined ? phaseOf(state) : undefined
  // No index has routes or the states of what is over: a page looks through so many payments, and the next one goes on there.
  const isSearched = id === undefined && phase === undefined && (route ?? state) !== undefined
  const page = { cursor: cursor ?? null, limit: isSearched ? scannedMax : Number(limit) }
  const rows = await (id !== undefined
    ? sql.query<Row>(`select ${columns} from payment where id = $1 and ($2::text is null or id < $2)`, [
        id,
        page.cursor,
      ])
    : payer !== undefined
      ? ofPayer(sql, payer, page)
      : inOrder(sql, phase, page)
  ).then((result) => result.rows)
  const found = rows
    .filter((row) => (route === undefined || row.route === route) && (state === undefined || row.state === state))
    .slice(0, Number(limit))
  const scanned = isSearched && rows.length >= scannedMax ? rows.at(-1)?.id : undefined
  return {
    data: found.map((row) => ({ ...row, payer: checksumAddress(row.payer), claimed_at: row.claimed_at.toISOString() })),
    next_cursor: (found.length === Number(limit) ? found.at(-1)?.id : scanned) ?? null,
  }
}

type Page = { cursor: string | null; limit: number }

/** States before the end have an index by their phase. */
const phaseOf = (state: string | undefined) =>
  state === 'settled' ? state : state !== undefined && /^(claimed|settling|unknown)$/.test(state) ? 'open' : undefined

const inOrder = (sql: Sql, phase: 'open' | 'settled' | undefined, { cursor, limit }: Page) =>
  sql.query<Row>(
    `select ${columns} from payment
     where ($1::text is null or id < $1) ${phase === undefined ? '' : `and phase = '${phase}'`} order by id desc limit $2`,
    [cursor, limit],
  )

/** Those under way, then what ended, the newest first: each found by the payer. */
const ofPayer = (sql: Sql, payer: string, { cursor, limit }: Page) =>
  sql.query<Row>(
    `select ${columns} from (
       (select * from payment where payer = $1 and open_to_payer and ended_at is null and $2::text is null
         order by id desc limit ${inProgressMax})
       union all
       (select * from payment where payer = $1 and ended_at is not null
           and (ended_at, id) < (coalesce((select ended_at from payment where id = $2), 'infinity'), coalesce($2, '~'))
         order by ended_at desc, id desc limit $3)) p
     order by ended_at desc nulls first, id desc`,
    [payer, cursor, limit],
  )
