import type { AnswerOf } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { announce } from '../../app/announce.ts'
import { useStore } from '../../app/store.ts'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { count, usd } from '../../ui/format.ts'
import { Await, Heads, Notice, Scroll, saveFile } from '../../ui/parts.tsx'
import { BuyButton } from '../../wallet/buy-button.tsx'
import { bearerOf, subscriptionTokens } from '../../wallet/tokens.ts'
import { wallet as walletStore } from '../../wallet/wallet-store.ts'
import { fileSize, hashOf, lastYear } from './months.ts'

type Manifest = AnswerOf<'matrix.bulk'>
type Month = Manifest['data'][number]

/** The files of the last year of a feed: bought one by one, or all at once with a vip subscription. */
export function PastMonths({ feed }: { feed: string }) {
  const index = useNode()
  const wallet = useStore(walletStore)
  useStore(subscriptionTokens)
  const [format, setFormat] = useState<Month['format']>('csv')
  const [failed, setFailed] = useState('')
  const folder = `${index.base_url}/matrix/${feed}/bulk`
  const [manifest, again] = useAnswer(folder, (signal) => ask<Manifest>(folder, { signal }))
  const headers: Record<string, string> = { accept: '*/*', ...bearerOf(wallet?.address) }
  const save = async (month: Month, bytes: Uint8Array<ArrayBuffer>) => {
    if ((await hashOf(bytes)) !== month.sha256) return setFailed(`${month.file} is not what the manifest says.`)
    saveFile(`${feed}-${month.file}`, bytes, 'application/octet-stream')
    announce(`${month.file} saved, its hash checked`)
  }
  const saveAll = async (months: readonly Month[]) => {
    setFailed('')
    for (const month of months) {
      const answer = await fetch(`${folder}/${month.file}`, { headers })
      if (!answer.ok)
        return setFailed(`${month.file}: the node answered ${answer.status}. All at once needs a vip subscription.`)
      await save(month, new Uint8Array(await answer.arrayBuffer()))
    }
  }
  return (
    <section class="sheet" aria-labelledby="months">
      <header>
        <h2 id="months">Past months</h2>
        <select
          class="series-select"
          aria-label="Format"
          value={format}
          onChange={(event) => setFormat(event.currentTarget.value as Month['format'])}
        >
          <option value="csv">CSV</option>
          <option value="parquet">Parquet</option>
        </select>
      </header>
      {failed === '' ? null : <Notice tone="bad">{failed}</Notice>}
      <Await of={manifest} what="Reading the manifest" again={again}>
        {({ body }) => {
          const months = lastYear(body.data, format)
          if (months.length === 0) return <p class="soft">No month of this feed is held yet.</p>
          return (
            <>
              <Scroll label="Files of past months">
                <table>
                  <Heads titles={['Month', 'File', 'Rows', 'Size', 'SHA-256']} right={['Rows', 'Size']} />
                  <tbody>
                    {months.map((month) => (
                      <tr key={month.file}>
                        <th scope="row" class="nowrap">
                          {month.month}
                        </th>
                        <td>
                          <BuyButton
                            small
                            quiet
                            order={{
                              what: `${feed} of ${month.month}, ${month.format}`,
                              url: `${folder}/${month.file}`,
                              headers,
                            }}
                            label={`Download for ${usd(body.price_usd_per_file)}`}
                            onBought={({ bytes }) => save(month, bytes)}
                          />
                        </td>
                        <td class="right">{count(month.rows)}</td>
                        <td class="right">{fileSize(month.bytes)}</td>
                        <td class="mono small" title={month.sha256}>
                          {month.sha256.slice(0, 8)}
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </Scroll>
              {headers['authorization'] === undefined ? (
                <p class="small soft">A vip subscription downloads all of them at once, without further payment.</p>
              ) : (
                <p>
                  <button type="button" class="button small" onClick={() => saveAll(months)}>
                    Download all {months.length}
                  </button>
                </p>
              )}
            </>
          )
        }}
      </Await>
    </section>
  )
}
