import { alwaysBlockId, invertBit } from './abi/b20.ts'

export type PolicyKind = 'blocklist' | 'allowlist' | 'union' | 'intersect'

/** A uint64 taken apart. It does not fit a JavaScript number, so it stays a bigint throughout. */
export type PolicyId = {
  id: bigint
  inverted: boolean
  /** The id without its inversion flag: what the registry knows the policy by. */
  base: bigint
  /** Undefined for a type byte of some later fork. */
  kind: PolicyKind | undefined
  builtIn: 'always_allow' | 'always_block' | undefined
}

const kinds: readonly PolicyKind[] = ['blocklist', 'allowlist', 'union', 'intersect']

export function decodePolicyId(id: bigint): PolicyId {
  const inverted = (id & invertBit) !== 0n
  const base = id & (invertBit - 1n)
  return {
    id,
    inverted,
    base,
    kind: kinds[Number(base >> 56n)],
    builtIn: base === 0n ? 'always_allow' : base === alwaysBlockId ? 'always_block' : undefined,
  }
}

export function isComposite(policy: PolicyId): boolean {
  return policy.kind === 'union' || policy.kind === 'intersect'
}
