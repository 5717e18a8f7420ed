/** What a transaction costs on an embedded chain: the order of magnitude of the chain it stands for, and steady. */
export type FeeLevel = { baseFeeWei: bigint; priorityFeeWei: bigint }

const levels = new Map<number, FeeLevel>([
  [8453, { baseFeeWei: 5_000_000n, priorityFeeWei: 1_000_000n }],
  [137, { baseFeeWei: 30_000_000_000n, priorityFeeWei: 30_000_000_000n }],
])

export function feeLevel(chainId: number): FeeLevel {
  return levels.get(chainId) ?? { baseFeeWei: 10_000_000n, priorityFeeWei: 1_000_000n }
}
