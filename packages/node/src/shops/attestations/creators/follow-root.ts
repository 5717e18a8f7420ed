import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import type { PayoutLeaf } from '@assay/protocol/payout-tree'
import type { BlockRef } from '@assay/till/chain'
import { encodeFunctionData } from 'viem'
import { adoptRoot, findPull, newestRoot, readAdvances } from './adopt-root.ts'
import { abandonRoot, commitRoot } from './commit-root.ts'
import { distributorAbi } from './contracts.ts'
import type { CreatorChain, CreatorDeps } from './deps.ts'
import type { DistributorState } from './read-distributor.ts'
import { readLeaves } from './store-leaves.ts'

/** Measured with room to spare; what is not used is not paid. */
const gasOfRoot = 350_000n
const gasOfLeaf = 10_000n

export type SignedRoot = {
  id: bigint
  network: string
  contract: Address
  epoch: bigint
  root: Buffer
  potMicro: Micro
  validBefore: bigint
  headBlock: bigint
  signature: Buffer
}

export async function findSignedRoot({ database }: CreatorDeps, network: string): Promise<SignedRoot | undefined> {
  const { rows } = await database.query<SignedRoot>(
    `select id, network, contract, epoch, root, pot_micro as "potMicro", valid_before as "validBefore",
       head_block as "headBlock", signature
     from creator_root where network = $1 and state = 'signed'`,
    [network],
  )
  return rows[0]
}

/**
 * Ends a root by what a final block shows, and by nothing else. Returns what is still to be sent. Roots on chain that these
 * books do not know are taken over: the books were restored to a time before them.
 */
export async function followRoot(
  deps: CreatorDeps,
  place: CreatorChain,
  final: BlockRef,
  state: DistributorState | undefined,
): Promise<SignedRoot | undefined> {
  const signed = await findSignedRoot(deps, place.network.caip2)
  let open = signed?.contract === place.contract ? signed : undefined
  const known = await newestRoot(deps.database, place)
  if (state && state.epoch > known.epoch)
    for (const advance of await readAdvances(deps, place, { known, open, final, untilEpoch: state.epoch })) {
      const transfer = await findPull(place, advance)
      if (open?.epoch === advance.epoch && open.root.equals(advance.root))
        await commitRoot(deps, place, open, advance, transfer)
      else {
        // Its authorization names an epoch that another root has, so it can never be used any more.
        if (open && open.epoch <= advance.epoch) await abandonRoot(deps, open)
        await adoptRoot(deps, place, advance, transfer)
      }
      if (open && open.epoch <= advance.epoch) open = undefined
    }
  if (!open) return undefined
  if (BigInt(final.timestamp) <= open.validBefore) return open
  await abandonRoot(deps, open)
  return undefined
}

/** Sends the root, unless a transaction that may still land carries it already. Anybody could: the signature is all it takes. */
export async function sendRoot(deps: CreatorDeps, place: CreatorChain, signed: SignedRoot): Promise<void> {
  const reference = `creator_root:${signed.id}`
  const { rowCount } = await deps.database.query(
    `select from settlement_transaction where network = $1 and purpose = 'creator_root' and state in ('signed', 'broadcast')
       and reference_ids @> array[$2]`,
    [signed.network, reference],
  )
  if (rowCount > 0) return
  const leaves = await readLeaves(deps.database, signed.id)
  const call = { to: signed.contract, data: advanceCall(signed, leaves) }
  // A call that would fail costs gas for nothing; one that fails because it has landed is seen at the next final block.
  const passes = await place.rpc.first('eth_call', [{ ...call, from: place.wallets.addresses[0] }, 'latest']).then(
    () => true,
    () => false,
  )
  if (!passes) return
  const sent = await place.wallets.send({
    purpose: 'creator_root',
    references: [reference],
    ...call,
    gasLimit: gasOfRoot + gasOfLeaf * BigInt(leaves.length),
    usefulUntil: Number(signed.validBefore),
    stillWanted: () => true,
  })
  if (sent.status === 'sent') await Promise.race([sent.outcome, deps.clock.sleep(10_000)])
  else deps.log.warn({ network: signed.network, reason: sent.reason }, 'a root of creators was not sent')
}

const advanceCall = (signed: SignedRoot, leaves: readonly PayoutLeaf[]): Hex =>
  encodeFunctionData({
    abi: distributorAbi,
    functionName: 'advance',
    args: [
      leaves.map(({ account, wallet, micro }) => ({ account, wallet, amount: micro })),
      signed.validBefore,
      toHex(signed.signature),
    ],
  })
