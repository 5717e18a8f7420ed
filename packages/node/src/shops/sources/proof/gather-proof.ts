import { toHex } from '@assay/protocol/bytes'
import { sha256 } from '@assay/till/kernel/bytes'
import { type OutboundOutcome, withTimeLimit } from '../../../outbound/index.ts'
import { originOf, type SourceDeps } from '../deps.ts'
import { decodeText } from '../page/decode-text.ts'
import { readPage } from '../page/read-page.ts'
import { txtName, wellKnownPath } from './instructions.ts'
import { type PublishedClaim, parseFile, parseMeta, parseTxt } from './parse-proof.ts'

/** One way of publishing: what was found there, or why nothing could be. */
export type ProofFinding =
  | {
      status: 'read'
      claims: readonly PublishedClaim[]
      url: string
      sha256: string | undefined
      note: string | undefined
    }
  /** It is certain that nothing valid is there. */
  | { status: 'absent'; url: string; note: string }
  /** The outside failed: this says nothing about who owns what. */
  | { status: 'unreadable'; url: string; note: string }

export type ProofEvidence = {
  checkedAtMs: number
  dns: ProofFinding & { resolvers: readonly string[]; authenticated: boolean }
  file: ProofFinding
  meta: ProofFinding
}

/** One read of DNS, file and home page serves every claim of a domain. */
export async function gatherProof(deps: SourceDeps, domain: string): Promise<ProofEvidence> {
  const [dns, file, meta] = await Promise.all([
    withTimeLimit(deps.clock, deps.settings.crawl.requestMs, undefined, (signal) => readDns(deps, domain, signal)),
    readFile(deps, domain),
    readMeta(deps, domain),
  ])
  return { checkedAtMs: deps.clock.nowMs(), dns, file, meta }
}

async function readDns(deps: SourceDeps, domain: string, signal: AbortSignal): Promise<ProofEvidence['dns']> {
  const name = txtName(domain)
  const answers = await Promise.all(
    deps.resolvers.map(async (resolver) => ({ resolver: resolver.name, answer: await resolver.txt(name, signal) })),
  )
  const heard = answers.flatMap(({ resolver, answer }) => (answer.status === 'ok' ? [{ resolver, answer }] : []))
  const common = {
    url: `dns:${name}?type=TXT`,
    resolvers: heard.map(({ resolver }) => resolver),
    authenticated: heard.length > 0 && heard.every(({ answer }) => answer.authenticated),
  }
  if (heard.length < 2)
    return { status: 'unreadable', ...common, note: 'Fewer than two DNS resolvers answered; try again in a minute.' }
  const lists = heard.map(({ answer }) => answer.records.flatMap((record) => parseTxt(record) ?? []))
  // What only some resolvers see may be an old answer, or a forged one.
  const agreed = (lists[0] ?? []).filter((claim) =>
    lists.every((list) => list.some((other) => sameClaim(claim, other))),
  )
  const anywhere = lists.flat()
  if (agreed.length === 0)
    return {
      status: 'absent',
      ...common,
      note:
        anywhere.length === 0
          ? `No TXT record of version cm1 at ${name}.`
          : `Only some resolvers see the TXT record at ${name} yet; wait for its TTL and verify again.`,
    }
  const text = heard
    .flatMap(({ answer }) => answer.records)
    .sort()
    .join('\n')
  return {
    status: 'read',
    ...common,
    claims: agreed.slice(0, dnsClaimsMax),
    sha256: toHex(sha256(text)),
    note: undefined,
  }
}

// As many as the file may hold.
const dnsClaimsMax = 50

const sameClaim = (one: PublishedClaim, other: PublishedClaim) =>
  one.account === other.account && one.token === other.token && one.pay?.toLowerCase() === other.pay?.toLowerCase()

async function readFile(deps: SourceDeps, domain: string): Promise<ProofFinding> {
  const url = `${originOf(deps.domains, domain)}${wellKnownPath}`
  const answer = await ask(deps, url, ['application/json', 'text/plain', 'application/octet-stream'])
  const missing = notOk(answer, url, domain)
  if (missing || answer.status !== 'ok') return missing ?? { status: 'unreadable', url, note: 'No answer.' }
  const text = decodeText(answer.bytes, answer.headers.get('content-type'))
  const parsed = text === undefined ? { status: 'malformed' as const, detail: 'the file is not text' } : parseFile(text)
  if (parsed.status === 'malformed')
    return { status: 'absent', url, note: `${wellKnownPath} cannot be used: ${parsed.detail}.` }
  if (parsed.domain !== domain)
    return { status: 'absent', url, note: `${wellKnownPath} names another domain, ${parsed.domain.slice(0, 100)}.` }
  return { status: 'read', claims: parsed.claims, url, sha256: toHex(sha256(answer.bytes)), note: undefined }
}

async function readMeta(deps: SourceDeps, domain: string): Promise<ProofFinding> {
  const url = `${originOf(deps.domains, domain)}/`
  const answer = await ask(deps, url, ['text/html', 'application/xhtml+xml'])
  const missing = notOk(answer, url, domain)
  if (missing || answer.status !== 'ok') return missing ?? { status: 'unreadable', url, note: 'No answer.' }
  const page = readPage(answer.bytes, answer.url, answer.headers)
  if ('problem' in page) return { status: 'absent', url, note: `The home page cannot be read: ${page.detail}.` }
  const claims = page.facts.verifications.flatMap((content) => parseMeta(content) ?? [])
  return claims.length === 0
    ? {
        status: 'absent',
        url,
        note: 'The head of the home page, which ends at its first text or element of the body, has no citation-market-verification tag.',
      }
    : { status: 'read', claims, url, sha256: toHex(sha256(answer.bytes)), note: undefined }
}

const ask = (deps: SourceDeps, url: string, accept: readonly string[]) =>
  deps.outbound.fetch(url, {
    maxBytes: 1024 * 1024,
    totalMs: deps.settings.crawl.requestMs,
    redirectsMax: 3,
    accept,
  })

/** File and tag prove the host that served them and no other: a redirect elsewhere proves nothing here. */
function notOk(answer: OutboundOutcome, url: string, domain: string): ProofFinding | undefined {
  if (answer.status === 'refused') return { status: 'absent', url, note: `${url} is not asked: ${answer.detail}.` }
  if (answer.status === 'failed')
    return { status: 'unreadable', url, note: `${url} could not be read: ${answer.detail}.` }
  if (answer.httpStatus >= 500 || answer.httpStatus === 429)
    return { status: 'unreadable', url, note: `${url} answers ${answer.httpStatus}.` }
  if (answer.httpStatus !== 200) return { status: 'absent', url, note: `${url} answers ${answer.httpStatus}.` }
  const host = new URL(answer.url).hostname.replace(/\.$/, '')
  return host === domain
    ? undefined
    : { status: 'absent', url, note: `${url} leads to ${host}, which proves that host and not ${domain}.` }
}
