import {
  creatorDifferences,
  readCreatorBooks,
} from '../../packages/node/src/shops/attestations/creators/check-books.ts'
import {
  distributorAt,
  leafOf,
  type OpenDistributor,
  validBefore,
} from '../../packages/node/src/shops/attestations/creators/distributor.fixture.ts'
import { createMoverKey } from '../../packages/node/src/shops/attestations/creators/mover-key.ts'
import type { Address } from '../../packages/protocol/src/address.ts'
import type { Hex } from '../../packages/protocol/src/bytes.ts'
import { payoutTree } from '../../packages/protocol/src/payout-tree.ts'
import { testKey } from '../../packages/till/src/chain/wallet/wallet.fixture.ts'
import { demoAccount } from '../../packages/till/src/devnet/index.ts'
import { clients, settler } from '../../packages/till/src/devnet/test-chain.fixture.ts'
import { oweCreator } from '../harness/owe-creator.ts'
import { openTill, type TillFixture } from '../harness/till-fixture.ts'
import { until } from '../harness/until.ts'
import { createDice, createFaults, type Dice, type Faults, type Proof, plain } from './proof.ts'

const network = 'eip155:8453'
const creators = [1, 2, 3, 4, 5].map((n) => testKey(`creator ${n}`))
const thief = testKey('thief of the custody key')
const stolenKey = demoAccount('custody').privateKey
const domains = ['one.test', 'two.test']

type Scene = {
  till: TillFixture
  contract: OpenDistributor
  /** By wallet: what was allotted before the theft. */
  allotted: Map<Address, bigint>
  /** Each has taken money out of custody, which was nobody's on chain yet; the thief may keep that. */
  ownPotsMicro: bigint
}

/**
 * Anyone who has the custody key gains nothing of what creators were allotted before: a whole node allots, the thief tries
 * everything the contract offers, and then every creator claims all of it. `count` is attempts.
 */
export const proveStolenKeyGainsNothing: Proof = async ({ count, say }) => {
  const till = await openTill({
    // Nobody is sent anything: what was allotted is there to be stolen.
    env: { CITATIONS: '{"root_seconds":1,"threshold_usd":"1000","claim_delay_seconds":1}' },
  })
  const faults = createFaults()
  const dice = createDice(Date.now() % 1_000_000)
  try {
    const scene = await allot(till)
    say(`  ${plain(scene.allotted.size)} creators were allotted money; the custody key is stolen`)
    const landed = new Map<string, number>()
    for (let n = 0; n < count; n += 1) {
      const attempt = dice.pick(attempts)
      const done = await attempt(scene, dice).then(
        () => true,
        () => false,
      )
      if (done) landed.set(attempt.name, (landed.get(attempt.name) ?? 0) + 1)
      await checkBacking(scene, attempt.name, faults)
    }
    await takeOwnPots(scene, faults)
    await claimAll(scene, faults)
    await until('books equal the chain', async () => (await differences(scene)).length === 0).catch(async () =>
      faults.note(`the books differ: ${(await differences(scene)).join(', ')}`),
    )
    await checkAlarm(scene, landed, faults)
    const total = [...scene.allotted.values()].reduce((sum, micro) => sum + micro, 0n)
    const seen = `${plain(count)} attempts with the stolen custody key on ${plain(Number(total))} micro-USDC of ${scene.allotted.size} creators: 0 gained`
    return { seen: faults.count() === 0 ? seen : `${faults.count()} faults`, faults: faults.all() }
  } finally {
    await till.close()
  }
}

/** Three rounds of shares, each in its own root: older and newer epochs are there to be stolen from. */
async function allot(till: TillFixture): Promise<Scene> {
  const allotted = new Map<Address, bigint>()
  for (let round = 0; round < 3; round += 1) {
    for (const [n, { address }] of creators.entries()) {
      const micro = BigInt(10_000 * (n + 1) + round)
      await oweCreator(till.db.database, address, domains[n % 2] as string, micro)
      allotted.set(address, (allotted.get(address) ?? 0n) + micro)
    }
    await until('the shares are open to be claimed', async () => {
      const { rows } = await till.db.database.query<{ micro: bigint }>(
        'select coalesce(sum(opened_micro), 0)::bigint as micro from creator_balance where network = $1',
        [network],
      )
      return rows[0]?.micro === [...allotted.values()].reduce((sum, micro) => sum + micro, 0n)
    })
  }
  const { rows } = await till.db.database.query<{ contract: Address }>('select contract from creator_root limit 1')
  const contract = distributorAt(till.base, rows[0]?.contract as Address)
  return { till, contract, allotted, ownPotsMicro: 0n }
}

