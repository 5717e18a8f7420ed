import type { Source } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { announce } from '../../app/announce.ts'
import { useStore } from '../../app/store.ts'
import { useNode } from '../../node/context.ts'
import { useAttempt } from '../../node/use-attempt.ts'
import { Badge, CopyButton, Json, Notice, Problem } from '../../ui/parts.tsx'
import { wallet as walletStore } from '../../wallet/wallet-store.ts'
import { stateTone } from './source-state.ts'

type Method = 'dns' | 'file' | 'meta'
const methods: readonly (readonly [Method, string])[] = [
  ['dns', 'DNS record'],
  ['file', 'File'],
  ['meta', 'Tag in the page'],
]

type Props = { source: Source; onChanged: (source: Source) => void }

export function ProveDomain({ source, onChanged }: Props) {
  const index = useNode()
  const wallet = useStore(walletStore)
  const [method, setMethod] = useState<Method>('dns')
  const { busy, problem, attempt } = useAttempt()
  const { claim } = source
  const mine = claim !== null && wallet !== undefined && claim.wallet.toLowerCase() === wallet.address.toLowerCase()
  const check = async () => {
    await attempt(async () => {
      const { verifyOwnSource } = await import('./verify-own-source.ts')
      const changed = await verifyOwnSource(index, mine ? wallet : undefined, source)
      announce(`${source.domain} is ${changed.state}`)
      onChanged(changed)
    })
  }
  if (claim === null)
    return (
      <Notice tone="good">
        <strong>{source.domain} is registered.</strong>
        <p>{source.state_reason}</p>
      </Notice>
    )
  return (
    <section class="sheet" aria-labelledby="prove">
      <header>
        <h2 id="prove">2. Show that it is yours</h2>
        <Badge tone={stateTone(source.state)}>{source.state}</Badge>
      </header>
      <p>Publish one of these, then let the node look for it. Keep it published: it is checked again every week.</p>
      <div class="tabs">
        {methods.map(([name, title]) => (
          <button key={name} type="button" aria-pressed={method === name} onClick={() => setMethod(name)}>
            {title}
          </button>
        ))}
      </div>
      <Instructions method={method} claim={claim} />
      <h2>3. Let it be looked for</h2>
      <p class="small soft">
        {mine
          ? claim.wallet_proven
            ? 'Your wallet has signed already.'
            : 'Your wallet also signs a statement that it is the one to be paid. It moves no money.'
          : 'To sign as the wallet that is paid, choose it on the wallet page; the proof alone can be looked for without it.'}
      </p>
      <div class="row">
        <button type="button" class="button main" disabled={busy} onClick={check}>
          {busy ? 'Looking…' : mine && !claim.wallet_proven ? 'Sign and look now' : 'Look now'}
        </button>
      </div>
      <Problem problem={problem} />
    </section>
  )
}

function Instructions({ method, claim }: { method: Method; claim: NonNullable<Source['claim']> }) {
  const { dns, file, meta } = claim.prove
  if (method === 'dns')
    return (
      <dl class="facts">
        <dt>Record</dt>
        <dd>{dns.record}</dd>
        <dt>Name</dt>
        <dd class="mono">
          {dns.name} <CopyButton text={dns.name} what="name" />
        </dd>
        <dt>Value</dt>
        <dd class="mono">
          {dns.value} <CopyButton text={dns.value} what="value" />
        </dd>
      </dl>
    )
  const text = method === 'file' ? JSON.stringify(file.content, null, 2) : meta.html
  return (
    <div class="stack tight">
      <p>
        {method === 'file' ? 'Serve this as' : 'Put this into the head of'}{' '}
        <code>{method === 'file' ? file.url : meta.url}</code> <CopyButton text={text} what="content" />
      </p>
      <Json value={text} wrap />
    </div>
  )
}
