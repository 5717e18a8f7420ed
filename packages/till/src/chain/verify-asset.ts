import { zeroAddress } from '@assay/protocol/address'
import { toHex } from '@assay/protocol/bytes'
import { usdcDomainSeparator } from '../kernel/eip3009.ts'
import { ChainUnreadable } from './chain-port.ts'
import type { Network } from './network.ts'
import type { Rpc } from './rpc.ts'
import { calls, text, word } from './usdc-abi.ts'

/** The RPC URL must serve the chain and the exact asset that we ask buyers to sign for. */
export async function verifyAsset(rpc: Rpc, network: Network): Promise<string[]> {
  const { address, eip3009 } = network.usdc
  const call = (data: string) => rpc.agreed('eth_call', [{ to: address, data }, 'latest'])
  const unread = (why: string) => [
    `${network.caip2}: its RPC URLs cannot be used: ${why}. ${rpc.quorum} operators (hosts) must answer alike`,
  ]
  const asked = [
    rpc.agreed('eth_chainId', []),
    call(calls.decimals()),
    // A token that is paid by Permit2 only need not have these.
    ...(eip3009 === false ? [] : [calls.name(), calls.version(), calls.domainSeparator(), unusedNonce].map(call)),
  ]
  // All of them have ended before this does: a read left behind would fail the next attempt with what it met.
  await Promise.allSettled(asked)
  const read = await Promise.all(asked).catch((error: unknown) => {
    if (error instanceof ChainUnreadable) return error.message
    throw error
  })
  if (typeof read === 'string') return unread(read)
  if (read.every((answer) => answer === undefined)) return unread('too few of them answer')
  return differences(network, read)
}

/** Answered by every token with EIP-3009, whatever the nonce. */
const unusedNonce = calls.authorizationState(zeroAddress, `0x${'0'.repeat(64)}`)

function differences(network: Network, read: readonly unknown[]): string[] {
  const { usdc, chainId } = network
  const [foundId, decimals, name, version, separator, nonceState] = read
  const problems: string[] = []
  const compare = (what: string, found: unknown, wanted: unknown) => {
    if (found !== wanted) problems.push(`${network.caip2}: ${what} is ${String(found)}, expected ${String(wanted)}`)
  }
  compare('the chain id behind the RPC URL', Number(foundId), chainId)
  compare('decimals() of the asset', word(decimals), 6n)
  if (usdc.eip3009 === false) return problems
  compare('name() of the asset', text(name), usdc.name)
  compare('version() of the asset', text(version), usdc.version)
  compare('DOMAIN_SEPARATOR() of the asset', separator, toHex(usdcDomainSeparator({ ...usdc, chainId })))
  compare('authorizationState() of the asset', typeof word(nonceState), 'bigint')
  return problems
}
