import { usageError } from '../exit-codes.ts'

/** The node's origin, and an address in any spelling that the node will understand. */
export function tokenUrl(node: string, path: string, address: string): URL {
  if (!URL.canParse(node) || !/^https?:$/.test(new URL(node).protocol))
    throw usageError(`--url: not an http(s) URL: ${node}`)
  if (!/^0x[0-9a-fA-F]{40}$/.test(address))
    throw usageError(`not an address: ${address}`, 'It is 0x and 40 hex digits.')
  return new URL(`${path}/${address}`, node)
}
