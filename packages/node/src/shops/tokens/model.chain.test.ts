import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import { startTestChain } from '@assay/till/devnet/test-chain.fixture'
import { keccak256 } from '@assay/till/kernel/keccak'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { noSupplyCap, roleNames, roles, type ScopeName, scopeNames, scopes } from './abi/b20.ts'
import { extendWithB20 } from './demo/b20-chain.ts'
import { evaluate } from './evaluate/evaluate.ts'
import { type Actor, createActor } from './issuer.fixture.ts'
import { adminCount, createModel, type ModelToken, operations } from './model-chain.fixture.ts'
import { readToken } from './read/read-token.ts'
import { endpointOf, readerOver } from './reader.fixture.ts'

const custom = toHex(keccak256(Buffer.from('CUSTOM_ROLE')))
const allRoles: Hex[] = [...roleNames.map((name) => roles[name]), custom]

type Step =
  | { kind: 'grant' | 'revoke'; by: number; role: Hex; to: number }
  | { kind: 'renounce'; by: number; role: Hex }
  | { kind: 'renounceLastAdmin'; by: number }
  | { kind: 'setRoleAdmin'; by: number; role: Hex; admin: Hex }
  | { kind: 'pause' | 'unpause'; by: number; feature: number }
  | { kind: 'cap'; by: number; cap: bigint }
  | { kind: 'policy'; by: number; type: 0 | 1; member: number }
  | { kind: 'bind'; by: number; scope: ScopeName; policy: number }

const who = fc.nat({ max: 2 })
const role = fc.constantFrom(...allRoles)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('grant' as const), by: who, role, to: who }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('revoke' as const), by: who, role, to: who }) },
  fc.record({ kind: fc.constant('renounce' as const), by: who, role }),
  fc.record({ kind: fc.constant('renounceLastAdmin' as const), by: who }),
  fc.record({ kind: fc.constant('setRoleAdmin' as const), by: who, role, admin: role }),
  fc.record({ kind: fc.constantFrom('pause' as const, 'unpause' as const), by: who, feature: fc.nat({ max: 3 }) }),
  fc.record({ kind: fc.constant('cap' as const), by: who, cap: fc.constantFrom(1n, 5_000n, noSupplyCap) }),
  fc.record({
    kind: fc.constant('policy' as const),
    by: who,
    type: fc.constantFrom(0 as const, 1 as const),
    member: who,
  }),
  fc.record({
    kind: fc.constant('bind' as const),
    by: who,
    scope: fc.constantFrom(...scopeNames),
    policy: fc.nat({ max: 3 }),
  }),
)

/** Runs one step on chain and model, and insists that both take it or both refuse it. */
async function play(
  step: Step,
  token: Address,
  actors: Actor[],
  model: ModelToken,
  policies: { chain: bigint; model: bigint }[],
) {
  const actor = actors[step.by] as Actor
  const by = actor.address
  const to = (index: number) => (actors[index] as Actor).address
  const both = async (chain: Promise<boolean>, modelSays: boolean) =>
    expect([step, await chain]).toEqual([step, modelSays])
  model.block += 1
  switch (step.kind) {
    case 'grant':
      return both(
        actor.call(token, 'grantRole', step.role, to(step.to)),
        operations.grant(model, by, step.role, to(step.to)),
      )
    case 'revoke':
      return both(
        actor.call(token, 'revokeRole', step.role, to(step.to)),
        operations.revoke(model, by, step.role, to(step.to)),
      )
    case 'renounce':
      return both(actor.call(token, 'renounceRole', step.role, by), operations.renounce(model, by, step.role))
    case 'renounceLastAdmin':
      return both(actor.call(token, 'renounceLastAdmin'), operations.renounceLastAdmin(model, by))
    case 'setRoleAdmin':
      return both(
        actor.call(token, 'setRoleAdmin', step.role, step.admin),
        operations.setRoleAdmin(model, by, step.role, step.admin),
      )
    case 'pause':
    case 'unpause':
      return both(
        actor.call(token, step.kind, [step.feature]),
        operations.pause(model, by, step.feature, step.kind === 'pause'),
      )
    case 'cap':
      return both(actor.call(token, 'updateSupplyCap', step.cap), operations.cap(model, by, step.cap))
    case 'policy': {
      const chain = (await actor.registry('createPolicyWithAccounts', by, step.type, [to(step.member)])) as bigint
      policies.push({ chain, model: operations.createPolicy(model, by, step.type, [to(step.member)]) })
      return
    }
    case 'bind': {
      const policy = policies[step.policy] ?? { chain: 0n, model: 0n }
      return both(
        actor.call(token, 'updatePolicy', scopes[step.scope], policy.chain),
        operations.bind(model, by, step.scope, policy.model),
      )
    }
  }
}

test('the reader finds the control graph that random operations made', { timeout: 120_000 }, async () => {
  const chain = await startTestChain({ extensions: [extendWithB20] })
  const actors = [await createActor(chain), await createActor(chain, 'two'), await createActor(chain, 'three')]
  const [issuer] = actors as [Actor]
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
      run += 1
      const token = await issuer.create(`model ${run}`)
      const model = createModel(issuer.address)
      model.supply = 0n
      const policies: { chain: bigint; model: bigint }[] = []
      for (const one of steps) await play(one, token, actors, model, policies)
      const reading = await readToken(readerOver([endpointOf(chain)]), token)
      if (reading.status !== 'read') throw new Error(reading.status)
      const { facts } = reading
      expect(evaluate(facts).missing).toEqual([])
      for (const role of allRoles) {
        const found = facts.roles.get(role)
        const holders = (found?.holders ?? []).map(({ account }) => account).sort()
        expect([role, holders]).toEqual([role, [...(model.roles.get(role) ?? [])].sort()])
        if (found?.admin.known) expect(found.admin.value).toBe(model.roleAdmins.get(role) ?? roles.DEFAULT_ADMIN_ROLE)
      }
      expect(facts.adminCount).toEqual({ known: true, value: BigInt(adminCount(model)) })
      expect(facts.supplyCap).toEqual({ known: true, value: model.cap })
      expect(facts.paused).toEqual({ known: true, value: [...model.paused].sort() })
      for (const scope of scopeNames) {
        const bound = policies.find((policy) => policy.model === (model.scopes.get(scope) ?? 0n))?.chain ?? 0n
        expect(facts.scopes[scope]).toEqual({ known: true, value: bound })
        const read = bound === 0n ? undefined : facts.policies.get(bound)
        if (read !== undefined) {
          const expected = model.policies.get(model.scopes.get(scope) ?? 0n)
          expect(read.admin).toEqual({ known: true, value: expected?.admin })
          expect(read.members).toEqual([...(expected?.members ?? [])])
        }
      }
    }),
    { numRuns: 60 },
  )
})
