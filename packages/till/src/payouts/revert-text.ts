import { decodeErrorResult, type Hex, parseAbi } from 'viem'

const abi = parseAbi(['error Error(string)', 'error Panic(uint256)'])

/** Why a call failed, in the words of the contract; never throws. */
export function revertText(data: Hex): string {
  try {
    const { args } = decodeErrorResult({ abi, data })
    return String(args?.[0] ?? 'reverted').slice(0, 200)
  } catch {
    return 'reverted'
  }
}
