import { type Address, checksumAddress } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import type { Json } from '@assay/protocol/canonical-json'
import { type AttestMessage, attestDigest, attestTypes, attestUid, easDomain } from '@assay/protocol/typed-data/eas'
import type { JwsPort } from '@assay/till/internal'
import { fromHex } from '@assay/till/kernel/bytes'
import { keccak256 } from '@assay/till/kernel/keccak'
import { signDigest } from '@assay/till/kernel/secp256k1'
import { deriveSecret, type Keyring } from '@assay/till/signing'
import { pointFromScalar } from 'tiny-secp256k1'

export type SignedAttestation = {
  uid: Hex
  /** The package that the tools of the attestation service take, and what ties its signer to this node. */
  json: { [key: string]: Json }
}

export type CitationAttester = { address(): Address; sign(message: AttestMessage): SignedAttestation }

/** EIP-712 needs a key of the chain's own curve: derived from the signing key, which says whose address that is. */
export function createCitationAttester(deps: {
  keyring: Keyring
  jws: JwsPort
  node: string
  chainId: number
}): CitationAttester {
  let made: { keyId: string; x: string; secret: Uint8Array; address: Address; statement: string } | undefined
  const current = () => {
    const key = deps.keyring.active()
    if (made?.keyId === key.keyId) return made
    const secret = deriveSecret(key, 'assay eip-712 attester v1')
    const publicKey = pointFromScalar(secret, false)
    if (!publicKey) throw new Error('the signing key gives no key of the other curve')
    const address = toHex(keccak256(publicKey.subarray(1)).subarray(12))
    const statement = deps.jws.sign({
      type: 'assay-attester',
      attester: checksumAddress(address),
      chain_id: deps.chainId,
      node: deps.node,
    })
    made = { keyId: key.keyId, x: key.x, secret, address, statement }
    return made
  }
  return {
    address: () => current().address,
    sign: (message) => {
      const { secret, address, statement, keyId, x } = current()
      const { signature, recoveryId } = signDigest(fromHex(attestDigest(message, deps.chainId, keccak256)), secret)
      const uid = attestUid(message, keccak256)
      return {
        uid,
        json: {
          sig: {
            version: 2,
            uid,
            domain: easDomain(deps.chainId),
            primaryType: 'Attest',
            types: attestTypes as unknown as Json,
            message: {
              ...message,
              time: message.time.toString(),
              expirationTime: message.expirationTime.toString(),
              recipient: checksumAddress(message.recipient),
            },
            signature: {
              r: toHex(signature.subarray(0, 32)),
              s: toHex(signature.subarray(32)),
              v: 27 + recoveryId,
            },
          },
          signer: checksumAddress(address),
          attester_statement: statement,
          key_id: keyId,
          public_key: x,
        },
      }
    },
  }
}
