import { parseKeyId } from '@assay/protocol/account'
import type { Address } from '@assay/protocol/address'
import { parseSignatureInput } from '@assay/protocol/signatures/signature-input'
import { parseSiwx } from './parse-siwx.ts'

/**
 * The wallets that the proofs in a request speak for, without believing or using up any of them. Signatures of others,
 * such as a bot's own key, name no wallet.
 */
export function addressesNamed(headers: ReadonlyMap<string, string>): Address[] {
  const siwx = headers.get('sign-in-with-x')
  const signedIn = siwx === undefined ? undefined : parseSiwx(siwx)?.account.address
  const inputs = parseSignatureInput(headers.get('signature-input') ?? '') ?? []
  const signed = inputs.map((input) => parseKeyId(String(input.params.get('keyid')))?.address)
  return [signedIn, ...signed].filter((address): address is Address => address !== undefined)
}
