import type { CommandContext } from '../command-context.ts'
import { CliError, exitCodes, usageError } from '../exit-codes.ts'
import { explainMissing } from '../load-node.ts'
import type { Operator } from '../operator/connect.ts'
import { printResult } from '../output.ts'

const loadSources = () => import('@assay/node/shops/sources').catch(explainMissing)

type Dispute = Awaited<ReturnType<Awaited<ReturnType<typeof loadSources>>['listDisputes']>>[number]

const documentOf = (dispute: Dispute) => ({
  id: dispute.id,
  domain: dispute.domain,
  kind: dispute.kind,
  state: dispute.state,
  statement: dispute.statement,
  evidence_url: dispute.evidence_url,
  contact: dispute.contact,
  outcome: dispute.outcome,
  opened_at: dispute.opened_at.toISOString(),
  notice_until: dispute.notice_until?.toISOString() ?? null,
  closed_at: dispute.closed_at?.toISOString() ?? null,
})

// Strangers wrote it: what would steer a terminal is shown as what it is.
const plain = (text: string) => text.replace(/[^\P{C}\n]/gu, '\ufffd').replaceAll('\n', '\n    ')

export async function listAll(
  { terminal }: CommandContext,
  { database }: Operator,
  options: { state?: string; domain?: string; json?: boolean },
): Promise<void> {
  const { disputeStates, listDisputes } = await loadSources()
  const state = disputeStates.find((one) => one === options.state)
  if (options.state !== undefined && state === undefined)
    throw usageError(`--state: one of ${disputeStates.join(', ')}`)
  const disputes = await listDisputes(database, { state, domain: options.domain })
  printResult(terminal, options.json, { data: disputes.map(documentOf) }, () =>
    disputes.length === 0
      ? 'no contest waits'
      : disputes
          .map((dispute) =>
            [
              `${dispute.id}  ${dispute.state}  ${dispute.kind}  ${dispute.domain}  ${dispute.opened_at.toISOString()}`,
              `    ${plain(dispute.statement)}`,
              ...(dispute.evidence_url === null ? [] : [`    evidence  ${plain(dispute.evidence_url)}`]),
              ...(dispute.contact === null ? [] : [`    contact   ${plain(dispute.contact)}`]),
              ...(dispute.notice_until === null
                ? []
                : [`    decided by proof on ${dispute.notice_until.toISOString()}`]),
              ...(dispute.outcome === null ? [] : [`    outcome   ${plain(dispute.outcome)}`]),
            ].join('\n'),
          )
          .join('\n'),
  )
}

export async function decide(
  { terminal }: CommandContext,
  { database, actor }: Operator,
  id: string,
  text: string,
  options: { reason: string; json?: boolean },
): Promise<void> {
  const decision = (['pending', 'upheld', 'rejected'] as const).find((one) => one === text)
  if (decision === undefined) throw usageError('the decision is pending, upheld or rejected')
  const { decideDispute } = await loadSources()
  const outcome = await decideDispute(database, { id, decision, reason: options.reason, actor })
  if (outcome.status === 'impossible') throw new CliError(exitCodes.refused, 'impossible', outcome.detail)
  printResult(
    terminal,
    options.json,
    documentOf(outcome.dispute),
    () => `${id} is ${decision}; the score of ${outcome.dispute.domain} follows within seconds`,
  )
}

export async function changeState(
  { terminal }: CommandContext,
  { database, actor }: Operator,
  verb: 'ban' | 'unban',
  domain: string,
  options: { reason: string; json?: boolean },
): Promise<void> {
  const { admitSource, refuseSource } = await loadSources()
  const change = verb === 'ban' ? refuseSource : admitSource
  const state = await change(database, { domain, reason: options.reason, actor })
  if (state === undefined)
    throw new CliError(exitCodes.failed, 'source_unknown', `${domain} is not registered here`, {
      hint: 'Only a domain that is known to this node can be banned; is it spelled right?',
    })
  printResult(terminal, options.json, { domain, state }, () => `${domain} is ${state}`)
}
