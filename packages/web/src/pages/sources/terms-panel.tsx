import type { Source, SourceRules, SourceTerms } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { announce } from '../../app/announce.ts'
import { useStore } from '../../app/store.ts'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { useAttempt } from '../../node/use-attempt.ts'
import { usdOfMicro } from '../../ui/format.ts'
import { Age, Await, CopyButton, Heads, Hex, Problem, Scroll } from '../../ui/parts.tsx'
import { wallet as walletStore } from '../../wallet/wallet-store.ts'

/** What the creator allows and asks for; its own wallet may change it. */
export function TermsPanel({ source }: { source: Source }) {
  const index = useNode()
  const wallet = useStore(walletStore)
  const url = `${index.api_url}/v1/sources/${encodeURIComponent(source.domain)}/terms`
  const [terms, again] = useAnswer(`terms ${source.domain}`, (signal) => ask<SourceTerms>(url, { signal }))
  const { problem, attempt } = useAttempt()
  const mine = source.state === 'proven' && source.payout.wallet?.toLowerCase() === wallet?.address.toLowerCase()
  const replace = async (path: string, { rules }: SourceTerms, added: SourceRules) => {
    if (wallet === undefined) return
    await attempt(async () => {
      const { setOwnTerms } = await import('./set-own-terms.ts')
      await setOwnTerms(index, wallet, url, { kept: rules.filter((rule) => rule.path !== path), added })
      announce('The terms are set')
      again()
    })
  }
  return (
    <section class="sheet" aria-labelledby="terms">
      <h2 id="terms">What its creator allows</h2>
      <Await of={terms} what="Reading the terms" again={again}>
        {({ body }) => (
          <div class="stack">
            {body.rules.length === 0 ? (
              <p class="soft">No rule is set here: what the site itself says decides.</p>
            ) : (
              <RuleTable terms={body} onRemove={mine ? (path) => replace(path, body, []) : undefined} />
            )}
            {mine ? <RuleForm onSet={(rule) => replace(rule.path, body, [rule])} /> : null}
          </div>
        )}
      </Await>
      <Problem problem={problem} />
    </section>
  )
}

function RuleTable({ terms, onRemove }: { terms: SourceTerms; onRemove: ((path: string) => void) | undefined }) {
  const [newest] = terms.history
  return (
    <>
      <Scroll label="Rules by path">
        <table>
          <Heads
            titles={['Path', 'Found', 'Quoted', 'Stamp', 'Whole text', ...(onRemove ? ['Change'] : [])]}
            right={['Stamp', 'Whole text']}
          />
          <tbody>
            {terms.rules.map((rule) => (
              <tr key={rule.path}>
                <th scope="row" class="mono">
                  {rule.path}
                </th>
                <td>{rule.crawl ? 'yes' : 'no'}</td>
                <td>{rule.snippet ? 'yes' : 'no'}</td>
                <td class="right">{rule.attest ? usdOfMicro(rule.attest_micro) : 'no'}</td>
                <td class="right">{rule.content_micro === null ? 'no' : usdOfMicro(rule.content_micro)}</td>
                {onRemove ? (
                  <td>
                    <button type="button" class="button small" onClick={() => onRemove(rule.path)}>
                      Remove
                    </button>
                  </td>
                ) : null}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {newest === undefined ? null : (
        <p class="small soft">
          Set <Age at={newest.set_at} /> by <Hex value={newest.set_by} />. Put <code>{terms.robots_line}</code> into
          your robots.txt so that others read it too. <CopyButton text={terms.robots_line} what="line" />
        </p>
      )}
    </>
  )
}

function RuleForm({ onSet }: { onSet: (rule: SourceRules[number]) => void }) {
  const [path, setPath] = useState('/')
  const [allows, setAllows] = useState('snippet')
  const [attest, setAttest] = useState('0.005')
  const [content, setContent] = useState('')
  const crawl = allows !== 'nothing'
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        onSet({
          path: path.trim(),
          crawl,
          snippet: allows === 'snippet',
          attest: crawl && attest.trim() !== '',
          ...(crawl && attest.trim() !== '' ? { attest_usd: attest.trim() } : {}),
          ...(allows === 'snippet' && content.trim() !== '' ? { content: true, content_usd: content.trim() } : {}),
        })
      }}
    >
      <div class="columns thirds">
        <label class="field">
          <span>Path</span>
          <input
            class="mono"
            required
            pattern="/.*"
            value={path}
            onInput={(event) => setPath(event.currentTarget.value)}
          />
        </label>
        <label class="field">
          <span>Allowed</span>
          <select value={allows} onChange={(event) => setAllows(event.currentTarget.value)}>
            <option value="snippet">Find and quote</option>
            <option value="link">Find, without a passage</option>
            <option value="nothing">Nothing: do not read it</option>
          </select>
        </label>
        <label class="field">
          <span>Price of a stamp in USD, empty for none</span>
          <input inputMode="decimal" value={attest} onInput={(event) => setAttest(event.currentTarget.value)} />
        </label>
        <label class="field">
          <span>Price of a whole text in USD, empty: not sold</span>
          <input inputMode="decimal" value={content} onInput={(event) => setContent(event.currentTarget.value)} />
        </label>
      </div>
      <div class="row">
        <button type="submit" class="button main">
          Sign and set
        </button>
      </div>
    </form>
  )
}
