import { creatorAccounts } from '../../packages/node/src/shops/attestations/accounts.ts'
import { optionAccounts } from '../../packages/node/src/shops/options/accounts.ts'
import { credit, debit, post } from '../../packages/till/src/ledger/index.ts'
import type { Database } from '../../packages/till/src/store/database.ts'

const network = 'eip155:8453'
const writer = '0x2222222222222222222222222222222222222222'
const contracts = 1_000_000
const capMicro = 1_000_000_000n
const premiumMicro = 80_000_000n
const symbols = ['52', '53', '150', '464'].map((cluster) => `TC-${cluster}-20991204-100-C`)

/** Lists series with more contracts on offer than anybody will buy, and the money behind them. Returns their symbols. */
export async function offerSeries(database: Database): Promise<string[]> {
  for (const [n, symbol] of symbols.entries()) {
    const cluster = symbol.split('-')[1]
    await database.query(`insert into option_cluster values ($1, 250000000000, now()) on conflict do nothing`, [
      cluster,
    ])
    await database.query(
      `insert into option_series (symbol, cluster, kind, strike, width, size_micro, cap_micro, listed_at, last_trade_at, expires_at, state,
         interest_limit_micro, volatility, priced_at, synthetic)
       values ($1, $2, 'C', 100, 100, 10000000, $3, now(), '2099-12-03', '2099-12-04T08:00:00Z', 'trading', 9000000000000000000, 0.9, now(), true)`,
      [symbol, cluster, capMicro],
    )
    await database.query(
      `insert into option_order (id, symbol, writer, payment_id, price_micro, quantity, open_quantity, state, seq, created_at)
       values ($1, $2, $3, $1, $4, $5, $5, 'live', 1, now())`,
      [`bench-${n}`, symbol, writer, premiumMicro, contracts],
    )
    const lockedMicro = (capMicro - premiumMicro) * BigInt(contracts)
    await post(database, [
      {
        reference: `bench:${symbol}`,
        kind: 'bench',
        lines: [
          debit(creatorAccounts.distributor(network), lockedMicro),
          credit(optionAccounts.collateral(network, symbol), lockedMicro),
        ],
      },
    ])
  }
  return symbols
}
