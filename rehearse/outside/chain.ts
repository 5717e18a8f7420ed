// One chain as the outside world shows it: real ids and addresses, tens of millions of blocks, three providers with habits.
import { type Address, concat, getAddress, keccak256, numberToHex, pad } from 'viem'
import { answerCommands } from '../../bench/process/commands.ts'
import { seedDemoTokens } from '../../packages/node/src/shops/tokens/demo/seed-tokens.ts'
import type { Rpc } from '../../packages/till/src/chain/index.ts'
import { knownNetworks } from '../../packages/till/src/chain/network.ts'
import { type RpcFault, startRpcProxy } from '../../packages/till/src/chain/rpc-proxy.fixture.ts'
import { contractArtifacts } from '../../packages/till/src/devnet/artifacts.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { startChain } from '../../test/harness/start-chain.ts'
import { laggingBy, withBlockTimestamps } from './habits.ts'

const chainId = Number(process.env['REHEARSAL_CHAIN'])
const network = knownNetworks.find((known) => known.chainId === chainId)
if (!network) throw new Error(`not a known chain: ${chainId}`)
const usdc = network.usdc.address

/** Of contracts/TestUsdc.sol: owner and pause share the slot before. */
const balancesSlot = 2
const finalityLagBlocks = 3
const logBlocksMax = 10_000

const chain = await startChain({
  chainId,
  port: 0,
  emptyBlocks: chainId === 8453 ? 53_000_000 : 88_000_000,
  clock: systemClock,
  log: silentLog,
})
await chain.request('hardhat_setCode', [usdc, contractArtifacts.testUsdc.deployedBytecode])
const tokens = chainId === 8453 ? await makeTokens() : []
for (let made = 0; made < finalityLagBlocks; made += 1) await chain.request('evm_mine', [])
chain.control.setFinalityLag(finalityLagBlocks)

let lagging = true
const providers = [
  await startRpcProxy(chain.request as never, '127.0.0.1'),
  await startRpcProxy(withBlockTimestamps(chain.request), '127.0.0.2'),
  await startRpcProxy(
    laggingBy(() => (lagging ? 1n : 0n), chain.request),
    '127.0.0.3',
  ),
]
// Each refuses wide ranges in its own way: HTTP 400, HTTP 413, and a JSON-RPC error with status 200.
for (const [index, status] of [400, 413, 200].entries()) providers[index]?.limitLogs(logBlocksMax, status)

/** The token contract and the index of a registry ask for the whole surface of an `Rpc`; seeding needs two of its calls. */
async function makeTokens() {
  const rpc = {
    first: (method: string, params: readonly unknown[]) => chain.request(method, params),
    batch: (calls: readonly { method: string; params: readonly unknown[] }[]) =>
      Promise.all(calls.map(({ method, params }) => chain.request(method, params))),
  }
  return seedDemoTokens(rpc as unknown as Rpc, chainId, Math.floor(Date.now() / 1000))
}

const balanceOf = async (account: Address): Promise<bigint> => {
  const data = concat(['0x70a08231', pad(account)])
  return BigInt((await chain.request('eth_call', [{ to: usdc, data }, 'latest'])) as string)
}

answerCommands(
  {
    facts: () => ({
      url: chain.url,
      usdc: getAddress(usdc),
      providers: providers.map(({ url }) => url),
      tokens: tokens.map(({ address }) => address),
      block: chain.control.head().number,
    }),
    /** Gas, and dollars that were always there: no transfer tells where they came from. */
    fund: async ({ account, micro, wei }: { account: Address; micro: string; wei: string }) => {
      await chain.request('hardhat_setBalance', [account, numberToHex(BigInt(wei))])
      const slot = keccak256(concat([pad(account), pad(numberToHex(balancesSlot))]))
      await chain.request('hardhat_setStorageAt', [usdc, slot, pad(numberToHex(BigInt(micro)))])
      // Also for the provider that is a block behind.
      await chain.control.mine(2)
    },
    balance: async (account: Address) => (await balanceOf(account)).toString(),
    /** Of one provider, or of all. */
    fault: ({ provider, fault }: { provider: number | 'all'; fault: RpcFault }) => {
      for (const [index, one] of providers.entries()) if (provider === 'all' || provider === index) one.setFault(fault)
    },
    /** Calls to all providers since they were counted last. */
    calls: () => {
      const methods = providers.flatMap((provider) => provider.methods())
      for (const provider of providers) provider.resetCalls()
      return methods
    },
    lag: (is: boolean) => {
      lagging = is
    },
  },
  async () => {
    await Promise.all(providers.map((provider) => provider.close()))
    await chain.stop()
  },
)
