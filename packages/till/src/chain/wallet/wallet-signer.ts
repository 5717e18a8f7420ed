import type { Address } from '@assay/protocol/address'
import { type Hex, isHex, toHex } from '@assay/protocol/bytes'
import type { TransferAuthorization } from '@assay/protocol/typed-data/transfer-authorization'
import * as curve from 'tiny-secp256k1'
import { fromHex } from '../../kernel/bytes.ts'
import { hashReceiveAuthorization, hashTransferAuthorization, usdcDomainSeparator } from '../../kernel/eip3009.ts'
import { keccak256 } from '../../kernel/keccak.ts'
import { type RecoverableSignature, signDigest } from '../../kernel/secp256k1.ts'
import { transactionDigest, type UnsignedTransaction } from './transaction-bytes.ts'

/** What a wallet is asked to sign, in full: the holder of the key decides by what it means, never by a digest alone. */
export type SigningRequest =
  | { kind: 'transaction'; transaction: UnsignedTransaction }
  /** EIP-3009; `receive` is for a contract that pulls the money itself. */
  | {
      kind: 'transfer' | 'receive'
      chainId: number
      asset: { address: Address; name: string; version: string }
      authorization: TransferAuthorization
    }

/** A wallet whose key can be used and not read: in this process, or at a signer elsewhere. */
export type WalletSigner = {
  readonly address: Address
  sign(request: SigningRequest): Promise<RecoverableSignature>
}

/** The signer will not sign this: a limit of the key, or a target that it does not allow. Asking again changes nothing. */
export class SignerRefused extends Error {
  override readonly name = 'SignerRefused'
}

/** A private key in hex, or who holds one. */
export type KeySource = Hex | WalletSigner

const domains = new Map<string, Buffer>()

function domainOf(chainId: number, asset: { address: Address; name: string; version: string }): Buffer {
  const key = `${chainId} ${asset.address} ${asset.name} ${asset.version}`
  const domain = domains.get(key) ?? usdcDomainSeparator({ ...asset, chainId })
  if (domains.size < 64) domains.set(key, domain)
  return domain
}

/** What the signature is over. */
export function requestDigest(request: SigningRequest): Buffer {
  if (request.kind === 'transaction') return transactionDigest(request.transaction)
  const hash = request.kind === 'transfer' ? hashTransferAuthorization : hashReceiveAuthorization
  return hash(domainOf(request.chainId, request.asset), request.authorization)
}

export function signerOf(source: KeySource): WalletSigner {
  if (typeof source !== 'string') return source
  if (!isHex(source, 32)) throw new Error('a wallet key is 32 bytes of hex')
  const secret = fromHex(source)
  const publicKey = curve.isPrivate(secret) ? curve.pointFromScalar(secret, false) : null
  if (!publicKey) throw new Error('not a private key of this curve')
  return {
    address: toHex(keccak256(publicKey.subarray(1)).subarray(12)),
    sign: async (request) => signDigest(requestDigest(request), secret),
  }
}