type Attempt = (scene: Scene, dice: Dice) => Promise<unknown>

const unclaimedOf = ({ allotted }: Scene) => [...allotted.values()].reduce((sum, micro) => sum + micro, 0n)
const knownEpochs = 3

const attempts: readonly Attempt[] = [
  /** A false root with its own pot: from custody, which a thief of its key has anyway. */
  async function falseRoot(scene, dice) {
    const leaf = leafOf(thief.address, BigInt(1 + dice.below(500)), `thief-${dice.below(10 ** 9)}.test`)
    await scene.contract.advance([leaf])
    scene.ownPotsMicro += leaf.micro
  },
  async function falseRootWithoutPot(scene) {
    const { contract } = scene
    const tree = contract.treeFor([leafOf(thief.address, unclaimedOf(scene))], (await contract.epoch()) + 1n)
    await contract.send('advance', [contract.given(tree.leaves), validBefore, await contract.sign(tree.root, 0n)])
  },
  async function falseRootWithSmallPot(scene) {
    const { contract } = scene
    const tree = contract.treeFor([leafOf(thief.address, unclaimedOf(scene))], (await contract.epoch()) + 1n)
    await contract.send('advance', [contract.given(tree.leaves), validBefore, await contract.sign(tree.root, 1n)])
  },
  /** The signature of a small root, with the leaves of a large one before it lands. */
  async function swappedLeaves(scene) {
    const { contract } = scene
    const small = contract.treeFor([leafOf(thief.address, 1n)], (await contract.epoch()) + 1n)
    const large = contract.given([leafOf(thief.address, unclaimedOf(scene))])
    await contract.send('advance', [large, validBefore, await contract.sign(small.root, 1n)])
  },
  async function sameRootAgain({ contract, till }, dice) {
    const { rows } = await till.db.database.query<{
      account: Buffer
      wallet: Address
      micro: bigint
      signature: Buffer
    }>(
      `select l.account, l.wallet, l.micro, r.signature from creator_leaf l join creator_root r on r.id = l.root_id
       where r.epoch = $1 and r.signature is not null order by l.account, l.wallet collate "C"`,
      [BigInt(1 + dice.below(knownEpochs))],
    )
    const leaves = rows.map(({ account, wallet, micro }) => ({ account, wallet, amount: micro }))
    const given = leaves.map((leaf) => ({ ...leaf, account: `0x${leaf.account.toString('hex')}` as Hex }))
    await contract.send('advance', [given, validBefore, `0x${rows[0]?.signature.toString('hex')}`])
  },
  /** A tree of the thief's own, claimed against an epoch with money. */
  async function claimByFalseTree(scene, dice) {
    const epoch = BigInt(1 + dice.below(knownEpochs))
    const leaf = leafOf(thief.address, unclaimedOf(scene))
    await scene.contract.claim(scene.contract.treeFor([leaf], epoch), epoch, leaf)
  },
  /** The creator's own leaf, with another wallet or another amount. */
  async function claimOfAnother(scene, dice) {
    const { claims } = await claimsOf(scene, dice.pick(creators).address)
    const { account, leaves } = dice.pick(claims)
    const { epoch, micro, proof } = dice.pick(leaves)
    await scene.contract.send('claimFor', [BigInt(epoch), account, thief.address, BigInt(micro), proof], stolenKey)
  },
  async function redirectToThief({ contract }) {
    await contract.send('redirect', [thief.address], stolenKey)
  },
  /** The custody key is not the mover's. */
  async function moveToThief({ contract, till }, dice) {
    const leaf = leafOf(dice.pick(creators).address, 1n, dice.pick(domains))
    const key = createMoverKey(stolenKey)
    const place = { chainId: till.base.chainId, contract: contract.contract }
    const signature = key.sign(place, { ...leaf, to: thief.address, validBefore })
    await contract.send('requestMove', [leaf.account, leaf.wallet, thief.address, validBefore, signature], stolenKey)
  },
  async function refuseForCreators({ contract }) {
    const accountsOf = domains.map((domain) => leafOf(thief.address, 1n, domain).account)
    await contract.send('refuseMoves', [accountsOf], stolenKey)
  },
]

