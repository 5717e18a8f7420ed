import type { OptionVault } from '@assay/sdk'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { useEvery } from '../../node/use-every.ts'
import { Await, Heads, Money, Notice, Scroll } from '../../ui/parts.tsx'

/** The operator's own side of the market: what it quotes, holds and may still lock, and why it sells nothing. */
export function VaultPanel() {
  const index = useNode()
  const [vault, again] = useAnswer('vault', (signal) =>
    ask<OptionVault>(`${index.api_url}/v1/options/vault`, { signal }),
  )
  useEvery(10_000, again)
  return (
    <section class="sheet" aria-labelledby="vault">
      <h2 id="vault">Vault</h2>
      <Await of={vault} what="Reading the vault">
        {({ body }) => (
          <>
            {body.state === 'quoting' ? null : <Notice tone="warn">{body.reason}</Notice>}
            <dl class="facts">
              <dt>Locked</dt>
              <dd>
                <Money micro={body.used_micro} /> of <Money micro={body.limit_micro} />
              </dd>
              <dt>Free</dt>
              <dd>
                <Money micro={body.free_micro} />
              </dd>
              <dt>Set aside by the operator</dt>
              <dd>
                <Money micro={body.capital_micro} />
              </dd>
              <dt>Profit of what ended</dt>
              <dd>
                <Money micro={body.realised_micro} />
              </dd>
              <dt>Quotes</dt>
              <dd>{body.quotes.length} series, asks the model's price, bids 95 % of it</dd>
            </dl>
            {body.inventory.length === 0 ? null : <Inventory rows={body.inventory} />}
          </>
        )}
      </Await>
    </section>
  )
}

function Inventory({ rows }: { rows: OptionVault['inventory'] }) {
  return (
    <Scroll label="Contracts written by the vault">
      <table>
        <Heads
          titles={['Written', 'Contracts', 'Premium', 'Locked', 'Profit now']}
          right={['Contracts', 'Premium', 'Locked', 'Profit now']}
        />
        <tbody>
          {rows.map((row) => (
            <tr key={row.symbol}>
              <th scope="row" class="mono">
                {row.symbol}
              </th>
              <td class="right">{row.contracts}</td>
              <td class="right">
                <Money micro={row.premium_micro} />
              </td>
              <td class="right">
                <Money micro={row.locked_micro} />
              </td>
              <td class="right">{row.profit_micro === null ? '–' : <Money micro={row.profit_micro} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
