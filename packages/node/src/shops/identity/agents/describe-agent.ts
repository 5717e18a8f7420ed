import { checksumAddress } from '@assay/protocol/address'
import { Problem } from '@assay/till/kernel/problem'
import type { IdentityDeps } from '../deps.ts'
import { didInPath, pkhDid, walletDid } from '../did/parse-did.ts'
import { readDid } from '../did/resolve-did.ts'
import { identityProblems } from '../problems.ts'
import { signRating } from '../rating/sign-rating.ts'
import { noDeclaration } from './declaration.ts'
import { type ReadDeps, readAgent } from './read-agent.ts'
import type { FoundAgent } from './search-agents.ts'
import { type Agent, findAgent } from './store.ts'
import type { AgentAddress } from './subject.ts'

export type NamedAgent = { did: string; named: AgentAddress }

/** The agent in the path. Nodes have DIDs too, but declare nothing here. */
export function agentInPath(deps: Pick<IdentityDeps, 'didMethod'>, path: string): NamedAgent {
  const read = readDid(didInPath(path, '/v1/agents/'), deps.didMethod)
  if (read.status === 'error') throw new Problem(identityProblems.did_invalid, { detail: read.detail })
  const { subject, url } = read
  if (subject.kind !== 'wallet' || url.path !== '' || url.query !== '' || url.fragment !== '')
    throw new Problem(identityProblems.did_invalid, {
      detail: 'It must be the DID of a wallet, without path, query or fragment.',
    })
  const { address, chainId } = subject
  return { did: read.canonical, named: { address, ...(chainId === undefined ? {} : { chainId }) } }
}

export async function requireActive(
  deps: Pick<IdentityDeps, 'database'>,
  named: AgentAddress,
): Promise<Agent | undefined> {
  const agent = await findAgent(deps.database, named)
  checkActive(agent)
  return agent
}

function checkActive(agent: Agent | undefined): void {
  if (agent?.deactivatedAt)
    throw new Problem(identityProblems.agent_deactivated, {
      extra: { deactivated_at: agent.deactivatedAt.toISOString() },
    })
}

/** Everything about one agent; a wallet that declared nothing is an agent all the same. */
export async function describeAgent(
  deps: ReadDeps & Pick<IdentityDeps, 'clock' | 'jws' | 'issuer'>,
  { did, named }: NamedAgent,
) {
  const nowMs = deps.clock.nowMs()
  const { agent, walletStatus, paymentAuthorizations } = await readAgent(deps, named, nowMs)
  checkActive(agent)
  const { name, description, capabilities, services, erc8004 } = agent?.declaration ?? noDeclaration
  return {
    did,
    wallet: checksumAddress(named.address),
    name: name ?? null,
    description: description ?? null,
    version: agent?.version ?? 0,
    capabilities,
    services: services ?? [],
    erc8004: erc8004 ?? null,
    credit_rating: signRating(deps, walletStatus, {
      did,
      wallet: named.address,
      ...(named.chainId === undefined ? {} : { network: `eip155:${named.chainId}` }),
      nowMs,
    }),
    payment_authorizations: paymentAuthorizations,
    declared_at: agent?.declaredAt?.toISOString() ?? null,
  }
}

export type AgentDescription = Awaited<ReturnType<typeof describeAgent>>

/** One line of a list: no rating is computed for it, the last known lower bound is shown. */
export function summaryOf(didMethod: string, { subject, version, score, declaration, updatedAt }: FoundAgent) {
  return {
    did: didOfSubject(didMethod, subject),
    name: declaration.name ?? null,
    version,
    credit_score: score,
    capabilities: declaration.capabilities,
    services: declaration.services ?? [],
    updated_at: updatedAt.toISOString(),
  }
}

function didOfSubject(didMethod: string, subject: string): string {
  const [, chainId, address] = /^(?:eip155:(\d+):)?(0x[0-9a-f]{40})$/.exec(subject) ?? []
  const wallet = address as `0x${string}`
  return chainId === undefined ? walletDid(didMethod, wallet) : pkhDid({ chainId: Number(chainId), address: wallet })
}
