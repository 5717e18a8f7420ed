import { fromUtf8 } from '@assay/protocol/bytes'
import { useRef, useState } from 'preact/hooks'
import { announce } from '../../app/announce.ts'
import { useNode } from '../../node/context.ts'
import { asProblem, ProblemError } from '../../node/problem.ts'
import { PageHead, Problem } from '../../ui/parts.tsx'
import { VerifiedReport } from './verified-report.tsx'
import type { Verified } from './verify-text.ts'

/** Checks signatures, reports, attestations and receipts here in the browser; nothing is sent anywhere. */
export function VerifyPage() {
  const index = useNode()
  const [text, setText] = useState('')
  const [online, setOnline] = useState(true)
  const [verified, setVerified] = useState<Verified>()
  const [problem, setProblem] = useState<ProblemError>()
  const check = async (given: string) => {
    setVerified(undefined)
    setProblem(undefined)
    try {
      const { verifyText } = await import('./verify-text.ts')
      const found = await verifyText(given, { online, node: index.base_url })
      setVerified(found)
      announce(found.report.ok ? 'It verifies.' : 'It does not verify.')
    } catch (error) {
      setProblem(asProblem(error))
    }
  }
  return (
    <>
      <PageHead title="Verify an answer">
        <p class="lead">
          Evidence saved here or by <code>assay buy --save</code>, reports on tokens, attestations of citations, and
          receipts. The check runs in this browser; the file goes nowhere.
        </p>
      </PageHead>
      <section class="sheet" aria-label="What to verify">
        <DropArea
          onText={(dropped) => {
            setText(dropped)
            check(dropped)
          }}
          onUnreadable={(title) => {
            setVerified(undefined)
            setProblem(new ProblemError({ title, hint: 'Choose the file as it was saved.' }))
          }}
        />
        <label class="field">
          <span>Or paste it</span>
          <textarea
            class="mono"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            spellcheck={false}
            placeholder='{ "format": "assay-evidence", … } or a receipt: eyJ…'
          />
        </label>
        <label class="row small">
          <input type="checkbox" checked={online} onChange={(event) => setOnline(event.currentTarget.checked)} />
          Compare with the keys that this node publishes today
        </label>
        <div class="row">
          <button type="button" class="button main" disabled={text.trim() === ''} onClick={() => check(text)}>
            Verify
          </button>
        </div>
      </section>
      <div aria-live="polite">
        <Problem problem={problem} />
        {verified === undefined ? null : <VerifiedReport verified={verified} />}
      </div>
    </>
  )
}

const bytesMax = 20 * 1024 * 1024

type DropProps = { onText: (text: string) => void; onUnreadable: (title: string) => void }

function DropArea({ onText, onUnreadable }: DropProps) {
  const [over, setOver] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const take = async (file: File | undefined) => {
    if (file === undefined) return
    if (file.size > bytesMax) return onUnreadable('This file is larger than 20 MB: no evidence is.')
    // `file.text()` would replace what it cannot read, and another file would be verified.
    const text = fromUtf8(new Uint8Array(await file.arrayBuffer()))
    if (text === undefined) onUnreadable('This file is not valid UTF-8.')
    else onText(text)
  }
  return (
    <section
      class={over ? 'drop over' : 'drop'}
      aria-label="Drop a file here"
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        take(event.dataTransfer?.files[0])
      }}
    >
      <p>Drop a file here</p>
      <button type="button" class="button small" onClick={() => input.current?.click()}>
        Choose a file
      </button>
      <input
        ref={input}
        type="file"
        class="visually-hidden"
        tabIndex={-1}
        aria-label="File to verify"
        accept=".json,.txt,.jws"
        onChange={(event) => take(event.currentTarget.files?.[0])}
      />
    </section>
  )
}
