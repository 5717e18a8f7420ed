import type { Address } from '@assay/protocol/address'
import { joinSignature, type SignedTransaction, type UnsignedTransaction } from './transaction-bytes.ts'
import { type KeySource, signerOf } from './wallet-signer.ts'

/** A wallet the node can send with. The key itself cannot be read out again. */
export type WalletKey = {
  readonly address: Address
  sign(transaction: UnsignedTransaction): Promise<SignedTransaction>
}

export function createWalletKey(source: KeySource): WalletKey {
  const signer = signerOf(source)
  return {
    address: signer.address,
    sign: async (transaction) => joinSignature(transaction, await signer.sign({ kind: 'transaction', transaction })),
  }
}
