import { parseSignatureInput } from '@assay/protocol/signatures/signature-input'

/**
 * Whether a header may be believed beside the wallet signatures (ERC-8128) of a request: each of them has to cover it, or
 * somebody else may have put it there. Nothing is verified here. Without such a signature there is nothing to be covered by.
 */
export function isCoveredOrUnsigned(headers: ReadonlyMap<string, string>, name: string): boolean {
  const header = headers.get('signature-input') ?? ''
  if (!/\berc8128:/.test(header)) return true
  const inputs = parseSignatureInput(header)
  const ours = inputs?.filter((input) => String(input.params.get('keyid')).startsWith('erc8128:')) ?? []
  return ours.length > 0 && ours.every((input) => input.components.includes(`"${name}"`))
}
