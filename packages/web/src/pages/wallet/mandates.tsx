import type { Mandate } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { announce } from '../../app/announce.ts'
import { useNode } from '../../node/context.ts'
import { offers } from '../../node/node-index.ts'
import { useAttempt } from '../../node/use-attempt.ts'
import { timeText, usdOfMicro } from '../../ui/format.ts'
import { Badge, Hex, Problem } from '../../ui/parts.tsx'
import type { Wallet } from '../../wallet/wallet-store.ts'
import { MandateForm } from './mandate-form.tsx'
import { SignedPanel } from './signed-panel.tsx'

/** Who may draw on this wallet's credit, and on whose credit this wallet may draw. */
export function Mandates({ wallet }: { wallet: Wallet }) {
  const index = useNode()
  // What was signed here is known from its own answer: reading the list again would cost a signature.
  const [changed, setChanged] = useState<readonly Mandate[]>([])
  const { problem, attempt } = useAttempt()
  if (!offers(index, '/v1/mandates')) return null
  const url = `${index.base_url}/v1/mandates`
  const note = (mandate: Mandate) => setChanged((before) => [mandate, ...before.filter(({ id }) => id !== mandate.id)])
  const read = async () => {
    const { askSigned } = await import('../../wallet/sign-and-pay.ts')
    return askSigned<{ data: Mandate[] }>(index, wallet, url)
  }
  const revoke = async ({ id }: Mandate) => {
    await attempt(async () => {
      const { askSigned } = await import('../../wallet/sign-and-pay.ts')
      note(await askSigned<Mandate>(index, wallet, `${url}/${id}`, { method: 'DELETE' }))
      announce('The mandate is revoked')
    })
  }
  const list = (data: readonly Mandate[]) => (
    <MandateList mandates={withChanges(data, changed)} wallet={wallet} onRevoke={revoke} />
  )
  return (
    <SignedPanel
      id="mandates"
      title="Mandates"
      wallet={wallet}
      why="Who may spend for you, and for whom you may spend."
      read={read}
      footer={(shown) => (
        <>
          {!shown && changed.length > 0 ? list([]) : null}
          <Problem problem={problem} />
          <MandateForm wallet={wallet} onCreated={note} />
        </>
      )}
    >
      {({ data }) => list(data)}
    </SignedPanel>
  )
}

function withChanges(data: readonly Mandate[], changed: readonly Mandate[]): Mandate[] {
  const known = data.filter(({ id }) => !changed.some((one) => one.id === id))
  return [...changed, ...known].filter(({ state }) => state === 'open' || state === 'unconfirmed')
}

type ListProps = { mandates: readonly Mandate[]; wallet: Wallet; onRevoke: (mandate: Mandate) => void }

function MandateList({ mandates, wallet, onRevoke }: ListProps) {
  if (mandates.length === 0) return <p class="soft">None is open: nobody but you spends your credit.</p>
  return (
    <ul class="switches">
      {mandates.map((mandate) => {
        const own = mandate.owner.toLowerCase() === wallet.address.toLowerCase()
        return (
          <li key={mandate.id}>
            <div>
              <Badge tone={own ? 'gold' : 'calm'}>{own ? 'given to' : 'given by'}</Badge>{' '}
              <Hex value={own ? mandate.delegate : mandate.owner} />
              {mandate.state === 'unconfirmed' ? (
                <Badge tone="bad">not confirmed since a restore: give it again</Badge>
              ) : null}
              <span class="source">
                {usdOfMicro(mandate.drawn_total_micro)} of {usdOfMicro(mandate.cap_total_micro)} drawn, at most{' '}
                {usdOfMicro(mandate.cap_per_call_micro)} a call, for {mandate.routes.join(', ')}, until{' '}
                {timeText(mandate.expires_at)}
              </span>
              <span class="source">
                Named to the node as <Hex value={mandate.id} what="mandate id" />
              </span>
            </div>
            {own ? (
              <button
                type="button"
                class="button small"
                aria-label={`Revoke the mandate of ${mandate.delegate}`}
                onClick={() => onRevoke(mandate)}
              >
                Revoke
              </button>
            ) : null}
          </li>
        )
      })}
    </ul>
  )
}
