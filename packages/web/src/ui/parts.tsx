import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ProblemError } from '../node/problem.ts'
import type { Loading } from '../node/use-answer.ts'
import { ageText, centsOfMicro, shortHex, timeText, usdOfMicro } from './format.ts'
import { CopyIcon, DoneIcon } from './icons.tsx'

export type Tone = 'good' | 'bad' | 'warn' | 'calm' | 'gold' | 'plain'

export function Badge({
  tone = 'plain',
  title,
  children,
}: {
  tone?: Tone
  title?: string
  children: ComponentChildren
}) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  )
}

/** Nothing invented is presented as real: shown wherever the answer says so itself. */
export function Synthetic({ of }: { of: unknown }) {
  return of === true ? (
    <span class="badge synthetic" title="Made-up demo data, marked synthetic by the node itself">
      synthetic
    </span>
  ) : null
}

function useCopied(): [boolean, (text: string) => void] {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [copied])
  return [copied, (text) => navigator.clipboard?.writeText(text).then(() => setCopied(true))]
}

/** A button with words, for a text worth taking along. */
export function CopyText({ text, what }: { text: string; what: string }) {
  const [copied, copy] = useCopied()
  return (
    <button type="button" class="button small" onClick={() => copy(text)}>
      {copied ? 'Copied' : what}
    </button>
  )
}

export function CopyButton({ text, what }: { text: string; what: string }) {
  const [copied, copy] = useCopied()
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={copied ? `${what} copied` : `Copy ${what}`}
      onClick={() => copy(text)}
    >
      {copied ? <DoneIcon /> : <CopyIcon />}
    </button>
  )
}

type HexProps = { value: string; what?: string; whole?: boolean; href?: string | undefined }

/** With `href` it leads to a page about it elsewhere. */
export function Hex({ value, what = 'address', whole = false, href }: HexProps) {
  const text = whole ? value : shortHex(value)
  return (
    <span class="hex" title={value}>
      {href === undefined ? (
        <span>{text}</span>
      ) : (
        <a href={href} target="_blank" rel="noopener noreferrer">
          {text}
        </a>
      )}
      <CopyButton text={value} what={what} />
    </span>
  )
}

/** Rounded to cents for people; the exact figure on hover and for screen readers that ask for it. */
export function Money({ micro }: { micro: string }) {
  const exact = usdOfMicro(micro)
  const shown = centsOfMicro(micro)
  // Less than a cent would be shown as nothing.
  const rounds = shown !== exact && Math.abs(Number(micro)) >= 10_000
  return <span title={exact}>{rounds ? shown : exact}</span>
}

export function Age({ at, prefix = '' }: { at: string; prefix?: string }) {
  return (
    <time dateTime={at} title={timeText(at)}>
      {prefix}
      {ageText(at, Date.now())}
    </time>
  )
}

export function Notice({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }) {
  return <div class={`notice ${tone}`}>{children}</div>
}

/** Beside a button that is disabled for that reason. */
export function NotSold({ why }: { why: string | undefined }) {
  return why === undefined ? null : <p class="small soft">Not sold now: {why}.</p>
}

/** An honest error: what the node said, what to do, and how to name it when asking for help. */
export function Problem({ problem, again }: { problem: ProblemError | undefined; again?: () => void }) {
  if (problem === undefined) return null
  return (
    <div class="notice bad" role="alert">
      <strong>{problem.message}</strong>
      {problem.hint === '' ? null : <p>{problem.hint}</p>}
      <p class="small soft">
        {problem.status > 0 ? `Status ${problem.status}` : null}
        {problem.code === '' ? null : (
          <>
            {' · '}
            <a href={`/errors/${problem.code}`}>{problem.code}</a>
          </>
        )}
        {problem.requestId === undefined ? null : ` · request ${problem.requestId}`}
      </p>
      {again === undefined || !problem.retryable ? null : (
        <div>
          <button type="button" class="button small" onClick={again}>
            Try again
          </button>
        </div>
      )}
    </div>
  )
}

export function Waiting({ what }: { what: string }) {
  return (
    <div class="waiting" role="status">
      <span class="visually-hidden">{what}</span>
    </div>
  )
}

/** Waiting, failed or done, in the same place so that nothing jumps more than it must. */
export function Await<T>(props: {
  of: Loading<T>
  what: string
  again?: () => void
  idle?: ComponentChildren
  children: (value: T) => ComponentChildren
}) {
  const { of, what, again, idle = null, children } = props
  if (of.state === 'idle') return <>{idle}</>
  if (of.state === 'waiting') return <Waiting what={what} />
  if (of.state === 'failed') return <Problem problem={of.problem} {...(again === undefined ? {} : { again })} />
  return <>{children(of.value)}</>
}

// The page that was opened first leaves the focus where the browser put it: the skip link comes first then.
let isFirstPage = true

export function PageHead({ title, children }: { title: string; children?: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = title === 'Assay' ? title : `${title} · Assay`
    if (!isFirstPage) heading.current?.focus({ preventScroll: true })
    isFirstPage = false
  }, [title])
  return (
    <header class="page-head">
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </header>
  )
}

/** A wide thing that scrolls by itself, reachable by keyboard. */
export function Scroll({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="scroll" aria-label={label} tabIndex={0}>
      {children}
    </section>
  )
}

type Titles = readonly string[]
type HeadsProps = { titles: Titles; right?: Titles; wide?: Titles; hidden?: Titles }

/** Heads of the columns: those of numbers at the right, `wide` ones not on a phone, `hidden` ones for screen readers. */
export function Heads({ titles, right = [], wide = [], hidden = [] }: HeadsProps) {
  return (
    <thead>
      <tr>
        {titles.map((title) => (
          <th
            key={title}
            scope="col"
            class={right.includes(title) ? 'right' : wide.includes(title) ? 'hide-narrow' : undefined}
          >
            {hidden.includes(title) ? <span class="visually-hidden">{title}</span> : title}
          </th>
        ))}
      </tr>
    </thead>
  )
}

export function Json({ value, wrap = false }: { value: unknown; wrap?: boolean }) {
  return (
    <pre class={wrap ? 'json wrap' : 'json'}>{typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>
  )
}

export function saveFile(name: string, content: BlobPart, type = 'application/json'): void {
  const url = URL.createObjectURL(new Blob([content], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
