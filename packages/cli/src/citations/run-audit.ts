import { auditEpoch, formatUsd, type ReadChainRoot } from '@assay/sdk'
import { createPublicClient, http, parseAbi } from 'viem'
import type { CommandContext } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { freeClient } from '../free-client.ts'
import { printResult } from '../output.ts'

const abi = parseAbi(['function epochs(uint64) view returns (bytes32 root, uint128 pot, uint64 opensAt)'])

const chainAt = (url: string): ReadChainRoot => {
  const client = createPublicClient({ transport: http(url) })
  return async (address, epoch) => {
    const [root, potMicro] = await client.readContract({ address, abi, functionName: 'epochs', args: [epoch] })
    return { root, potMicro }
  }
}

export type AuditOptions = { network: string; distributor?: string; rpc?: string; json?: boolean }

export async function runAudit(
  { terminal, endWith }: CommandContext,
  node: string,
  epoch: bigint,
  options: AuditOptions,
): Promise<void> {
  const { network, rpc, distributor } = options
  const audit = await auditEpoch(freeClient(), node, {
    network,
    epoch,
    ...(distributor === undefined ? {} : { distributor }),
    ...(rpc === undefined ? {} : { chain: chainAt(rpc) }),
  })
  printResult(terminal, options.json, audit, () =>
    [
      `epoch ${audit.epoch} of ${audit.distributor} on ${audit.network}: ${audit.equal ? 'equal' : 'NOT equal'}`,
      `root       ${audit.recomputed}, from ${audit.leaves} leaves and ${audit.entries} entries of the log`,
      `pot        ${formatUsd(BigInt(audit.pot_micro))} USD, claimable from ${audit.opens_at ?? 'its commit on'}`,
      audit.chain_root === null ? 'contract   not asked (--rpc)' : `contract   ${audit.chain_root}`,
      ...(audit.set_off_micro === '0'
        ? []
        : [`set off    ${formatUsd(BigInt(audit.set_off_micro))} USD, by the word of the node`]),
      ...audit.problems.map((problem) => `problem    ${problem}`),
    ].join('\n'),
  )
  if (!audit.equal) endWith(exitCodes.notVerified)
}
