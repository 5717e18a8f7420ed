import { ensureDeployed } from '@assay/till/chain/own-contract'
import { moneyMayLeave } from '@assay/till/payouts'
import { checkCreatorBooks } from './check-books.ts'
import { type CreatorChain, type CreatorDeps, creatorChains } from './deps.ts'
import { followEvents } from './follow-events.ts'
import { settleMoves } from './follow-moves.ts'
import { findSignedRoot, followRoot, sendRoot } from './follow-root.ts'
import { openRoots } from './open-roots.ts'
import { pushClaims } from './push-claims.ts'
import { readDistributor } from './read-distributor.ts'
import { expireWaiting, releaseWaiting } from './release-waiting.ts'
import { sendMoves } from './send-moves.ts'
import { signNextRoot } from './sign-root.ts'

/** One round: the books follow the chain, then what is due goes to the chain. Safe to repeat and to kill. */
export async function runCreators(deps: CreatorDeps): Promise<void> {
  await releaseWaiting(deps)
  await expireWaiting(deps)
  for (const place of creatorChains(deps)) {
    const signed = await guarded(deps, place, () => followChain(deps, place))
    const payouts = deps.payouts()
    if (signed === undefined || !payouts || (await payouts.isPaused())) continue
    if (!(await moneyMayLeave(payouts, place.network.caip2))) continue
    await guarded(deps, place, () => payOut(deps, place))
  }
}

/**
 * Everything up to one final block, and then the comparison at that very block. Another process may be a block ahead,
 * so a difference counts only if a second look finds it too.
 */
export async function followChain(deps: CreatorDeps, place: CreatorChain): Promise<boolean> {
  for (const last of [false, true]) {
    const final = await place.chain.finalizedBlock()
    const state = await readDistributor(place.rpc, place.distributor.address, place.network.usdc.address, final.number)
    await followRoot(deps, place, final, state)
    if (state) {
      await openRoots(deps, place, final)
      await followEvents(deps, place, final)
      await settleMoves(deps, place, final)
    }
    if (Object.keys(await checkCreatorBooks(deps, place, state, last)).length === 0) break
  }
  return true
}

/** Before the books are compared with the custody wallet: a root that became final has taken money from it. */
export async function followAllChains(deps: CreatorDeps): Promise<void> {
  for (const place of creatorChains(deps)) await guarded(deps, place, () => followChain(deps, place))
}

async function payOut(deps: CreatorDeps, place: CreatorChain): Promise<void> {
  const final = await place.chain.finalizedBlock()
  const read = () => readDistributor(place.rpc, place.distributor.address, place.network.usdc.address, final.number)
  if (await read()) await pushClaims(deps, place)
  await sendMoves(deps, place)
  let signed = await findSignedRoot(deps, place.network.caip2)
  if (!signed && (await signNextRoot(deps, place, final, await read())))
    signed = await findSignedRoot(deps, place.network.caip2)
  if (!signed) return
  // Deployed when it is first needed, so that a node without creators costs no gas.
  if (await ensureDeployed(deps, place, place.distributor)) await sendRoot(deps, place, signed)
  else deps.log.warn({ network: place.network.caip2 }, 'the distributor of creators could not be deployed')
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
