import { sentence, shortHex, timeText } from '../../ui/format.ts'
import { Badge, Heads, Hex, Json, Scroll, Synthetic, saveFile } from '../../ui/parts.tsx'
import { Hallmarks } from '../../wallet/hallmarks.tsx'
import type { Bought } from '../../wallet/order.ts'
import { shown } from './event-text.ts'
import { Timeline, type TimelineEvent } from './timeline.tsx'

type Report = {
  synthetic?: true
  method_version: string
  block: { number: string; hash: string; at: string }
  roles: {
    role: string
    name: string
    admin_path: string[]
    holders: { account: string; granted: { block_number: string; transaction: string } | null }[]
    complete: boolean
  }[]
  scopes: { name: string; meaning: string; effect?: unknown; policy_id: unknown }[]
  seize_paths: { path: string; why: string }[]
  history: TimelineEvent[]
  questions: string[]
  network_note: string
  attestation: { attester: string; message: { reportHash: string; validUntil: string } }
}

type Props = { bought: Bought; symbol: string; decimals: unknown; network: string }

/** What was paid for, with the marks that were struck into it. */
export function FullReport({ bought, symbol, decimals, network }: Props) {
  const report = bought.body as Report
  return (
    <section class="sheet" aria-labelledby="report">
      <header>
        <h2 id="report">Full report on {symbol}</h2>
        <Synthetic of={report.synthetic} />
        <span class="grow" />
        <button
          type="button"
          class="button small"
          onClick={() => saveFile(`report-${symbol}.json`, JSON.stringify(report, null, 2))}
        >
          Save the report
        </button>
      </header>
      <Hallmarks bought={bought} fileName={`evidence-report-${symbol}.json`} />
      <dl class="facts">
        <dt>Attested by</dt>
        <dd>
          <Hex value={report.attestation.attester} what="attester" />
        </dd>
        <dt>Report hash</dt>
        <dd>
          <Hex value={report.attestation.message.reportHash} what="report hash" />
        </dd>
        <dt>Block</dt>
        <dd>
          {report.block.number} <Hex value={report.block.hash} what="block hash" />{' '}
          <span class="soft">{timeText(report.block.at)}</span>
        </dd>
        <dt>Method</dt>
        <dd>{report.method_version}</dd>
      </dl>
      <Roles roles={report.roles} />
      <Scopes scopes={report.scopes} />
      <SeizePaths paths={report.seize_paths} />
      <details>
        <summary>History: {report.history.length} events</summary>
        <Timeline events={report.history} label="History in the report" decimals={decimals} network={network} />
      </details>
      {report.questions.length === 0 ? null : (
        <div class="stack tight">
          <h3>Questions to put to the issuer</h3>
          <ul>
            {report.questions.map((question) => (
              <li key={question}>{question}</li>
            ))}
          </ul>
        </div>
      )}
      <p class="small soft">{report.network_note}</p>
      <details>
        <summary>Everything, as JSON</summary>
        <Json value={report} />
      </details>
    </section>
  )
}

function Roles({ roles }: { roles: Report['roles'] }) {
  return (
    <div class="stack tight">
      <h3>Roles</h3>
      <Scroll label="Roles and their holders">
        <table>
          <Heads titles={['Role', 'Holders, and since when', 'Administered through']} />
          <tbody>
            {roles.map((role) => (
              <tr key={role.role}>
                <th scope="row" class="mono">
                  {role.name} {role.complete ? null : <Badge tone="warn">not complete</Badge>}
                </th>
                <td>
                  {role.holders.length === 0 ? <span class="soft">nobody</span> : null}
                  {role.holders.map((holder) => (
                    <div key={holder.account}>
                      <Hex value={holder.account} />
                      {holder.granted === null ? null : (
                        <span class="small soft" title={holder.granted.transaction}>
                          {' '}
                          block {holder.granted.block_number}, {shortHex(holder.granted.transaction)}
                        </span>
                      )}
                    </div>
                  ))}
                </td>
                <td class="small">
                  {role.admin_path.length === 0 ? <span class="soft">nothing</span> : role.admin_path.join(' → ')}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </div>
  )
}

function Scopes({ scopes }: { scopes: Report['scopes'] }) {
  return (
    <div class="stack tight">
      <h3>Policies</h3>
      <dl class="facts">
        {scopes.map((scope) => [
          <dt key={scope.name}>{sentence(scope.name.replace(/_POLICY$/, '').toLowerCase())}</dt>,
          <dd key={`${scope.name} meaning`}>
            {scope.meaning} <span class="soft">policy {shown(scope.policy_id)}</span>
          </dd>,
        ])}
      </dl>
    </div>
  )
}

function SeizePaths({ paths }: { paths: Report['seize_paths'] }) {
  if (paths.length === 0) return null
  return (
    <div class="stack tight">
      <h3>Ways in which tokens can be taken</h3>
      <dl class="facts">
        {paths.map(({ path, why }) => [
          <dt key={path} class="mono">
            {path}
          </dt>,
          <dd key={`${path} why`}>{why}</dd>,
        ])}
      </dl>
    </div>
  )
}
