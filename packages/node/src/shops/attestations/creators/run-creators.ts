import type { BlockRef } from '@assay/till/chain'
import { ensureDeployed } from '@assay/till/chain/own-contract'
import { mayPayOut } from '@assay/till/payouts'
import { checkCreatorBooks } from './check-books.ts'
import { type CreatorChain, type CreatorDeps, creatorChains, type OwnChain } from './deps.ts'
import { acceptedDistributors, proposeDistributor } from './distributors.ts'
import { followEvents } from './follow-events.ts'
import { settleMoves } from './follow-moves.ts'
import { findSignedRoot, followRoot, sendRoot } from './follow-root.ts'
import { openRoots } from './open-roots.ts'
import { pushClaims } from './push-claims.ts'
import { type DistributorState, readDistributor } from './read-distributor.ts'
import { expireWaiting, releaseWaiting } from './release-waiting.ts'
import { sendMoves } from './send-moves.ts'
import { signNextRoot } from './sign-root.ts'

/** One round: the books follow the chain, then what is due goes to the chain. Safe to repeat and to kill. */
export async function runCreators(deps: CreatorDeps): Promise<void> {
  await releaseWaiting(deps)
  await expireWaiting(deps)
  for (const place of creatorChains(deps)) {
    const signed = await guarded(deps, place, () => followChain(deps, place))
    if (signed === undefined || !deps.custody || (await deps.custody.isPaused())) continue
    if (!(await mayPayOut(deps.custody, place.network.caip2))) continue
    await guarded(deps, place, () => payOut(deps, place))
  }
}

/**
 * Everything up to one final block, and then the comparison at that very block. Another process may be a block ahead,
 * so a difference counts only if a second look finds it too.
 */
export async function followChain(deps: CreatorDeps, own: OwnChain): Promise<boolean> {
  const network = own.network.caip2
  for (const last of [false, true]) {
    const final = await own.chain.finalizedBlock()
    const states: (DistributorState | undefined)[] = []
    for (const place of await placesOf(deps, own)) states.push(await followContract(deps, place, final))
    if (Object.keys(await checkCreatorBooks(deps, network, states, last)).length === 0) break
  }
  return true
}

/** The current contract and the earlier ones, which pay what they hold for ever. */
async function placesOf({ database, terms }: CreatorDeps, own: OwnChain): Promise<CreatorChain[]> {
  const network = own.network.caip2
  await proposeDistributor(database, { network, contract: own.contract, treasurer: own.treasurer, terms })
  const accepted = await acceptedDistributors(database, network)
  return accepted.map(({ contract, treasurer }) => ({ ...own, contract, treasurer }))
}

async function followContract(
  deps: CreatorDeps,
  place: CreatorChain,
  final: BlockRef,
): Promise<DistributorState | undefined> {
  const state = await readState(place, final)
  await followRoot(deps, place, final, state)
  if (state) {
    await openRoots(deps, place, final)
    await followEvents(deps, place, final)
    await settleMoves(deps, place, final)
  }
  return state
}

const readState = ({ rpc, contract, network }: CreatorChain, final: BlockRef) =>
  readDistributor(rpc, contract, network.usdc.address, final.number)

/** Before the books are compared with the custody wallet: a root that became final has taken money from it. */
export async function followAllChains(deps: CreatorDeps): Promise<void> {
  for (const place of creatorChains(deps)) await guarded(deps, place, () => followChain(deps, place))
}

async function payOut(deps: CreatorDeps, own: OwnChain): Promise<void> {
  const network = own.network.caip2
  const final = await own.chain.finalizedBlock()
  await pushClaims(deps, own)
  await sendMoves(deps, own)
  let signed = await findSignedRoot(deps, network)
  if (!signed && (await isAccepted(deps, own)) && (await signNextRoot(deps, own, final, await readState(own, final))))
    signed = await findSignedRoot(deps, network)
  if (!signed) return
  // Deployed when it is first needed, so that a node without creators costs no gas. An earlier one may still get its last root.
  if (signed.contract !== own.contract || (await ensureDeployed(deps, own, own.distributor)))
    await sendRoot(deps, own, signed)
  else deps.log.warn({ network }, 'the distributor of creators could not be deployed')
}

/** Whether new roots go to the contract that follows from these settings. */
async function isAccepted({ database, metrics, log }: CreatorDeps, own: OwnChain): Promise<boolean> {
  const [current] = await acceptedDistributors(database, own.network.caip2)
  if (current?.contract === own.contract) return true
  metrics.count('alarms', { alarm: 'distributor_not_accepted' })
  log.error(
    { network: own.network.caip2, current: current?.contract, wanted: own.contract },
    'CUSTODY, MOVER_KEY or a delay changed, so creators would be paid by another contract; no root is made until it is accepted',
  )
  return false
}

/** One chain that cannot be read must not keep the other waiting. */
async function guarded<T>(deps: CreatorDeps, place: CreatorChain, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    deps.log.warn({ network: place.network.caip2, error: String(error) }, 'creators could not be paid')
    return undefined
  }
}
