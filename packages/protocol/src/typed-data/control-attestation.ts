import type { Address } from '../address.ts'
import { type Hex, toHex, utf8 } from '../bytes.ts'
import { canonicalJson, type Json } from '../canonical-json.ts'
import { type Hash, keccak256 } from '../hash.ts'
import { nodeDomain } from './node-domain.ts'

/** What is attested about a report on a token. Unknown verdicts and free answers are not attested. */
export type AttestedFacts = {
  chainId: number
  token: Address
  blockNumber: bigint
  blockHash: Hex
  verdict: string
  complete: boolean
  reportHash: Hex
  validUntil: number
}

const types = {
  ControlAttestation: [
    { name: 'chainId', type: 'uint256' },
    { name: 'token', type: 'address' },
    { name: 'blockNumber', type: 'uint64' },
    { name: 'blockHash', type: 'bytes32' },
    { name: 'verdict', type: 'string' },
    { name: 'complete', type: 'bool' },
    { name: 'reportHash', type: 'bytes32' },
    { name: 'validUntil', type: 'uint64' },
  ],
} as const

export function controlAttestation(facts: AttestedFacts, node: string) {
  return {
    domain: nodeDomain(node, facts.chainId),
    types,
    primaryType: 'ControlAttestation',
    message: { ...facts, chainId: BigInt(facts.chainId), validUntil: BigInt(facts.validUntil) },
  } as const
}

/** Over the canonical JSON of the report itself: neither its signatures nor how it was read are part of it. */
export function reportHash(report: { readonly [key: string]: Json | undefined }, keccak: Hash = keccak256): Hex {
  const { attestation: _signed, reading: _how, ...content } = report
  return toHex(keccak(utf8(canonicalJson(content))))
}
