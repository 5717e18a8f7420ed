import { toHex } from '@assay/protocol/bytes'
import { usdcDomainSeparator } from '../kernel/eip3009.ts'
import type { Network } from './network.ts'
import type { Rpc } from './rpc.ts'
import { calls, text, word } from './usdc-abi.ts'

/** What stands behind the RPC URL must be the chain and the very asset that we ask buyers to sign for. */
export async function verifyAsset(rpc: Rpc, network: Network): Promise<string[]> {
  const call = (data: string) => rpc.agreed('eth_call', [{ to: network.usdc.address, data }, 'latest'])
  const [chainId, name, version, separator, decimals] = await Promise.all([
    rpc.agreed('eth_chainId', []),
    call(calls.name()),
    call(calls.version()),
    call(calls.domainSeparator()),
    call(calls.decimals()),
  ])
  const expected = toHex(usdcDomainSeparator({ ...network.usdc, chainId: network.chainId }))
  const problems: string[] = []
  const compare = (what: string, found: unknown, wanted: unknown) => {
    if (found !== wanted) problems.push(`${network.caip2}: ${what} is ${String(found)}, expected ${String(wanted)}`)
  }
  compare('the chain id behind the RPC URL', Number(chainId), network.chainId)
  compare('name() of the asset', text(name), network.usdc.name)
  compare('version() of the asset', text(version), network.usdc.version)
  compare('DOMAIN_SEPARATOR() of the asset', separator, expected)
  compare('decimals() of the asset', word(decimals), 6n)
  return problems
}
