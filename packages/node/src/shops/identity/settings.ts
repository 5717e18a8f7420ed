import { type Address, hasChecksum } from '@assay/protocol/address'
import { z } from 'zod'
import { parseMembers, type Variables } from '../shop-settings.ts'

export const identityVariables = {
  IDENTITY: {
    kind: 'json',
    default: '{}',
    description:
      "JSON object with the ERC-8004 registries and the node's own registrations; docs/identity.md lists the members.",
    secret: false,
  },
  DID_METHOD: {
    kind: 'text',
    must: [/^[a-z0-9]{1,20}$/, 'must be lower-case letters and digits'],
    default: 'x402',
    description: "Method name of the agents' identifiers.",
    secret: false,
  },
} as const satisfies Variables

export type IdentitySettings = {
  /** ERC-8004 identity registries by network. An address without code there counts for nothing. */
  registries: ReadonlyMap<string, Address>
  /** The node's own registrations. */
  registrations: readonly { network: string; agentId: string }[]
}

// From the project's README; each is asked for its code before anything is said about it.
const knownRegistries: Record<string, string> = {
  'eip155:8453': '0x8004A169FB4a3325136EB29fA0ceB6D2e539a432',
  'eip155:84532': '0x8004A818BFB912233c491871b3d84c89A494BD9e',
}

const network = z.string().regex(/^eip155:[1-9]\d{0,14}$/, 'must be a CAIP-2 network such as eip155:8453')

const schema = z.strictObject({
  erc8004_registries: z
    .record(network, z.string().refine(hasChecksum, 'must be an address with its EIP-55 checksum'))
    .default({}),
  erc8004_registrations: z
    .array(z.strictObject({ network, agent_id: z.string().regex(/^(?:0|[1-9]\d{0,77})$/, 'must be a token id') }))
    .max(8)
    .default([]),
})

/** From the JSON of `IDENTITY`. */
export function parseIdentitySettings(given: unknown): IdentitySettings {
  const data = parseMembers('IDENTITY', schema, given)
  const registries = { ...knownRegistries, ...data.erc8004_registries }
  return {
    registries: new Map(Object.entries(registries).map(([name, address]) => [name, address.toLowerCase() as Address])),
    registrations: data.erc8004_registrations.map((one) => ({ network: one.network, agentId: one.agent_id })),
  }
}
