import { useState } from 'preact/hooks'
import { useStore } from '../../app/store.ts'
import { useNode } from '../../node/context.ts'
import { networkName } from '../../node/node-index.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { centsOfMicro, count, sentence, usdOfMicro } from '../../ui/format.ts'
import { Await, Heads, Money, Scroll } from '../../ui/parts.tsx'
import { wallet as walletStore } from '../../wallet/wallet-store.ts'

type Row = {
  day: string
  network: string
  shop: string
  gross_micro: string
  refunds_micro: string
  fees_micro: string
  affiliates_micro: string
  losses_micro: string
  net_micro: string
  gas_gwei: string
}

/** Net of all shops and networks, one figure a day; days without a sale are there too. */
export function netByDay(rows: readonly Pick<Row, 'day' | 'net_micro'>[]): { day: string; micro: bigint }[] {
  const sums = new Map<string, bigint>()
  for (const { day, net_micro } of rows) sums.set(day, (sums.get(day) ?? 0n) + BigInt(net_micro))
  const days = [...sums.keys()].sort()
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return []
  const all: { day: string; micro: bigint }[] = []
  for (let at = Date.parse(first); at <= Date.parse(last); at += 86_400_000) {
    const day = new Date(at).toISOString().slice(0, 10)
    all.push({ day, micro: sums.get(day) ?? 0n })
  }
  return all
}

const [barWidth, barHeight, barsShown] = [14, 80, 30]

/** The last of 30 places is the last day, so that one day of sales does not look like a month of them. */
function RevenueBars({ days }: { days: readonly { day: string; micro: bigint }[] }) {
  const most = days.reduce((top, { micro }) => (micro > top ? micro : top), 1n)
  const left = Math.max(0, barsShown - days.length)
  const label = `Net revenue a day, ${days[0]?.day} to ${days.at(-1)?.day}, at most ${centsOfMicro(most)}`
  const width = (left + days.length) * barWidth
  return (
    <figure class="stack tight">
      <svg class="bars" viewBox={`0 0 ${width} ${barHeight}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {days.map(({ day, micro }, at) => {
          const height = micro <= 0n ? 0 : Math.max(1, Number((micro * BigInt(barHeight)) / most))
          return (
            <rect key={day} x={(left + at) * barWidth + 1} y={barHeight - height} width={barWidth - 2} height={height}>
              <title>{`${day}: ${usdOfMicro(micro)}`}</title>
            </rect>
          )
        })}
      </svg>
      <figcaption class="small soft">{label}</figcaption>
    </figure>
  )
}

/** What was earned in the last 30 days and what it cost, read with its own signature. */
export function Revenue() {
  const index = useNode()
  const wallet = useStore(walletStore)
  const [asked, setAsked] = useState(false)
  const [revenue, again] = useAnswer(asked && wallet !== undefined ? wallet.address : null, async () => {
    const { askSigned } = await import('../../wallet/sign-and-pay.ts')
    if (wallet === undefined) throw new Error('no wallet is connected')
    return askSigned<{ data: Row[] }>(index, wallet, `${index.base_url}/v1/operator/revenue`)
  })
  return (
    <section class="sheet" aria-labelledby="revenue">
      <header>
        <h2 id="revenue">Revenue, last 30 days</h2>
        <button
          type="button"
          class="button small"
          disabled={wallet === undefined}
          onClick={() => (asked ? again() : setAsked(true))}
        >
          {asked ? 'Refresh' : 'Sign and show'}
        </button>
      </header>
      {asked ? (
        <Await of={revenue} what="Reading revenue">
          {({ data }) =>
            data.length === 0 ? (
              <p class="soft">Nothing was sold in these days.</p>
            ) : (
              <>
                <RevenueBars days={netByDay(data)} />
                <RevenueTable rows={data} />
              </>
            )
          }
        </Await>
      ) : (
        <p class="soft">Read with a separate signature: by day, shop and network, with refunds, fees and gas.</p>
      )}
    </section>
  )
}

const figures = ['gross', 'refunds', 'fees', 'affiliates', 'losses', 'net'] as const
const sums = [...figures.map(sentence), 'Gas, gwei']

function RevenueTable({ rows }: { rows: Row[] }) {
  const index = useNode()
  return (
    <Scroll label="Revenue per shop and day">
      <table>
        <Heads titles={['Day', 'Shop', 'Network', ...sums]} right={sums} />
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.day} ${row.network} ${row.shop}`}>
              <th scope="row" class="day">
                {row.day}
              </th>
              <td>{row.shop}</td>
              <td>{networkName(index, row.network)}</td>
              {figures.map((name) => (
                <td class="right" key={name}>
                  <Money micro={row[`${name}_micro`]} />
                </td>
              ))}
              <td class="right">{count(Number(row.gas_gwei))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
