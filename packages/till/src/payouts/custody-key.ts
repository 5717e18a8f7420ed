import type { Address } from '@assay/protocol/address'
import { type Hex, isHex, toHex } from '@assay/protocol/bytes'
import type { TransferAuthorization } from '@assay/protocol/typed-data/transfer-authorization'
import * as curve from 'tiny-secp256k1'
import type { Network } from '../chain/index.ts'
import { fromHex } from '../kernel/bytes.ts'
import { hashReceiveAuthorization, hashTransferAuthorization, usdcDomainSeparator } from '../kernel/eip3009.ts'
import { keccak256 } from '../kernel/keccak.ts'

/** The custody wallet, able to allow transfers and nothing else: it needs no gas and sends no transaction itself. */
export type CustodyKey = {
  readonly address: Address
  authorize(network: Network, authorization: TransferAuthorization): Hex
  /** For a contract that pulls the money itself. */
  authorizeReceipt(network: Network, authorization: TransferAuthorization): Hex
}

export function createCustodyKey(privateKey: Hex): CustodyKey {
  if (!isHex(privateKey, 32)) throw new Error('a custody key is 32 bytes of hex')
  const secret = fromHex(privateKey)
  const publicKey = curve.isPrivate(secret) ? curve.pointFromScalar(secret, false) : null
  if (!publicKey) throw new Error('not a private key of this curve')
  const domains = new Map<string, Buffer>()
  const domainOf = (network: Network): Buffer => {
    const domain = domains.get(network.caip2) ?? usdcDomainSeparator({ ...network.usdc, chainId: network.chainId })
    domains.set(network.caip2, domain)
    return domain
  }
  const sign = (digest: Uint8Array): Hex => {
    const { signature, recoveryId } = curve.signRecoverable(digest, secret)
    return toHex(Buffer.concat([signature, Buffer.from([27 + recoveryId])]))
  }
  return {
    address: toHex(keccak256(publicKey.subarray(1)).subarray(12)),
    authorize: (network, authorization) => sign(hashTransferAuthorization(domainOf(network), authorization)),
    authorizeReceipt: (network, authorization) => sign(hashReceiveAuthorization(domainOf(network), authorization)),
  }
}
