import {
  creatorDifferences,
  readCreatorBooks,
} from '../../packages/node/src/shops/attestations/creators/check-books.ts'
import { distributorFor } from '../../packages/node/src/shops/attestations/creators/contracts.ts'
import { demoTerms } from '../../packages/node/src/shops/attestations/creators/demo-terms.fixture.ts'
import { readDistributor } from '../../packages/node/src/shops/attestations/creators/read-distributor.ts'
import type { Network, Rpc } from '../../packages/till/src/chain/index.ts'
import type { Devnet } from '../../packages/till/src/devnet/index.ts'
import { tokenBalance } from '../harness/token-balance.ts'
import { Violation } from '../harness/violation.ts'
import type { Scene } from './buyers.ts'
import { has } from './shops.ts'

/** What the chain itself says, asked of nobody's view. */
const plainly = (chain: Devnet) =>
  ({ agreed: (method: string, params: unknown[]) => chain.request(method, params) }) as unknown as Rpc

const distributorOn = (scene: Scene, chain: Devnet) =>
  distributorFor({ usdc: { address: chain.usdc } } as Network, scene.world.custody, demoTerms).address

/**
 * What keeps creators from being at rest, in words; nothing when rows, books and contract say the same. A creator whose
 * reversed shares are as much as the open ones is paid nothing, and they wait for the next sale; the shares of one that is
 * listed wait for a person.
 */
export async function creatorsUnsettled(scene: Scene): Promise<string[]> {
  const { world } = scene
  if (!has(world.seed, 'citations')) return []
  const { rows } = await world.db.owner.query<{ what: string }>(
    `select 'root ' || id || ' is under way' as what from creator_root where state = 'signed'
     union all select purpose || ' ' || coalesce(hash, '') || ' is under way' from settlement_transaction
       where state in ('signed', 'broadcast') and purpose like 'creator%'
     union all select 'share ' || id || ' is in a root that is under way' from creator_accrual where state = 'committing'
     union all select 'shares of ' || wallet || ' are not in a root' from creator_accrual a
       where not exists (select from payout_hold h where h.network = a.network and h.payee = a.wallet)
         and state = 'accrued' and (micro < 0 or created_at < to_timestamp($1) - interval '5 minutes')
         and (held_until is null or held_until < to_timestamp($1) - interval '2 minutes')
       group by network, wallet having sum(micro) > 0`,
    [world.time.nowMs() / 1000],
  )
  const found = rows.map(({ what }) => what)
  for (const chain of world.chains) {
    const books = await readCreatorBooks(world.db.owner, `eip155:${chain.chainId}`)
    const head = BigInt(chain.control.head().number)
    const state = await readDistributor(plainly(chain), distributorOn(scene, chain), chain.usdc, head)
    for (const [what, micro] of Object.entries(creatorDifferences(books, [state])))
      found.push(`creators on ${chain.chainId} differ in ${what} by ${micro}`)
  }
  return found
}

/** I8 and I9 for creators: each has on chain what was claimed for it, and what was claimed left the contract. */
export async function checkCreators(scene: Scene): Promise<void> {
  const { world } = scene
  if (!has(world.seed, 'citations')) return
  const [unsettled] = await creatorsUnsettled(scene)
  if (unsettled) throw new Violation('I9', unsettled)
  for (const chain of world.chains) {
    for (const { address } of world.creators) {
      const claimed = await claimedBy(scene, `eip155:${chain.chainId}`, address)
      const there = await tokenBalance(chain, address)
      if (there !== claimed) throw new Violation('I8', `creator ${address} has ${there} and claimed ${claimed}`)
    }
    const { rows } = await world.db.owner.query<{ micro: bigint | null }>(
      `select sum(e.amount_micro)::bigint as micro from ledger_entry e join ledger_account a on a.id = e.account_id where a.name = $1`,
      [`onchain:distributor@eip155:${chain.chainId}`],
    )
    const there = await tokenBalance(chain, distributorOn(scene, chain))
    if (there !== (rows[0]?.micro ?? 0n))
      throw new Violation('I9', `the contract of creators holds ${there}, the books say ${rows[0]?.micro ?? 0n}`)
  }
}

export async function claimedBy({ world }: Scene, network: string, wallet: string): Promise<bigint> {
  const { rows } = await world.db.owner.query<{ micro: bigint | null }>(
    'select sum(amount_micro)::bigint as micro from creator_claim where network = $1 and wallet = $2',
    [network, wallet.toLowerCase()],
  )
  return rows[0]?.micro ?? 0n
}