/** Whatever landed: the contract still has all that creators were allotted. */
async function checkBacking({ contract, allotted, ownPotsMicro }: Scene, after: string, faults: Faults): Promise<void> {
  const wanted = [...allotted.values()].reduce((sum, micro) => sum + micro, 0n) + ownPotsMicro
  const there = await contract.balance(contract.contract)
  if (there !== wanted) faults.note(`after ${after} the contract holds ${there}, not ${wanted}`)
  const stolen = await contract.balance(thief.address)
  if (stolen !== 0n) faults.note(`after ${after} the thief has ${stolen}`)
}

/** The thief claims what its own roots brought, with the leaves that the chain shows, and gets exactly that. */
async function takeOwnPots(scene: Scene, faults: Faults): Promise<void> {
  const { till, contract } = scene
  await until('the thief’s roots are open', async () => {
    const { rows } = await till.db.database.query<{ epoch: bigint; open: boolean }>(
      'select max(epoch) as epoch, bool_and(opened) as open from creator_root where network = $1',
      [network],
    )
    return rows[0]?.epoch === (await contract.epoch()) && rows[0].open
  })
  const { rows } = await till.db.database.query<{ epoch: bigint; account: Buffer; micro: bigint }>(
    'select epoch, account, micro from creator_leaf where wallet = $1',
    [thief.address],
  )
  for (const { epoch, account, micro } of rows) {
    const leaf = { account: `0x${account.toString('hex')}` as Hex, wallet: thief.address, micro }
    const place = { chainId: till.base.chainId, contract: contract.contract, epoch }
    await contract.claim(payoutTree(place, [leaf]), epoch, leaf)
  }
  const got = await contract.balance(thief.address)
  if (got !== scene.ownPotsMicro) faults.note(`the thief has ${got}, its own roots brought ${scene.ownPotsMicro}`)
}

type ShownClaims = {
  claims: { account: Hex; to: Address; data: Hex; leaves: { epoch: string; micro: string; proof: Hex[] }[] }[]
}

async function claimsOf({ till }: Scene, wallet: Address): Promise<ShownClaims> {
  const response = await fetch(`${till.node.url}/v1/creators/${wallet}`)
  const { chains } = (await response.json()) as { chains: [ShownClaims] }
  return chains[0]
}

/** With nothing but what the node shows to everybody. */
async function claimAll(scene: Scene, faults: Faults): Promise<void> {
  const { wallet } = clients(scene.till.base)
  for (const [creator, micro] of scene.allotted) {
    const { claims } = await claimsOf(scene, creator)
    for (const { to, data } of claims) await wallet.sendTransaction({ account: settler, to, data, gas: 2_000_000n })
    const got = await scene.contract.balance(creator)
    if (got !== micro) faults.note(`${creator} was allotted ${micro} and got ${got}`)
  }
}

async function differences({ till, contract }: Scene): Promise<string[]> {
  const books = await readCreatorBooks(till.db.database, network)
  const found = creatorDifferences(books, [await contract.state()])
  return Object.entries(found).map(([what, micro]) => `${what} by ${micro}`)
}

/** A root that the node did not sign stops its payouts at once. */
async function checkAlarm({ till }: Scene, landed: ReadonlyMap<string, number>, faults: Faults): Promise<void> {
  const wrong = [...landed.keys()].filter(
    (name) => !['falseRoot', 'redirectToThief', 'refuseForCreators'].includes(name),
  )
  for (const name of wrong) faults.note(`${name} was taken by the contract`)
  if (!landed.has('falseRoot')) return
  const { rowCount } = await till.db.database.query('select from restore_gap where network = $1', [network])
  if (rowCount === 0) faults.note('a false root was not noticed')
}
