import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import type { TransferAuthorization } from '@assay/protocol/typed-data/transfer-authorization'
import type { Network } from '../chain/index.ts'
import { type KeySource, signerOf } from '../chain/wallet/index.ts'

/** The custody wallet, able to allow transfers and nothing else: it needs no gas and sends no transaction itself. */
export type CustodyKey = {
  readonly address: Address
  authorize(network: Network, authorization: TransferAuthorization): Promise<Hex>
  /** For a contract that pulls the money itself. */
  authorizeReceipt(network: Network, authorization: TransferAuthorization): Promise<Hex>
}

export function createCustodyKey(source: KeySource): CustodyKey {
  const signer = signerOf(source)
  const sign =
    (kind: 'transfer' | 'receive') =>
    async ({ chainId, usdc: asset }: Network, authorization: TransferAuthorization): Promise<Hex> => {
      const { signature, recoveryId } = await signer.sign({ kind, chainId, asset, authorization })
      return toHex(Buffer.concat([signature, Buffer.from([27 + recoveryId])]))
    }
  return { address: signer.address, authorize: sign('transfer'), authorizeReceipt: sign('receive') }
}
