import { createPublicClient, createWalletClient, custom, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Config } from '../config.ts'
import type { Facilitator, Owner } from '../payments/index.ts'
import type { Ground, Ports, Stops } from './ground.ts'

const abi = parseAbi(['function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)'])
export async function openFacilitator(
  config: Config,
  _ports: Ports,
  ground: Ground,
  _owner: Owner,
  _stops: Stops,
): Promise<Facilitator> {
  let chain: Promise<unknown> = Promise.resolve()
  return {
    name: 'scratch',
    verify: async () => ({ status: 'valid' }),
    supported: async () => ({ kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }], signers: {} }),
    settle: async (p) => {
      const rpc = ground.rpcs.get(p.network)!
      const transport = custom({ request: ({ method, params }) => rpc.first(method, params ?? []) })
      const account = privateKeyToAccount(config.settlerKeys[0]!)
      const run = async () => {
        const w = createWalletClient({ transport, account })
        const a = p.authorization
        const hash = await w.writeContract({
          chain: null,
          address: p.asset,
          abi,
          functionName: 'transferWithAuthorization',
          args: [a.from, a.to, a.value, a.validAfter, a.validBefore, a.nonce, p.signature],
        })
        await createPublicClient({ transport }).waitForTransactionReceipt({ hash, pollingInterval: 10 })
        return { status: 'submitted' as const, transaction: hash, feeMicro: 0n }
      }
      const mine = chain.then(run)
      chain = mine.catch(() => {})
      return mine
    },
  }
}
