import { toHex } from '@assay/protocol/bytes'
import { usdcDomainSeparator } from '../kernel/eip3009.ts'
import { ChainUnreadable } from './chain-port.ts'
import type { Network } from './network.ts'
import type { Rpc } from './rpc.ts'
import { calls, text, word } from './usdc-abi.ts'

/** The RPC URL must serve the chain and the exact asset that we ask buyers to sign for. */
export async function verifyAsset(rpc: Rpc, network: Network): Promise<string[]> {
  const call = (data: string) => rpc.agreed('eth_call', [{ to: network.usdc.address, data }, 'latest'])
  const unread = (why: string) => [
    `${network.caip2}: its RPC URLs cannot be used: ${why}. ${rpc.quorum} operators (hosts) must answer alike`,
  ]
  const asked = [
    rpc.agreed('eth_chainId', []),
    call(calls.name()),
    call(calls.version()),
    call(calls.domainSeparator()),
    call(calls.decimals()),
  ]
  // All of them have ended before this does: a read left behind would fail the next attempt with what it met.
  await Promise.allSettled(asked)
  const read = await Promise.all(asked).catch((error: unknown) => {
    if (error instanceof ChainUnreadable) return error.message
    throw error
  })
  if (typeof read === 'string') return unread(read)
  if (read.every((answer) => answer === undefined)) return unread('too few of them answer')
  const [chainId, name, version, separator, decimals] = read
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
