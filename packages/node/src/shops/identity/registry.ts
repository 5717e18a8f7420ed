import { type Address, checksumAddress, parseAddress } from '@assay/protocol/address'
import { type Hex, isHex } from '@assay/protocol/bytes'
import type { Rpc } from '@assay/till/chain'
import type { Clock } from '@assay/till/kernel/clock'
import { decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem'

/** ERC-8004 identity registries, as far as a DID document needs them. */
export type Registries = {
  /** `eip155:<chain>:<registry>`, where the chain has a contract there. */
  registryOn(network: string): Promise<string | undefined>
  /** Who the registry names for an agent id now; `unknown` when the chain could not be read. */
  walletOf(network: string, agentId: string): Promise<Address | undefined | 'unknown'>
}

const abi = parseAbi([
  'function getAgentWallet(uint256 agentId) view returns (address)',
  'function ownerOf(uint256 tokenId) view returns (address)',
])

const keptMs = 60_000
const keptMax = 10_000

export function createRegistries(deps: {
  rpcs: ReadonlyMap<string, Rpc>
  registries: ReadonlyMap<string, Address>
  clock: Clock
}): Registries {
  const kept = new Map<string, { value: string | undefined; untilMs: number }>()
  const remember = async (key: string, read: () => Promise<string | undefined>): Promise<string | undefined> => {
    const nowMs = deps.clock.monotonicMs()
    const known = kept.get(key)
    if (known !== undefined && known.untilMs > nowMs) return known.value
    const value = await read()
    if (kept.size >= keptMax) kept.clear()
    kept.set(key, { value, untilMs: nowMs + keptMs })
    return value
  }
  const registryOn = (network: string) => {
    const [rpc, address] = [deps.rpcs.get(network), deps.registries.get(network)]
    if (rpc === undefined || address === undefined) return Promise.resolve(undefined)
    return remember(network, async () => {
      const code = await rpc.first('eth_getCode', [address, 'latest'])
      return typeof code === 'string' && code.length > 2 ? `${network}:${checksumAddress(address)}` : undefined
    })
  }
  return {
    // What cannot be read is not said.
    registryOn: (network) => registryOn(network).catch(() => undefined),
    walletOf: async (network, agentId) => {
      try {
        if ((await registryOn(network)) === undefined) return undefined
        const [rpc, registry] = [deps.rpcs.get(network) as Rpc, deps.registries.get(network) as Address]
        const wallet = await remember(`${network} ${agentId}`, () => askWallet(rpc, registry, BigInt(agentId)))
        return parseAddress(wallet)
      } catch {
        return 'unknown'
      }
    },
  }
}

/** The wallet set for the agent; a transfer clears it, and then its owner speaks for it. */
async function askWallet(rpc: Rpc, registry: Address, agentId: bigint): Promise<string | undefined> {
  for (const functionName of ['getAgentWallet', 'ownerOf'] as const) {
    const data = encodeFunctionData({ abi, functionName, args: [agentId] })
    const answer = await rpc.first('eth_call', [{ to: registry, data }, 'latest']).catch((error: unknown) => {
      if (isRevert(error)) return '0x'
      throw error
    })
    const wallet = readAddress(answer)
    if (wallet !== undefined) return wallet
  }
  return undefined
}

const isRevert = (error: unknown) =>
  error instanceof Error && 'code' in error && (error.code === 3 || /revert/i.test(error.message))

function readAddress(answer: unknown): Address | undefined {
  if (typeof answer !== 'string' || !isHex(answer) || answer.length !== 66) return undefined
  const address = parseAddress(decodeFunctionResult({ abi, functionName: 'ownerOf', data: answer as Hex }))
  return address === undefined || BigInt(address) === 0n ? undefined : address
}
