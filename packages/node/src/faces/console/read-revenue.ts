import type { Micro } from '@assay/protocol/money'
import { type DayTurnover, turnoverByDay } from '@assay/till/ledger'
import type { Sql } from '@assay/till/store/database'
import { z } from 'zod'
import { readRouteShops } from './route-shops.ts'

/** What one shop earned and cost on one day and chain. */
export type Revenue = {
  day: string
  network: string
  shop: string
  /** The operator's own part of sales; what was given back of it, also from earlier days. */
  gross: Micro
  refunds: Micro
  fees: Micro
  affiliates: Micro
  losses: Micro
  net: Micro
  /** In the chain's own coin, and so no part of net. */
  gasGwei: bigint
}

/** What no sale of a route caused is the node's own; a route that is gone has no shop and stands for itself. */
const shopOf = ({ role, purpose }: DayTurnover, shops: ReadonlyMap<string, string>) =>
  role === 'loss' || purpose === '' || purpose.startsWith('node.') ? 'node' : (shops.get(purpose) ?? purpose)

/** Per day (UTC), chain (or dollar other than USDC there) and shop, oldest first; from kept daily sums. */
export async function readRevenue(sql: Sql, { from, until }: { from: Date; until: Date }): Promise<Revenue[]> {
  const last = new Date(until.getTime() - 1)
  const turnover = await turnoverByDay(sql, from.toISOString().slice(0, 10), last.toISOString().slice(0, 10))
  const shops = await readRouteShops(sql)
  const rows = new Map<string, Revenue>()
  for (const one of turnover) {
    const [chain = '', asset] = one.unit.split('/')
    // Points are no money.
    if (asset === undefined) continue
    const network = asset === 'usdc' || asset === 'gas' ? chain : one.unit
    const shop = shopOf(one, shops)
    const key = `${one.day} ${network} ${shop}`
    const row = rows.get(key) ?? emptyRow(one.day, network, shop)
    rows.set(key, row)
    add(row, one)
  }
  return [...rows.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

const keyOf = ({ day, network, shop }: Revenue) => `${day} ${network} ${shop}`

const emptyRow = (day: string, network: string, shop: string): Revenue => ({
  ...{ day, network, shop, gasGwei: 0n },
  ...{ gross: 0n, refunds: 0n, fees: 0n, affiliates: 0n, losses: 0n, net: 0n },
})

function add(row: Revenue, { kind, role, unit, debitMicro, creditMicro }: DayTurnover): void {
  const spent = debitMicro - creditMicro
  if (unit.endsWith('/gas')) {
    row.gasGwei += spent
    return
  }
  row.net -= spent
  if (kind === 'income') {
    row.gross += creditMicro
    row.refunds += debitMicro
  } else if (role === 'fees') row.fees += spent
  else if (role === 'affiliate_expense') row.affiliates += spent
  else row.losses += spent
}

export const revenueShape = z.strictObject({
  day: z.string(),
  network: z.string(),
  shop: z
    .string()
    .describe('Name of the shop; the id of a route that is no longer there; `node` for what no sale caused.'),
  gross_micro: z.string().describe("The operator's own part of what was sold."),
  refunds_micro: z.string().describe('Given back on this day, whenever it was sold.'),
  fees_micro: z.string().describe('Of facilitators.'),
  affiliates_micro: z.string(),
  losses_micro: z.string(),
  net_micro: z.string().describe('Gross less refunds, fees, affiliates and losses.'),
  gas_gwei: z.string().describe('For settling, in the coin of the chain; not part of net.'),
})

export const describeRevenue = (row: Revenue): z.infer<typeof revenueShape> => ({
  day: row.day,
  network: row.network,
  shop: row.shop,
  gross_micro: row.gross.toString(),
  refunds_micro: row.refunds.toString(),
  fees_micro: row.fees.toString(),
  affiliates_micro: row.affiliates.toString(),
  losses_micro: row.losses.toString(),
  net_micro: row.net.toString(),
  gas_gwei: row.gasGwei.toString(),
})
