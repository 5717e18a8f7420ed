import type { PrivateKeyAccount } from 'viem/accounts'
import { requireExactly } from '../../harness/broken.ts'
import { postJson } from '../../harness/post-json.ts'
import type { WorkPath } from '../die-at-work.ts'
import { type JobHarness, until } from '../job-harness.ts'
import { openSeries } from '../request-paths.ts'
import { balanceOn, countOf, rowOf, sendSigned } from './support.ts'

const fundedMicro = 9_000_000_000n
const askedMicro = 60_000_000n

/** A series like one that is listed, under its own name and sure to pay its buyer: each life ends one. */
async function newSeries(harness: JobHarness): Promise<{ symbol: string; capMicro: bigint }> {
  const listed = await openSeries(harness.till)
  const { address } = await harness.till.newBuyer(0n)
  const symbol = listed.replace(/-([CP])$/, `-${address.slice(2, 12)}-$1`)
  await harness.till.db.owner.query(
    `insert into option_series select (jsonb_populate_record(s, jsonb_build_object('symbol', $2::text, 'seq', 0, 'sold', 0,
       'strike', s.strike + case s.kind when 'C' then -8 else 8 end))).* from option_series s where symbol = $1`,
    [listed, symbol],
  )
  const row = await rowOf<{ cap: bigint }>(harness, 'select cap_micro as cap from option_series where symbol = $1', [
    symbol,
  ])
  return { symbol, capMicro: row?.cap ?? 0n }
}

/** Two contracts offered below the vault's price, in the book. */
async function offerTwo(harness: JobHarness, writer: PrivateKeyAccount, symbol: string): Promise<string> {
  const offer = await harness.paid(writer, '/v1/options/write', postJson({ symbol, premium_usd: '60', quantity: 2 }))
  await harness.untilFinal(writer.address)
  await harness.run('options.offers')
  // A board is drawn again every moment.
  await until('the offer on the board', async () => {
    const quoted = await fetch(`${harness.till.node.address}/v1/options/quote`, postJson({ symbol }))
    await quoted.arrayBuffer()
    return quoted.status === 200
  })
  return String(offer['offer_id'] ?? offer['id'])
}

/** From the expiry to everybody's wallet: the buyer's payoff, the writer's rest, and what was never sold. */
const settlement: WorkPath = {
  name: 'option settlement',
  variant: 'exchange',
  jobs: ['options.settle', 'payouts.run'],
  owe: async (harness) => {
    const [writer, buyer] = [await harness.till.newBuyer(fundedMicro), await harness.till.newBuyer(fundedMicro)]
    const { symbol, capMicro } = await newSeries(harness)
    await offerTwo(harness, writer, symbol)
    await harness.paid(buyer, '/v1/options/buy', postJson({ symbol }))
    await harness.untilFinal(buyer.address)
    await harness.till.db.owner.query(
      `update option_series s set expires_at = t.at, last_trade_at = t.at, listed_at = least(listed_at, t.at)
       from (select max(at) as at from option_tick_proof) t where symbol = $1`,
      [symbol],
    )
    const wallets = [writer, buyer].map(({ address }) => address.toLowerCase())
    const before = await Promise.all(wallets.map((wallet) => balanceOn(harness, wallet)))
    return {
      done: async () => {
        const ended = await countOf(harness, `option_series where symbol = $1 and state = 'ended'`, [symbol])
        const owed = await countOf(
          harness,
          `ledger_balance b join ledger_account a on a.id = b.account_id where b.owed_micro > 0
             and a.name = any (select 'payable:option:' || w || '@eip155:8453' from unnest($1::text[]) w)`,
          [wallets],
        )
        const open = await countOf(harness, `payout where payee = any($1) and state <> 'paid'`, [wallets])
        return ended === 1 && owed + open === 0
      },
      check: async () => {
        const fixed = await rowOf<{ payoff: bigint; outcome: string }>(
          harness,
          'select payoff_micro as payoff, outcome from option_settlement where symbol = $1',
          [symbol],
        )
        if (fixed?.outcome !== 'fixed') throw new Error(`the series ended ${fixed?.outcome}`)
        const gains = await Promise.all(wallets.map((wallet) => balanceOn(harness, wallet)))
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
  variant: 'exchange',
  jobs: ['payouts.run'],
  owe: async (harness) => {
    const writer = await harness.till.newBuyer(fundedMicro)
    const { symbol, capMicro } = await newSeries(harness)
    const offerId = await offerTwo(harness, writer, symbol)
    const before = await balanceOn(harness, writer.address)
    const openContracts = async () =>
      Number(
        (await rowOf<{ n: number }>(harness, 'select open_quantity as n from option_order where id = $1', [offerId]))
          ?.n,
      )
    return {
      ask: async (origin) => {
        const { status } = await sendSigned(writer, `${origin}/v1/options/withdraw`, { offer_id: offerId })
        if (status !== 200 && (await openContracts()) > 0) throw new Error(`answered with ${status}`)
      },
      done: async () =>
        (await countOf(harness, `payout where payee = $1 and state = 'paid'`, [writer.address.toLowerCase()])) > 0,
      check: async () =>
        requireExactly('returned', (await balanceOn(harness, writer.address)) - before, 2n * (capMicro - askedMicro)),
    }
  },
}

export const exchangePaths: readonly WorkPath[] = [settlement, withdrawal]
