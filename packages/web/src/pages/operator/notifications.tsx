import { count } from '../../ui/format.ts'
import { Age, Badge, Heads, Scroll } from '../../ui/parts.tsx'
import type { Overview } from './types.ts'

/** How deliveries to webhooks and mail addresses go; stopped and repeated with `assay notifications`. */
export function Notifications({ notifications }: { notifications: Overview['notifications'] }) {
  if (notifications === null) return null
  const { endpoints, deliveries, failing } = notifications
  return (
    <section class="sheet" aria-labelledby="notifications">
      <h2 id="notifications">Notifications</h2>
      {endpoints.length === 0 ? (
        <p class="soft">No webhook or mail address yet. Buyers add one with an alert on a symbol or a token.</p>
      ) : null}
      <ul class="flag-list">
        {endpoints.map(({ kind, state, reason, endpoints: number }) => (
          <li key={`${kind} ${state} ${reason}`}>
            <Badge tone={state === 'active' ? 'good' : 'plain'}>{state}</Badge>
            <span>
              {count(number)} {kind}
              {reason === '' ? '' : `: ${reason}`}
            </span>
          </li>
        ))}
      </ul>
      {deliveries.length === 0 ? null : (
        <Scroll label="Deliveries">
          <table>
            <Heads
              titles={['By', 'Waiting', 'Due', 'Sent in a day', 'Given up in a day']}
              right={['Waiting', 'Sent in a day', 'Given up in a day']}
            />
            <tbody>
              {deliveries.map((row) => (
                <tr key={row.kind}>
                  <th scope="row">{row.kind}</th>
                  <td class="right">{count(row.waiting)}</td>
                  <td>{row.late_since === null ? '–' : <Age at={row.late_since} />}</td>
                  <td class="right">{count(row.sent_day)}</td>
                  <td class="right">{count(row.given_up_day)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      <ul class="plain-list">
        {failing.map((row) => (
          <li key={row.id}>
            <Age at={row.failing_since} />
            <span>
              {row.target} fails{row.last_status === null ? '' : ` (${row.last_status})`}, {count(row.waiting)} waiting
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
