import { formatAccount, type ProvenAccount } from '@assay/protocol/account'
import { Problem } from '@assay/till/kernel/problem'
import { type CallContext, limitKey, signerOf } from '../../../http/index.ts'
import type { IdentityDeps } from '../deps.ts'
import { identityProblems } from '../problems.ts'
import type { Declaration } from './declaration.ts'
import { type AgentDescription, describeAgent, type NamedAgent } from './describe-agent.ts'
import { appendVersion, deactivate, type Submitter } from './store.ts'
import { subjectOfSigner } from './subject.ts'

async function proveSigner(deps: IdentityDeps, { named }: NamedAgent, call: CallContext) {
  const signer = await signerOf(deps, call)
  return { signer, subject: subjectOfSigner(named, signer) }
}

/** New agents per network address and day, of those that register themselves. */
const newPerAddressAndDay = 64
export const submitterOf = ({ remoteAddress }: Pick<CallContext, 'remoteAddress'>): Submitter => ({
  name: limitKey(remoteAddress),
  newPerDay: newPerAddressAndDay,
})

export type Declared = Declaration & { expected_version?: number | undefined }

/** The wallet itself signed this request, so it is the wallet that speaks. Returns the agent as this version made it. */
export async function declareCapabilities(
  deps: IdentityDeps,
  agent: NamedAgent,
  declared: Declared,
  call: CallContext,
): Promise<AgentDescription> {
  const { signer, subject } = await proveSigner(deps, agent, call)
  const { expected_version: expectedVersion, ...declaration } = declared
  await checkRegistration(deps, signer, declaration)
  return deps.database.transaction(async (tx) => {
    await appendVersion(tx, {
      subject,
      wallet: signer.address,
      submittedBy: submitterOf(call),
      signer: formatAccount(signer),
      declaration,
      expectedVersion,
      nowMs: deps.clock.nowMs(),
    })
    // Read before others may add theirs: the answer is about what was declared here.
    return describeAgent({ ...deps, database: tx }, agent)
  })
}

export async function deactivateAgent(deps: IdentityDeps, agent: NamedAgent, call: CallContext): Promise<void> {
  const { signer, subject } = await proveSigner(deps, agent, call)
  await deps.database.transaction((tx) =>
    deactivate(tx, { subject, wallet: signer.address, submittedBy: submitterOf(call), nowMs: deps.clock.nowMs() }),
  )
}

export async function checkRegistration(
  deps: Pick<IdentityDeps, 'registries'>,
  signer: ProvenAccount,
  { erc8004 }: Declaration,
): Promise<void> {
  if (erc8004 === undefined) return
  const wallet = await deps.registries.walletOf(erc8004.network, erc8004.agent_id)
  if (wallet === 'unknown')
    throw new Problem('upstream_unavailable', { detail: 'The registry could not be read.', retryAfterSeconds: 5 })
  if (wallet !== signer.address)
    throw new Problem(identityProblems.registration_unproven, {
      detail:
        wallet === undefined
          ? `${erc8004.network} has no such agent in a registry this node knows.`
          : `The registry names another wallet for agent ${erc8004.agent_id}.`,
    })
}
