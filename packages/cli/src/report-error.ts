import type { AssayError, AssayErrorCode } from '@assay/sdk'
import { CliError, type ExitCode, exitCodes } from './exit-codes.ts'
import { toJson } from './output.ts'
import type { Terminal } from './terminal.ts'

const { failed, refused, outcomeUnknown, notVerified, usage } = exitCodes

const sdkExitCodes: Record<AssayErrorCode, ExitCode> = {
  host_not_allowed: refused,
  payment_required_malformed: failed,
  resource_mismatch: refused,
  price_above_maximum: refused,
  budget_exhausted: refused,
  not_confirmed: refused,
  no_acceptable_offer: refused,
  terms_moved: refused,
  challenge_refused: refused,
  not_a_demo_node: usage,
  signature_missing: notVerified,
  signature_invalid: notVerified,
  key_not_trusted: notVerified,
  keys_unavailable: failed,
  input_refused: failed,
  request_failed: failed,
  body_too_large: usage,
  answer_too_large: failed,
  payment_not_taken: failed,
  payment_outcome_unknown: outcomeUnknown,
}

/** Where the client's own hint speaks of code, this one speaks of the command line. */
const hints: Partial<Record<AssayErrorCode, string>> = {
  no_acceptable_offer: 'The seller takes other money, or on other networks, than you allow; nothing was signed.',
  price_above_maximum: 'Raise --max-amount if the price is right; nothing was signed.',
  signature_missing: 'Add --allow-unsigned to buy from sellers that do not sign; nothing was signed.',
  signature_invalid: 'Do not trust this answer. If it was paid for, --save keeps what arrived as evidence.',
  keys_unavailable:
    'Try again, or add --allow-unsigned to buy from sellers without published keys; nothing was signed.',
  terms_moved: 'Run the command again to see the new terms; nothing was signed.',
}

/** Whatever was thrown, as one kind of error with something to do about it. */
export function toCliError(error: unknown): CliError {
  if (error instanceof CliError) return error
  const said = isAssayError(error) ? refusedByNode(error) : undefined
  if (said) return said
  if (isAssayError(error))
    return new CliError(sdkExitCodes[error.code], error.code, withCause(error), {
      hint: unreachableHint(error) ?? hints[error.code] ?? finalHint(error) ?? error.hint,
      cause: error,
    })
  const { name, message, problems, details } = (error ?? {}) as Record<string, unknown>
  if (name === 'ConfigError' && Array.isArray(problems))
    return new CliError(usage, 'configuration', String(message), {
      hint: 'docs/configuration.md explains every variable; `assay doctor` checks the whole installation.',
      details: { problems },
    })
  if (name === 'Problem') {
    const { hint } = (details ?? {}) as { hint?: string }
    return new CliError(failed, 'refused_by_node', String(message), hint === undefined ? {} : { hint })
  }
  const text = error instanceof Error ? withCause(error) : String(error)
  const hint = error instanceof Error ? unreachableHint(error) : undefined
  return new CliError(failed, 'failed', text, { cause: error, ...(hint === undefined ? {} : { hint }) })
}

/** What failed for no reason that passes is not worth trying again. */
function finalHint({ code, cause, details }: AssayError): string | undefined {
  const { status, hint } = details as { status?: number; hint?: unknown }
  if (code !== 'request_failed' || typeof hint === 'string') return undefined
  if (status === 404 || status === 405) return 'Is this the address of an Assay node? Nothing was signed.'
  return cause === undefined && !(status !== undefined && status >= 500) ? 'Nothing was signed.' : undefined
}

/** What the node said keeps its code, its hint, and whether it is worth trying again. */
function refusedByNode(error: AssayError): CliError | undefined {
  const { status, problem } = error.details as { status?: number; problem?: Record<string, unknown> }
  if (typeof problem?.['code'] !== 'string') return undefined
  const { code, detail, title, hint, retryable } = problem
  const text = typeof detail === 'string' ? detail : String(title ?? error.message)
  const named = typeof hint === 'string' ? namedLists(problem, hint) : {}
  const lists = Object.entries(named).map(([name, values]) => `\n  ${name}: ${values.join(', ')}`)
  return new CliError(failed, code as string, text, {
    ...(typeof hint === 'string' ? { hint: `${hint}${lists.join('')}` } : {}),
    details: { status, retryable: retryable === true, ...named },
    cause: error,
  })
}

/** "Use one of `feeds`" helps only with the feeds. */
function namedLists(problem: Record<string, unknown>, hint: string): Record<string, string[]> {
  const names = [...hint.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name)
  const isText = (values: unknown): values is string[] =>
    Array.isArray(values) && values.length > 0 && values.every((value) => typeof value === 'string')
  return Object.fromEntries(
    names.flatMap((name) => {
      const values = problem[name]
      return isText(values) ? [[name, values]] : []
    }),
  )
}

// By name: the class would bring the whole client with it, for commands that need none.
function isAssayError(error: unknown): error is AssayError {
  return error instanceof Error && error.name === 'AssayError' && 'code' in error
}

export const unreachableHints: Record<string, string> = {
  ECONNREFUSED:
    'Nothing answers there. Start a node with `npx assay up` in another terminal, or name one with --url or ASSAY_URL. Nothing was signed.',
  ENOTFOUND: 'There is no such host: is the address spelled right? Nothing was signed.',
  EAI_AGAIN: 'The name of the host cannot be looked up: is the network up? Nothing was signed.',
  CERT_HAS_EXPIRED: 'The certificate of the host has run out; its operator must renew it. Nothing was signed.',
}

/** The commonest reason of all: no node is there. */
function unreachableHint(error: Error): string | undefined {
  // After a payment was sent, the hint of the purchase is the one that counts.
  const sent = (error as { details?: { purchase?: unknown; key?: unknown } }).details
  if ((sent?.purchase ?? sent?.key) !== undefined) return undefined
  const { code } = deepestOf(error) as { code?: unknown }
  return typeof code === 'string' ? unreachableHints[code] : undefined
}

function deepestOf(error: Error): Error {
  let deepest = error
  while (deepest.cause instanceof Error) deepest = deepest.cause
  // A name with several addresses fails with all of their reasons.
  const [first] = deepest instanceof AggregateError ? deepest.errors : []
  return first instanceof Error ? first : deepest
}

/** `fetch failed` alone helps nobody: the reason below it does. */
function withCause(error: Error): string {
  const deepest = deepestOf(error)
  const { code, message } = deepest as { code?: unknown; message: string }
  const why = typeof code === 'string' ? code : message
  return deepest === error || error.message.includes(why) ? error.message : `${error.message} (${why})`
}

export function errorDocument(error: CliError): string {
  const { code, message, hint, exitCode, details } = error
  return toJson({ error: { code, message, ...(hint === undefined ? {} : { hint }), exit_code: exitCode, ...details } })
}

export function reportError(terminal: Terminal, json: boolean, error: CliError): void {
  if (json) terminal.out(errorDocument(error))
  terminal.say(`error: ${error.message}`)
  if (error.hint !== undefined) terminal.say(`  ${error.hint}`)
  const after = error.details?.['retry_after_seconds']
  if (after !== undefined) terminal.say(`  Retry-After: ${after} s`)
  // What a node refused can be looked up by its code.
  if (error.details?.['status'] !== undefined) terminal.say(`  code: ${error.code}`)
}
