import type { TokenPower } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { sentence, shortHex } from '../../ui/format.ts'
import { layoutControl } from './graph-layout.ts'

const width = 720
const [accountEnd, powerStart] = [230, 520]

/** Accounts and powers with lines between; the account with the focus shows its own. The table above has the words. */
export function ControlGraph({ powers }: { powers: Record<string, TokenPower> }) {
  const { accounts, powers: placed, edges, height, leftOut } = layoutControl(powers)
  const [chosen, setChosen] = useState<number>()
  const reach = (at: number) =>
    edges.filter(({ from }) => from === at).map(({ to, now }) => `${placed[to]?.label ?? ''}${now ? '' : ' later'}`)
  return (
    <figure class="stack tight">
      <div class="graph-box">
        <svg
          class="graph"
          viewBox={`0 0 ${width} ${height}`}
          aria-label={`${accounts.length} accounts hold or could get ${edges.length} powers in all; the table of powers names them.`}
        >
          {edges.map((edge) => {
            const [from, to] = [accounts[edge.from]?.y ?? 0, placed[edge.to]?.y ?? 0]
            return (
              <path
                key={`${edge.from} ${edge.to} ${edge.now} ${edge.how}`}
                class={`edge${edge.now ? ' now' : ''}${chosen === undefined || chosen === edge.from ? '' : ' dim'}`}
                d={`M${accountEnd} ${from}C${accountEnd + 130} ${from} ${powerStart - 130} ${to} ${powerStart} ${to}`}
              >
                <title>{edge.how}</title>
              </path>
            )
          })}
          {accounts.length === 0 ? (
            <text x="12" y={height / 2} class="nobody">
              Nobody
            </text>
          ) : null}
          {accounts.map((account, at) => (
            // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: it takes the focus to be read, nothing is pressed
            <g
              key={account.id}
              transform={`translate(0 ${account.y})`}
              tabIndex={0}
              role="img"
              aria-label={`${account.label}, ${account.kind}: ${reach(at).map(sentence).join(', ')}`}
              onFocus={() => setChosen(at)}
              onBlur={() => setChosen(undefined)}
              onMouseEnter={() => setChosen(at)}
              onMouseLeave={() => setChosen(undefined)}
            >
              <title>{account.id}</title>
              <rect x="1" y="-14" width={accountEnd - 1} height="28" rx="4" class="account" />
              <text x="12" y="4" class="hex-text">
                {shortHex(account.label)}
              </text>
              <text x={accountEnd - 10} y="4" class="kind" text-anchor="end">
                {account.kind}
              </text>
            </g>
          ))}
          {placed.map((power) => (
            <g key={power.id} transform={`translate(${powerStart} ${power.y})`}>
              <rect y="-13" width={width - powerStart - 1} height="26" rx="13" class={`power ${power.state}`} />
              <text x="14" y="4">
                {sentence(power.label)}
              </text>
            </g>
          ))}
        </svg>
      </div>
      <ul class="graph-list">
        {accounts.map((account, at) => (
          <li key={account.id}>
            <span class="mono">{shortHex(account.label)}</span> <span class="small soft">{account.kind}</span>
            <ul class="chips">
              {edges
                .filter(({ from }) => from === at)
                .map((edge) => (
                  <li key={`${edge.to} ${edge.now} ${edge.how}`} class={edge.now ? 'badge bad' : 'badge'}>
                    {sentence(placed[edge.to]?.label ?? '')}
                  </li>
                ))}
            </ul>
          </li>
        ))}
        {accounts.length === 0 ? <li>Nobody</li> : null}
      </ul>
      <figcaption class="small soft row">
        <span class="key now">can do it now</span>
        <span class="key">can bring it about</span>
        {leftOut === 0 ? null : <span>{leftOut} more accounts are in the full report</span>}
      </figcaption>
    </figure>
  )
}
