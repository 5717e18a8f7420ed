import { toHex } from '@assay/protocol/bytes'
import type { CitationAttestation } from '@assay/protocol/evidence/attestation-file'
import { verifyAttestation } from '@assay/protocol/evidence/verify-attestation'
import { accountOf, payoutTree } from '@assay/protocol/payout-tree'
import type { Address, Hex } from 'viem'
import { type AnswerOf, ask } from '../call-operation.ts'
import type { AssayClient } from '../client.ts'
import { readJson } from '../read-json.ts'
import { readCreator } from './cite.ts'

type Leaf = AnswerOf<'creators.epoch'>['leaves'][number] & { account: Hex; wallet: Address }

export type EpochAudit = {
  /** The leaves are the root, every one is a sum of entries of the log, and the chain has the same. */
  equal: boolean
  network: string
  distributor: string
  epoch: string
  root: string
  recomputed: string
  /** As the contract says; null when no endpoint was given. */
  chain_root: string | null
  pot_micro: string
  opens_at: string | null
  leaves: number
  entries: number
  /** Shares of payments that were reversed: the log keeps the entry, so only the node says that they were. */
  set_off_micro: string
  problems: string[]
}

/** Each distributor counts its epochs from 1; the current one where none is named. */
type EpochReference = { network: string; epoch: bigint; distributor?: string }

/** Reads the root of an epoch from the contract; see `chainRoot`. */
export type ReadChainRoot = (contract: Address, epoch: bigint) => Promise<{ root: Hex; potMicro: bigint }>

/**
 * Compares what an epoch pays to creators with the log: each entry is fetched with its proof and checked, the shares of a
 * leaf are summed, and the root is computed again.
 */
export async function auditEpoch(
  client: AssayClient,
  node: string,
  given: EpochReference & { chain?: ReadChainRoot },
): Promise<EpochAudit> {
  const { page, leaves } = await readEpoch(client, node, given)
  const problems: string[] = []
  const place = {
    chainId: Number(given.network.split(':')[1] ?? 0),
    contract: page.distributor as Address,
    epoch: given.epoch,
  }
  const recomputed = toHex(
    payoutTree(
      place,
      leaves.map(({ account, wallet, micro }) => ({ account, wallet, micro: BigInt(micro) })),
    ).root,
  )
  if (recomputed !== page.root) problems.push(`the leaves give the root ${recomputed}, the node names ${page.root}`)
  const pot = sum(leaves.map(({ micro }) => micro))
  if (pot !== BigInt(page.pot_micro)) problems.push(`the leaves are worth ${pot}, the pot is ${page.pot_micro}`)
  const setOff = checkSums(leaves, problems)
  const entries = await checkEntries(client, node, given.network, leaves, problems)
  const onChain = await given.chain?.(place.contract, given.epoch)
  if (onChain && onChain.root !== recomputed) problems.push(`the contract has the root ${onChain.root}`)
  if (onChain && onChain.potMicro !== pot) problems.push(`the contract has a pot of ${onChain.potMicro}`)
  return {
    equal: problems.length === 0,
    network: page.network,
    distributor: page.distributor,
    epoch: page.epoch,
    root: page.root,
    recomputed,
    chain_root: onChain?.root ?? null,
    pot_micro: page.pot_micro,
    opens_at: page.opens_at,
    leaves: leaves.length,
    entries,
    set_off_micro: String(setOff),
    problems,
  }
}

async function readEpoch(client: AssayClient, node: string, { network, epoch, distributor }: EpochReference) {
  const leaves: Leaf[] = []
  const params = { network, epoch: String(epoch) }
  for (let from = 0; ; ) {
    const query = { from, ...(distributor === undefined ? {} : { distributor }) }
    const page = await ask(client, node, 'creators.epoch', { params, query })
    leaves.push(...(page.leaves as Leaf[]))
    if (page.next === null) return { page, leaves }
    from = page.next
  }
}

const sum = (micros: readonly string[]) => micros.reduce((total, micro) => total + BigInt(micro), 0n)

/** Each wallet gets what its entries say, less what was reversed, and no domain gets more than it earned. */
function checkSums(leaves: readonly Leaf[], problems: string[]): bigint {
  let setOff = 0n
  const byWallet = new Map<string, Leaf[]>()
  for (const leaf of leaves) byWallet.set(leaf.wallet, [...(byWallet.get(leaf.wallet) ?? []), leaf])
  for (const [wallet, own] of byWallet) {
    const taken = -sum((own[0] as Leaf).set_off.map(({ micro }) => micro))
    setOff += taken
    const earned = sum(own.flatMap(({ shares }) => shares.map(({ micro }) => micro)))
    const allotted = sum(own.map(({ micro }) => micro))
    if (allotted < earned - taken || allotted > earned)
      problems.push(`${wallet} is allotted ${allotted}; its entries say ${earned}, less ${taken} that was reversed`)
  }
  for (const { domain, account, micro, shares } of leaves) {
    if (domain !== null && accountOf(domain) !== account) problems.push(`${account} is not ${domain}`)
    if (BigInt(micro) > sum(shares.map((share) => share.micro)))
      problems.push(`${domain} is allotted ${micro}, more than its entries say`)
  }
  return setOff
}

async function checkEntries(
  client: AssayClient,
  node: string,
  network: string,
  leaves: readonly Leaf[],
  problems: string[],
): Promise<number> {
  const paid = new Map<string, bigint>()
  const files = new Map<string, CitationAttestation>()
  for (const leaf of leaves)
    for (const share of leaf.shares) {
      const file = files.get(share.id) ?? (await readEntry(client, node, share.id))
      if (!files.has(share.id)) {
        files.set(share.id, file)
        const failed = (await verifyAttestation(file)).checks.find(({ status }) => status === 'failed')
        if (failed) problems.push(`${share.id}: ${failed.name}: ${failed.detail}`)
        if (file.log.state !== 'logged') problems.push(`${share.id} is not in the log`)
        if (file.record['network'] !== network) problems.push(`${share.id} was paid on another chain`)
      }
      paid.set(share.id, (paid.get(share.id) ?? 0n) + BigInt(share.micro))
      if (!(await namesWallet(client, node, file, leaf)))
        problems.push(`${share.id} names another wallet than ${leaf.wallet}, and no move says why`)
    }
  for (const [id, micro] of paid) {
    const said = BigInt(String(files.get(id)?.record['creator_micro'] ?? 0))
    if (micro > said) problems.push(`${id} gives its creators ${said}, the epoch pays ${micro} for it`)
  }
  return files.size
}

async function readEntry(client: AssayClient, node: string, id: string): Promise<CitationAttestation> {
  const path = id.startsWith('roy_') ? '/v1/royalties/' : '/v1/attestations/'
  return readJson<CitationAttestation>(await client.fetch(new URL(path + encodeURIComponent(id), node).href))
}

/** A share that waited for a proof names none, nor does a remittance; one that was moved names the wallet before. */
async function namesWallet(
  client: AssayClient,
  node: string,
  { record }: CitationAttestation,
  { wallet, domain }: Leaf,
): Promise<boolean> {
  const sources = Array.isArray(record['sources']) ? (record['sources'] as Record<string, unknown>[]) : [record]
  const named = sources.map(({ creator_wallet }) => creator_wallet ?? null)
  if (named.some((one) => one === null || String(one).toLowerCase() === wallet.toLowerCase())) return true
  const { moves } = await readCreator(client, node, wallet)
  return moves.some((move) => move.domain === domain && move.state === 'moved' && named.includes(move.from))
}
