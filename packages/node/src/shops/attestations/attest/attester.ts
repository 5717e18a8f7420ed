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

/** Who signs, and what ties that to this node. The same for all that one key signs. */
export type Attester = { signer: Hex; chainId: number; statement: string; keyId: string; publicKey: string }

export type SignedAttestation = {
  /** r, s and v. */
  signature: Buffer
  attester: Attester
}

export type CitationAttester = { address(): Address; sign(message: AttestMessage): SignedAttestation }

/** EIP-712 needs a key of the chain's own curve: derived from the signing key, which says whose address that is. */
export function createCitationAttester(deps: {
  keyring: Keyring
  jws: JwsPort
  node: string
  chainId: number
}): CitationAttester {
  let made: { secret: Uint8Array; address: Address; attester: Attester } | undefined
  const current = () => {
    const key = deps.keyring.active()
    if (made?.attester.keyId === key.keyId) return made
    const secret = deriveSecret(key, 'assay eip-712 attester v1')
    const publicKey = pointFromScalar(secret, false)
    if (!publicKey) throw new Error('the signing key gives no key of the other curve')
    const address = toHex(keccak256(publicKey.subarray(1)).subarray(12))
    const { chainId, node } = deps
    const signer = checksumAddress(address)
    const statement = deps.jws.sign({ type: 'assay-attester', attester: signer, chain_id: chainId, node })
    made = { secret, address, attester: { signer, chainId, statement, keyId: key.keyId, publicKey: key.x } }
    return made
  }
  return {
    address: () => current().address,
    sign: (message) => {
      const { secret, attester } = current()
      const { signature, recoveryId } = signDigest(fromHex(attestDigest(message, deps.chainId, keccak256)), secret)
      return { signature: Buffer.concat([signature, Uint8Array.of(27 + recoveryId)]), attester }
    },
  }
}

/** The package that the tools of the attestation service take. All of it but the signature follows from what was signed. */
export function attestationPackage(
  message: AttestMessage,
  { signature, attester }: SignedAttestation,
): { [key: string]: Json } {
  return {
    sig: {
      version: 2,
      uid: attestUid(message, keccak256),
      domain: easDomain(attester.chainId),
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
        s: toHex(signature.subarray(32, 64)),
        v: Number(signature[64]),
      },
    },
    signer: attester.signer,
    attester_statement: attester.statement,
    key_id: attester.keyId,
    public_key: attester.publicKey,
  }
}
