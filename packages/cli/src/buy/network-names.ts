import { knownChains } from '@assay/protocol/networks'
import { type CliError, usageError } from '../exit-codes.ts'

/** Networks as people call them, and their CAIP-2 ids. */
export type NetworkNames = Readonly<Record<string, string>>

export const networkNames: NetworkNames = Object.fromEntries(knownChains.map(({ name, caip2 }) => [name, caip2]))

/** What `--network` and `--on` take, for help and messages. */
export const networkHelp = `${Object.keys(networkNames).join(', ')}, or a CAIP-2 id such as eip155:42161`

/** The CAIP-2 id of a name, or the id itself; whether a node has it, the node says. */
export function networkId(text: string, names: NetworkNames): string {
  const known = Object.hasOwn(names, text) ? names[text] : undefined
  if (known !== undefined) return known
  if (/^eip155:[1-9][0-9]{0,14}$/.test(text)) return text
  throw unknownNetwork(text, names)
}

export const unknownNetwork = (text: string, names: NetworkNames): CliError =>
  usageError(`unknown network: ${text}`, `One of ${Object.keys(names).join(', ')}, or a CAIP-2 id.`)
