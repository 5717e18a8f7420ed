import { Problem } from '@assay/till/kernel/problem'
import { z } from 'zod'

/** A network of the node, or a further dollar on one. The schema is the same on every node, which clients are typed after. */
export const networkField = z
  .string()
  .regex(/^eip155:[1-9][0-9]{0,14}(\/erc20:0x[0-9a-f]{40})?$/, 'must be a network such as eip155:8453')

/** Which networks there are is the configuration's to say. */
export function requireNetwork(network: string, networks: readonly string[]): string {
  if (networks.includes(network)) return network
  throw new Problem('input_invalid', { detail: `body.network must be one of ${networks.join(', ')}` })
}
