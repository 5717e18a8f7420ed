import type { Address } from '@assay/protocol/address'
import { isHex } from '@assay/protocol/bytes'
import { ChainUnreadable } from './chain-port.ts'
import type { Rpc } from './rpc.ts'

/** By one endpoint a payer may be plain. That its code decides, by which it can be turned away, takes enough of them. */
export async function hasAgreedCode(rpc: Pick<Rpc, 'agreed'>, payer: Address, one: unknown): Promise<boolean> {
  if (one === '0x') return false
  const agreed = isHex(one) ? await rpc.agreed('eth_getCode', [payer, 'latest']) : undefined
  if (!isHex(agreed)) throw new ChainUnreadable('the code of the payer could not be read')
  return agreed !== '0x'
}

/** Where one endpoint were enough, it alone could take a way to pay off every offer, or on. */
export async function areDeployed(rpc: Pick<Rpc, 'agreedBatch'>, contracts: readonly Address[]): Promise<boolean> {
  const codes = await rpc.agreedBatch(
    contracts.map((address) => ({ method: 'eth_getCode', params: [address, 'latest'] })),
  )
  if (!codes?.every((code) => isHex(code))) throw new ChainUnreadable('the code of a contract could not be read')
  return codes.every((code) => code !== '0x')
}
