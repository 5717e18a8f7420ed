import type { CommandContext } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { explainMissing } from '../load-node.ts'
import type { Operator } from '../operator/connect.ts'
import { printResult } from '../output.ts'

const loadAttestations = () => import('@assay/node/shops/attestations').catch(explainMissing)

const isAddress = (text: string): text is `0x${string}` => /^0x[0-9a-fA-F]{40}$/.test(text)

export async function listDistributors(
  { terminal }: CommandContext,
  { database }: Operator,
  { json }: { json?: boolean },
): Promise<void> {
  const { readDistributors } = await loadAttestations()
  const known = await readDistributors(database)
  const seen = new Set<string>()
  const data = known.map((one) => {
    const isCurrent = one.acceptedAt !== null && !seen.has(one.network)
    seen.add(one.network)
    return {
      network: one.network,
      contract: one.contract,
      state: one.acceptedAt === null ? 'wanted' : isCurrent ? 'current' : 'earlier',
      treasurer: one.treasurer,
      mover: one.mover,
      claim_delay_seconds: String(one.claimDelaySeconds),
      move_delay_seconds: String(one.moveDelaySeconds),
      accepted_at: one.acceptedAt?.toISOString() ?? null,
    }
  })
  printResult(terminal, json, { data }, () =>
    data.length === 0
      ? 'No distributor has been used yet.'
      : data
          .map(
            (one) =>
              `${one.network}  ${one.state.padEnd(7)}  ${one.contract}\n` +
              `  custody ${one.treasurer}, mover ${one.mover}, pays after ${one.claim_delay_seconds} s, moves after ${one.move_delay_seconds} s`,
          )
          .join('\n'),
  )
}

export async function acceptDistributor(
  { terminal }: CommandContext,
  { database, actor }: Operator,
  contract: string,
  { network, reason, json }: { network: string; reason: string; json?: boolean },
): Promise<void> {
  if (!isAddress(contract)) throw usageError(`not the address of a contract: ${contract}`)
  if (reason.trim() === '') throw usageError('--reason must say something')
  const wanted = { network, contract: contract.toLowerCase() as `0x${string}` }
  const shop = await loadAttestations()
  const isKnown = (await shop.readDistributors(database)).some(
    (one) => one.network === network && one.contract === wanted.contract,
  )
  if (!isKnown) throw usageError(`no process of this node has asked for ${contract} on ${network}`)
  const changed = await shop.acceptDistributor(database, wanted, { actor, reason })
  printResult(terminal, json, { changed: changed !== undefined, ...changed }, () =>
    changed
      ? `New roots go to ${changed.after}. ${changed.before} pays what it holds, for ever.`
      : 'New roots go to this contract already; nothing changed.',
  )
}
