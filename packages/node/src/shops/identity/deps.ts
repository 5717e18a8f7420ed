import type { Address } from '@assay/protocol/address'
import type { ShopContext } from '../shop.ts'
import type { IdentityPorts } from './ports.ts'
import type { Registries } from './registry.ts'

/** What the use cases of identity share. */
export type IdentityDeps = Pick<ShopContext, 'database' | 'clock' | 'jws' | 'proofs' | 'keyring' | 'log'> & {
  baseUrl: string
  apiUrl: string
  /** `did:<method>:0x…` */
  didMethod: string
  /** Chains of the node, Base first. */
  chainIds: readonly number[]
  /** The node itself, which issues ratings. */
  issuer: string
  /** Earns where nobody else does. */
  operator: Address
  ports: IdentityPorts
  registries: Registries
}
