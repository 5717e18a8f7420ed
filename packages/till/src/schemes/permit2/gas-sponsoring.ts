import { parseAddress } from '@assay/protocol/address'
import { concatBytes, fromHex, type Hex, isHex, utf8 } from '@assay/protocol/bytes'
import type { Json } from '@assay/protocol/canonical-json'
import { domainSeparator } from '@assay/protocol/typed-data/domain-separator'
import { type Permit2Transfer, permit2Address } from '@assay/protocol/typed-data/permit2'
import { addressWord, uintWord } from '@assay/protocol/typed-data/words'
import type { Network } from '../../chain/network.ts'
import type { PaymentEnvelope } from '../../contract/scheme.ts'
import { sponsoringKey, type TokenPermit } from '../../facilitators/permit2-payment.ts'
import { keccak256 } from '../../kernel/keccak.ts'
import { recoverAddress } from '../../kernel/secp256k1.ts'
import { fields, own, uint } from '../read-fields.ts'

/** What the 402 says of it. */
export const sponsoringExtension: Json = {
  info: { version: '1', description: 'An EIP-2612 permit in place of an approval; the node pays the gas.' },
  schema: { type: 'object' },
}

/** The permit that came with a payment, undefined when there is none; text says what is wrong with it. */
export function readTokenPermit(
  { sponsoring }: PaymentEnvelope,
  { from, token, amount }: Permit2Transfer,
): TokenPermit | string | undefined {
  const info = fields(sponsoring)
  // Clients repeat what the 402 says of it where they sign no permit.
  if (own(info, 'signature') === undefined) return undefined
  const [owner, asset, spender] = ['from', 'asset', 'spender'].map((name) => parseAddress(own(info, name)))
  const [value, nonce, deadline] = ['amount', 'nonce', 'deadline'].map((name) => uint(own(info, name)))
  const signature = own(info, 'signature')
  if (owner !== from || asset !== token || spender !== permit2Address)
    return `\`${sponsoringKey}\` is not the payer's permit for Permit2`
  // The contract takes no other, so that a permit never allows more than this payment.
  if (value !== amount) return `\`${sponsoringKey}\` must be for exactly ${amount}`
  if (nonce === undefined || deadline === undefined || !isHex(signature, 65))
    return `\`${sponsoringKey}\` needs nonce, deadline and a signature of 65 bytes`
  return { value, nonce, deadline, signature: signature.toLowerCase() as Hex }
}

const permitType = keccak256(utf8('Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)'))

/** Whether the payer's key signed it; that its nonce is the next one is seen when the call is simulated. */
export function isSignedPermit(network: Network, { from }: Permit2Transfer, permit: TokenPermit): boolean {
  const { address, name, version } = network.usdc
  const struct = keccak256(
    concatBytes(
      permitType,
      addressWord(from),
      addressWord(permit2Address),
      uintWord(permit.value),
      uintWord(permit.nonce),
      uintWord(permit.deadline),
    ),
  )
  const domain = domainSeparator({ name, version, chainId: network.chainId, address }, keccak256)
  const digest = keccak256(concatBytes(new Uint8Array([0x19, 0x01]), domain, struct))
  return recoverAddress(digest, fromHex(permit.signature)) === from
}
