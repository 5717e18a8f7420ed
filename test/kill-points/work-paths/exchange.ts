import type { PrivateKeyAccount } from 'viem/accounts'
import { requireExactly } from '../broken.ts'
import { type Desk, until } from '../desk.ts'
import type { WorkPath } from '../die-at-work.ts'
import { openSeries } from '../request-paths.ts'
import { balanceOn, countOf, json, rowOf, sendSigned } from './support.ts'

const fundedMicro = 9_000_000_000n
const askedMicro = 60_000_000n

/** A series like one that is listed, under a name of its own and sure to pay its buyer: each life ends one. */
async function newSeries(desk: Desk): Promise<{ symbol: string; capMicro: bigint }> {
  const listed = await openSeries(desk.till)
  const { address } = await desk.till.newBuyer(0n)
  const symbol = listed.replace(/-([CP])$/, `-${address.slice(2, 12)}-$1`)
  await desk.till.db.owner.query(
    `insert into option_series select (jsonb_populate_record(s, jsonb_build_object('symbol', $2::text, 'seq', 0, 'sold', 0,
       'strike', s.strike + case s.kind when 'C' then -8 else 8 end))).* from option_series s where symbol = $1`,
    [listed, symbol],
  )
  const row = await rowOf<{ cap: bigint }>(desk, 'select cap_micro as cap from option_series where symbol = $1', [
    symbol,
  ])
  return { symbol, capMicro: row?.cap ?? 0n }
}

/** Two contracts offered below the vault's price, in the book. */
async function offerTwo(desk: Desk, writer: PrivateKeyAccount, symbol: string): Promise<string> {
  const offer = await desk.paid(writer, '/v1/options/write', json({ symbol, premium_usd: '60', quantity: 2 }))
  await desk.untilFinal(writer.address)
  await desk.run('options.desk')
  // A board is drawn anew every moment.
  await until('the offer on the board', async () => {
    const quoted = await fetch(`${desk.till.node.address}/v1/options/quote`, json({ symbol }))
    await quoted.arrayBuffer()
    return quoted.status === 200
  })
  return String(offer['offer_id'] ?? offer['id'])
}

/** From the expiry to everybody's wallet: the buyer's payoff, the writer's rest, and what was never sold. */
const settlement: WorkPath = {
  name: 'option settlement',
  house: 'exchange',
  jobs: ['options.settle', 'payouts.run'],
  owe: async (desk) => {
    const [writer, buyer] = [await desk.till.newBuyer(fundedMicro), await desk.till.newBuyer(fundedMicro)]
    const { symbol, capMicro } = await newSeries(desk)
    await offerTwo(desk, writer, symbol)
    await desk.paid(buyer, '/v1/options/buy', json({ symbol }))
    await desk.untilFinal(buyer.address)
    await desk.till.db.owner.query(
      `update option_series s set expires_at = t.at, last_trade_at = t.at, listed_at = least(listed_at, t.at)
       from (select max(at) as at from option_tick_proof) t where symbol = $1`,
      [symbol],
    )
    const wallets = [writer, buyer].map(({ address }) => address.toLowerCase())
    const before = await Promise.all(wallets.map((wallet) => balanceOn(desk, wallet)))
    return {
      done: async () => {
        const ended = await countOf(desk, `option_series where symbol = $1 and state = 'ended'`, [symbol])
        const owed = await countOf(
          desk,
          `ledger_balance b join ledger_account a on a.id = b.account_id where b.owed_micro > 0
             and a.name = any (select 'payable:option:' || w || '@eip155:8453' from unnest($1::text[]) w)`,
          [wallets],
        )
        const open = await countOf(desk, `payout where payee = any($1) and state <> 'paid'`, [wallets])
        return ended === 1 && owed + open === 0
      },
      judge: async () => {
        const fixed = await rowOf<{ payoff: bigint; outcome: string }>(
          desk,
          'select payoff_micro as payoff, outcome from option_settlement where symbol = $1',
          [symbol],
        )
        if (fixed?.outcome !== 'fixed') throw new Error(`the series ended ${fixed?.outcome}`)
        const gains = await Promise.all(wallets.map((wallet) => balanceOn(desk, wallet)))
        const gained = gains.map((now, index) => now - (before[index] ?? 0n))
        if (fixed.payoff === 0n) throw new Error('the series pays its buyer nothing')
        requireExactly("the buyer's payoff", gained[1] ?? 0n, fixed.payoff)
        requireExactly("the writer's part", gained[0] ?? 0n, capMicro - fixed.payoff + capMicro - askedMicro)
      },
    }
  },
}

/** Collateral of what nobody bought goes back on a signed word. */
const withdrawal: WorkPath = {
  name: 'option withdrawal',
  house: 'exchange',
  jobs: ['payouts.run'],
  owe: async (desk) => {
    const writer = await desk.till.newBuyer(fundedMicro)
    const { symbol, capMicro } = await newSeries(desk)
    const offerId = await offerTwo(desk, writer, symbol)
    const before = await balanceOn(desk, writer.address)
    const openContracts = async () =>
      Number(
        (await rowOf<{ n: number }>(desk, 'select open_quantity as n from option_order where id = $1', [offerId]))?.n,
      )
    return {
      ask: async (origin) => {
        const { status } = await sendSigned(writer, `${origin}/v1/options/withdraw`, { offer_id: offerId })
        if (status !== 200 && (await openContracts()) > 0) throw new Error(`answered with ${status}`)
      },
      done: async () =>
        (await countOf(desk, `payout where payee = $1 and state = 'paid'`, [writer.address.toLowerCase()])) > 0,
      judge: async () =>
        requireExactly('returned', (await balanceOn(desk, writer.address)) - before, 2n * (capMicro - askedMicro)),
    }
  },
}

export const exchangePaths: readonly WorkPath[] = [settlement, withdrawal]
