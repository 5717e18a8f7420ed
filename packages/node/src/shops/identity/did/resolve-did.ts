import { type Declaration, noDeclaration } from '../agents/declaration.ts'
import { readAgent } from '../agents/read-agent.ts'
import { findAgent, findVersion } from '../agents/store.ts'
import type { AgentAddress } from '../agents/subject.ts'
import type { IdentityDeps } from '../deps.ts'
import { signRating } from '../rating/sign-rating.ts'
import { type DidFailure, didFailure } from './did-error.ts'
import { type ParsedDid, parseDid, pkhDid, walletDid } from './parse-did.ts'
import { walletDocument } from './wallet-document.ts'
import { webDocument } from './web-document.ts'

export type ResolutionOptions = { versionId?: string | undefined; versionTime?: string | undefined }

export type Resolution =
  | { status: 'ok'; document: Record<string, unknown>; metadata: Record<string, unknown> }
  | { status: 'deactivated'; metadata: Record<string, unknown> }
  | DidFailure

export type ReadDid = Extract<ParsedDid, { status: 'ok' }>

/** A DID that can be resolved, or what the specification calls the fault. */
export function readDid(text: string, ownMethod: string): ReadDid | DidFailure {
  const parsed = parseDid(text, ownMethod)
  if (parsed.status === 'ok') return parsed
  return didFailure(parsed.status === 'invalid' ? 'INVALID_DID' : 'METHOD_NOT_SUPPORTED', parsed.detail)
}

/** Every well-formed wallet DID resolves, seen or not. */
export async function resolveDid(
  deps: IdentityDeps,
  read: ReadDid,
  options: ResolutionOptions = {},
): Promise<Resolution> {
  const { subject } = read
  if (subject.kind === 'web') return resolveWeb(deps, read, options)
  const named = {
    address: subject.address,
    ...(subject.chainId === undefined ? {} : { chainId: subject.chainId }),
  }
  const past = readVersionOptions(options)
  if (past === 'invalid')
    return didFailure('INVALID_OPTIONS', 'versionId is a number and versionTime an RFC 3339 time.')
  if (past !== undefined) return resolvePast(deps, read, named, past)
  const nowMs = deps.clock.nowMs()
  const { agent, walletStatus, paymentAuthorizations } = await readAgent(deps, named, nowMs)
  if (agent?.deactivatedAt) return deactivated(agent.deactivatedAt)
  const creditRating = signRating(deps, walletStatus, {
    did: read.canonical,
    wallet: named.address,
    ...(named.chainId === undefined ? {} : { network: `eip155:${named.chainId}` }),
    nowMs,
  })
  const registration = await confirmRegistration(deps, named, agent?.declaration.erc8004)
  return {
    status: 'ok',
    document: documentOf(deps, read, named, agent?.declaration ?? noDeclaration, {
      registration,
      live: { creditRating, paymentAuthorizations },
    }),
    metadata: {
      ...identifiers(deps, read, named),
      ...(agent === undefined ? {} : { created: timeOf(agent.createdAt) }),
      ...(agent?.declaredAt ? { updated: timeOf(agent.declaredAt) } : {}),
      versionId: String(agent?.version ?? 0),
    },
  }
}

const deactivated = (at: Date): Resolution => ({
  status: 'deactivated',
  metadata: { deactivated: true, updated: timeOf(at) },
})

type Past = { version: number } | { atMs: number }

/** What the wallet had declared then. Ratings and authorizations are of now, so they are left out. */
async function resolvePast(deps: IdentityDeps, read: ReadDid, named: AgentAddress, past: Past): Promise<Resolution> {
  const agent = await findAgent(deps.database, named)
  if (agent?.deactivatedAt) return deactivated(agent.deactivatedAt)
  const version = agent && (await findVersion(deps.database, agent.subject, past))
  if (!agent || !version) return didFailure('NOT_FOUND', 'This DID has no such version here.')
  const metadata = {
    ...identifiers(deps, read, named),
    created: timeOf(agent.createdAt),
    updated: timeOf(version.declaredAt),
    versionId: String(version.version),
    ...(version.next === undefined
      ? {}
      : { nextVersionId: String(version.next.version), nextUpdate: timeOf(version.next.at) }),
  }
  return { status: 'ok', document: documentOf(deps, read, named, version.declaration), metadata }
}

type LiveParts = Pick<Parameters<typeof walletDocument>[0], 'registration' | 'live'>

function documentOf(
  deps: IdentityDeps,
  read: ReadDid,
  named: AgentAddress,
  declaration: Declaration,
  parts: LiveParts = {},
): Record<string, unknown> {
  const { didMethod, chainIds } = deps
  return walletDocument({ did: read.did, named, didMethod, chainIds, declaration, ...parts })
}

/** The registry is asked now, for a transfer takes the wallet off it; what it does not confirm is not shown. */
async function confirmRegistration(
  deps: IdentityDeps,
  named: AgentAddress,
  claimed: Declaration['erc8004'],
): Promise<LiveParts['registration']> {
  if (claimed === undefined) return undefined
  const registry = await deps.registries.registryOn(claimed.network)
  if (registry === undefined) return undefined
  const wallet = await deps.registries.walletOf(claimed.network, claimed.agent_id)
  return wallet === named.address ? { registry, agentId: claimed.agent_id } : undefined
}

async function resolveWeb(deps: IdentityDeps, read: ReadDid, options: ResolutionOptions): Promise<Resolution> {
  if (options.versionId !== undefined || options.versionTime !== undefined)
    return didFailure('FEATURE_NOT_SUPPORTED', 'Earlier versions of did:web documents are not kept.')
  const found = await webDocument(deps, read.canonical)
  if (found === undefined)
    return didFailure('NOT_FOUND', 'This node knows its own did:web and those of the mesh nodes it has verified.')
  const metadata = found.updatedAtMs === undefined ? {} : { updated: timeOf(new Date(found.updatedAtMs)) }
  return { status: 'ok', document: renamed(found.document, read.canonical, read.did), metadata }
}

/** A document under the very text that was asked for, in every id of it: a port may be written %3a or %3A. */
function renamed(document: Record<string, unknown>, from: string, to: string): Record<string, unknown> {
  const change = (value: unknown): unknown => {
    if (typeof value === 'string')
      return value === from || value.startsWith(`${from}#`) ? to + value.slice(from.length) : value
    if (Array.isArray(value)) return value.map(change)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(inner)]))
  }
  return change(document) as Record<string, unknown>
}

function identifiers(deps: IdentityDeps, read: ReadDid, named: AgentAddress): Record<string, unknown> {
  const canonical =
    named.chainId === undefined
      ? walletDid(deps.didMethod, named.address)
      : pkhDid({ chainId: named.chainId, address: named.address })
  return { canonicalId: canonical, ...(canonical === read.did ? {} : { equivalentId: [canonical] }) }
}

function readVersionOptions(options: ResolutionOptions): Past | undefined | 'invalid' {
  const { versionId, versionTime } = options
  if (versionId !== undefined && versionTime !== undefined) return 'invalid'
  if (versionId !== undefined) return /^[1-9]\d{0,8}$/.test(versionId) ? { version: Number(versionId) } : 'invalid'
  if (versionTime === undefined) return undefined
  const atMs = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(versionTime) ? Date.parse(versionTime) : Number.NaN
  return Number.isNaN(atMs) ? 'invalid' : { atMs }
}

/** XML datetime in UTC without fractions, as did-core wants it. */
const timeOf = (time: Date) => time.toISOString().replace(/\.\d+Z$/, 'Z')
