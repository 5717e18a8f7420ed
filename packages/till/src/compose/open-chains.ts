import type { Address } from '@assay/protocol/address'
import { chainOfAsset } from '@assay/protocol/asset'
import type { Hex } from '@assay/protocol/bytes'
import { type ChainPort, ChainUnreadable, createChain, type Network, type Rpc } from '../chain/index.ts'
import type { Clock } from '../kernel/clock.ts'
import { type CheckContractSignature, createContractSignatureChecker } from '../proofs/index.ts'
import type { Interceptors } from './parts.ts'

/** How old a head or final block may be that all readers share: real providers count every call. */
const sharedFor = { headAgeMsMax: 2_000, finalAgeMsMax: 15_000, patientAgeMsMax: 60_000 }

type ChainSettings = {
  mode: 'demo' | 'production'
  clock: Clock
  networks: readonly Network[]
  rpcs: ReadonlyMap<string, Rpc>
  check: CheckContractSignature
}

export function openChains(
  { mode, clock, networks, rpcs, check }: ChainSettings,
  intercept: Interceptors['chain'],
): Map<string, ChainPort> {
  return new Map(
    networks.map((network) => {
      const chain = createChain({
        network,
        rpc: rpcs.get(chainOfAsset(network.caip2)) as Rpc,
        clock,
        ...(mode === 'production' ? sharedFor : {}),
        checkContractSignature: (address, digest, signature) =>
          check({ chainId: network.chainId, address, digest, signature }),
      })
      return [network.caip2, intercept?.(chain) ?? chain]
    }),
  )
}

export function contractSignatures(
  factories: readonly Address[],
  networks: readonly Network[],
  rpcs: ReadonlyMap<string, Rpc>,
): CheckContractSignature {
  return createContractSignatureChecker({
    chains: new Map(
      networks.map((network) => [
        network.chainId,
        { rpc: signatureRpc(rpcs.get(network.caip2) as Rpc), multicall3: network.multicall3 },
      ]),
    ),
    factories,
  })
}

/** As enough operators see it: by one alone nobody signs for a contract wallet. */
function signatureRpc(rpc: Rpc) {
  const agreed = async (method: string, params: readonly unknown[]) => {
    const answer = await rpc.agreed(method, params)
    if (answer === undefined) throw new ChainUnreadable('the endpoints do not agree on a contract wallet')
    return answer as Hex
  }
  return {
    call: ({ to, data, gas }: { to: Address; data: Hex; gas: bigint }) =>
      agreed('eth_call', [{ to, data, gas: `0x${gas.toString(16)}` }, 'latest']),
    getCode: (address: Address) => agreed('eth_getCode', [address, 'latest']),
  }
}
