import { useNode } from '../../node/context.ts'
import { offers } from '../../node/node-index.ts'
import { timeText, usdOfMicro } from '../../ui/format.ts'
import { Badge, Hex } from '../../ui/parts.tsx'
import type { Wallet } from '../../wallet/wallet-store.ts'
import { SignedPanel } from './signed-panel.tsx'

type Mandate = {
  id: string
  owner: string
  delegate: string
  routes: string[]
  cap_per_call_micro: string
  cap_total_micro: string
  drawn_total_micro: string
  expires_at: string
  state: string
}

/** Who may draw on this wallet's credit, and on whose credit this wallet may draw. */
export function Mandates({ wallet }: { wallet: Wallet }) {
  const index = useNode()
  if (!offers(index, '/v1/mandates')) return null
  const url = `${index.base_url}/v1/mandates`
  const read = async () => {
    const { askSigned } = await import('../../wallet/purse.ts')
    return askSigned<{ data: Mandate[] }>(index, wallet, url)
  }
  const revoke = async (id: string, again: () => void) => {
    const { askSigned } = await import('../../wallet/purse.ts')
    await askSigned(index, wallet, `${url}/${id}`, { method: 'DELETE' })
    again()
  }
  return (
    <SignedPanel
      id="mandates"
      title="Mandates"
      wallet={wallet}
      why="Who may spend for you, and for whom you may spend."
      read={read}
    >
      {({ data }, again) =>
        data.length === 0 ? (
          <p class="soft">
            None open. <code>assay mandate create</code> lets an agent draw on your credit within limits you sign.
          </p>
        ) : (
          <ul class="switches">
            {data.map((mandate) => {
              const own = mandate.owner.toLowerCase() === wallet.address.toLowerCase()
              return (
                <li key={mandate.id}>
                  <div>
                    <Badge tone={own ? 'gold' : 'calm'}>{own ? 'given to' : 'given by'}</Badge>{' '}
                    <Hex value={own ? mandate.delegate : mandate.owner} />
                    <span class="source">
                      {usdOfMicro(mandate.drawn_total_micro)} of {usdOfMicro(mandate.cap_total_micro)},{' '}
                      {usdOfMicro(mandate.cap_per_call_micro)} a call, for {mandate.routes.join(', ')}, until{' '}
                      {timeText(mandate.expires_at)}
                    </span>
                  </div>
                  {own ? (
                    <button type="button" class="button small" onClick={() => revoke(mandate.id, again)}>
                      Revoke
                    </button>
                  ) : null}
                </li>
              )
            })}
          </ul>
        )
      }
    </SignedPanel>
  )
}
