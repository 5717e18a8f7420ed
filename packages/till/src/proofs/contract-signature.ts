import { type Address, parseAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { decodeAbiParameters, decodeFunctionResult, encodeFunctionData, parseAbi, parseAbiParameters } from 'viem'

export type ContractSignature = { chainId: number; address: Address; digest: Hex; signature: Hex }

/** "could_not_check" is an outage of ours and never the caller's fault. */
export type CheckContractSignature = (input: ContractSignature) => Promise<'valid' | 'invalid' | 'could_not_check'>

/** The little of a chain this needs. A rejection means the chain could not be asked. */
export type SignatureRpc = {
  call(request: { to: Address; data: Hex; gas: bigint }): Promise<Hex>
  getCode(address: Address): Promise<Hex>
}

export type ContractSignatureOptions = {
  chains: ReadonlyMap<number, { rpc: SignatureRpc; multicall3: Address }>
  /** Factories that may be run for wallets not yet deployed (ERC-6492). None unless the operator names them. */
  factories?: readonly Address[]
  gas?: bigint
}

export const signatureBytesMax = 8_192

const magicResult = `0x1626ba7e${'0'.repeat(56)}`
const wrapperSuffix = '6492'.repeat(16)

const abi = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call[] calls) payable returns (Result[] results)',
])
const wrapperParameters = parseAbiParameters('address factory, bytes factoryCalldata, bytes signature')

/** ERC-1271 for deployed wallets and ERC-6492 for those an allowed factory would deploy, under gas and size limits. */
export function createContractSignatureChecker(options: ContractSignatureOptions): CheckContractSignature {
  const { chains, gas = 300_000n } = options
  const factories = new Set((options.factories ?? []).map((factory) => factory.toLowerCase()))

  return async ({ chainId, address, digest, signature }) => {
    const chain = chains.get(chainId)
    if (chain === undefined || signature.length > 2 + signatureBytesMax * 2) return 'invalid'
    const wrapped = unwrap(signature)
    if (wrapped === 'malformed') return 'invalid'
    try {
      const code = await chain.rpc.getCode(address)
      const deployed = code !== '0x'
      if (!deployed && (wrapped === undefined || !factories.has(wrapped.factory))) return 'invalid'
      const question = {
        target: address,
        allowFailure: true,
        callData: encodeFunctionData({
          abi,
          functionName: 'isValidSignature',
          args: [digest, wrapped?.signature ?? signature],
        }),
      }
      const deployment = wrapped && { target: wrapped.factory, allowFailure: true, callData: wrapped.factoryCalldata }
      // Through Multicall3 a revert of the wallet comes back as data, so that a rejected call can only be an outage.
      const answer = await chain.rpc.call({
        to: chain.multicall3,
        gas: deployed || deployment === undefined ? gas : gas * 4n,
        data: encodeFunctionData({
          abi,
          functionName: 'aggregate3',
          args: [deployed || deployment === undefined ? [question] : [deployment, question]],
        }),
      })
      const last = decodeFunctionResult({ abi, functionName: 'aggregate3', data: answer }).at(-1)
      return last?.success === true && last.returnData === magicResult ? 'valid' : 'invalid'
    } catch {
      return 'could_not_check'
    }
  }
}

function unwrap(signature: Hex): { factory: Address; factoryCalldata: Hex; signature: Hex } | undefined | 'malformed' {
  if (!signature.toLowerCase().endsWith(wrapperSuffix)) return undefined
  try {
    const content = signature.slice(0, -wrapperSuffix.length) as Hex
    const [factory, factoryCalldata, inner] = decodeAbiParameters(wrapperParameters, content)
    return { factory: parseAddress(factory) ?? factory, factoryCalldata, signature: inner }
  } catch {
    return 'malformed'
  }
}
