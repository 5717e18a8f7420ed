import { type Address, zeroAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Devnet } from '@assay/till/devnet'
import { startTestChain } from '@assay/till/devnet/test-chain.fixture'
import fc from 'fast-check'
import { encodeFunctionData } from 'viem'
import { expect, test } from 'vitest'
import { noSupplyCap, type ScopeName, scopeNames, scopes, tokenAbi } from '../abi/b20.ts'
import { extendWithB20 } from '../demo/b20-chain.ts'
import { type Actor, createActor } from '../issuer.fixture.ts'
import { readToken } from '../read/read-token.ts'
import { endpointOf, readerOver } from '../reader.fixture.ts'
import { expectSame } from './search-compare.fixture.ts'
import { applyStep, begin, type History, type Move, move, refId, roleHashes } from './search-facts.fixture.ts'
import { type Call, capMax, type List, nobody, people, perform, tokenItself } from './search-model.fixture.ts'

/** The same few in every run of the suite. */
const { HISTORIES, SEED = HISTORIES === undefined ? '2' : undefined } = process.env
const histories = Number(HISTORIES ?? 8)
const memo = `0x${'00'.repeat(32)}` as Hex

type Stage = { chain: Devnet; actors: readonly Actor[]; token: Address; ids: bigint[]; history: History }

const nameOf =
  ({ actors, token }: Pick<Stage, 'actors' | 'token'>) =>
  (who: number): Address =>
    who === tokenItself ? token : who === nobody ? zeroAddress : (actors[who]?.address as Address)

/** A list as the registry lets it be made: only its admin names a successor, and nobody can be made admin at once. */
function makable(given: Move): Move {
  if (!('list' in given)) return given
  const governed = people.includes(given.list.admin as never)
  return { list: { ...given.list, pending: governed ? given.list.pending : nobody } }
}

async function makeList({ actors, ids, history, token }: Stage, list: List): Promise<void> {
  const name = nameOf({ actors, token })
  const maker = actors[0] as Actor
  const admin = list.admin === nobody ? maker.address : name(list.admin)
  const members = [...people, tokenItself, nobody].filter((one) => (list.members >> one) & 1).map(name)
  const children = list.children.map((child) => refId(history.state, child, (_, place) => ids[place] as bigint))
  const id =
    list.type < 2
      ? await maker.registry('createPolicyWithAccounts', admin, list.type, members)
      : await maker.registry('createCompositePolicy', admin, list.type, children)
  if (id === undefined) throw new Error('the registry refused a list')
  ids.push(id)
  if (list.admin === nobody) await maker.registry('renounceAdmin', id)
  else if (list.pending !== nobody) await actors[list.admin]?.registry('stageUpdateAdmin', id, name(list.pending))
}

/** Undefined where the model leaves open whose tokens are burned, and the chain finds none there. */
async function callChain(stage: Stage, caller: number, call: Call): Promise<boolean | undefined> {
  const { actors, token, ids, history } = stage
  const actor = actors[caller] as Actor
  const name = nameOf(stage)
  const on = (method: string, ...args: unknown[]) => actor.call(token, method, ...args)
  const listed = async (place: number, method: string, ...args: unknown[]) =>
    ids[place] !== undefined && (await actor.registry(method, ids[place], ...args)) !== undefined
  switch (call.do) {
    case 'grant':
    case 'revoke':
      return on(`${call.do}Role`, roleHashes[call.role], name(call.to))
    case 'renounce':
      return on('renounceRole', roleHashes[call.role], actor.address)
    case 'renounceLastAdmin':
      return on('renounceLastAdmin')
    case 'setRoleAdmin':
      return on('setRoleAdmin', roleHashes[call.role], roleHashes[call.admin])
    case 'pause':
    case 'unpause':
      return on(call.do, [call.feature])
    case 'bind': {
      const id = refId(history.state, call.ref, (_, place) => ids[place] as bigint)
      return on('updatePolicy', scopes[scopeNames[call.scope] as ScopeName], id)
    }
    case 'cap':
      return on('updateSupplyCap', call.cap === capMax ? noSupplyCap : BigInt(call.cap))
    case 'mint':
      return on('mint', name(call.to), 1n)
    case 'burn':
      return (await hasBalance(stage, actor.address)) ? on('burn', 1n) : undefined
    case 'burnBlocked':
      return (await hasBalance(stage, name(call.from))) ? on('burnBlocked', name(call.from), 1n) : undefined
    case 'seize':
      return on('seizeWithMemo', name(call.from), name(call.to), 0n, memo)
    case 'rename':
      return on('updateName', 'x')
    case 'multiply':
      return on('updateMultiplier', 2n * 10n ** 18n)
    case 'list': {
      const kind = history.state.lists[call.list]?.type === 1 ? 'updateAllowlist' : 'updateBlocklist'
      return listed(call.list, kind, call.on, [name(call.who)])
    }
    case 'stage':
      return listed(call.list, 'stageUpdateAdmin', name(call.to))
    case 'finalize':
      return listed(call.list, 'finalizeUpdateAdmin')
    case 'renounceList':
      return listed(call.list, 'renounceAdmin')
    case 'combine':
      return undefined
  }
}

async function hasBalance({ chain, token }: Stage, account: Address): Promise<boolean> {
  const data = encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [account] })
  return BigInt((await chain.request('eth_call', [{ to: token, data }, 'latest'])) as string) > 0n
}

/** The chain does what the model does, and refuses what it refuses. */
async function moveBoth(stage: Stage, given: Move): Promise<void> {
  const { history } = stage
  if ('list' in given) {
    const before = history.state.lists.length
    applyStep(history, given)
    if (history.state.lists.length > before) await makeList(stage, history.state.lists[before - 2] as List)
    return
  }
  const call = given.call(history.state)
  const done = await callChain(stage, given.caller, call)
  if (done === undefined) return
  expect([call, done]).toEqual([call, perform(history.state, given.caller, call) !== undefined])
  applyStep(history, { caller: given.caller, call: () => call })
}

test('what is evaluated of a token on the chain is what everybody can do there', { timeout: 3_600_000 }, async () => {
  const chain = await startTestChain({ extensions: [extendWithB20] })
  const actors = [await createActor(chain)]
  for (const name of ['two', 'three', 'four']) actors.push(await createActor(chain, name))
  let made = 0
  const run = fc.record({
    fork: fc.constantFrom(1, 2, 3, 3) as fc.Arbitrary<1 | 2 | 3>,
    variant: fc.constantFrom(0, 1) as fc.Arbitrary<0 | 1>,
    moves: fc.array(move.map(makable), { minLength: 5, maxLength: 40 }),
  })
  await fc.assert(
    fc.asyncProperty(run, async ({ fork, variant, moves }) => {
      await chain.request('devnet_setB20Fork', [['beryl', 'cobalt', 'denim'][fork - 1]])
      made += 1
      const token = await (actors[0] as Actor).create(`search ${made}`, { variant })
      const empty = { holders: [], roleAdmins: [], lists: [], scopes: [], paused: 0, supply: 0, cap: capMax }
      const history = begin({ ...empty, fork, stablecoin: variant === 1, admins: 1 })
      const stage: Stage = { chain, actors, token, ids: [], history }
      for (const one of moves) await moveBoth(stage, one)
      const reading = await readToken(readerOver([endpointOf(chain)]), token)
      if (reading.status !== 'read') throw new Error(reading.status)
      expectSame(history, reading.facts, nameOf(stage))
    }),
    {
      numRuns: histories,
      endOnFailure: process.env.SHRINK === undefined,
      ...(SEED === undefined ? {} : { seed: Number(SEED) }),
    },
  )
})
