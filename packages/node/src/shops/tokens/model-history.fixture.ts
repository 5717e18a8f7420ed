import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import type { RpcCall, RpcEndpoint } from '@assay/till/chain'
import { keccak256 } from '@assay/till/kernel/keccak'
import fc from 'fast-check'
import { noSupplyCap, roleNames, roles, type ScopeName, scopeNames } from './abi/b20.ts'
import { answerModel, type ModelToken, operations } from './model-chain.fixture.ts'

const people = [1, 2, 3].map((n) => `0x${String(n).repeat(40)}` as Address)
const custom = toHex(keccak256(Buffer.from('CUSTOM_ROLE')))
const allRoles: Hex[] = [...roleNames.map((name) => roles[name]), custom]

/** Plays one random operation on a model. */
export type ModelStep = (model: ModelToken, policies: bigint[]) => void

const who = fc.constantFrom(...people)
const role = fc.constantFrom(...allRoles)

export const modelStep: fc.Arbitrary<ModelStep> = fc
  .oneof(
    fc.tuple(who, role, who).map(
      ([by, what, to]): ModelStep =>
        (model) =>
          void operations.grant(model, by, what, to),
    ),
    fc.tuple(who, role, who).map(
      ([by, what, from]): ModelStep =>
        (model) =>
          void operations.revoke(model, by, what, from),
    ),
    fc.tuple(who, role).map(
      ([by, what]): ModelStep =>
        (model) =>
          void operations.renounce(model, by, what),
    ),
    who.map(
      (by): ModelStep =>
        (model) =>
          void operations.renounceLastAdmin(model, by),
    ),
    fc.tuple(who, role, role).map(
      ([by, what, admin]): ModelStep =>
        (model) =>
          void operations.setRoleAdmin(model, by, what, admin),
    ),
    fc.tuple(who, fc.nat({ max: 3 }), fc.boolean()).map(
      ([by, feature, on]): ModelStep =>
        (model) =>
          void operations.pause(model, by, feature, on),
    ),
    fc.tuple(who, fc.constantFrom(1n, 5_000n, noSupplyCap)).map(
      ([by, cap]): ModelStep =>
        (model) =>
          void operations.cap(model, by, cap),
    ),
    fc.tuple(who, fc.constantFrom(0 as const, 1 as const), who).map(
      ([by, kind, member]): ModelStep =>
        (model, policies) =>
          void policies.push(operations.createPolicy(model, by, kind, [member])),
    ),
    fc.tuple(who, fc.constantFrom<ScopeName[]>(...scopeNames), fc.nat({ max: 3 })).map(
      ([by, scope, policy]): ModelStep =>
        (model, policies) =>
          void operations.bind(model, by, scope, policies[policy] ?? 0n),
    ),
    fc.nat({ max: 3 }).map(
      (policy): ModelStep =>
        (model, policies) =>
          void operations.renouncePolicy(model, policies[policy] ?? 0n),
    ),
  )
  .map(
    (play): ModelStep =>
      (model, policies) => {
        model.block += 1
        play(model, policies)
      },
  )

export const firstAdmin = people[0] as Address

/** The model behind an endpoint that may refuse or be watched. */
export function modelEndpoint(
  model: ModelToken,
  name: string,
  before: (call: RpcCall) => void = () => {},
): RpcEndpoint {
  return {
    name,
    send: async (calls) =>
      calls.map((call) => {
        before(call)
        return answerModel(model, call, Math.floor(Date.now() / 1000))
      }),
  }
}
