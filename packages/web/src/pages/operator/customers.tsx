import { count } from '../../ui/format.ts'
import { Age, Heads, Hex, Money, Scroll } from '../../ui/parts.tsx'
import type { Overview } from './types.ts'

/** Who buys: the wallets that paid most among the newest payments. */
export function Customers({
  customers,
  onOpen,
}: {
  customers: Overview['customers']
  onOpen: (wallet: string) => void
}) {
  return (
    <section class="sheet" aria-labelledby="customers">
      <h2 id="customers">Customers</h2>
      {customers.data.length === 0 ? (
        <p class="soft">Nobody has paid yet.</p>
      ) : (
        <>
          <p class="small soft">By what they paid, among the newest {count(customers.payments)} payments.</p>
          <Scroll label="Customers by what they paid">
            <table>
              <Heads
                titles={['Wallet', 'Paid', 'Payments', 'Failed', 'Last', 'Payments of this wallet']}
                right={['Paid', 'Payments', 'Failed']}
                hidden={['Payments of this wallet']}
              />
              <tbody>
                {customers.data.map((row) => (
                  <tr key={row.wallet}>
                    <th scope="row">
                      <Hex value={row.wallet} what="wallet" />
                    </th>
                    <td class="right">
                      <Money micro={row.amount_micro} />
                    </td>
                    <td class="right">{count(row.payments)}</td>
                    <td class="right">{count(row.failed)}</td>
                    <td>
                      <Age at={row.last_at} />
                    </td>
                    <td>
                      <button type="button" class="button small" onClick={() => onOpen(row.wallet)}>
                        Payments
                      </button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        </>
      )}
    </section>
  )
}
