import type { BlockRef } from '@assay/till/chain'
import { type Hex, toHex } from '@assay/till/kernel/bytes'
import type { Micro } from '@assay/till/kernel/money'
import { encodeFunctionData } from 'viem'
import { adoptRoot, findPull, newestRoot, readAdvances } from './adopt-root.ts'
import { abandonRoot, commitRoot } from './commit-root.ts'
import { distributorAbi } from './contracts.ts'
import type { CreatorChain, CreatorDeps } from './deps.ts'
import type { DistributorState } from './read-distributor.ts'

export type SignedRoot = {
  id: bigint
  network: string
  epoch: bigint
  root: Buffer
  totalMicro: Micro
  increaseMicro: Micro
  validBefore: bigint
  headBlock: bigint
  signature: Buffer
  landed: boolean
}

export async function findSignedRoot({ database }: CreatorDeps, network: string): Promise<SignedRoot | undefined> {
  const { rows } = await database.query<SignedRoot>(
    `select id, network, epoch, root, total_micro as "totalMicro", increase_micro as "increaseMicro",
       valid_before as "validBefore", head_block as "headBlock", signature, landed
     from creator_root where network = $1 and state = 'signed'`,
    [network],
  )
  return rows[0]
}

/**
 * Ends a root by what a final block shows, and by nothing else. Gives what is still to be sent. Roots on chain that these
 * books do not know are taken over: the books were restored to a time before them, and the next root extends the chain's.
 */
export async function followRoot(
  deps: CreatorDeps,
  place: CreatorChain,
  final: BlockRef,
  state: DistributorState | undefined,
): Promise<SignedRoot | undefined> {
  let open = await findSignedRoot(deps, place.network.caip2)
  const known = await newestRoot(deps.database, place)
  if (state && state.epoch > known.epoch)
    for (const advance of await readAdvances(deps, place, { known, open, final, untilEpoch: state.epoch })) {
      const transfer = await findPull(place, advance)
      if (open?.epoch === advance.epoch && open.root.equals(advance.root))
        await commitRoot(deps, place, open, advance, transfer)
      else {
        // Its authorization names the root before it, so it can never be used any more.
        if (open && open.epoch <= advance.epoch) await abandonRoot(deps, open)
        await adoptRoot(deps, place, advance, transfer)
      }
      if (open && open.epoch <= advance.epoch) open = undefined
    }
  if (!open) return undefined
  if (BigInt(final.timestamp) <= open.validBefore) {
    await noteLanded(deps, place, open)
    return open
  }
  await abandonRoot(deps, open)
  return undefined
}

/** Not final yet, but the contract knows this root and no other: claims need its proofs from now on. A reorg undoes it. */
async function noteLanded(deps: CreatorDeps, place: CreatorChain, signed: SignedRoot): Promise<void> {
  const data = encodeFunctionData({ abi: distributorAbi, functionName: 'root' })
  const root = await place.rpc
    .first('eth_call', [{ to: place.distributor.address, data }, 'latest'])
    .catch(() => undefined)
  const landed = root === toHex(signed.root)
  if (root === undefined || landed === signed.landed) return
  await deps.database.query(`update creator_root set landed = $2 where id = $1 and state = 'signed'`, [
    signed.id,
    landed,
  ])
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
  const call = { to: place.distributor.address, data: advanceCall(signed) }
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
    gasLimit: 300_000n,
    usefulUntil: Number(signed.validBefore),
    stillWanted: () => true,
  })
  if (sent.status === 'sent') await Promise.race([sent.outcome, deps.clock.sleep(10_000)])
  else deps.log.warn({ network: signed.network, reason: sent.reason }, 'a root of creators was not sent')
}

const advanceCall = (signed: SignedRoot): Hex =>
  encodeFunctionData({
    abi: distributorAbi,
    functionName: 'advance',
    args: [toHex(signed.root), signed.totalMicro, signed.validBefore, toHex(signed.signature)],
  })
