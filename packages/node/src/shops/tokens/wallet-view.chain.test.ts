import { type Address, zeroAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { startTestChain } from '@assay/till/devnet/test-chain.fixture'
import fc from 'fast-check'
import { encodeFunctionData } from 'viem'
import { expect, test } from 'vitest'
import { alwaysBlockId, invertBit, roles, type ScopeName, scopeNames, scopes, tokenAbi } from './abi/b20.ts'
import type { Checked } from './checker.ts'
import { extendWithB20 } from './demo/b20-chain.ts'
import { evaluate } from './evaluate/evaluate.ts'
import { type Actor, createActor } from './issuer.fixture.ts'
import { readToken } from './read/read-token.ts'
import { endpointOf, panelOf, readerOver } from './reader.fixture.ts'
import { viewWallet } from './wallet-view.ts'

const stranger: Address = '0x9999999999999999999999999999999999999999'
const prefixed: Address = '0xb200000000000000000000dddddddddddddddddd'
const memo = `0x${'00'.repeat(32)}` as Hex
const rounds = Number(process.env.WALLET_ROUNDS ?? 12)

type Bound = { scope: ScopeName; kind: number; members: number; not: boolean }
const bound: fc.Arbitrary<Bound> = fc.record({
  scope: fc.constantFrom<ScopeName[]>(...scopeNames),
  kind: fc.constantFrom(0, 1, 1, 4, 5),
  members: fc.nat({ max: 31 }),
  not: fc.boolean(),
})
const token = fc.record({
  fork: fc.constantFrom('cobalt' as const, 'denim' as const, 'denim' as const),
  bound: fc.array(bound, { maxLength: 4 }),
  paused: fc.constantFrom([], [], [0], [2], [3]),
  roles: fc.subarray(['SEIZE_ROLE', 'BURN_BLOCKED_ROLE', 'MINT_ROLE'] as const),
  renounce: fc.boolean(),
})

/** What the chain itself would do, asked by running it. */
test('what a wallet can do, and what can be done to it, is what the chain does', { timeout: 300_000 }, async () => {
  const chain = await startTestChain({ extensions: [extendWithB20] })
  const [issuer, other] = [await createActor(chain), await createActor(chain, 'other')] as [Actor, Actor]
  let made = 0
  await fc.assert(
    fc.asyncProperty(token, async (given) => {
      await chain.request('devnet_setB20Fork', [given.fork])
      made += 1
      const address = await issuer.create(`wallet ${made}`)
      const everybody = [issuer.address, other.address, stranger, address, prefixed]
      for (const name of ['PAUSE_ROLE', ...given.roles] as const)
        await issuer.call(address, 'grantRole', roles[name], issuer.address)
      for (const one of given.bound) await bind(issuer, address, one, everybody, given.fork === 'denim')
      if (given.paused.length > 0) await issuer.call(address, 'pause', given.paused)
      if (given.renounce) await issuer.call(address, 'renounceLastAdmin')
      const works = async (from: Address, name: string, ...args: unknown[]) => {
        const data = encodeFunctionData({ abi: tokenAbi, functionName: name, args })
        return chain.request('eth_call', [{ from, to: address, data }, 'latest']).then(
          () => true,
          () => false,
        )
      }
      const some = async (tries: Promise<boolean>[]) => (await Promise.all(tries)).includes(true)
      const reading = await readToken(readerOver([endpointOf(chain)]), address)
      if (reading.status !== 'read') throw new Error(reading.status)
      const checked: Checked = { ...reading, evaluation: evaluate(reading.facts) }
      expect(checked.evaluation.missing).toEqual([])
      const callers = [issuer.address, other.address, stranger]
      for (const wallet of [...everybody, zeroAddress]) {
        const shown = await viewWallet(panelOf(endpointOf(chain)), readerOver([]).multicall3, checked, wallet)
        const canCall = wallet !== address && wallet !== zeroAddress
        const fresh: Address = '0x8888888888888888888888888888888888888888'
        const targets = [...everybody, fresh]
        const send = canCall && (await some(targets.map((to) => works(wallet, 'transfer', to, 0n))))
        const receive = await some(
          [...callers, fresh, prefixed].flatMap((from) =>
            [...callers, fresh, prefixed].map((by) => works(by, 'transferFrom', from, wallet, 0n)),
          ),
        )
        const seized =
          (await some(targets.map((to) => works(issuer.address, 'seizeWithMemo', wallet, to, 0n, memo)))) ||
          (await works(issuer.address, 'burnBlocked', wallet, 0n))
        expect([wallet, given, shown.send.answer === 'yes']).toEqual([wallet, given, send])
        expect([wallet, given, shown.receive.answer === 'yes']).toEqual([wallet, given, receive])
        // Nothing is at address zero that could be taken.
        if (wallet !== zeroAddress)
          expect([wallet, given, shown.be_seized.answer === 'yes']).toEqual([wallet, given, seized])
      }
    }),
    { numRuns: rounds },
  )
})

async function bind(issuer: Actor, token: Address, one: Bound, everybody: Address[], denim: boolean): Promise<void> {
  const members = everybody.filter((_, i) => ((one.members >> i) & 1) === 1)
  const base =
    one.kind === 4
      ? alwaysBlockId
      : one.kind === 5
        ? 0n
        : ((await issuer.registry('createPolicyWithAccounts', issuer.address, one.kind, members)) as bigint)
  await issuer.call(token, 'updatePolicy', scopes[one.scope], one.not && denim ? base | invertBit : base)
}
