import type { TokenParty, TokenPower } from '@assay/sdk'
import { sentence, shortHex } from '../../ui/format.ts'
import { Heads, Scroll } from '../../ui/parts.tsx'

export const stateLabels: Record<TokenPower['state'], string> = {
  impossible: 'impossible',
  latent: 'can be brought about',
  armed: 'possible now',
  exercised: 'used before',
  unknown: 'not known',
}

/** Each power in a row: whether it exists, who has it, who could get it. */
export function PowersTable({ powers }: { powers: Record<string, TokenPower> }) {
  return (
    <Scroll label="Powers over the token">
      <table class="powers">
        <Heads titles={['Power', 'Now', 'Who has it', 'Who could get it']} />
        <tbody>
          {Object.entries(powers).map(([name, power]) => (
            <tr key={name}>
              <th scope="row">
                {sentence(name)}
                <span class="why">{power.why}</span>
              </th>
              <td>
                <span class={`power-state ${power.now}`}>{stateLabels[power.now]}</span>
                {power.exercised === 0 ? null : (
                  <span class="source">{power.exercised === 1 ? 'used once' : `used ${power.exercised} times`}</span>
                )}
              </td>
              <td>
                <Parties parties={power.who} count={power.who_count} />
              </td>
              <td>
                <Parties parties={power.could_become} count={power.could_become_count} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

const shownMax = 4

function Parties({ parties, count }: { parties: readonly TokenParty[]; count: number }) {
  if (parties.length === 0) return <span class="soft">nobody</span>
  return (
    <ul class="parties">
      {parties.slice(0, shownMax).map((party) => (
        <li key={`${party.account} ${party.how}`} title={party.account}>
          <span class="mono">{shortHex(party.account)}</span> <span class="soft small">{party.how}</span>
        </li>
      ))}
      {count > shownMax ? <li class="soft small">and {count - shownMax} more</li> : null}
    </ul>
  )
}
