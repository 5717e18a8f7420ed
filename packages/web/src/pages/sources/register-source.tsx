import type { Source } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { announce } from '../../app/announce.ts'
import { linkTo } from '../../app/route.ts'
import { useStore } from '../../app/store.ts'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { useAttempt } from '../../node/use-attempt.ts'
import { PageHead, Problem } from '../../ui/parts.tsx'
import { wallet as walletStore } from '../../wallet/wallet-store.ts'
import { ProveDomain } from './prove-domain.tsx'
import { Steps } from './steps.tsx'

/** Register, publish a proof, let it be looked for, sign with the payout wallet. */
export function RegisterSource({ domain: given }: { domain: string | undefined }) {
  const [source, setSource] = useState<Source>()
  return (
    <>
      <PageHead title="Register your site">
        <p class="lead">
          Free. Your site gets a CiteScore, its pages can be found, and nine tenths of each citation go to your wallet.
        </p>
        <p>
          <a href={linkTo('sources')}>All sources</a>
        </p>
      </PageHead>
      <RegisterForm given={given} onRegistered={setSource} />
      {source === undefined ? null : (
        <>
          <ProveDomain key={source.domain} source={source} onChanged={setSource} />
          <Steps source={source} />
        </>
      )}
    </>
  )
}

function RegisterForm({ given, onRegistered }: { given: string | undefined; onRegistered: (source: Source) => void }) {
  const index = useNode()
  const own = useStore(walletStore)?.address ?? ''
  const [domain, setDomain] = useState(given ?? '')
  const [payTo, setPayTo] = useState<string>()
  const [contact, setContact] = useState('')
  const { busy, problem, attempt } = useAttempt()
  const submit = async () => {
    await attempt(async () => {
      const body = {
        domain: domain.trim(),
        wallet: (payTo ?? own).trim(),
        ...(contact.trim() === '' ? {} : { contact: contact.trim() }),
      }
      const answer = await ask<Source>(`${index.api_url}/v1/sources/register`, { body })
      announce(`${answer.body.domain} is registered`)
      onRegistered(answer.body)
    })
  }
  return (
    <form
      class="sheet"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <h2>1. Name it</h2>
      <div class="columns">
        <label class="field">
          <span>Domain</span>
          <input
            required
            value={domain}
            onInput={(event) => setDomain(event.currentTarget.value)}
            placeholder="example.org"
            spellcheck={false}
            autocomplete="off"
          />
        </label>
        <label class="field">
          <span>Wallet that is paid</span>
          <input
            required
            class="mono"
            value={payTo ?? own}
            onInput={(event) => setPayTo(event.currentTarget.value)}
            spellcheck={false}
            autocomplete="off"
          />
        </label>
        <label class="field">
          <span>Contact, if you like</span>
          <input
            value={contact}
            onInput={(event) => setContact(event.currentTarget.value)}
            placeholder="mail@example.org"
            type="email"
          />
        </label>
      </div>
      <div class="row">
        <button type="submit" class="button main" disabled={busy}>
          {busy ? 'Registering…' : 'Register'}
        </button>
        <span class="small soft">Nobody has to prove anything yet.</span>
      </div>
      <Problem problem={problem} />
    </form>
  )
}
